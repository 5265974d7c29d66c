/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quant_lsq.c: learned step size quantisation (Esser et al., ICLR 2020, arXiv 1902.08153, equations
 * 1 to 5): y = s * round(clip(x / s, Y_0, Y_n)), so alpha = s, beta = 1 / s, thresholds half way
 * between levels. With v = x / s:
 *
 *     dy/dx = 1 for Y_0 < v < Y_n, else 0
 *     dy/ds = round(v) - v inside, Y_0 or Y_n outside; times 1 / sqrt(N * Y_max), N weights or
 *             values of one sample (section 2.2)
 *
 * start: s = 2 mean|x| / sqrt(Y_max) (section 2.1). Any set of levels will do; the paper's are
 * neighbouring integers.
 */
#include "qn/quant.h"

#include <math.h>

/* beta follows alpha, which training moves. */
static void prepare(struct qn_quant *q, const float *x, struct qn_view v)
{
    (void)x;
    (void)v;
    for (int64_t s = 0; s < q->n_scales; s++) {
        q->beta.start[s] = 1 / qn_quant_alpha(q, s);
        q->beta.raw[s] = 0;
    }
}

static enum assay_status start(struct qn_quant *q, const float *x, struct qn_view v,
                               struct assay_err *err)
{
    double most = 0;

    v = qn__scaled_view(q, v);
    for (int64_t s = 0; s < q->n_scales; s++)
        most = fmax(most, qn__magnitudes(x, v, s).sum);
    if (!(most > 0))
        return assay_fail(err, ASSAY_INVALID,
                          "all values are 0: nothing to take the step of quantiser lsq from");
    for (int64_t s = 0; s < q->n_scales; s++) {
        struct qn_magnitudes m = qn__magnitudes(x, v, s);
        double mean = (m.sum > 0 ? m.sum : most) / (double)m.n;
        double step = 2 * mean / sqrt((double)qn_levels_max(&q->config.levels));

        ASSAY_TRY(qn_quant_set_scales(q, s, (float)step, (float)(1 / step), err));
    }
    qn_quant_uniform(q);
    return ASSAY_OK;
}

static void backward(const struct qn_quant *q, const struct qn_run *r, const float *dy, float *dx,
                     struct qn_sums *sums)
{
    const struct qn_levels *l = &q->config.levels;
    float low = l->y[0], high = l->y[l->n - 1];

    for (int64_t j = 0; j < r->n; j++) {
        float v = r->beta * r->x[j];
        bool inside = v > low && v < high;
        double d = (double)l->y[qn_quant_code(q, v)] - (inside ? (double)v : 0);

        sums->alpha += (double)dy[j] * d;
        dx[j] = inside ? dy[j] : 0;
    }
}

static double alpha_factor(const struct qn_quant *q, int64_t n)
{
    return 1 / sqrt((double)n * (double)qn_levels_max(&q->config.levels));
}

const struct qn_quant_type qn_quant_lsq = {
    .name = "lsq",
    .trains_alpha = true,
    .prepare = prepare,
    .start = start,
    .backward = backward,
    .alpha_factor = alpha_factor,
};
