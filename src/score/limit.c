/* SPDX-License-Identifier: Apache-2.0 */
/* The analytic lower bound of a case: the unit that needs longest, all others hidden behind it. */
#include "assay/score.h"

double assay_limit_ns(const struct assay_work *w, const struct assay_machine *m,
                      enum assay_unit *bottleneck)
{
    double longest = 0;

    *bottleneck = ASSAY_UNIT_DRAM;
    for (int u = 0; u < ASSAY_N_UNITS; u++) {
        double t;

        if (!(m->peak[u] > 0) || !(w->amount[u] > 0)) /* an unknown peak does not bound */
            continue;
        t = w->amount[u] / m->peak[u] * 1e9;
        if (t > longest) {
            longest = t;
            *bottleneck = (enum assay_unit)u;
        }
    }
    return longest;
}
