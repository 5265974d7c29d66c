# SPDX-License-Identifier: Apache-2.0
# What cannot be is refused before anything is measured, and an existing file stays what it is.
for n in 0 -1 two 1x '' 1025 99999999999999999999; do
    "$ASSAY" calibrate --threads "$n"
    [ $? = 2 ] || echo "not refused: '$n'"
done
"$ASSAY" calibrate --threads 1024 2>err && echo "1024 threads?"
sed 's/only [0-9]* cores\{0,1\}/only N cores/' err >&2
"$ASSAY" calibrate --json none/m.json
echo "exit $?"
mkdir folder
"$ASSAY" calibrate --json folder
echo "exit $?"
"$ASSAY" calibrate more 2>/dev/null
echo "exit $?"
ls
