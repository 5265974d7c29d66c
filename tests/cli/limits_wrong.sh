# SPDX-License-Identifier: Apache-2.0
# Each is wrong usage, says so in a line, and prints nothing else.
check()
{
    want=$1
    shift
    "$ASSAY" limits "$@" >out 2>err
    code=$?
    [ $code = 2 ] || { echo "exit status $code: $*"; exit 1; }
    [ ! -s out ] || { echo "something on stdout: $*"; exit 1; }
    grep -qF -- "$want" err || { echo "no '$want': $*"; cat err; exit 1; }
}
check "cannot read './910b2'" --machine ./910b2
check "option --machine: empty value" --machine ""
check "cannot read 'nosuch/../..'" --machine nosuch/../..
check "no folder 'nosuch'" --machine 910b2 --suite nosuch
check "--threads goes with processors, 910b2 is an accelerator" --machine 910b2 --threads 2
check "no operator 'sigmod'; did you mean sigmoid?" --machine 910b2 --op sigmod
check "no case 'exp/99' in the suite" --machine 910b2 --cases exp/99
check "--cases names 'gelu', --op does not" --machine 910b2 --op exp --cases gelu/3
check "unexpected argument 'exp'" exp
echo '{"format": 1, "name": "this", "peak": {"dram": 1e10}}' >old.json
check "old.json: format 1 lacks what limits need now; measure again with assay calibrate --json FILE" --machine old.json
mkdir empty
check "empty has no operator" --machine 910b2 --suite empty
"$ASSAY" limits --machine 910b2 --json nosuch/limits.json >out 2>err
[ $? = 3 ] && [ ! -s out ] && grep -q nosuch err || exit 1
# Profiles of accelerators, and of other thread counts, are not for runs here.
"$ASSAY" run "$SRC/examples/first" --cases exp/1 --machine "$SRC/data/machines/910b2.json" >out 2>err
[ $? = 2 ] && [ ! -s out ] && grep -q '910b2.json is an accelerator, kernels run on this processor' err || exit 1
echo '{"format": 2, "kind": "cpu", "rates": [{"threads": 3, "peak": {"dram": 1e10}}]}' >three.json
"$ASSAY" run "$SRC/examples/first" --cases exp/1 --machine three.json >out 2>err
[ $? = 2 ] && grep -q 'three.json: profile has 3 threads, not 1; run assay calibrate --threads 1' err
