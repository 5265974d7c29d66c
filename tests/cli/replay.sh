# SPDX-License-Identifier: Apache-2.0
# A wrong value and a damaged guard are repeated bit for bit, and become small; what leaves values unwritten does too,
# since the bytes under its outputs are those of the run.
# The seed is given, since how small a case becomes depends on the values.
"$ASSAY" run "$SRC/examples/flawed" --cases sigmoid/2,gelu/1 --no-timing --seed 7 --quiet --json r.json
[ $? = 1 ] || exit 1

# The file says which programs measured.
harness=$(cat "$ASSAY" "$(dirname "$ASSAY")/assay-child" | sha256sum | cut -d' ' -f1)
grep -q "\"harness\":\"$harness\"" r.json || { echo "not the hash of the programs"; exit 1; }
[ "$(grep -o '"cases":"[0-9a-f]*"' r.json | grep -c '"[0-9a-f]\{64\}"')" = 2 ] || { echo "cases lack a hash"; exit 1; }

# Elements of all shapes of the small case.
elements()
{
    grep -o '"shape": \[[0-9, ]*\]' "$1" | tr -dc '0-9,\n' |
        awk -F, '{ n = 1; for (i = 1; i <= NF; i++) n *= $i; sum += n } END { print sum + 0 }'
}
for c in sigmoid/2 gelu/1; do
    "$ASSAY" replay r.json $c --json o.json --dump d || { echo "$c was not repeated"; exit 1; }
    grep -q '"repeated":true,"bit_for_bit":true,"needs_history":false' o.json || { cat o.json; exit 1; }
    grep -q '"same":{"harness":true,"contract":true,"cases":true,"flags":true,"compiler":true,"cpu":true,"library":true}' \
        o.json || { cat o.json; exit 1; }
    # The verdict and the code of the small case are those of the large one.
    [ "$(grep -o '"verdict":"WRONG","code":"[a-z_]*"' o.json | sort | uniq -c | awk '{ print $1 }')" = 2 ] ||
        { cat o.json; exit 1; }
    n=$(elements o.json)
    [ "$n" -gt 0 ] && [ "$n" -lt 100 ] || { echo "$c: $n elements"; exit 1; }
    [ -s d/in00_x.npy ] && [ -s d/got00_y.npy ] && [ -s d/want00_y.npy ] || exit 1
done

# A submission that was moved, and one that was moved and changed.
cp -r "$SRC/examples/flawed" moved
sed -i 's/= 8 \/ (y/= 16 \/ (y/' moved/gelu.c
"$ASSAY" replay r.json gelu/1 --submission moved --no-shrink --json - 2>text || exit 1
grep -q '^warning: the library differs' text
