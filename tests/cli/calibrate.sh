# SPDX-License-Identifier: Apache-2.0
# The table of one thread, and a profile that a run takes.
"$ASSAY" calibrate --threads 1 --json m.json || exit 1
[ "$(ls)" = m.json ] || { echo "left behind: $(ls)"; exit 1; }
"$ASSAY" run "$SRC/examples/first" --cases exp/1 --machine m.json --no-timing --quiet
