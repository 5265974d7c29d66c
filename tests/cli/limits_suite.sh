# SPDX-License-Identifier: Apache-2.0
# A small official tree with an operator that is not ours, and one that we lack nothing of: 1024 x 1024
# float16 are 2 MiB at 1.92 TB/s.
mkdir -p t/level1/exp t/level3/frobnicate
cat >t/level1/exp/cases.yaml <<'END'
cases:
- operator: Exp
  case_id: 5
  input_shape:
  - [1024, 1024]
  dtype: [float16]
  attrs: {base: -1.0, scale: 1.0, shift: 0.0}
  value_range: [-1, 1]
END
echo 'cases: []' >t/level3/frobnicate/cases.yaml
"$ASSAY" limits --suite t --machine 910b2 --json - >out 2>err
code=$?
grep -q libyaml err && exit 0 # built without
[ $code = 0 ] || { cat err; exit 1; }
cat >want <<'END'
{"machine":"910b2","kind":"npu","suite":"t","cases":[
{"op":"exp","case":5,"policy":"cold","t_hw_us":1.0922666666666667,"unit":"mte2","bytes_in":2097152,"bytes_out":2097152,"work":{"mte2":2097152,"mte3":2097152,"vector_32":4194304},"units_us":{"mte2":1.0922666666666667,"mte3":0.32768,"cube":0,"vector":0.6990506666666666}}]}
END
diff want out || exit 1
echo "assay limits: 1 operator of t is not known here and left out" | diff - err || exit 1
"$ASSAY" limits --suite t --machine 910b2 --op exp >out 2>err || exit 1
[ ! -s err ] || exit 1 # nothing else was asked for
"$ASSAY" limits --suite t --machine 910b2 --op gelu >out 2>err
[ $? = 2 ] && [ ! -s out ] && grep -q 't has no operator gelu' err
