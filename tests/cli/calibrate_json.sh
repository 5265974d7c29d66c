# SPDX-License-Identifier: Apache-2.0
# With --json - the profile is alone on standard output.
"$ASSAY" calibrate -t1 --json - >out || exit 1
head -c 1 out
echo
grep -c '^ *"format":' out
grep -q processor out && echo "a table"
exit 0
