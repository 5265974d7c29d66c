/* SPDX-License-Identifier: Apache-2.0 */
/* limit.c: the analytic lower bound of a case: the engine that needs longest, all others hidden
 * behind it. */
#include "assay/score.h"

#include <math.h>
#include <string.h>

/* The smallest level that holds so many bytes; NULL when none is known to. */
static const struct assay_level *level_of(const struct assay_machine *m, double bytes)
{
    for (int i = 0; i < m->n_levels; i++)
        if (bytes <= m->level[i].bytes)
            return &m->level[i];
    return NULL;
}

/* Its best rate. */
static double level_rate(const struct assay_machine *m, double bytes)
{
    const struct assay_level *l = level_of(m, bytes);

    return l ? fmax(l->copy, fmax(l->read, l->write)) : 0;
}

static double rate(const struct assay_machine *m, enum assay_unit u, bool warm, double bytes)
{
    if (u == ASSAY_UNIT_CACHE)
        return warm ? level_rate(m, bytes) : 0;
    if (u == ASSAY_UNIT_DRAM && warm)
        return 0;
    return m->peak[u];
}

/* Seconds of one unit for its work; an unknown rate does not bound. */
static double unit_s(const struct assay_work *w, const struct assay_machine *m, enum assay_unit u,
                     bool warm)
{
    double amount = w->amount[u], r = rate(m, u, warm, amount);

    if (!(r > 0) || !(amount > 0))
        return 0;
    /* what the cache takes at once, then what memory takes */
    if (u == ASSAY_UNIT_MTE3 && m->write_burst > 0 && amount > m->write_burst)
        return m->write_burst / r + (amount - m->write_burst) / m->write_rest;
    return amount / r;
}

double assay_limit_ns(const struct assay_work *w, const struct assay_machine *m, bool warm,
                      enum assay_unit *bottleneck)
{
    double longest = 0;

    *bottleneck = m->kind == ASSAY_MACHINE_NPU ? ASSAY_UNIT_MTE2 : ASSAY_UNIT_DRAM;
    for (int u = 0; u < ASSAY_N_UNITS; u++) {
        const char *engine = assay_unit_engine((enum assay_unit)u);
        double s = 0, most = 0;
        int busiest = u;

        /* the engine, from its first unit on */
        if (u > 0 && !strcmp(engine, assay_unit_engine((enum assay_unit)(u - 1))))
            continue;
        for (int v = u; v < ASSAY_N_UNITS; v++) {
            double t = unit_s(w, m, (enum assay_unit)v, warm);

            if (strcmp(engine, assay_unit_engine((enum assay_unit)v)) != 0)
                break;
            s += t;
            if (t > most) {
                most = t;
                busiest = v;
            }
        }
        if (s > longest) {
            longest = s;
            *bottleneck = (enum assay_unit)busiest;
        }
    }
    return fmax(longest * 1e9, m->floor_ns);
}

double assay_limit_spread(const struct assay_work *w, const struct assay_machine *m,
                          enum assay_unit bottleneck)
{
    const struct assay_level *l;

    if (bottleneck != ASSAY_UNIT_CACHE)
        return m->spread[bottleneck];
    l = level_of(m, w->amount[ASSAY_UNIT_CACHE]);
    return l ? l->spread : 0;
}
