# SPDX-License-Identifier: Apache-2.0
# A control that copies its input is right where the beginning of it is what is asked for: another
# case has to tell. Where there is none, the copy passes, and the run says so.
cat >copy.yaml <<'END'
cases:
- operator: StridedSlice
  case_id: 1
  input_shape:
  - [8192]
  dtype: [float16]
  attrs: {begin: [0], end: [4099], strides: [1]}
  value_range: [-1, 1]
END
cat >strided.yaml <<'END'
- operator: StridedSlice
  case_id: 2
  input_shape:
  - [9001]
  dtype: [float16]
  attrs: {begin: [7], end: [9001], strides: [2]}
  value_range: [-1, 1]
END
accepted() { # FILES, WANT
    mkdir -p t/level3/strided_slice
    # shellcheck disable=SC2086 # several files
    cat $1 >t/level3/strided_slice/cases.yaml
    "$ASSAY" run "$SRC/kernels/naive" --suite t --no-timing >out 2>err
    grep -q libyaml err && exit 0 # built without
    grep -q "false accepts  $2 of 5 controls that are wrong passed" out || { cat out err; exit 1; }
}
accepted "copy.yaml strided.yaml" 0
accepted copy.yaml 1
