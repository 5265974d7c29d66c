# SPDX-License-Identifier: Apache-2.0
# The first signal ends a run between two batches with what to do next; going on gives the run in one go.
. "$SRC/tests/cli/qnet.inc"
train whole weights_phase.epochs=15 || exit 1
for signal in INT TERM; do
    rm -rf run
    # a shell that is not interactive starts what runs in the background deaf to SIGINT
    (trap - INT; exec "$QNET" train toy --net ./toy.json --out run --weights ternary --activations u2 --epochs 2 --quiet \
        batch=20 weights_phase.epochs=15) 2>err &
    pid=$!
    until [ -e run/history.json ]; do sleep 0.01; done
    kill -$signal $pid
    wait $pid
    code=$?
    if [ $code = 3 ]; then
        grep -q 'interrupted after [0-9]* epochs; `qnet train toy --out run --resume` goes on$' err || { cat err; exit 1; }
    elif [ $code != 0 ]; then # it may have been done before
        echo "exit status $code"
        cat err
        exit 1
    fi
    "$QNET" train toy --out run --resume --quiet && cmp run/model.qn whole/model.qn || exit 1
done
