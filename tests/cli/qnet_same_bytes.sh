# SPDX-License-Identifier: Apache-2.0
# The same seed gives the same bytes, for any number of threads; another one does not.
. "$SRC/tests/cli/qnet.inc"
train a --threads 1 --seed 7 augment.shift=1 augment.flip=true || exit 1
train b --threads 1 --seed 7 augment.shift=1 augment.flip=true || exit 1
train c --threads 2 --seed 7 augment.shift=1 augment.flip=true || exit 1
train d --threads 1 --seed 8 augment.shift=1 augment.flip=true || exit 1
cmp a/model.qn b/model.qn || exit 1
cmp a/model.qn c/model.qn || exit 1
cmp -s a/model.qn d/model.qn && { echo "seeds 7 and 8 give the same"; exit 1; }
# histories are the same but for times
for f in a c; do sed 's/"took_s":[^,]*,//' $f/history.json >$f.history; done
cmp a.history c.history || exit 1
# what it does on test pictures as well
for f in a b; do "$QNET" eval $f/model.qn toy --predictions $f.txt --threads 2 >$f.out || exit 1; done
"$QNET" eval a/model.qn toy --predictions c.txt --threads 1 --batch 11 >c.out || exit 1
cmp a.txt b.txt && cmp a.txt c.txt || exit 1
