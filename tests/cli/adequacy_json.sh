# SPDX-License-Identifier: Apache-2.0
# The same table whichever way it is written, and the same bytes every time. strided_slice is small
# in all of its cases.
"$ASSAY" adequacy --op strided_slice --cases strided_slice/1,strided_slice/2 --json a.json >table
code=$?
[ $code = 0 ] || [ $code = 1 ] || exit 1
"$ASSAY" adequacy --cases strided_slice/1,strided_slice/2 --json - >b.json
[ $? = $code ] || { echo "exit status differs"; exit 1; }
cmp a.json b.json || exit 1
grep -q '^{"format": 1, "rules": "paper", "seed": 1, "every_case": false,$' a.json || exit 1
grep -q '{"op": "strided_slice", "cases": 2, "mutants": \[' a.json || exit 1
grep -q '{"mutant": "last_element", "target": "y", "fate": "killed", "tried": 1, "same": 0, "killed": 1, "first_case": ' a.json || exit 1
# Every case counts with --all, and what cannot be is shown with --verbose.
"$ASSAY" adequacy --cases strided_slice/1,strided_slice/2 --all --verbose >all 2>err
grep -q '^  last_element  *y  *killed  *by 2 of 2, first case [12]: ' all || { cat all; exit 1; }
grep -q '^  swapped  *absent *$' all || exit 1
# The page has a row an operator, and all mutants.
"$ASSAY" adequacy --cases strided_slice/1 --markdown >page
grep -q '^| strided_slice | [0-9]* | ' page && grep -q '^| `swapped` | takes two inputs for each other |$' page
