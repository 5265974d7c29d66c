#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs_operators.sh ASSAY ROOT: the page of operators is what the program prints.
set -eu
assay=$1
root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$assay" show --all --markdown >"$work/operators.md"
diff -u "$root/docs/operators.md" "$work/operators.md" ||
    { echo "docs/operators.md: make it again by 'assay show --all --markdown'"; exit 1; }
