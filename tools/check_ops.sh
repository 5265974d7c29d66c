#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_ops.sh [ROOT]: each line of src/ops/ops.def has its operator file, its cases and its two
# kernels, and each such file has its line. Prints one line for every one that is missing.
set -eu
cd "${1:-$(dirname "$0")/..}"

# Files of src/ops that are no operators: the registry, and code that operators share.
helpers=' registry fit broadcast lanes map sample slices moments quantise slice_fill axis loss_fill index index_draw interpolate conv conv_sample product layout order routing roi attention heads heads_fill heads_sample qkv recurrent recurrent_sample groups gate rotary lists '

def=src/ops/ops.def
failed=0

bad()
{
    echo "$*"
    failed=1
}

ops=$(sed -n 's/^ASSAY_OP(\([a-z0-9_]*\))$/\1/p' $def)
[ -n "$ops" ] || bad "$def: no operators"
grep -n . $def | grep -Ev '^[0-9]+:(ASSAY_OP\([a-z0-9_]+\)$|[ /]\*|#)' | while read -r line; do
    echo "$def:${line%%:*}: neither ASSAY_OP(name) nor a comment"
done | grep . && failed=1
for op in $(echo "$ops" | sort | uniq -d); do
    bad "$def: $op is listed twice"
done

# A kernel is one file, in C or C++, or a folder of sources.
kernel_of()
{
    [ -f "$1/$2.c" ] || [ -f "$1/$2.cc" ] || [ -d "$1/$2" ]
}

for op in $ops; do
    [ -f "src/ops/$op.c" ] || bad "$op: no src/ops/$op.c"
    [ -f "data/cases/$op.json" ] || bad "$op: no data/cases/$op.json"
    for set in naive baseline; do
        kernel_of kernels/$set "$op" || bad "$op: no kernels/$set/$op.c"
    done
done

listed()
{
    echo "$ops" | grep -qx "$1"
}

for file in src/ops/*.c data/cases/*.json kernels/naive/* kernels/baseline/*; do
    [ -e "$file" ] || continue
    name=$(basename "$file")
    case $file in
    kernels/*/common | kernels/*/*.h | kernels/*/submission.json) continue ;;
    esac
    name=${name%.*}
    case $file in
    src/ops/*) case $helpers in *" $name "*) continue ;; esac ;;
    esac
    listed "$name" || bad "$file: no line ASSAY_OP($name) in $def"
done

exit $failed
