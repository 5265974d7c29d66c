# SPDX-License-Identifier: Apache-2.0
# The life of a hidden set: drawn, committed to, revealed; whoever else has the seed can check it with
# sha256sum alone. Wrong seeds, counts and hashes are refused, and nothing is written then.
hidden() { "$ASSAY" cases hidden "$@"; }
umask 0
hidden --new-seed seed --commit >commitment || exit 1
[ "$(stat -c %a seed)" = 600 ] || { echo "mode"; exit 1; }
grep -qx '[0-9a-f]\{64\}' seed && [ "$(wc -c <seed)" = 65 ] || { echo "seed"; exit 1; }
hash=$(sed -n 's/^sha256 *//p' commitment)
grep -q "$(cat seed)" commitment && { echo "the seed is told"; exit 1; }
[ "$(hidden --seed-file seed --commit --json)" = \
    "{\"sha256\":\"$hash\",\"count\":80,\"operators\":$("$ASSAY" list | wc -l),\"generator\":1,\"program\":\"$("$ASSAY" --version)\"}" ] || exit 1

cp seed old
hidden --new-seed seed 2>err && exit 1
cmp seed old && cat err
chmod 640 seed
hidden --seed-file seed --commit 2>&1
echo "exit $?"

# public by now: any mode will do
hidden --reveal --seed-file seed --hash "$hash" --out revealed >again || exit 1
cmp commitment again || exit 1
[ "$(sha256sum <revealed/hidden.txt)" = "$hash  -" ] || { echo "sha256sum"; exit 1; }
cmp seed revealed/seed || exit 1
n=$("$ASSAY" list | wc -l)
[ "$(wc -l <revealed/hidden.txt)" = $((4 + 80 * n)) ] && [ "$(ls revealed | wc -l)" = $((2 + n)) ] || exit 1
"$ASSAY" cases check --from revealed | grep -v 'ok$'
# every line of the text is a case of the files, but for its note
sed -n 's/^exp \(.*\)}$/\1/p' revealed/hidden.txt >lines
sed -n 's/^ *\({"id": .*\), "note": ".*$/\1/p' revealed/exp.json | cmp - lines || exit 1
# what its keeper may look at is the same
chmod 600 seed
"$ASSAY" cases make --op exp --seed-file seed --count 80 | cmp - revealed/exp.json || exit 1

rm -r revealed
other=$(echo "$hash" | tr '0123456789abcdef' '123456789abcdef0')
hidden --reveal --seed-file seed --hash "$other" --out revealed >out 2>err
[ $? = 1 ] && [ ! -s out ] && [ ! -e revealed ] || { echo "another hash"; exit 1; }
grep -c "this is not what was committed to: sha256 $hash, not $other" err
hidden --reveal --seed-file seed --hash "$hash" --count 81 --out revealed >out 2>&1
[ $? = 1 ] && [ ! -e revealed ] || { echo "another count"; exit 1; }
hidden --new-seed another || exit 1
hidden --reveal --seed-file another --hash "$hash" --out revealed >out 2>&1
[ $? = 1 ] && [ ! -e revealed ] || { echo "another seed"; exit 1; }
grep -q "$(cat another)" out && { echo "the seed is told"; exit 1; }
for wrong in "--seed-file nowhere --commit" "--reveal --seed-file seed" "--reveal --seed-file seed --hash 12" \
    "--seed-file seed --commit --hash $hash" "--seed-file seed --commit --out x" "--commit --op exp --seed-file seed" \
    "--new-seed x --seed-file seed" "--new-seed nowhere/x"; do
    # shellcheck disable=SC2086 # words
    hidden $wrong >out 2>err
    [ $? -ge 2 ] && [ -s err ] && [ ! -s out ] && [ ! -e x ] || { echo "accepted: $wrong"; cat out err; exit 1; }
done
echo 0123 >short
chmod 600 short
hidden --seed-file short --commit 2>&1
echo "exit $?"
