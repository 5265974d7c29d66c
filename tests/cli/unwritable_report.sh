# SPDX-License-Identifier: Apache-2.0
# Found before anything is measured: nothing is on standard output.
"$ASSAY" run "$SRC/examples/first" --no-timing --json nosuch/report.json
