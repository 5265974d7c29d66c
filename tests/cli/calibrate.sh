# SPDX-License-Identifier: Apache-2.0
"$ASSAY" calibrate --json m.json || exit 1
"$ASSAY" run "$SRC/examples/first" --cases exp/1 --machine m.json --no-timing --quiet
