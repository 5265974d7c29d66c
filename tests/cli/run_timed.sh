# SPDX-License-Identifier: Apache-2.0
# A timed run shows how well it measured, and its result has all controls, one a line.
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
for control in nothing zeros identity stale downcast; do
    grep -q "^{\"timed\":1,.*\"$control\":{\"measured\":1,\"as_expected\":1}" r.json || bad "no evidence of $control"
done
[ "$(grep -c '^{"control":' r.json)" = 9 ] || bad "not nine controls"
grep -q '"false_accepts":{"of":5,"n":0},"false_rejects":{"of":3,"n":0},"trusted":true' r.json || bad "not trusted"
grep -q '^{"op":"exp","case":5,.*"code":"none",.*"ledger":{"minor_faults":[0-9]*,.*"refused_calls":0,.*"cpu_s":0[0-9.e-]*,"wall_s":0[0-9.e-]*,' r.json || bad "no ledger"
grep -q '^{"op":"exp","done":true,.*"flags":"-std=c11 -O3 .*","contract":"[0-9a-f]\{64\}",' r.json || bad "no flags"
grep -q '^{"op":"exp","case":5,.*"anchor_memory_ns":[1-9][0-9.]*,"anchor_compute_ns":[1-9][0-9.]*,' r.json || bad "no anchors"
grep -q '"memory_drift":[-0-9.e]*,"memory_drift_min":[-0-9.e]*,"memory_drift_max":[-0-9.e]*,"compute_drift":[-0-9.e]*}' r.json ||
    bad "no drift"
grep -q '^"manifest":{.*"policy":"case",' r.json || bad "no policy"
