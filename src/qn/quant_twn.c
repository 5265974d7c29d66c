/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quant_twn.c: ternary weight networks (Li, Zhang, Liu, arXiv 1605.04711, equations 5 and 6): with
 * delta = 0.7 mean|w| the weights above delta become alpha, those below -delta become -alpha, the
 * rest 0; alpha is the mean of |w| over those that are not 0. Both are derived anew from the
 * weights before each pass; the derivative is straight through. For levels {-1, 0, 1}.
 */
#include "qn/quant.h"

#include <math.h>
#include <string.h>

static const double share = 0.7;

struct sum {
    double of;
    int64_t n;
};

/* |x| above delta, of one channel. */
static struct sum above(const float *x, struct qn_view v, int64_t channel, double delta)
{
    struct sum s = { 0, 0 };

    for (int64_t o = 0; o < v.outer; o++)
        for (int64_t i = 0; i < v.inner; i++) {
            double a = fabs((double)x[(o * v.channels + channel) * v.inner + i]);

            if (a > delta) {
                s.of += a;
                s.n++;
            }
        }
    return s;
}

static void prepare(struct qn_quant *q, const float *x, struct qn_view v)
{
    v = qn__scaled_view(q, v);
    for (int64_t s = 0; s < q->n_scales; s++) {
        struct qn_magnitudes m = qn__magnitudes(x, v, s);
        double delta = share * m.sum / (double)m.n;
        struct sum far = above(x, v, s, delta);

        if (!(delta > 0) || !far.n || !isfinite(delta))
            continue; /* all 0, or not finite: the scales stay */
        q->beta.start[s] = (float)(1 / delta);
        q->alpha.start[s] = (float)(far.of / (double)far.n);
        q->alpha.raw[s] = q->beta.raw[s] = 0;
    }
}

static enum assay_status check(const struct qn_quant_config *c, struct assay_err *err)
{
    const struct qn_levels *l = &c->levels;

    if (l->n != 3 || l->y[0] != -1 || l->y[1] != 0 || l->y[2] != 1)
        return assay_fail(err, ASSAY_INVALID,
                          "quantiser twn has the levels -1, 0, 1; ask for ternary");
    return ASSAY_OK;
}

static bool from_values(const struct qn_quant_config *c)
{
    (void)c;
    return true;
}

static enum assay_status start(struct qn_quant *q, const float *x, struct qn_view v,
                               struct assay_err *err)
{
    (void)err;
    q->b[0] = -1;
    q->b[1] = 1;
    prepare(q, x, v);
    return ASSAY_OK;
}

static void backward(const struct qn_quant *q, const struct qn_run *r, const float *dy, float *dx,
                     struct qn_sums *sums)
{
    (void)q;
    (void)sums;
    if (dx != dy)
        memcpy(dx, dy, (size_t)r->n * sizeof *dx);
}

const struct qn_quant_type qn_quant_twn = {
    .name = "twn",
    .check = check,
    .from_values = from_values,
    .prepare = prepare,
    .start = start,
    .backward = backward,
};
