# SPDX-License-Identifier: Apache-2.0
# docs/qnet.md: every command in it runs, in this order, and prints what stands there, but for numbers. The data are a
# small set that looks like the one of the page.
"$QN_TOOL" fashion fashion || exit 99
mkdir bin && ln -s "$QNET" bin/qnet
PATH=$PWD/bin:$PATH
page=$SRC/docs/qnet.md
commands=$(sed -n 's/^\$ //p' "$page")
[ "$(echo "$commands" | wc -l)" -ge 6 ] || exit 1
plain() { sed 's/-\{0,1\}[0-9][0-9.]*\(e[+-][0-9]*\)\{0,1\}/N/g' | tr -s ' ' | sed 's/ $//'; }
echo "$commands" | while IFS= read -r command; do
    case $command in 'qnet data fetch '*) continue ;; esac # from the net
    # shellcheck disable=SC2086 # words
    $command >out 2>err </dev/null || { echo "exit status $?: $command"; cat err; exit 1; }
    # what stands below the command, up to the next one or the end of the block
    awk -v c="\$ $command" '$0 == c { on = 1; next } on && (/^\$ / || /^```/) { exit } on' "$page" | plain >want
    plain <out | diff want - || { echo "docs/qnet.md: another output of $command"; exit 1; }
done || exit 1
