/* SPDX-License-Identifier: Apache-2.0 */
/* pin.c: which cores this process may use, and staying on one of them, undisturbed,
 * while a clock runs. */
#include "runner/session.h"

#include <sched.h>

void assay__cpus_allowed(int *cpu, int *n, int cap)
{
    cpu_set_t set;

    *n = 0;
    if (sched_getaffinity(0, sizeof set, &set))
        return;
    for (int c = 0; c < CPU_SETSIZE && *n < cap; c++)
        if (CPU_ISSET((size_t)c, &set))
            cpu[(*n)++] = c;
}

void assay__cpus_use(const int *cpu, int n)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int i = 0; i < n; i++)
        CPU_SET((size_t)cpu[i], &set);
    if (n)
        sched_setaffinity(0, sizeof set, &set);
}

void assay__be_urgent(int priority)
{
    const struct sched_param p = { .sched_priority = priority };

    sched_setscheduler(0, priority ? SCHED_RR : SCHED_OTHER, &p);
}
