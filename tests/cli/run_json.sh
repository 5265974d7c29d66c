# SPDX-License-Identifier: Apache-2.0
# The file is whole, the journal is gone, and --resume of a finished run measures nothing again.
"$ASSAY" run "$SRC/examples/first" --op exp --no-timing --quiet --json r.json || exit 1
[ ! -e r.json.partial ] && cp r.json before || exit 1
grep -q '^{"format":2,' r.json && [ "$(grep -c '^{"op":"exp","case":' r.json)" = 20 ] || exit 1
"$ASSAY" run "$SRC/examples/first" --op exp --no-timing --quiet --json r.json --resume || exit 1
grep '^{"op":"exp","case":' before >a
grep '^{"op":"exp","case":' r.json >b
cmp a b
