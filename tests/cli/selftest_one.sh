# SPDX-License-Identifier: Apache-2.0
# A part of the gallery, as text and as JSON; exit status 0 when all came out as they must.
"$ASSAY" selftest --only bad/opens_ --verbose --no-timing --json r.json || exit 1
kept=$(grep -c '"run":true,"kept":true' r.json)
[ "$kept" -ge 2 ] || echo "few kernels"
grep -q '"kernel":"bad/opens_file","case":"exp/[0-9]*","entries":"[0-9a-z, ]*","must_be":"FORBIDDEN","must_be_code":"forbidden_import","run":true,"kept":true' r.json || { echo "no line"; cat r.json; }
grep -q '"wrong":0,"our_fault":0,' r.json || echo "wrong"
"$ASSAY" selftest --only nosuchkernel
[ $? = 2 ] || echo "exit status"
"$ASSAY" selftest --only bad/opens_file --no-timing --json - | head -c 12; echo
