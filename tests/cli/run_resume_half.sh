# SPDX-License-Identifier: Apache-2.0
# A run cut off in the middle of a line goes on where it was; a journal of another run is refused.
run() { "$ASSAY" run "$SRC/examples/first" --op exp --quiet --json r.json "$@"; }
run --no-timing || exit 1
{
    sed -n 's/^"manifest":\(.*\),$/{"format":2,"kind":"manifest","manifest":\1}/p' r.json
    sed -n 's/^\({"op":"exp","case":.*}\),$/{"kind":"case","case":\1}/p' r.json | head -n 7
    printf '{"kind":"case","case":{"op":"exp","ca'
} >r.json.partial
rm r.json
run --resume --no-timing --rules upstream
[ $? = 2 ] || exit 1
run --resume --no-timing || exit 1
[ ! -e r.json.partial ] && [ "$(grep -c '"verdict":"PASS"' r.json)" = 20 ]
