#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install_moves.sh CMAKE BUILD: what is installed works from a prefix that was moved, without the
# build folder's help.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

chmod 755 "$work"
"$1" --install "$2" --prefix "$work/here" >/dev/null
mv "$work/here" "$work/there"
for file in bin/assay libexec/assay/assay-child include/assay/kernel.h share/assay/cases/exp.json \
    share/assay/machines/910b2.json \
    share/assay/kernels/baseline/exp.c share/man/man1/assay.1 \
    bin/qnet share/assay/recipes/paper.json share/man/man1/qnet-train.1; do
    [ -f "$work/there/$file" ] || { echo "not installed: $file"; exit 1; }
done
assay=$work/there/bin/assay
"$assay" --version | grep -qx "assay [0-9.]*" || { echo "no version"; exit 1; }
"$work/there/bin/qnet" bench mlp --batch 2 --rounds 1 >/dev/null
"$assay" limits --machine 910b2 --cases exp/1 >/dev/null
"$assay" run "$work/there/share/assay/kernels/naive" --op exp --cases exp/1 --no-timing
