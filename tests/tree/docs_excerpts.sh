#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs_excerpts.sh ROOT: what the documents print of a file (<!-- from: FILE -->, then a block of
# code) is in that file, line by line.
set -eu
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

for page in "$root"/docs/*.md "$root"/docs/howto/*.md; do
    rm -f "$work"/block.*
    awk -v dir="$work" '
        /^<!-- from: .* -->$/ { file = $3; wanted = 1; next }
        wanted && /^```c$/ { n++; out = dir "/block." n; print file >out ".of"; inside = 1; wanted = 0; next }
        inside && /^```$/ { inside = 0; close(out); next }
        inside { print >out }' "$page"
    for of in "$work"/block.*.of; do
        [ -e "$of" ] || continue
        n=$((n + 1))
        file=$root/$(cat "$of")
        # all of it as one string: newlines become a character that no source has
        tr '\n' '\001' <"${of%.of}" >"$work/want"
        tr '\n' '\001' <"$file" >"$work/have"
        grep -qaF -f "$work/want" "$work/have" ||
            { echo "$page: not in $(cat "$of"):"; head -3 "${of%.of}"; exit 1; }
    done
done
[ "$n" -gt 0 ] || { echo "no excerpts in the documents"; exit 1; }
echo "$n excerpts"
