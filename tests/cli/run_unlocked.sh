# SPDX-License-Identifier: Apache-2.0
# Without the lock a result is marked, on paper and in the file; with less of a lock it says which.
"$ASSAY" run "$SRC/examples/first" --cases exp/1 --no-timing --lock none --json r.json || exit 1
grep -o '"trust":"none: not locked in","trusted":false' r.json
"$ASSAY" run "$SRC/examples/first" --cases exp/1 --no-timing --lock B | grep -o 'trust [B n].*'
