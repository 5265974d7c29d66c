# SPDX-License-Identifier: Apache-2.0
# Kernels that try to tell of hidden cases in every way they have, and a run that is killed halfway: no
# shape, size or value of any hidden case is in what the run prints or keeps. Once the seed is revealed, each
# failure can be repeated, bit for bit.
mkdir mine
leak()
{
    echo "#include <assay/$1.h>
int assay_$1(const struct assay_call *c)
{
    const struct assay_view *x = c->in[0].view;
    struct assay_view *y = c->out[0].view;
    long n = 1;

    for (int i = 0; i < x->rank; i++)
        n *= x->shape[i];
    (void)y;
    $2
}" >"mine/$1.c"
}
# by what it returns, by a place and a value that are wrong, by where it dies, by a write past the end
leak exp 'return (int)n;'
leak gelu 'for (long i = 0; i < 2 * n; i++) ((char *)y->data)[i] = (char)n; return 0;'
leak mish '*(volatile char *)(n * 4096) = 1; return 0;'
leak sigmoid '((char *)y->data)[n * (x->dtype == ASSAY_F32 ? 4 : 2) + n % 64] = 1; return 0;'

# A seed that is not secret: the classes of its first cases decide what each kernel is found guilty of.
(umask 077 && printf '%064d\n' 3 >seed)
"$ASSAY" cases hidden --seed-file seed --count 20 --commit >commitment || exit 1
hash=$(sed -n 's/^sha256 *//p' commitment)
cases=$(for op in exp gelu mish sigmoid; do for i in 1001 1002; do printf '%s/%s,' $op $i; done; done)
run() { "$ASSAY" run mine --baseline "$SRC/examples/first" --no-timing --seed-file seed --count 20 --json r.json --verbose "$@"; }

# first all of one operator
run --cases hidden --op exp >whole 2>&1
[ $? = 1 ] || { cat whole; exit 1; }
cp r.json whole.json
rm r.json

# then some of four, killed as soon as there is something in the journal
run --cases "${cases%,}" >killed 2>&1 &
pid=$!
n=0
until [ "$(grep -c '"kind":"case"' r.json.partial 2>/dev/null)" -ge 3 ] 2>/dev/null; do
    n=$((n + 1))
    [ $n -lt 1200 ] || exit 1
    sleep 0.1
done
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
cp r.json.partial journal
run --cases "${cases%,}" --resume >out 2>err
[ $? = 1 ] || { echo "exit"; cat out err; exit 1; }
for op in exp gelu mish sigmoid; do # replays that are not possible yet
    "$ASSAY" replay r.json $op/1001 >>out 2>&1
    [ $? = 2 ] || { echo "replayed"; exit 1; }
    "$ASSAY" debug mine $op/1001 >>out 2>&1
    [ $? = 2 ] || { echo "debugged"; exit 1; }
done
grep -m 1 '^assay replay: ' out
grep -m 1 '^assay debug: ' out

# What would tell: every extent and every count of elements of four digits or more, every range, each dtype's
# name, the seed; and shapes as they are written. Words such as the year are no marks.
"$ASSAY" cases hidden --reveal --seed-file seed --count 20 --hash "$hash" --out revealed >/dev/null || exit 1
grep -E '^(exp|gelu|mish|sigmoid) ' revealed/hidden.txt | sed 's/.*"shape": \(\[[^]]*\]\), "range": \(\[[^]]*\]\).*/\1 \2/' >shapes
[ "$(wc -l <shapes)" = 80 ] || exit 1
sed 's/ \[[^]]*\]$//; s/ //g' shapes >marks
sed 's/ \[[^]]*\]$//' shapes >>marks
sed 's/ \[[^]]*\]$//; s/[^0-9,]//g' shapes | awk -F, '{ n = 1; for (i = 1; i <= NF; i++) { n *= $i; print $i } print n }' |
    awk '($1 == 1000 || $1 > 1020) && $1 != strftime("%Y") && $1 != 4096' >numbers # 1001 .. 1020 are ids
sed 's/.*\] //; s/, /,/' shapes | grep -v '^\[-*[01],[01]\]$' >>marks
cat seed >>marks
[ "$(wc -l <numbers)" -ge 80 ] || exit 1
for f in whole whole.json killed journal out err r.json; do
    [ -s $f ] || { echo "$f is empty"; exit 1; }
    # dates and versions of programs are not of the run; a control may be measured on a public case
    sed '/"case":[0-9]\{1,3\},/d; s/"kernel":"[^"]*"//g; s/"date":"[^"]*"//g; s/"compiler":"[^"]*"//g; s/^AMD.*\|^Intel.*//' $f |
        sed 's/[0-9]*\.[0-9]*//g' >plain
    ! grep -Fn -f marks plain || { echo "$f tells of a hidden case"; exit 1; }
    ! grep -Fwn -f numbers plain || { echo "$f tells a size of a hidden case"; exit 1; }
    ! grep -E '"match":\{|"total":|float16|bfloat16|float32|, got|got .*want' plain || { echo "$f tells values"; exit 1; }
    cp plain "plain.$f"
done
# and the marks would have been found
"$ASSAY" run mine --no-timing --cases gelu/1 --json public.json >public
grep -q '"match":{' public.json && grep -q 'want' public || exit 1

sed -n 's/.*"op":"\([a-z]*\)","case":1001.*"verdict":"\([A-Z]*\)","code":"\([a-z_]*\)","reason":"\([a-z ]*\)".*/\1 \2 \3 (\4)/p' r.json | head -4
grep -o '"hidden":"[0-9a-f]*","hidden_count":20' r.json | sed "s/$hash/HASH/"

# revealed: the same again
for op in exp gelu sigmoid; do
    "$ASSAY" replay r.json $op/1002 --revealed revealed --no-shrink --json - >replay.json 2>replay.txt || { cat replay.*; exit 1; }
    grep -o '"repeated":[a-z]*\|"bit_for_bit":[a-z]*\|"cases":[a-z]*\|"library":[a-z]*' replay.json | tr '\n' ' '
    echo $op
done
# The command that the report prints repeats it, still hidden; debug shows it.
repeat=$(sed -n 's/^ *assay \(run mine --cases gelu.*\)/\1/p' out | sed 's/FILE/seed/' | head -n 1)
# shellcheck disable=SC2086 # words
"$ASSAY" $repeat --json again.json >/dev/null
id=$(echo "$repeat" | sed 's,.*--cases gelu/\([0-9]*\).*,\1,')
for f in r again; do grep "^{\"op\":\"gelu\",\"case\":$id" $f.json | grep -o '"outputs":"[0-9a-f]*"' | head -1 >$f.outputs; done
[ -s r.outputs ] && cmp r.outputs again.outputs || { echo "not repeated: $repeat"; exit 1; }
"$ASSAY" debug mine gelu/"$id" --revealed revealed --seed "$(echo "$repeat" | sed 's,.*--seed \([0-9]*\).*,\1,')" >debug.txt
grep -c 'first difference' debug.txt
