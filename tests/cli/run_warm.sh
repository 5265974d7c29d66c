# SPDX-License-Identifier: Apache-2.0
# A run with another policy than the cases' own says so, and is not mixed with one of theirs.
cat >m.json <<'END'
{"format": 2, "kind": "cpu", "rates": [{"threads": 1, "peak": {"dram": 1e11, "fma_f32": 1e12}}]}
END
run() { "$ASSAY" run "$SRC/examples/first" --cases exp/1 --budget 0.1 --machine m.json --json r.json "$@"; }
run --policy warm || exit 1
grep -q '^"manifest":{.*"policy":"warm",' r.json || exit 1
cp r.json before
run --resume --policy cold --quiet
[ $? = 2 ] || exit 1
run --resume --quiet
[ $? = 2 ] && cmp r.json before && [ ! -e r.json.partial ]
