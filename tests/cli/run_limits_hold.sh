# SPDX-License-Identifier: Apache-2.0
# No measured time lies below its limit without the flag that says so: both sides, every case.
CASES=exp/1,exp/5,foreach_addcdiv_scalar/7,foreach_norm/6,foreach_norm/8,gelu/4,masked_scale/9,mish/2,sigmoid/6,swi_glu/5
for policy in cold warm; do
    "$ASSAY" run "$SRC/kernels/baseline" --cases $CASES --policy $policy --budget 0.1 --json r.json --quiet || exit 1
    grep '^{"op":"[a-z_]*","case"' r.json >rows
    [ "$(wc -l <rows)" = 10 ] || exit 1
    while read -r row; do
        field() { printf '%s\n' "$row" | sed "s/.*\"$1\":\([^,}]*\).*/\1/"; }
        limit=$(field t_hw_ns)
        for time in "$(field base_ns)" "$(field cand_ns)"; do
            awk "BEGIN { exit !($limit > 0 && $time > 0) }" || { echo "no limit or time: $row"; exit 1; }
            awk "BEGIN { exit $time < $limit }" || case $row in
            *'"flags":['*BELOW_LIMIT*) ;;
            *) echo "below $limit and not flagged: $row" && exit 1 ;;
            esac
        done
    done <rows || exit 1
done
