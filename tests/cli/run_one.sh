#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs one test of the command line: sh run_one.sh x.sh ASSAY SOURCE_DIR QNET QN_TOOL
#
# x.sh runs in a fresh folder with ASSAY and QNET (the programs), SRC (the source tree) and QN_TOOL (tests/qn_tool.c)
# in its environment. Beside it lie:
#   x.stdout.exact, x.stderr.exact   the output, byte for byte
#   x.stdout.glob, x.stderr.glob     patterns, one a line, that lines of the output match in this order; lines
#                                    between them are free; "! PATTERN" says that no line matches
#   x.exit                           the exit status, 0 when there is no such file
set -u

script=$1
ASSAY=$2
SRC=$3
QNET=$4
QN_TOOL=$5
export ASSAY SRC QNET QN_TOOL
LC_ALL=C
export LC_ALL
case $script in /*) ;; *) script=$PWD/$script ;; esac
base=${script%.sh}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/cwd"

(cd "$dir/cwd" && sh "$script") >"$dir/stdout" 2>"$dir/stderr"
got=$?
failed=0

fail()
{
    echo "$(basename "$base"): $*"
    failed=1
}

# Lines of $1 that match the patterns of $2 in order.
check_glob()
{
    while IFS= read -r pattern; do
        case $pattern in
        '! '*)
            while IFS= read -r line || [ -n "$line" ]; do
                case $line in
                ${pattern#'! '}) fail "a line matches $pattern" ;;
                esac
            done <"$1"
            ;;
        esac
    done <"$2"
    exec 3<"$1"
    while IFS= read -r pattern; do
        case $pattern in '! '*) continue ;; esac
        found=0
        while IFS= read -r line <&3; do
            case $line in
            $pattern)
                found=1
                break
                ;;
            esac
        done
        if [ $found = 0 ]; then
            fail "no further line of $(basename "$1") matches: $pattern"
            break
        fi
    done <"$2"
    exec 3<&-
}

want=0
[ -f "$base.exit" ] && want=$(cat "$base.exit")
[ "$got" = "$want" ] || fail "exit status $got, not $want"
for stream in stdout stderr; do
    if [ -f "$base.$stream.exact" ]; then
        diff -u "$base.$stream.exact" "$dir/$stream" || fail "$stream differs"
    elif [ -f "$base.$stream.glob" ]; then
        check_glob "$dir/$stream" "$base.$stream.glob"
    fi
done
if [ $failed = 1 ]; then
    echo "---- stdout"
    head -c 4000 "$dir/stdout"
    echo "---- stderr"
    head -c 4000 "$dir/stderr"
fi
exit $failed
