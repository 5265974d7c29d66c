/* SPDX-License-Identifier: Apache-2.0 */
/* quant_init.c: scales from the largest value, thresholds from clusters. */
#include "qn/quant_init.h"

#include "qn/kmeans.h"

#include <math.h>
#include <stdlib.h>

enum { DEFAULT_SAMPLES = 65536 };

static const float paper_middle = 0.05f;
static const double twn_share = 0.7;

struct qn_start qn_start_default(uint64_t seed)
{
    return (struct qn_start){ .middle = QN_MIDDLE_KMEANS, .quantile = 1, .seed = seed };
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* ---- scales ---------------------------------------------------------------------------------- */

/* The quantile of |x| over one scale's values; `copy` holds as many, or is NULL: the largest. */
static double largest(const float *x, struct qn_view v, int64_t channel, double quantile,
                      float *copy)
{
    int64_t n = 0, at;

    if (!copy)
        return qn__magnitudes(x, v, channel).most;
    for (int64_t o = 0; o < v.outer; o++)
        for (int64_t i = 0; i < v.inner; i++)
            copy[n++] = fabsf(x[(o * v.channels + channel) * v.inner + i]);
    qsort(copy, (size_t)n, sizeof *copy, by_value);
    at = (int64_t)ceil(quantile * (double)n) - 1;
    return (double)copy[at < 0 ? 0 : at];
}

static enum assay_status start_scales(struct qn_quant *q, const float *x, struct qn_view v,
                                      const struct qn_start *s, struct assay_arena *arena,
                                      struct assay_err *err)
{
    double p = (double)qn_levels_max(&q->config.levels), of_all = 0;
    float *copy = NULL;

    if (s->quantile < 1) {
        copy = assay_arena_array(arena, (size_t)(v.outer * v.inner), sizeof *copy);
        if (!copy)
            return assay_fail(err, ASSAY_NOMEM, "no memory to sort %lld values",
                              (long long)(v.outer * v.inner));
    }
    for (int64_t c = 0; c < v.channels; c++)
        of_all = fmax(of_all, largest(x, v, c, s->quantile, copy));
    if (!(of_all > 0))
        return assay_fail(err, ASSAY_INVALID,
                          "all values of a layer are 0 (up to the quantile %g): nothing to scale a "
                          "quantiser by",
                          s->quantile);
    for (int64_t c = 0; c < v.channels; c++) {
        double most = v.channels > 1 ? largest(x, v, c, s->quantile, copy) : of_all;
        double beta = 1.25 * p / (most > 0 ? most : of_all);

        ASSAY_TRY(qn_quant_set_scales(q, c, (float)(1 / beta), (float)beta, err));
    }
    return ASSAY_OK;
}

/* ---- thresholds ------------------------------------------------------------------------------ */

/* At most `most` values in the scaled domain, evenly drawn; returns how many. */
static int64_t scaled_samples(const struct qn_quant *q, const float *x, struct qn_view v,
                              const struct qn_start *s, int64_t most, float *u)
{
    int64_t total = v.outer * v.channels * v.inner, n = 0;
    int64_t take = total < most ? total : most;

    for (int64_t k = 0; k < take; k++) {
        /* k * total / take without overflow: total is a size in memory, take at most 2^40 */
        int64_t i = total / take * k + total % take * k / take;
        int64_t channel = q->n_scales > 1 ? i / v.inner % v.channels : 0;

        if (!s->skip_zeros || x[i] != 0)
            u[n++] = qn_quant_beta(q, channel) * x[i];
    }
    return n;
}

/* Index of the level 0 that has neighbours on both sides, or -1. */
static int inner_zero(const struct qn_levels *l)
{
    for (int i = 1; i + 1 < l->n; i++)
        if (l->y[i] == 0)
            return i;
    return -1;
}

/* The thresholds around 0 at -m and m, and the others not within. */
static void set_middle(struct qn_quant *q, float m)
{
    int zero = inner_zero(&q->config.levels);

    if (zero < 0)
        return;
    q->b[zero - 1] = -m;
    q->b[zero] = m;
    for (int i = 0; i < zero - 1; i++)
        q->b[i] = fminf(q->b[i], -m);
    for (int i = zero + 1; i + 1 < q->config.levels.n; i++)
        q->b[i] = fmaxf(q->b[i], m);
}

static float mean_magnitude(const float *u, int64_t n)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += fabs((double)u[i]);
    return (float)(n ? sum / (double)n : 0);
}

static enum assay_status start_thresholds(struct qn_quant *q, const float *x, struct qn_view v,
                                          const struct qn_start *s, struct assay_arena *arena,
                                          struct assay_err *err)
{
    int k = q->config.levels.n;
    int64_t most = s->max_samples > 0 ? s->max_samples : DEFAULT_SAMPLES, n;
    int64_t total = v.outer * v.channels * v.inner;
    float *u;
    double *sums, centre[QN_MAX_LEVELS];

    most = total < most ? total : most;
    u = assay_arena_array(arena, (size_t)most, sizeof *u);
    sums = assay_arena_array(arena, 2 * ((size_t)most + 1), sizeof *sums);
    if (!u || !sums)
        return assay_fail(err, ASSAY_NOMEM, "no memory to cluster %lld values", (long long)most);
    n = scaled_samples(q, x, v, s, most, u);
    qsort(u, (size_t)n, sizeof *u, by_value);
    qn_quant_uniform(q);
    if (!s->uniform && qn__kmeans(u, n, k, s->seed, sums, centre))
        for (int i = 0; i + 1 < k; i++)
            q->b[i] = (float)((centre[i] + centre[i + 1]) / 2);
    if (s->middle == QN_MIDDLE_005)
        set_middle(q, paper_middle);
    else if (s->middle == QN_MIDDLE_TWN)
        set_middle(q, (float)twn_share * mean_magnitude(u, n));
    return ASSAY_OK;
}

static bool is_plus_minus(const struct qn_levels *l)
{
    return l->n == 2 && l->y[0] == -l->y[1];
}

static enum assay_status check_values(const float *x, struct qn_view v, const struct qn_start *s,
                                      struct assay_err *err)
{
    int64_t total = v.outer * v.channels * v.inner;

    if (total <= 0)
        return assay_fail(err, ASSAY_INVALID, "no values to start a quantiser from");
    if (!(s->quantile > 0 && s->quantile <= 1))
        return assay_fail(err, ASSAY_INVALID, "quantile %g of a quantiser's range: in (0, 1]",
                          s->quantile);
    for (int64_t i = 0; i < total; i++)
        if (!isfinite(x[i]))
            return assay_fail(err, ASSAY_INVALID,
                              "value %lld is not finite: no quantiser can "
                              "start from it",
                              (long long)i);
    return ASSAY_OK;
}

/* The alpha of channel c that brings alpha * Y[code] nearest to the values, by least squares; that
 * of the scale where every value takes the level 0. */
static double nearest_alpha(const struct qn_quant *q, const float *x, struct qn_view v, int64_t c)
{
    const struct qn_levels *l = &q->config.levels;
    float beta = qn_quant_beta(q, c);
    double xy = 0, yy = 0;

    for (int64_t o = 0; o < v.outer; o++)
        for (int64_t i = 0; i < v.inner; i++) {
            float value = x[(o * v.channels + c) * v.inner + i];
            double y = (double)l->y[qn_quant_code(q, beta * value)];

            xy += (double)value * y;
            yy += y * y;
        }
    return xy > 0 ? xy / yy : (double)qn_quant_alpha(q, c);
}

/* Fits alpha, then stretches the scaled domain until alpha * beta is 1 on the average: u is in
 * units of levels then, and every value has the code that it had. */
static enum assay_status fit_scales(struct qn_quant *q, const float *x, struct qn_view v,
                                    struct assay_err *err)
{
    double product = 0, stretch;

    for (int64_t c = 0; c < v.channels; c++) {
        double alpha = nearest_alpha(q, x, v, c);

        product += alpha * (double)qn_quant_beta(q, c) / (double)v.channels;
        ASSAY_TRY(qn_quant_set_scales(q, c, (float)alpha, qn_quant_beta(q, c), err));
    }
    stretch = 1 / product;
    for (int64_t c = 0; c < v.channels; c++)
        ASSAY_TRY(qn_quant_set_scales(q, c, qn_quant_alpha(q, c),
                                      (float)(stretch * (double)qn_quant_beta(q, c)), err));
    for (int i = 0; i + 1 < q->config.levels.n; i++)
        q->b[i] = (float)(stretch * (double)q->b[i]);
    return ASSAY_OK;
}

enum assay_status qn_quant_start(struct qn_quant *q, const float *x, struct qn_view v,
                                 const struct qn_start *s, struct assay_arena *arena,
                                 struct assay_err *err)
{
    ASSAY_TRY(check_values(x, v, s, err));
    if (q->type->start)
        return q->type->start(q, x, v, err);
    v = qn__scaled_view(q, v);
    ASSAY_TRY(start_scales(q, x, v, s, arena, err));
    if (is_plus_minus(&q->config.levels))
        q->b[0] = 0;
    else
        ASSAY_TRY(start_thresholds(q, x, v, s, arena, err));
    return s->fit ? fit_scales(q, x, v, err) : ASSAY_OK;
}
