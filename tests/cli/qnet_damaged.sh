# SPDX-License-Identifier: Apache-2.0
# Files that are cut, changed, empty or of another kind, in every place where a file is read: each is named, and the exit
# status is 3 (the file is at fault) or 2 (it cannot be used for this). 139 or 134 would be a crash.
. "$SRC/tests/cli/qnet.inc"
train run || exit 1
model=run/model.qn
size=$(wc -c <$model)
refused()
{
    "$QNET" "$@" >stdout 2>stderr
    code=$?
    [ $code = 2 ] || [ $code = 3 ] || { echo "exit status $code: $*"; cat stderr; exit 1; }
    [ ! -s stdout ] && [ "$(wc -l <stderr)" = 1 ] || { echo "more than a message: $*"; cat stdout stderr; exit 1; }
    grep -qF -- "$named" stderr || { echo "does not name $named: $*"; cat stderr; exit 1; }
}
everywhere()
{
    named=$1
    refused eval "$1" toy
    refused inspect "$1"
    refused train toy --net ./toy.json --out new --weights ternary --from "$1" batch=20
    [ ! -e new ] || exit 1
    mkdir -p broken && cp "$1" broken/checkpoint.qn
    cp broken/checkpoint.qn kept
    named=broken/checkpoint.qn
    refused train toy --out broken --resume
    cmp kept broken/checkpoint.qn || exit 1
}
for n in 0 1 7 8 63 64 100 1000 $((size / 2)) $((size - 1)); do
    head -c "$n" $model >cut.qn
    everywhere cut.qn
done
for at in 0 9 20 40 70 200 -1 -5 $((size / 3)) $((size / 2)); do
    cp $model flipped.qn
    "$QN_TOOL" flip flipped.qn "$at" || exit 1
    everywhere flipped.qn
done
cat $model toy.json >long.qn
everywhere long.qn
everywhere toy.json
everywhere run/report.html
everywhere toy/train-images-idx3-ubyte
everywhere "$QNET"
named=nosuch.qn
refused eval nosuch.qn toy
refused inspect nosuch.qn
named=run
refused eval run toy
refused inspect run
# a model is no checkpoint
mkdir m && cp $model m/checkpoint.qn
named="no checkpoint: the optimiser's state is not there"
refused train toy --out m --resume

# data
for file in train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte t10k-labels-idx1-ubyte; do
    named=$file
    for n in 0 3 15 100 $(($(wc -c <toy/$file) - 1)); do
        rm -rf d && cp -r toy d
        head -c "$n" toy/$file >d/$file
        refused train d --net ./toy.json --out new batch=20
        refused data show d
    done
    rm -rf d && cp -r toy d && rm d/$file
    refused train d --net ./toy.json --out new batch=20
    cp toy.json d/$file
    refused train d --net ./toy.json --out new batch=20
done
"$QN_TOOL" cifar cifar || exit 1
head -c 5000 cifar/data_batch_3.bin >x && mv x cifar/data_batch_3.bin
named=data_batch_3.bin
refused train cifar --net resnet20 --out new
"$QN_TOOL" folder png
code=$?
if [ $code = 0 ]; then
    head -c 200 png/train/b/3.png >x && mv x png/train/b/3.png
    named=png/train/b/3.png
    refused train png --net ./toy.json --out new size=12
fi
[ ! -e new ] || { ls new; exit 1; }

# descriptions and recipes
for n in 0 1 50 $(($(wc -c <toy.json) - 4)); do
    head -c "$n" toy.json >cut.json
    named=cut.json
    refused train toy --net ./cut.json --out new
    refused train toy --recipe ./cut.json --out new
done
named="a window of 5x5"
refused train toy --net lenet-s --out new size=4
[ ! -e new ] || exit 1
