# SPDX-License-Identifier: Apache-2.0
# Three shards, one of them cut off and gone on with, merged: the verdicts, scores and counts of one run. What does
# not belong together is refused by name, and nothing is written.
cases=exp/1,exp/2,exp/3,exp/4,gelu/1,gelu/2,gelu/3,mish/1,mish/2,mish/3
run() { "$ASSAY" run "$SRC/examples/flawed" --baseline "$SRC/examples/first" --no-timing --quiet --cases $cases "$@"; }
# times and seeds apart; controls, whose places and values follow from the seed
facts()
{
    sed 's/"wall_s":[0-9.e-]*//g; s/"hash":"[^"]*"//' "$1" | grep '"operators":\|"tier":\|"present":' >facts.1
    sed -n 's/^{"op":"\([a-z]*\)","case":\([0-9]*\),"done":true,"failed_here":false,"verdict":"\([A-Z_]*\)","code":"\([a-z_]*\)".*/\1 \2 \3 \4/p' "$1" >facts.2
    cat facts.1 facts.2
}
run --json whole.json
whole=$?
for i in 1 2 3; do run --shard $i/3 --json $i.json || true; done
# as a run that was killed leaves it: a manifest, one case, and half a line
{
    sed -n 's/^"manifest":\(.*\),$/{"format":2,"kind":"manifest","manifest":\1}/p' 2.json
    sed -n 's/^\({"op":"gelu","case":.*}\),$/{"kind":"case","case":\1}/p' 2.json | head -n 1
    printf '{"kind":"case","case":{"op":"exp","ca'
} >2.json.partial
rm 2.json
run --shard 3/3 --json 2.json --resume 2>&1 | sed 's/^.*belongs/belongs/'
run --shard 2/3 --json 2.json --resume || true
"$ASSAY" merge merged.json 3.json 1.json 2.json >table
[ $? = $whole ] || { echo "exit status"; cat table; exit 1; }
facts whole.json >want
facts merged.json >got
[ "$(grep -c '^[a-z]* [0-9]* [A-Z]' want)" = 10 ] && diff want got || { echo "another result"; exit 1; }
grep -c '^  shard [123]: [34] cases, ' table
grep -o '^suite .*' table
"$ASSAY" merge - 1.json 2.json 3.json --quiet 2>err | cmp - merged.json && [ ! -s err ] || exit 1

try()
{
    "$ASSAY" merge out.json "$@" >out 2>&1
    echo "$? $(cat out)"
    [ ! -e out.json ] || { echo "written"; exit 1; }
}
try 1.json 3.json
try 1.json 2.json 2.json 3.json
try 1.json whole.json
try nowhere.json
sed 's/"rules":"paper"/"rules":"upstream"/' 3.json >4.json
try 4.json 1.json 2.json
"$ASSAY" merge 1.json 2.json 1.json 3.json
for wrong in 0/3 4/3 1/0 1 /3 1/ 1/3x -1/3 1/99999999999 " 1/3"; do
    "$ASSAY" run "$SRC/examples/flawed" --no-timing --shard "$wrong" >out 2>err
    [ $? = 2 ] && grep -q 'no shard' err || { echo "accepted: $wrong"; exit 1; }
done
run --shard 1/11
