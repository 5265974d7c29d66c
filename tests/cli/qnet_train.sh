# SPDX-License-Identifier: Apache-2.0
# A run from a float net over ternary weights to two bits of activations: what it prints, what it leaves behind, and
# what eval and inspect say of it.
. "$SRC/tests/cli/qnet.inc"
"$QNET" train toy --net ./toy.json --out run --weights ternary --activations u2 --epochs 2 --json copy.json batch=20 ||
    exit 1
ls run
cmp run/history.json copy.json || exit 1
"$QN_TOOL" history run/history.json || exit 1
# the page is whole: as many elements end as begin, nothing is loaded, nothing runs
[ "$(head -c 15 run/report.html)" = '<!doctype html>' ] && tail -c 8 run/report.html | grep -q '^</html>$' || exit 1
for e in svg g text table tr td th p h1 h2 figure style title; do
    n=$(grep -oi "<${e}[ >]" run/report.html | wc -l)
    [ "$n" = "$(grep -oi "</$e>" run/report.html | wc -l)" ] || { echo "<$e> does not end"; exit 1; }
done
grep -qi '<svg' run/report.html || exit 1
grep -i 'nan\|<script\|http://\|https://' run/report.html | grep -v 'xmlns' && exit 1

for mode in hard soft float; do
    "$QNET" eval run/model.qn toy --mode $mode || exit 1
done
"$QNET" eval run/checkpoint.qn toy --part train --json - || exit 1
"$QNET" eval run/model.qn toy --predictions classes.txt --batch 7 >again || exit 1
wc -l <classes.txt
# the accuracy of eval is that of the last epoch, and is the one of the predictions
hard=$(sed -n 's/^hard accuracy \([0-9.]*\) .*/\1/p' again)
grep -o '"hard_accuracy":[0-9.]*' run/history.json | tail -1 | awk -F: -v a="$hard" '{ exit !(sprintf("%.2f", 100 * $2) == a) }' ||
    { echo "eval says $hard"; exit 1; }
# the i-th picture is of class i mod 4
awk -v a="$hard" '{ n += $1 == (NR - 1) % 4 } END { exit !(sprintf("%.2f", 100 * n / NR) == a) }' classes.txt || exit 1

"$QNET" inspect run/model.qn || exit 1
"$QNET" inspect run/model.qn --arrays | grep -c '^conv2.weight_quant' || exit 1
"$QNET" inspect run/model.qn --json - | grep -c '"kind":"model".*"name":"conv2.weight","type":"f32","dims":\[8,6,3,3\]'
