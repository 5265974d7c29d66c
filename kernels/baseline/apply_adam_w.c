/* SPDX-License-Identifier: Apache-2.0 */
/* apply_adam_w: one root and one quotient an element; what depends on attributes alone is computed
 * once. */
#include <assay/apply_adam_w.h>

#include "blocks.h"

#include <math.h>

enum { VAR, GRAD, M, V };

struct rule {
    float lr, beta1, beta2, rest1, rest2, decay, epsilon;
    float unbias_m, unbias_root; /* 1 / (1 - beta1^step), 1 / sqrt(1 - beta2^step) */
};

static inline float step(const struct rule *r, float g, float m, float v)
{
    float first = r->beta1 * m + r->rest1 * g;
    float root = sqrtf(r->beta2 * v + r->rest2 * (g * g)) * r->unbias_root;

    return first * r->unbias_m / (root + r->epsilon);
}

static void block(const void *ctx, float *y, const float *const *x, int64_t n)
{
    const struct rule r = *(const struct rule *)ctx;
    const float *restrict var = x[VAR];
    const float *restrict grad = x[GRAD];
    const float *restrict m = x[M];
    const float *restrict v = x[V];
    float *restrict to = y;

    for (int64_t k = 0; k < n; k++)
        to[k] = var[k] - r.lr * step(&r, grad[k], m[k], v[k]);
}

/* Apart, since 0 times an infinite variable would be NaN. */
static void block_decay(const void *ctx, float *y, const float *const *x, int64_t n)
{
    const struct rule r = *(const struct rule *)ctx;
    const float *restrict var = x[VAR];
    const float *restrict grad = x[GRAD];
    const float *restrict m = x[M];
    const float *restrict v = x[V];
    float *restrict to = y;

    for (int64_t k = 0; k < n; k++)
        to[k] = var[k] - r.lr * (step(&r, grad[k], m[k], v[k]) + r.decay * var[k]);
}

int assay_apply_adam_w(const struct assay_call *c)
{
    const struct apply_adam_w_attrs *a = c->attrs;
    const struct assay_view *in[] = {
        [VAR] = c->in[APPLY_ADAM_W_VAR].view,
        [GRAD] = c->in[APPLY_ADAM_W_GRAD].view,
        [M] = c->in[APPLY_ADAM_W_M].view,
        [V] = c->in[APPLY_ADAM_W_V].view,
    };
    const struct rule r = {
        .lr = (float)(a->maximize ? -a->lr : a->lr),
        .beta1 = (float)a->beta1,
        .beta2 = (float)a->beta2,
        .rest1 = (float)(1 - a->beta1),
        .rest2 = (float)(1 - a->beta2),
        .decay = (float)a->weight_decay,
        .epsilon = (float)a->epsilon,
        .unbias_m = (float)(1 / (1 - pow(a->beta1, (double)a->step))),
        .unbias_root = (float)(1 / sqrt(1 - pow(a->beta2, (double)a->step))),
    };

    baseline_map(c, c->out[APPLY_ADAM_W_Y].view, in, 4, a->weight_decay != 0 ? block_decay : block,
                 &r);
    return 0;
}
