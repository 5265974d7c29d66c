/* SPDX-License-Identifier: Apache-2.0 */
/* drift.c: the rates of a machine at the moment of a measurement. */
#include "assay/machine.h"

#include <math.h>

/* How much slower, as a factor. */
static double factor(double now_ns, double then_ns)
{
    return now_ns > 0 && then_ns > 0 && isfinite(now_ns / then_ns) ? now_ns / then_ns : 1;
}

void assay_machine_drift(struct assay_machine *m, const struct assay_anchor *now)
{
    double memory = factor(now->memory_ns, m->anchor.memory_ns);
    double compute = factor(now->compute_ns, m->anchor.compute_ns);

    for (int u = 0; u < ASSAY_N_UNITS; u++)
        m->peak[u] /= u == ASSAY_UNIT_DRAM ? memory : compute;
    for (int i = 0; i < m->n_levels; i++) {
        double f = i == m->n_levels - 1 ? memory : compute;

        m->level[i].read /= f;
        m->level[i].write /= f;
        m->level[i].copy /= f;
    }
    m->anchor = *now;
}
