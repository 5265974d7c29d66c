# SPDX-License-Identifier: Apache-2.0
# check proves the public cases and finds a broken rule; make draws as it always has.
"$ASSAY" cases check >out || exit 1
[ "$(grep -c 'cases  ok$' out)" = "$("$ASSAY" list | wc -l)" ] || { cat out; exit 1; }
"$ASSAY" cases check --op exp
"$ASSAY" cases check --op exp,gelu --json | tr -d '\n'
echo

mkdir bad
# nineteen cases
sed '/"id": 20,/d; s/\("id": 19,.*\),$/\1/' "$SRC/data/cases/exp.json" >bad/exp.json
"$ASSAY" cases check --op exp --from bad
echo "exit $?"
echo '{' >bad/gelu.json
"$ASSAY" cases check --op gelu --from bad >out
[ $? = 1 ] && grep -q 'FAILED: .*gelu.json' out || { echo "unreadable"; cat out; exit 1; }

"$ASSAY" cases make --op exp --seed 1 >a || exit 1
"$ASSAY" cases make --op exp,gelu --seed 1 --out made || exit 1
cmp a made/exp.json && [ "$(grep -c '"id": ' made/gelu.json)" = 20 ] || exit 1
"$ASSAY" cases check --op exp,gelu --from made >out || { cat out; exit 1; }
"$ASSAY" cases make --op exp --seed 1 --count 33 | grep -c '"id": '
for wrong in "" "look" "check --seed 1" "check --commit" "make" "make --op exp" "make --seed 1" "make --seed 1 --op nope" \
    "make --op exp --seed 1 --count 19" "hidden" "hidden --commit" "hidden --commit --seed 1"; do
    # shellcheck disable=SC2086 # words
    "$ASSAY" cases $wrong >out 2>err
    [ $? = 2 ] && [ -s err ] && [ ! -s out ] || { echo "accepted: cases $wrong"; cat out err; exit 1; }
done
