# SPDX-License-Identifier: Apache-2.0
# A timed run shows how well it measured, and its result has the four controls, one a line.
cat >m.json <<'END'
{"format": 2, "kind": "cpu", "rates": [{"threads": 1, "peak": {"dram": 1e11, "fma_f32": 1e12},
 "anchor": {"memory_ns": 1e6, "compute_ns": 1e4}}]}
END
"$ASSAY" run "$SRC/examples/first" --cases exp/5 --budget 0.2 --machine m.json --json r.json || exit 1
bad() { echo "$1"; cat r.json; exit 1; }
for control in same slower swapped null; do
    [ "$(grep -c "^{\"control\":\"$control\",\"row\":{\"op\":\"exp\",\"case\":5,\"done\":true,\"failed_here\":false,.*\"time\":{" r.json)" = 1 ] ||
        bad "no control $control with a time"
    grep -q "^{\"timed\":1,.*\"$control\":{\"measured\":1,\"as_expected\":[01]}" r.json || bad "no evidence of $control"
done
[ "$(grep -c '^{"control":' r.json)" = 4 ] || bad "not four controls"
grep -q '^{"op":"exp","case":5,.*"anchor_memory_ns":[1-9][0-9.]*,"anchor_compute_ns":[1-9][0-9.]*,' r.json || bad "no anchors"
grep -q '"memory_drift":[-0-9.e]*,"memory_drift_min":[-0-9.e]*,"memory_drift_max":[-0-9.e]*,"compute_drift":[-0-9.e]*}' r.json ||
    bad "no drift"
grep -q '^"manifest":{.*"policy":"case",' r.json || bad "no policy"
