/* SPDX-License-Identifier: Apache-2.0 */
/* mish: tanh(log(1 + e)) = w / (w + 2) with w = e (e + 2), so that one exponential is enough. */
#include <assay/mish.h>

#include "blocks.h"
#include "vec.h"

static void block(const void *ctx, float *y, const float *const *x, int64_t n)
{
    const float *restrict from = x[0];
    float *restrict to = y;

    (void)ctx;
    for (int64_t k = 0; k < n; k++) {
        float v = from[k];
        float e = vec_exp(v > 20.0f ? 20.0f : v); /* from 20 on the quotient is 1 */
        float w = e * (e + 2.0f);

        to[k] = v * (w / (w + 2.0f));
    }
}

int assay_mish(const struct assay_call *c)
{
    const struct assay_view *x = c->in[MISH_X].view;

    baseline_map(c, c->out[MISH_Y].view, &x, 1, block, NULL);
    return 0;
}
