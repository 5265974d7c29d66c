/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.c: how well a run measured, from its controls and its intervals. */
#include "assay/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Quantile q of n sorted values: the least that a share q of them does not exceed; NaN of none. */
static double quantile(const double *sorted, int n, double q)
{
    int i = (int)ceil(q * n) - 1;

    return n ? sorted[i < 0 ? 0 : i] : (double)NAN;
}

/* One value of each row or control into v; returns how many are numbers, sorted. */
typedef double (*value_fn)(const struct assay_result *r, int i);
static int gather(double *v, const struct assay_result *r, int n, value_fn value)
{
    int m = 0;

    for (int i = 0; i < n; i++) {
        double x = value(r, i);

        if (isfinite(x))
            v[m++] = x;
    }
    qsort(v, (size_t)m, sizeof *v, ascending);
    return m;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static double half_width(const struct assay_result *r, int i)
{
    const struct assay_time *t = &r->rows[i].time;

    return r->rows[i].timed ? (t->ratio_hi - t->ratio_lo) / 2 / t->ratio : (double)NAN;
}

static double drift(double now, double then)
{
    return now > 0 && then > 0 && isfinite(then) ? now / then - 1 : (double)NAN;
}

static double memory_drift(const struct assay_result *r, int i)
{
    return drift(r->rows[i].anchor.memory_ns, r->machine.anchor.memory_ns);
}

static double compute_drift(const struct assay_result *r, int i)
{
    return drift(r->rows[i].anchor.compute_ns, r->machine.anchor.compute_ns);
}

static void ask_rows(struct assay_evidence *e, const struct assay_result *r, double *v)
{
    double pairs = 0, discarded = 0;
    int n = gather(v, r, r->n_rows, half_width);

    e->n_timed = n;
    e->detect = quantile(v, n, 0.5);
    e->detect90 = quantile(v, n, 0.9);
    n = gather(v, r, r->n_rows, memory_drift);
    e->memory_lo = quantile(v, n, 0);
    e->memory = quantile(v, n, 0.5);
    e->memory_hi = quantile(v, n, 1);
    n = gather(v, r, r->n_rows, compute_drift);
    e->compute = quantile(v, n, 0.5);
    for (int i = 0; i < r->n_rows; i++)
        if (r->rows[i].timed) {
            pairs += r->rows[i].time.n_pairs;
            discarded += r->rows[i].time.n_discarded;
        }
    e->discarded = pairs > 0 ? discarded / pairs : (double)NAN;
}

/* ---- controls -------------------------------------------------------------------------------- */

static bool kept_same(const struct assay_result *r, const struct assay_row *c)
{
    (void)r;
    return c->time.ratio_lo <= 1 && 1 <= c->time.ratio_hi;
}

static bool kept_slower(const struct assay_result *r, const struct assay_row *c)
{
    (void)r;
    return c->time.ratio_lo > 1;
}

static bool kept_swapped(const struct assay_result *r, const struct assay_row *c)
{
    for (int i = 0; i < r->n_rows; i++)
        if (r->rows[i].op == c->op && r->rows[i].case_id == c->case_id && r->rows[i].timed)
            return c->time.ratio_lo <= 1 / r->rows[i].time.ratio_lo &&
                   1 / r->rows[i].time.ratio_hi <= c->time.ratio_hi;
    return false;
}

static bool kept_null(const struct assay_result *r, const struct assay_row *c)
{
    (void)r;
    return fabs(c->time.cand_ns) <= 0.1 * c->time.null_ns;
}

static double control_value(const struct assay_result *r, int i, enum assay_control_kind kind,
                            double value)
{
    const struct assay_control *c = &r->controls[i];

    return c->kind == kind && c->row.timed ? value : (double)NAN;
}

static double same_error(const struct assay_result *r, int i)
{
    return control_value(r, i, ASSAY_CONTROL_SAME, fabs(r->controls[i].row.time.ratio - 1));
}

static double slower_ratio(const struct assay_result *r, int i)
{
    return control_value(r, i, ASSAY_CONTROL_SLOWER, r->controls[i].row.time.ratio);
}

static double null_left(const struct assay_result *r, int i)
{
    return control_value(r, i, ASSAY_CONTROL_NULL, r->controls[i].row.time.cand_ns);
}

/* Its verdict, whatever its time: a wrong one must fail, an honest one must not. */
static void judge_control(struct assay_evidence *e, const struct assay_control *c)
{
    bool passed = c->row.verdict == ASSAY_PASS;

    if (!c->row.done || c->row.failed_here || c->kind == ASSAY_CONTROL_NULL)
        return;
    if (assay_control_is_wrong(c->kind)) {
        e->n[c->kind]++;
        e->n_kept[c->kind] += !passed;
        e->n_wrong++;
        e->n_accepted += passed;
    } else {
        e->n_honest++;
        e->n_rejected += !passed;
    }
}

static void ask_controls(struct assay_evidence *e, const struct assay_result *r, double *v)
{
    static bool (*const kept[ASSAY_N_CONTROLS])(const struct assay_result *r,
                                                const struct assay_row *c) = {
        [ASSAY_CONTROL_SAME] = kept_same,
        [ASSAY_CONTROL_SLOWER] = kept_slower,
        [ASSAY_CONTROL_SWAPPED] = kept_swapped,
        [ASSAY_CONTROL_NULL] = kept_null,
    };

    for (int i = 0; i < r->n_controls; i++) {
        const struct assay_control *c = &r->controls[i];

        judge_control(e, c);
        if (!c->row.timed || assay_control_is_wrong(c->kind))
            continue;
        e->n[c->kind]++;
        e->n_kept[c->kind] += kept[c->kind](r, &c->row);
    }
    e->same_error = quantile(v, gather(v, r, r->n_controls, same_error), 0.5);
    e->slower_ratio = quantile(v, gather(v, r, r->n_controls, slower_ratio), 0.5);
    e->null_left_ns = quantile(v, gather(v, r, r->n_controls, null_left), 0.5);
}

enum assay_status assay_result_evidence(const struct assay_result *r, struct assay_evidence *e)
{
    int n = r->n_rows > r->n_controls ? r->n_rows : r->n_controls;
    double *v = assay_alloc(((size_t)n + 1) * sizeof *v);

    memset(e, 0, sizeof *e);
    if (!v)
        return ASSAY_NOMEM;
    ask_rows(e, r, v);
    ask_controls(e, r, v);
    free(v);
    return ASSAY_OK;
}

/* ---- trust ----------------------------------------------------------------------------------- */

/* How often A/A intervals may miss 1 by chance: on a loaded machine 7 of 100 do, and more than this
 * many of n do in one run of a thousand. */
static int most_misses(int n)
{
    return (int)ceil(0.07 * n + 3.1 * sqrt(0.07 * 0.93 * n)) + 1;
}

/* A median of at least this many ratios must see the 5 %; fewer are too few to tell. */
enum { ENOUGH_SLOWER = 4 };
static const double slower_range[2] = { 1.02, 1.10 };

bool assay_result_trusted(const struct assay_result *r, char *why, size_t size)
{
    struct assay_evidence e;
    char none[1];
    int misses;

    if (!why) {
        why = none;
        size = sizeof none;
    }
    why[0] = 0;
    if (!r->manifest.trust[0])
        snprintf(why, size, "no kernel was run");
    else if (!r->manifest.trusted)
        snprintf(why, size, "kernels were not locked in");
    else if (assay_result_evidence(r, &e))
        snprintf(why, size, "out of memory to look at the controls");
    else if (e.n_accepted > 0)
        snprintf(why, size, "%d of %d controls passed that are known to be wrong", e.n_accepted,
                 e.n_wrong);
    else if (e.n_rejected > 0)
        snprintf(why, size, "%d of %d controls failed that are known to be right", e.n_rejected,
                 e.n_honest);
    else if ((misses = e.n[ASSAY_CONTROL_SAME] - e.n_kept[ASSAY_CONTROL_SAME]) >
             most_misses(e.n[ASSAY_CONTROL_SAME]))
        snprintf(why, size, "%d of %d times of the baseline against itself are not 1", misses,
                 e.n[ASSAY_CONTROL_SAME]);
    else if (e.n[ASSAY_CONTROL_SLOWER] >= ENOUGH_SLOWER &&
             (e.slower_ratio < slower_range[0] || e.slower_ratio > slower_range[1]))
        snprintf(why, size, "kernels known to be 5 %% slower measured as %+.1f %%",
                 100 * (e.slower_ratio - 1));
    return !why[0] && r->manifest.trusted;
}
