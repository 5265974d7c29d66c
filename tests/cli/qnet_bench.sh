# SPDX-License-Identifier: Apache-2.0
# Where the time of a step goes: a row for each kind of layer, with made-up pictures and with those of a data set.
. "$SRC/tests/cli/qnet.inc"
"$QNET" bench ./toy.json --batch 8 --rounds 2 --weights ternary --activations u2 || exit 1
"$QNET" bench ./toy.json --batch 8 --rounds 3 --data toy --json - || exit 1
