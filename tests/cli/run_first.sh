# SPDX-License-Identifier: Apache-2.0
"$ASSAY" run "$SRC/examples/first" --op exp --no-timing
