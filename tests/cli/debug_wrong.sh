# SPDX-License-Identifier: Apache-2.0
"$ASSAY" debug "$SRC/examples/flawed" sigmoid/2 --seed 5
