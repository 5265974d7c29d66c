# SPDX-License-Identifier: Apache-2.0
# Every command explains itself the same way through three doors.
for c in data train eval inspect bench; do
    "$QNET" $c --help >a || exit 1
    "$QNET" $c -h >b || exit 1
    "$QNET" help $c >c || exit 1
    cmp a b && cmp a c || exit 1
    for part in "usage: qnet $c" "options:" "exit status:" "example:"; do
        grep -q "^$part" a || { echo "$c: no $part"; exit 1; }
    done
    awk -v c=$c 'length > 100 { print c ": line too long: " $0; bad = 1 } END { exit bad }' a || exit 1
done
