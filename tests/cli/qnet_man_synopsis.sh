# SPDX-License-Identifier: Apache-2.0
. "$SRC/tests/cli/synopsis.inc"
synopsis "$QNET" qnet data train eval inspect bench
# what is ready-made stands in the pages
for f in "$SRC"/data/nets/*.json "$SRC"/data/recipes/*.json; do
    name=$(basename "$f" .json)
    grep -q "[ ,]$name\( ,\|,\| \.\|$\)" "$SRC/man/qnet-train.1" || { echo "qnet-train.1 does not name $name"; exit 1; }
    cat "$SRC/docs/qnet-nets.md" "$SRC/docs/qnet-recipes.md" | grep -q "\b$name\b" || { echo "no page names $name"; exit 1; }
done
