# SPDX-License-Identifier: Apache-2.0
# Each is wrong usage, and names the text that is wrong.
check()
{
    want=$1
    shift
    "$ASSAY" "$@" >out 2>err
    code=$?
    [ $code = 2 ] || { echo "exit status $code: $*"; exit 1; }
    [ ! -s out ] || { echo "something on stdout: $*"; exit 1; }
    grep -qF -- "$want" err || { echo "no '$want': $*"; cat err; exit 1; }
}
mkdir s
check "option --seed: not a whole number: 'x7'" run s --seed x7
check "option --tier: '9' outside [1, 4]" run s --tier 9
check "option --threads: '0' outside" run s --threads=0
check "option --rules: 'new' is not one of paper|upstream" run s --rules new
check "option --target: 'gpu' is not one of cpu" run s --target gpu
check "option --json needs a value: FILE" run s --json
check "--resume needs the --json FILE" run s --resume
check "--resume needs the --json FILE" run s --resume --json -
check "unknown choice of cases 'secret'" run s --cases secret
check "--cases hidden needs the --seed-file FILE" run s --cases hidden
check "'exp/x' names no case" run s --cases exp/x
check "'exp/-1' names no case" run s --cases exp/-1
check "--cases names 'gelu', --op does not" run s --op exp --cases gelu/3
check "no operator is left" run s --op exp --tier 4
check "no case 'exp/999999'" run s --cases exp/999999 --no-timing
check "no folder 'nosuch'" run s --suite nosuch
check "no folder 'nosuch'" run s --baseline nosuch
check "cannot read 'nosuch'" run s --machine nosuch
check "unexpected argument 't'" run s t
check "no folder 'nosuch'" debug nosuch exp/1
check "'exp' names no case" debug s exp
check "arguments missing: SUBMISSION OP/ID expected" debug s
check "--header goes with no other option" show exp --header --json
