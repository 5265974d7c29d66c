#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs_kernels.sh ASSAY ROOT: the kernels printed in the documents are extracted and must pass.
set -eu
assay=$1
root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for page in README.md docs/kernel-interface.md; do
    dir=$work/$(basename "$page" .md)
    mkdir "$dir"
    awk '/^<!-- file: sigmoid.c -->$/ { wanted = 1; next }
         wanted && /^```c$/ { inside = 1; next }
         inside && /^```$/ { exit }
         inside' "$root/$page" >"$dir/sigmoid.c"
    [ -s "$dir/sigmoid.c" ] || { echo "$page: no sigmoid.c in it"; exit 1; }
    "$assay" run "$dir" --op sigmoid --no-timing || { echo "$page: its kernel does not pass"; exit 1; }
done
