# SPDX-License-Identifier: Apache-2.0
# Every method, and the switches of quantisers: a run ends well, and model and checkpoint say the same as the history.
. "$SRC/tests/cli/qnet.inc"
one()
{
    name=$1
    shift
    train $name float.epochs=1 weights_phase.epochs=1 both.epochs=1 "$@" 2>err || { echo "$name"; cat err; exit 1; }
    "$QNET" eval $name/model.qn toy >"eval" || exit 1
    hard=$(sed -n 's/^hard accuracy \([0-9.]*\) .*/\1/p' eval)
    grep -o '"hard_accuracy":[0-9.]*' $name/history.json | tail -1 |
        awk -F: -v a="$hard" '{ exit !(sprintf("%.2f", 100 * $2) == a) }' || { echo "$name: eval says $hard"; exit 1; }
    "$QNET" inspect $name/model.qn >inspect || exit 1
    # what the last line of the history says of the weights of conv2, and the same from the file
    shares=$(sed -n '/^conv2 /,/shares/s/^ *shares % *//p' inspect)
    tail -1 $name/history.json | sed 's/.*"layer":"conv2"[^}]*"shares":\[\([^]]*\)\].*/\1/' |
        awk -F, -v want="$shares" '{ # one is rounded from float
            n = split(want, w, " "); bad = n != NF && NF < 16
            for (i = 1; i <= n; i++) bad += 100 * $i - w[i] > 0.06 || w[i] - 100 * $i > 0.06
            exit bad || n < 2 }' ||
        { echo "$name: the history has other shares than $shares"; tail -1 $name/history.json; exit 1; }
    echo "$name $(sed -n 's/^conv2 .*bits*, \([a-z]*\),.*/\1/p' inspect) $(sed -n 's/^quant1 .*bits*, \([a-z]*\),.*/\1/p' inspect)"
}
for method in sigmoid ste dorefa lsq; do one $method --method $method --weights pm2; done
one twn --method twn
one binary --weights binary --activations u1
one wide --weights s4 --activations u8
one list --weights=-3,-1,0,1,3 --activations 0,1,4
one paper --preset paper
one released --preset released --weights binary
one shared weights.shared=true activations.shared=true
one channels weights.per_channel=true activations.per_channel=true
one learned weights.learn_thresholds=true activations.learn_thresholds=true
one clustered weights.middle=twn weights.quantile=0.98 activations.skip_zeros=true activations.quantile=0.99
one even weights.uniform=true activations.uniform=true clip_latent=true smoothing=0.1 nesterov=true
one ends first.kind=sigmoid first.levels=s4 last.kind=ste last.levels=pm15
one hot weights.heat=exponential activations.heat=constant activations.slope=0.5
one alone activations_phase.epochs=1 both.epochs=0
