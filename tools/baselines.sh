#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# baselines.sh RESULT.json: the table of docs/baselines.md from a run of kernels/baseline: how near
# each baseline comes to the limit of the machine, as T_base / T_HW over the timed cases of an
# operator, and the median of calls above 0.1 ms, where fixed costs of a call are lost. Needs jq.
set -eu
[ $# -eq 1 ] || { echo "usage: tools/baselines.sh RESULT.json" >&2; exit 2; }
jq -r '
def sorted(f): map(f) | sort;
def median: if length == 0 then null else .[(length - 1) / 2 | floor] end;
def round2: if . == null then "-" else (. * 100 | round / 100 | tostring) end;
def ratio: .time.base_ns / .t_hw_ns;
"| operator | cases | smallest | median | largest | median of calls above 0.1 ms | bound by |",
"| --- | ---: | ---: | ---: | ---: | ---: | --- |",
( [.cases[] | select(.time != null and .time.base_ns != null)] | group_by(.op)[]
  | sorted(ratio) as $all
  | (map(select(.time.base_ns > 1e5)) | sorted(ratio)) as $long
  | (map(.bottleneck) | group_by(.) | sort_by(-length) | map("\(.[0]) \(length)") | join(", ")) as $by
  | "| \(.[0].op) | \(length) | \($all[0] | round2) | \($all | median | round2) | \($all[-1] | round2) | \($long | median | round2) | \($by) |" )
' "$1"
