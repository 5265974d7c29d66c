# SPDX-License-Identifier: Apache-2.0
# Every command explains itself the same way through three doors.
for c in list show new run debug replay merge cases conform calibrate limits adequacy selftest; do
    "$ASSAY" $c --help >a || exit 1
    "$ASSAY" $c -h >b || exit 1
    "$ASSAY" help $c >c || exit 1
    cmp a b && cmp a c || exit 1
    for part in "usage: assay $c" "options:" "exit status:" "example:"; do
        grep -q "^$part" a || { echo "$c: no $part"; exit 1; }
    done
    awk -v c=$c 'length > 100 { print c ": line too long: " $0; bad = 1 } END { exit bad }' a || exit 1
done
