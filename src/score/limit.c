/* SPDX-License-Identifier: Apache-2.0 */
/* limit.c: the analytic lower bound of a case: the engine that needs longest, all others hidden
 * behind it. docs/limits.md derives it. */
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

struct assay_work assay_limit_work(const struct assay_op *op, const struct assay_args *a,
                                   const struct assay_machine *m)
{
    struct assay_work w, touched;

    if (m->kind == ASSAY_MACHINE_CPU)
        return assay_op_work(op, a);
    w = assay_op_work_npu(op, a);
    if (m->touched) {
        touched = assay_op_work(op, a);
        w.bytes_in = w.amount[ASSAY_UNIT_MTE2] = touched.bytes_in;
        w.bytes_out = w.amount[ASSAY_UNIT_MTE3] = touched.bytes_out;
    }
    return w;
}

/* Best rate of one direction; a copy shows half of its bytes in each. Unknown does not bound. */
static double one_way(double alone, double copy)
{
    return alone > 0 ? fmax(alone, copy / 2) : (double)INFINITY;
}

/*
 * Seconds that a level needs for `bytes` of a case that reads `in` and writes `out`. A cache has
 * ports for each direction, which work at the same time: three reads and a write may go faster than
 * reading, writing and copying alone do. Which of its bytes come by this level is the kernel's
 * choice; the best one fills both directions as long as there is something of either. Memory is one
 * bus for both.
 */
static double level_s(const struct assay_level *l, double bytes, double in, double out)
{
    double read = one_way(l->read, l->copy), write = one_way(l->write, l->copy), rate;

    if (isinf(l->bytes)) {
        rate = fmax(l->copy, fmax(l->read, l->write));
        return rate > 0 ? bytes / rate : 0;
    }
    return fmax(bytes / (read + write), fmax((bytes - out) / read, (bytes - in) / write));
}

/* Seconds in the caches. Whatever a kernel keeps where, the data that do not fit into the levels
 * below one have to pass it; all levels work at the same time. */
static double cache_s(const struct assay_work *w, const struct assay_machine *m)
{
    double bytes = w->bytes_in + w->bytes_out, held = 0, longest = 0;

    for (int i = 0; i < m->n_levels && bytes > held; i++) {
        longest = fmax(longest, level_s(&m->level[i], bytes - held, w->bytes_in, w->bytes_out));
        held = fmax(held, m->level[i].bytes);
    }
    return longest;
}

/* Seconds on the one bus of memory, which takes each direction no faster than that direction alone:
 * what is read no faster than reading, what is written no faster than writing. */
static double memory_s(const struct assay_work *w, const struct assay_machine *m)
{
    const struct assay_level *l = m->n_levels ? &m->level[m->n_levels - 1] : NULL;
    double s = w->amount[ASSAY_UNIT_DRAM] / m->peak[ASSAY_UNIT_DRAM];

    if (!l || !isinf(l->bytes))
        return s;
    if (l->read > 0)
        s = fmax(s, w->bytes_in / l->read);
    return l->write > 0 ? fmax(s, w->bytes_out / l->write) : s;
}

/* Seconds of one unit for its work; an unknown rate does not bound. */
static double unit_s(const struct assay_work *w, const struct assay_machine *m, enum assay_unit u,
                     bool warm)
{
    double amount = w->amount[u], rate = m->peak[u];

    if (!(amount > 0))
        return 0;
    if (u == ASSAY_UNIT_CACHE)
        return warm ? cache_s(w, m) : 0;
    if (!(rate > 0) || (u == ASSAY_UNIT_DRAM && warm)) /* memory is a level of the cache then */
        return 0;
    if (u == ASSAY_UNIT_DRAM)
        return memory_s(w, m);
    if (u == ASSAY_UNIT_MTE3 && m->write_burst > 0 && amount > m->write_burst) {
        /* what the cache takes at once, then what memory takes */
        double rest = m->write_rest > 0 ? (amount - m->write_burst) / m->write_rest : 0;

        return m->write_burst / rate + rest;
    }
    return amount / rate;
}

/* Seconds of the engine of unit u, and its busiest unit. */
static double engine_s(const struct assay_work *w, const struct assay_machine *m, bool warm,
                       enum assay_unit u, enum assay_unit *busiest)
{
    const char *engine = assay_unit_engine(u);
    double sum = 0, most = 0;

    *busiest = u;
    for (int v = 0; v < ASSAY_N_UNITS; v++) {
        double s = unit_s(w, m, (enum assay_unit)v, warm);

        if (strcmp(engine, assay_unit_engine((enum assay_unit)v)) != 0)
            continue;
        sum += s;
        if (s > most) {
            most = s;
            *busiest = (enum assay_unit)v;
        }
    }
    return sum;
}

double assay_engine_ns(const struct assay_work *w, const struct assay_machine *m, bool warm,
                       enum assay_unit u)
{
    enum assay_unit busiest;

    return engine_s(w, m, warm, u, &busiest) * 1e9;
}

double assay_limit_ns(const struct assay_work *w, const struct assay_machine *m, bool warm,
                      enum assay_unit *bottleneck)
{
    double longest = 0;

    *bottleneck = m->kind == ASSAY_MACHINE_NPU ? ASSAY_UNIT_MTE2 : ASSAY_UNIT_DRAM;
    for (int u = 0; u < ASSAY_N_UNITS; u++) {
        enum assay_unit busiest;
        double s = engine_s(w, m, warm, (enum assay_unit)u, &busiest);

        if (s > longest) {
            longest = s;
            *bottleneck = busiest;
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
