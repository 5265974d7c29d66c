# SPDX-License-Identifier: Apache-2.0
# Each is wrong usage, says so in a line, and prints nothing else.
check()
{
    want=$1
    shift
    "$ASSAY" adequacy "$@" >out 2>err
    code=$?
    [ $code = 2 ] || { echo "exit status $code: $*"; exit 1; }
    [ ! -s out ] || { echo "something on stdout: $*"; exit 1; }
    grep -qF -- "$want" err || { echo "no '$want': $*"; cat err; exit 1; }
}
check "no operator 'sigmod'; did you mean sigmoid?" --op sigmod
check "no case 'exp/99' in the suite" --cases exp/99
check "'exp/x' names no case" --cases exp/x
check "--cases names 'gelu', --op does not" --op exp --cases gelu/3
check "no operator is left" --op exp --tier 4
check "option --tier: '5' outside [1, 4]" --tier 5
check "option --seed: not a whole number: 'x7'" --seed x7
check "option --rules: 'new' is not one of paper|upstream" --rules new
check "option --json needs a value: FILE" --json
check "--markdown and --json - both want standard output" --markdown --json -
check "unexpected argument 'exp'" exp
"$ASSAY" adequacy --cases strided_slice/1 --json nosuch/a.json >out 2>err
[ $? = 3 ] && grep -q nosuch err
