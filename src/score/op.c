/* SPDX-License-Identifier: Apache-2.0 */
/* The score of one operator: 20 for building, 30 for right cases, 50 for fast ones. */
#include "score/sum.h"

#include <math.h>

static const double points_compiled = 20, points_correct = 30, points_fast = 50;

/* ---- intervals ------------------------------------------------------------------------------- */

/* Square of a distance that rounding may have made negative; NaN stays. */
static double square(double distance)
{
    return distance < 0 ? 0 : distance * distance;
}

void assay__doubt_add(struct assay__doubt *d, double value, double lo, double hi, double common)
{
    d->below += square(value - lo);
    d->above += square(hi - value);
    d->common += common;
}

void assay__doubt_add_sum(struct assay__doubt *d, const struct assay__doubt *sum, double weight)
{
    d->below += weight * weight * sum->below;
    d->above += weight * weight * sum->above;
    d->common += weight * sum->common;
}

void assay__doubt_interval(double *lo, double *hi, const struct assay__doubt *d, double weight,
                           double value, double min, double max)
{
    *lo = value - weight * sqrt(d->below + d->common * d->common);
    *hi = value + weight * sqrt(d->above + d->common * d->common);
    /* not fmax() and fmin(): they would make a number of NaN */
    if (*lo < min)
        *lo = min < value ? min : value;
    if (*hi > max)
        *hi = max > value ? max : value;
}

/* ---- the sum --------------------------------------------------------------------------------- */

static void add_speedup(struct assay__score_sum *sum, const struct assay_case_score *c)
{
    if (!(c->speedup > 0) || !isfinite(c->speedup))
        return;
    sum->n_speedups++;
    sum->log_speedup += log(c->speedup);
    assay__doubt_add(&sum->log_speedup_doubt, log(c->speedup), log(c->speedup_lo),
                     log(c->speedup_hi), 0);
}

/* A time without a right result counts for nothing. */
void assay__score_add(struct assay__score_sum *sum, const struct assay_case_score *c)
{
    sum->n++;
    sum->compiled = sum->compiled || c->compiled;
    if (!c->compiled || !c->correct)
        return;
    sum->n_correct++;
    if (!c->timed || isnan(c->hap))
        return;
    sum->n_timed++;
    sum->hap += c->hap;
    assay__doubt_add(&sum->hap_doubt, c->hap, c->hap_lo, c->hap_hi, c->hap_limit);
    add_speedup(sum, c);
}

double assay__score_points(const struct assay__score_sum *sum, double hap)
{
    if (!sum->compiled || sum->n == 0)
        return sum->compiled ? points_compiled : 0;
    return points_compiled + points_correct * sum->n_correct / sum->n + points_fast * hap / sum->n;
}

double assay__score_per_hap(const struct assay__score_sum *sum)
{
    return sum->n ? points_fast / sum->n : 0;
}

static void finish_fast(const struct assay__score_sum *sum, struct assay_op_score *s)
{
    double n = sum->n_timed;

    s->hap = sum->hap / n;
    assay__doubt_interval(&s->hap_lo, &s->hap_hi, &sum->hap_doubt, 1 / n, s->hap, 0, 1);
    assay__doubt_interval(&s->score_lo, &s->score_hi, &sum->hap_doubt, assay__score_per_hap(sum),
                          s->score, assay__score_points(sum, 0), assay__score_points(sum, n));
}

static void finish_speedup(const struct assay__score_sum *sum, struct assay_op_score *s)
{
    double n = sum->n_speedups, mean = sum->log_speedup / n, lo, hi;

    assay__doubt_interval(&lo, &hi, &sum->log_speedup_doubt, 1 / n, mean, -INFINITY, INFINITY);
    s->speedup = exp(mean);
    s->speedup_lo = exp(lo);
    s->speedup_hi = exp(hi);
}

void assay__score_finish(const struct assay__score_sum *sum, struct assay_op_score *s)
{
    *s = (struct assay_op_score){
        .compiled = sum->compiled,
        .n = sum->n,
        .n_correct = sum->n_correct,
        .n_timed = sum->n_timed,
        .score = assay__score_points(sum, sum->hap),
        .score_lo = NAN,
        .score_hi = NAN,
        .hap = NAN,
        .hap_lo = NAN,
        .hap_hi = NAN,
        .speedup = NAN,
        .speedup_lo = NAN,
        .speedup_hi = NAN,
    };
    if (sum->n_timed > 0)
        finish_fast(sum, s);
    if (sum->n_speedups > 0)
        finish_speedup(sum, s);
}

void assay_score_op(struct assay_op_score *s, const struct assay_case_score *cases, int n)
{
    struct assay__score_sum sum = { 0 };

    for (int i = 0; i < n; i++)
        assay__score_add(&sum, &cases[i]);
    assay__score_finish(&sum, s);
}
