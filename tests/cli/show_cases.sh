# SPDX-License-Identifier: Apache-2.0
"$ASSAY" show exp --cases >out || exit 1
[ "$(wc -l <out)" -eq 20 ] || exit 1
head -n 1 out
