/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quant_dorefa.c: the rules of DoReFa-Net (Zhou et al., arXiv 1606.06160, sections 2.3 and 2.4) on
 * evenly spaced levels; which one holds is told by the levels.
 *
 * Levels -P .. P are those of weights. With M = max tanh|w| over the layer and n levels
 *
 *     y     = 2 round((n - 1) z) / (n - 1) - 1,   z = tanh(w) / (2 M) + 1/2
 *     dy/dw = (1 - tanh(w)^2) / M
 *
 * rounding counting as the identity and M as a constant. tanh rises, so this is a function of steps
 * in w: with W = max|w|, beta = 1/W and alpha = 1/P, level i+1 is reached where
 * beta w > atanh(M b / P) / W for b half way between levels i and i+1. Two levels are the sign
 * times mean|w| (of each channel, with scales per channel), and dy/dw = 1.
 *
 * Levels 0 .. P are those of activations: y = round(P x) / P for x clipped to [0, 1], so beta = P,
 * alpha = 1/P, thresholds half way between levels; dy/dx = 1 for x in [0, 1], else 0.
 *
 * Nothing is trained. A value half way between levels goes to the lower one, as everywhere here.
 */
#include "base/clones.h"
#include "qn/exp32.h"
#include "qn/quant.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Of a step, that steps may differ by. */
static const float uneven = 1e-4f;

/* exp32.h bears exp(-2 * 40); the slope is 0 to all digits long before. */
static const float far = 40;

static enum assay_status check(const struct qn_quant_config *c, struct assay_err *err)
{
    const struct qn_levels *l = &c->levels;
    float first = l->y[0], last = l->y[l->n - 1], step = (last - first) / (float)(l->n - 1);

    for (int i = 0; i + 1 < l->n; i++)
        if (fabsf(l->y[i + 1] - l->y[i] - step) > uneven * step)
            return assay_fail(err, ASSAY_INVALID,
                              "quantiser dorefa: levels %g and %g are not as far apart as others",
                              (double)l->y[i], (double)l->y[i + 1]);
    if (first != 0 && first != -last)
        return assay_fail(err, ASSAY_INVALID,
                          "quantiser dorefa: levels from %g to %g; from 0 (activations) or as far "
                          "below 0 as above (weights) expected",
                          (double)first, (double)last);
    if (c->per_channel && first != 0 && l->n > 2)
        return assay_fail(err, ASSAY_INVALID,
                          "quantiser dorefa has scales per channel with two levels only");
    return ASSAY_OK;
}

static bool from_values(const struct qn_quant_config *c)
{
    return c->levels.y[0] != 0;
}

static void set(struct qn_quant *q, int64_t s, double alpha, double beta)
{
    q->alpha.start[s] = (float)alpha;
    q->beta.start[s] = (float)beta;
    q->alpha.raw[s] = q->beta.raw[s] = 0;
}

/* ---- scales and thresholds ------------------------------------------------------------------- */

static void prepare_weights(struct qn_quant *q, const float *x, struct qn_view v)
{
    const struct qn_levels *l = &q->config.levels;
    double top = (double)qn_levels_max(l);

    v = qn__scaled_view(q, v);
    for (int64_t s = 0; s < q->n_scales; s++) {
        struct qn_magnitudes m = qn__magnitudes(x, v, s);
        double most = m.most, mean = m.sum / (double)m.n;

        if (l->n == 2 && mean == 0)
            set(q, s, (double)FLT_MIN, 1); /* 0, as far as a scale can be */
        if (!isfinite(mean) || !isnormal((float)most) || !isnormal((float)(1 / most)))
            continue; /* all 0, or not finite: what was stays */
        set(q, s, (l->n == 2 ? mean : 1) / top, 1 / most);
        for (int i = 0; l->n > 2 && i + 1 < l->n; i++) {
            double middle = 0.5 * ((double)l->y[i] + (double)l->y[i + 1]);

            q->b[i] = (float)(atanh(tanh(most) * middle / top) / most);
        }
    }
}

static void prepare(struct qn_quant *q, const float *x, struct qn_view v)
{
    double top = (double)qn_levels_max(&q->config.levels);

    qn_quant_uniform(q);
    if (from_values(&q->config)) {
        prepare_weights(q, x, v);
        return;
    }
    for (int64_t s = 0; s < q->n_scales; s++)
        set(q, s, 1 / top, top);
}

static enum assay_status start(struct qn_quant *q, const float *x, struct qn_view v,
                               struct assay_err *err)
{
    struct qn_view all = { 1, 1, v.outer * v.channels * v.inner };

    if (from_values(&q->config) && !(qn__magnitudes(x, all, 0).most > 0))
        return assay_fail(err, ASSAY_INVALID,
                          "all values are 0: nothing to scale quantiser dorefa by");
    prepare(q, x, v);
    return ASSAY_OK;
}

/* ---- derivative ------------------------------------------------------------------------------ */

/* 1 - tanh(x)^2 = 4 e / (1 + e)^2 with e = exp(-2|x|), in which nothing cancels. */
ASSAY__CLONES static void dorefa_slope(int64_t n, const float *restrict x, float factor,
                                       float *restrict dx)
{
    for (int64_t j = 0; j < n; j++) {
        float a = x[j] < 0 ? -x[j] : x[j], e;

        a = a > far ? far : a;
        e = qn__exp(-2 * a);
        dx[j] *= factor * e / ((1 + e) * (1 + e));
    }
}

static void backward(const struct qn_quant *q, const struct qn_run *r, const float *dy, float *dx,
                     struct qn_sums *sums)
{
    float top = qn_levels_max(&q->config.levels);

    (void)sums;
    if (dx != dy)
        memcpy(dx, dy, (size_t)r->n * sizeof *dx);
    if (from_values(&q->config)) {
        if (q->config.levels.n > 2)
            dorefa_slope(r->n, r->x, (float)(4 / tanh(1 / (double)r->beta)), dx);
        return;
    }
    for (int64_t j = 0; j < r->n; j++) {
        float u = r->beta * r->x[j];

        dx[j] = u >= 0 && u <= top ? dx[j] : 0;
    }
}

const struct qn_quant_type qn_quant_dorefa = {
    .name = "dorefa",
    .check = check,
    .from_values = from_values,
    .prepare = prepare,
    .start = start,
    .backward = backward,
};
