# SPDX-License-Identifier: Apache-2.0
# Every operator of the registry has its line.
"$ASSAY" list >out || exit 1
n=$(grep -c '^ASSAY_OP(' "$SRC/src/ops/ops.def")
[ "$(wc -l <out)" -eq "$n" ] || exit 1
"$ASSAY" list --tier 1 | grep '^exp '
