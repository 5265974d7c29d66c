# SPDX-License-Identifier: Apache-2.0
# kill -9 at random moments of a run and on with --resume until it is done, several times: the result is that of a run
# nobody disturbed, bit for bit, and no half-written file is left.
kills=${KILLS:-8}
seed=${ASSAY_SEED:-$(date +%s)}
. "$SRC/tests/cli/qnet.inc"
words="weights_phase.epochs=4 both.epochs=4 augment.shift=1"
start=$(date +%s%N)
# shellcheck disable=SC2086 # words
train whole $words || exit 1
length=$((($(date +%s%N) - start) / 1000000))
killed=0 finished=0 attempt=0
while [ $killed -lt "$kills" ] && [ $attempt -lt 100 ]; do
    attempt=$((attempt + 1))
    delay=$(awk -v s=$((seed + attempt)) -v k=$attempt -v ms=$length \
        'BEGIN { srand(s); printf "%.3f", (k * 7 % 10 + rand()) / 10 * ms / 1000 }')
    if [ -e run/checkpoint.qn ]; then
        "$QNET" train toy --out run --resume --quiet 2>err &
    else
        # shellcheck disable=SC2086
        "$QNET" train toy --net ./toy.json --out run --weights ternary --activations u2 --epochs 2 --quiet batch=20 \
            $words 2>err &
    fi
    pid=$!
    (sleep "$delay"; kill -9 $pid 2>/dev/null) &
    timer=$!
    wait $pid 2>/dev/null
    code=$?
    kill $timer 2>/dev/null
    wait $timer 2>/dev/null
    if [ $code = 137 ]; then
        killed=$((killed + 1))
        [ ! -e run/checkpoint.qn ] || "$QN_TOOL" finite run/checkpoint.qn || { echo "seed $seed"; exit 1; }
        continue
    fi
    [ $code = 0 ] || { echo "exit status $code, seed $seed"; cat err; exit 1; }
    cmp run/model.qn whole/model.qn || { echo "seed $seed"; exit 1; }
    finished=$((finished + 1))
    rm -r run
done
[ $killed -ge 3 ] || { echo "killed $killed times in $attempt attempts"; exit 1; }
if [ -e run/checkpoint.qn ]; then
    "$QNET" train toy --out run --resume --quiet || exit 1
    cmp run/model.qn whole/model.qn || { echo "seed $seed"; exit 1; }
    for f in run whole; do sed 's/"took_s":[^,]*,//' $f/history.json >$f.history; done
    cmp run.history whole.history || exit 1
    [ "$(ls -A run | tr '\n' ' ')" = "checkpoint.qn history.json model.qn report.html " ] || { ls -A run; exit 1; }
fi
[ -z "$VERBOSE" ] || echo "killed $killed times, finished $finished times" >&2
