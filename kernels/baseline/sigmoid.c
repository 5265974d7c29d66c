/* SPDX-License-Identifier: Apache-2.0 */
/* sigmoid: 1 / (1 + exp(-x)). */
#include <assay/sigmoid.h>

#include "blocks.h"
#include "vec.h"

static void block(const void *ctx, float *y, const float *const *x, int64_t n)
{
    const float *restrict from = x[0];
    float *restrict to = y;

    (void)ctx;
    for (int64_t k = 0; k < n; k++)
        to[k] = vec_sigmoid(from[k]);
}

int assay_sigmoid(const struct assay_call *c)
{
    const struct assay_view *x = c->in[SIGMOID_X].view;

    baseline_map(c, c->out[SIGMOID_Y].view, &x, 1, block, NULL);
    return 0;
}
