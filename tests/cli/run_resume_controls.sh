# SPDX-License-Identifier: Apache-2.0
# A run that ended between the cases and their controls, or among these, gets the missing ones when it goes on.
cat >m.json <<'END'
{"format": 2, "kind": "cpu", "rates": [{"threads": 1, "peak": {"dram": 1e11, "fma_f32": 1e12}}]}
END
run() { "$ASSAY" run "$SRC/examples/first" --cases exp/1 --budget 0.3 --machine m.json --json r.json "$@"; }
bad() { echo "$1"; exit 1; }
all_nine()
{
    for control in same slower swapped null; do
        [ "$(grep -c "^{\"control\":\"$control\",.*\"time\":{" r.json)" = 1 ] || bad "$1: not one control $control"
    done
    for control in nothing zeros identity stale downcast; do
        [ "$(grep -c "^{\"control\":\"$control\",.*\"verdict\":\"WRONG\"" r.json)" = 1 ] || bad "$1: not one control $control"
    done
    [ "$(grep -c '^{"control":' r.json)" = 9 ] && [ ! -e r.json.partial ] || bad "$1: not nine controls"
}

# asked to end as soon as the case is there: what is being measured is finished, and no more
"$ASSAY" run "$SRC/examples/first" --cases exp/1 --budget 0.3 --machine m.json --json r.json >out 2>err &
pid=$!
n=0
until [ -s r.json.partial ] && grep -q '"kind":"case"' r.json.partial; do
    n=$((n + 1))
    [ $n -lt 600 ] || bad "no case"
    sleep 0.1
done
kill -TERM $pid
wait $pid
[ $? = 3 ] || { cat out err; bad "exit status"; }
[ ! -e r.json ] && [ "$(grep -c '"kind":"control"' r.json.partial)" -lt 9 ] || bad "it went on"
run --resume --quiet || bad "resumed among the controls"
all_nine "among the controls"

# cut off before the first of them
journal()
{
    sed -n 's/^"manifest":\(.*\),$/{"format":2,"kind":"manifest","manifest":\1}/p' r.json
    sed -n 's/^\({"op":"exp","done":.*}\)\],$/{"kind":"build","build":\1}/p' r.json
    sed -n 's/^\({"op":"exp","case":.*}\)\],$/{"kind":"case","case":\1}/p' r.json
}
journal >r.json.partial
[ "$(wc -l <r.json.partial)" -eq 3 ] || bad "the journal"
grep '^{"op":"exp","case":' r.json >case
rm r.json
run --resume --quiet || bad "resumed before the controls"
all_nine "before the controls"
grep '^{"op":"exp","case":' r.json | cmp - case || bad "the case was measured again"

# and nothing is measured twice
grep '^{"control":' r.json >controls
run --resume --quiet || bad "resumed at the end"
grep '^{"control":' r.json | cmp - controls || bad "controls were measured again"
