# SPDX-License-Identifier: Apache-2.0
# A rate that is far too high ends the run with exit status 1 and the name of a layer; the checkpoint of the epoch before
# stays and is of use.
. "$SRC/tests/cli/qnet.inc"
"$QNET" train toy --net ./toy.json --out run --epochs 4 --quiet --until 2 batch=20 clip=0 || exit 1
cp -r run before
# the third epoch is another matter
"$QNET" train toy --net ./toy.json --out wild --epochs 4 --quiet batch=20 clip=0 float.rate=1000 2>err
[ $? = 1 ] || { echo "no divergence"; exit 1; }
sed 's/batch [0-9]*/batch N/' err
"$QN_TOOL" finite wild/checkpoint.qn || { echo "not finite"; exit 1; }
ls wild
"$QNET" eval wild/checkpoint.qn toy || exit 1
"$QNET" inspect wild/checkpoint.qn | sed -n 3p
# so with resuming: nothing is lost by trying
"$QNET" train toy --out wild --resume --quiet 2>again
[ $? = 1 ] && cmp err again || exit 1
# in a later phase
"$QNET" train toy --net ./toy.json --out late --weights ternary --epochs 2 --quiet batch=20 clip=0 \
    weights_phase.rate=1000 decay=1 2>err
[ $? = 1 ] || { echo "no divergence in the second phase"; cat err; exit 1; }
grep -q 'diverged: epoch [34]' err || { cat err; exit 1; }
"$QN_TOOL" finite late/checkpoint.qn && "$QN_TOOL" history late/history.json || exit 1
