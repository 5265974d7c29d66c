/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quant_ste.c: steps in both passes; backwards they count as the identity u -> u between half a
 * step below the lowest level and half a step above the highest, and as constant beyond (Bengio et
 * al., arXiv 1308.3432). beta stays as initialised; alpha is trained. With neither trained and the
 * window ending at the outermost levels this is the rule for activations of quant_dorefa.c.
 */
#include "qn/quant.h"

static void backward(const struct qn_quant *q, const struct qn_run *r, const float *dy, float *dx,
                     struct qn_sums *sums)
{
    const struct qn_levels *l = &q->config.levels;
    float low = 1.5f * l->y[0] - 0.5f * l->y[1];
    float high = 1.5f * l->y[l->n - 1] - 0.5f * l->y[l->n - 2];
    float slope = r->alpha * r->beta;

    for (int64_t j = 0; j < r->n; j++) {
        float u = r->beta * r->x[j];

        sums->alpha += (double)dy[j] * (double)l->y[qn_quant_code(q, u)];
        dx[j] = u >= low && u <= high ? dy[j] * slope : 0;
    }
}

const struct qn_quant_type qn_quant_ste = {
    .name = "ste",
    .trains_alpha = true,
    .backward = backward,
};
