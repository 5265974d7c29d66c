# SPDX-License-Identifier: Apache-2.0
# Starting from weights: of a float net, quantisers are set up anew; of one with the same quantisers they go on as they
# are; other levels begin again from the float weights.
. "$SRC/tests/cli/qnet.inc"
alpha() { "$QNET" inspect "$1" | sed -n 's/^conv2 .*alpha \([0-9.e+-]*\),.*/\1/p'; }
"$QNET" train toy --net ./toy.json --out float --epochs 2 --quiet batch=20 || exit 1
"$QNET" train toy --net ./toy.json --out w2 --weights ternary --from float/model.qn --epochs 2 batch=20 >log 2>said ||
    { cat said; exit 1; }
sed 's/[0-9][0-9]* arrays/N arrays/' said
grep -c ' weights ' log # an epoch each
grep -q ' float  ' log && { echo "a float phase"; exit 1; }

# no steps are made: what comes out is what went in
set -- --net ./toy.json --quiet batch=20 both.rate=0 weights_phase.epochs=0 both.epochs=1
"$QNET" train toy --out on --weights ternary --activations u2 --from w2/model.qn "$@" 2>/dev/null || exit 1
[ -n "$(alpha w2/model.qn)" ] && [ "$(alpha w2/model.qn)" = "$(alpha on/model.qn)" ] ||
    { echo "scales of ternary weights: $(alpha w2/model.qn) became $(alpha on/model.qn)"; exit 1; }
"$QNET" train toy --out other --weights pm2 --activations u2 --from w2/model.qn "$@" 2>/dev/null || exit 1
[ "$(alpha other/model.qn)" != "$(alpha w2/model.qn)" ] || exit 1
# activations, too
"$QNET" train toy --out again --weights ternary --activations u2 --from on/model.qn "$@" 2>/dev/null || exit 1
for f in on again; do
    "$QNET" inspect $f/model.qn | grep -A2 '^quant\|^conv2' >$f.txt
    "$QNET" eval $f/model.qn toy --predictions $f.classes >/dev/null || exit 1
done
cmp on.txt again.txt || exit 1
# a net that was stopped before anything was quantised has no scales worth keeping: its own are all 1
train early --until 1 || exit 1
"$QNET" train toy --out late --weights ternary --activations u2 --from early/model.qn "$@" 2>/dev/null || exit 1
[ "$(alpha late/model.qn)" != 1 ] || exit 1

# another net
sed 's/"out": 8/"out": 9/' toy.json >wide.json
check 2 "--from" train toy --net ./wide.json --out no --weights ternary --from float/model.qn batch=20
grep -q "'conv2.weight' is \[8, 6, 3, 3\], the net's 'conv2.weight' is \[9, 6, 3, 3\]" stderr || { cat stderr; exit 1; }
[ ! -e no ] || exit 1
