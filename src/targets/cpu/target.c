/* SPDX-License-Identifier: Apache-2.0 */
/* target.c: the table of the target cpu: native C and C++ on this machine. */
#include "targets/cpu/process.h"

const struct assay_target assay_target_cpu = {
    .name = "cpu",
    .build = cpu_build,
    .start = cpu_start,
    .call = cpu_call,
    .stop = cpu_stop,
    .resume = cpu_resume,
    .used = cpu_used,
    .waited_ns = cpu_waited_ns,
    .mark = cpu_mark,
    .cpu_ns = cpu_cpu_ns,
    .ledger = cpu_ledger,
    .end = cpu_end,
};
