# SPDX-License-Identifier: Apache-2.0
"$ASSAY" run "$SRC/examples/first" --tresholds 3
"$ASSAY" run "$SRC/examples/first" --thread 3
