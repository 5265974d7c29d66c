# SPDX-License-Identifier: Apache-2.0
# A run that was stopped and taken up again, once and after every epoch, is the run in one go, bit for bit. Adam
# remembers more than SGD; dropout has random numbers of its own.
. "$SRC/tests/cli/qnet.inc"
sed 's/{ "type": "flatten" },/&{ "type": "dropout", "rate": 0.2 },/' toy.json >t && mv t toy.json
same()
{
    cmp "$1/model.qn" "$2/model.qn" || exit 1
    "$QN_TOOL" same "$1/checkpoint.qn" "$2/checkpoint.qn" || exit 1
    for f in "$1" "$2"; do sed 's/"took_s":[^,]*,//' "$f/history.json" >"$f.history"; done
    cmp "$1.history" "$2.history" || exit 1
}
for optimiser in sgd adam; do
    rm -rf whole half steps
    set -- optimiser=$optimiser augment.shift=1 float.rate=0.01 both.rate=0.001 weights_phase.rate=0.001
    train whole "$@" || exit 1
    train half --until 3 "$@" || exit 1
    "$QN_TOOL" history half/history.json
    "$QNET" train toy --out half --resume --quiet || exit 1
    same whole half
    train steps --until 1 "$@" || exit 1
    for n in 2 3 4 5 6; do
        "$QNET" train toy --out steps --resume --until $n --threads $((n % 2 + 1)) --quiet || exit 1
    done
    same whole steps
done
# asking for less than there is, or for a run that is over, changes nothing
cp whole/model.qn over.qn
"$QNET" train toy --out whole --resume --until 2 --quiet && cmp whole/model.qn over.qn || exit 1
"$QNET" train toy --out whole --resume --quiet && cmp whole/model.qn over.qn || exit 1
"$QN_TOOL" history whole/history.json
# files that a killed process did not come to are made good
rm whole/model.qn whole/history.json
: >whole/model.qn.999999999.0.tmp
: >whole/checkpoint.qn.999999999.0.tmp
: >whole/report.html.999999999.0.tmp
"$QNET" train toy --out whole --resume --quiet && cmp whole/model.qn over.qn || exit 1
ls -A whole
