# SPDX-License-Identifier: Apache-2.0
# A profile with two thread counts. exp/3 reads and writes 42272 elements of 4 bytes: 338176 bytes at 10 GB/s.
cat >m.json <<'END'
{"format": 2, "kind": "cpu", "name": "box", "cpu": "some cpu", "isa": "avx2", "rates": [
 {"threads": 1, "peak": {"dram": 10e9, "alu": 10e9}},
 {"threads": 2, "peak": {"dram": 20e9, "alu": 1e9}}]}
END
"$ASSAY" limits --machine m.json --cases exp/3 || exit 1
"$ASSAY" limits --machine ./m.json --cases exp/3 --threads 2 --json - || exit 1
"$ASSAY" limits --machine m.json --cases exp/3 --threads 2 --json limits.json >table || exit 1
"$ASSAY" limits --machine m.json --cases exp/3 --threads 2 --json - | cmp - limits.json || exit 1
grep -q '^box: some cpu, 2 threads, avx2$' table || exit 1
"$ASSAY" limits --machine m.json --cases exp/3 --threads 4
