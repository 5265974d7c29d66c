# SPDX-License-Identifier: Apache-2.0
# Each flaw has its own verdict; what is missing scores 0; the last case of a report is repeated by its own command.
"$ASSAY" run "$SRC/examples/flawed" --no-timing --cases exp/1,gelu/1,gelu/2,mish/1,sigmoid/2,masked_scale/1 >out
[ $? = 1 ] || exit 3
cat out
command=$(grep '^    assay run .* --cases sigmoid/2' out | sed 's/^ *assay//') || exit 3
eval "\"\$ASSAY\" $command"
