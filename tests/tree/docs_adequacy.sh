#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs_adequacy.sh ASSAY ROOT: the page of mutants is what the program prints: head, list of mutants,
# a row for every operator, of which one is measured again, and none survived.
set -eu
assay=$1
root=$2
page=$root/docs/adequacy.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

again()
{
    echo "docs/adequacy.md: make it again by 'assay adequacy --markdown'"
    exit 1
}
"$assay" adequacy --op gather --markdown >"$work/gather.md"
for part in '1,/^## By operator/p' '/^| gather /p' '/^## The mutants/,$p'; do
    sed -n "$part" "$page" >"$work/want"
    sed -n "$part" "$work/gather.md" >"$work/got"
    diff -u "$work/want" "$work/got" || again
done
for op in $(sed -n 's/^ASSAY_OP(\(.*\))$/\1/p' "$root/src/ops/ops.def"); do
    grep -q "^| $op |" "$page" || again
done
! grep -q '\*\*survived\*\*' "$page" || again
