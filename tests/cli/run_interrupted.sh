# SPDX-License-Identifier: Apache-2.0
# SIGINT: the case ends, the table of what there is comes, the journal stays and is gone on with.
run() { "$ASSAY" run "$SRC/examples/first" --op exp,gelu,mish,sigmoid --no-timing --json r.json "$@"; }
"$ASSAY" run "$SRC/examples/first" --op exp,gelu,mish,sigmoid --no-timing --json r.json >out 2>err &
pid=$!
n=0
until [ -s r.json.partial ] && [ "$(grep -c '"kind":"case"' r.json.partial)" -ge 2 ]; do
    n=$((n + 1))
    [ $n -lt 600 ] || exit 1
    sleep 0.1
done
kill -TERM $pid
wait $pid
[ $? = 3 ] || { echo "exit status"; cat out err; exit 1; }
[ -s r.json.partial ] && [ ! -e r.json ] || exit 1
grep '^interrupted: ' out
cat err
run --resume --quiet || exit 1
[ ! -e r.json.partial ] && [ "$(grep -c '"verdict":"PASS"' r.json)" = 80 ]
