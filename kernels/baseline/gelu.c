/* SPDX-License-Identifier: Apache-2.0 */
/* gelu: x Phi(x), or x / (1 + exp(-2 u)), which is x / 2 (1 + tanh u). */
#include <assay/gelu.h>

#include "blocks.h"
#include "vec.h"

static void by_erf(const void *ctx, float *y, const float *const *x, int64_t n)
{
    const float *restrict from = x[0];
    float *restrict to = y;

    (void)ctx;
    for (int64_t k = 0; k < n; k++)
        to[k] = from[k] * vec_phi(from[k]);
}

static void by_tanh(const void *ctx, float *y, const float *const *x, int64_t n)
{
    const float *restrict from = x[0];
    float *restrict to = y;

    (void)ctx;
    for (int64_t k = 0; k < n; k++) {
        float v = from[k];
        float u = 0.797884561f * (v + 0.044715f * (v * v * v));

        to[k] = v / (1.0f + vec_exp(-2.0f * u));
    }
}

int assay_gelu(const struct assay_call *c)
{
    const struct gelu_attrs *a = c->attrs;
    const struct assay_view *x = c->in[GELU_X].view;

    baseline_map(c, c->out[GELU_Y].view, &x, 1,
                 a->approximate == GELU_APPROXIMATE_TANH ? by_tanh : by_erf, NULL);
    return 0;
}
