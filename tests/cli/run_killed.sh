# SPDX-License-Identifier: Apache-2.0
# kill -9 for the whole process group at random moments of a run, all over its length, and on with --resume each time
# until it is done, again and again, for about a minute (KILLS and BUDGET_S say how much). Afterwards: the journal never
# lost a case, no process is left, no half-written file, and verdicts, codes, scores and counts are those of an
# undisturbed run. Seeds are drawn anew and times are what they are: these are not compared.
kills=${KILLS:-50}
budget=${BUDGET_S:-60}
seed=${ASSAY_SEED:-$(date +%s)}
echo "ASSAY_SEED=$seed KILLS=$kills" >log
command -v setsid >/dev/null || { echo "skipped: no setsid"; exit 0; }
child=$(dirname "$ASSAY")/assay-child
mkdir tmp out
TMPDIR=$PWD/tmp
export TMPDIR
# small kernels on both sides: most of a run is builds. One is wrong, one dies.
cp -r "$SRC/examples/first" mine
cp mine/exp.c mine/mish.c . && rm mine/*.c && mv exp.c mish.c mine
echo '#include <assay/gelu.h>
int assay_gelu(const struct assay_call *c) { (void)c; return 0; }' >mine/gelu.c
echo '#include <assay/sigmoid.h>
int assay_sigmoid(const struct assay_call *c) { (void)c; __builtin_trap(); }' >mine/sigmoid.c
cases=exp/1,exp/2,gelu/1,mish/1,sigmoid/1,sigmoid/2
run="$ASSAY run mine --baseline $SRC/examples/first --no-timing --quiet --resume --cases $cases --json out/r.json"

facts()
{
    sed 's/"wall_s":[0-9.e-]*//g' "$1" | grep '^{"tier":\|^{"op":"[a-z]*","tier":'
    sed 's/"wall_s":[0-9.e-]*//g; s/"diagnostics":.*//' "$1" | grep '"present":'
    sed -n 's/^\({"control":"[a-z]*","row":\|\){"op":"\([a-z]*\)","case":\([0-9]*\),"done":true,"failed_here":false,"verdict":"\([A-Z_]*\)","code":"\([a-z_]*\)".*/\1 \2 \3 \4 \5/p' "$1" |
        sed 's/^{"control":\("[a-z]*"\).* \([A-Z]*\) [a-z_]*$/\1 \2/' # which code a wrong control gets is up to its seed
}
# Cases that the journal holds in whole lines.
held() { sed -n '/}$/s/^{"kind":"case","case":{"op":"\([a-z]*\)","case":\([0-9]*\),"done":true.*/\1 \2/p' out/r.json.partial 2>/dev/null | sort -u; }
# Processes of this build, or at work in a folder of these runs.
left()
{
    names=$(cd tmp && echo assay-build-*)
    for p in /proc/[0-9]*; do
        exe=$(readlink "$p/exe" 2>/dev/null)
        cwd=$(readlink "$p/cwd" 2>/dev/null)
        [ "$exe" = "$child" ] && grep -q 'State:.[^ZX]' "$p/status" && echo "$p $exe"
        for n in $names; do case $cwd in */"$n"*) echo "$p $exe $cwd" ;; esac; done
    done 2>/dev/null
}
# What is killed takes a moment to go.
none_left()
{
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        [ -z "$(left)" ] && return 0
        sleep 0.2
    done
    echo "left behind:"
    left
    return 1
}

start=$(date +%s%N)
$run
want=$?
length=$((($(date +%s%N) - start) / 1000000))
facts out/r.json >want
[ "$(grep -c '' want)" -ge 15 ] || { cat want; exit 1; }
rm out/r.json

killed=0 finished=0 attempt=0
end=$(($(date +%s) + budget))
: >before
while [ $killed -lt "$kills" ] && [ "$(date +%s)" -lt $end ]; do
    attempt=$((attempt + 1))
    delay=$(awk -v s=$((seed + attempt)) -v k=$attempt -v ms=$length \
        'BEGIN { srand(s); printf "%.3f", (k * 7 % 10 + rand()) / 10 * ms / 1000 }')
    # shellcheck disable=SC2086 # words
    setsid $run 2>err &
    pid=$!
    (sleep "$delay"; kill -9 -$pid 2>/dev/null) &
    timer=$!
    wait $pid 2>/dev/null
    code=$?
    kill $timer 2>/dev/null
    wait $timer 2>/dev/null
    if [ $code = 137 ]; then
        killed=$((killed + 1))
        none_left || exit 1
        held >now
        if [ ! -e out/r.json ] && [ -n "$(comm -23 before now)" ]; then
            echo "lost after attempt $attempt:"
            comm -23 before now
            exit 1
        fi
        mv now before
        continue
    fi
    [ $code = $want ] || { echo "exit status $code after $attempt attempts"; cat err log; exit 1; }
    facts out/r.json >got
    diff want got || { echo "another result, attempt $attempt"; cat log; exit 1; }
    [ "$(ls -A out)" = r.json ] || { echo "files are left:"; ls -A out; exit 1; }
    finished=$((finished + 1))
    rm out/r.json
    : >before
done
echo "killed $killed times, finished $finished times" >>log
[ $killed -ge 5 ] || { cat log; exit 1; }
# The last one ends undisturbed. Folders of killed sessions go as soon as they are old enough not to be another's that
# begins; so does a result that was being written when its process died, and no other file.
find tmp -mindepth 1 -maxdepth 1 -exec touch -d '1 hour ago' {} +
: >out/r.json.999999999.0.tmp
: >out/r.json.1.0.tmp
: >out/s.json.999999999.0.tmp
# shellcheck disable=SC2086 # words
$run
[ $? = $want ] || exit 1
facts out/r.json | diff want - || { cat log; exit 1; }
none_left || exit 1
[ -z "$(ls -A tmp)" ] || { echo "folders are left:"; ls -A tmp; exit 1; }
ls -A out
[ -z "$VERBOSE" ] || cat log
