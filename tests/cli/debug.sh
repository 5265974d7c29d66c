# SPDX-License-Identifier: Apache-2.0
"$ASSAY" debug "$SRC/examples/first" exp/1 --dump d || exit 1
ls d
