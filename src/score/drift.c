/* SPDX-License-Identifier: Apache-2.0 */
/* drift.c: the rates of a machine at the moment of a measurement. */
#include "assay/machine.h"

#include <math.h>

/* How much slower it is now, as a factor; the anchor moves on where both times are known. */
static double follow(double *anchor_ns, double now_ns)
{
    double f = now_ns / *anchor_ns;

    /* infinite: the quotient is 0, infinite or no number */
    if (!(now_ns > 0) || !(*anchor_ns > 0) || !isfinite(f) || f <= 0)
        return 1;
    *anchor_ns = now_ns;
    return f;
}

void assay_machine_drift(struct assay_machine *m, const struct assay_anchor *now)
{
    double memory = follow(&m->anchor.memory_ns, now->memory_ns);
    double compute = follow(&m->anchor.compute_ns, now->compute_ns);

    for (int u = 0; u < ASSAY_N_UNITS; u++)
        m->peak[u] /= u == ASSAY_UNIT_DRAM ? memory : compute;
    for (int i = 0; i < m->n_levels; i++) {
        double f = i == m->n_levels - 1 ? memory : compute;

        m->level[i].read /= f;
        m->level[i].write /= f;
        m->level[i].copy /= f;
    }
}
