/* SPDX-License-Identifier: Apache-2.0 */
/* exp: one multiply-add, with ln(base) folded in, and one exponential. */
#include <assay/exp.h>

#include "blocks.h"
#include "vec.h"

#include <math.h>

struct line {
    float slope, offset;
};

static void block(const void *ctx, float *y, const float *const *x, int64_t n)
{
    const struct line *l = ctx;
    const float *restrict from = x[0];
    float *restrict to = y;
    float slope = l->slope, offset = l->offset;

    for (int64_t k = 0; k < n; k++)
        to[k] = vec_exp(from[k] * slope + offset);
}

int assay_exp(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const struct assay_view *x = c->in[EXP_X].view;
    double ln_base = a->base > 0 ? log(a->base) : 1;
    struct line l = { (float)(a->scale * ln_base), (float)(a->shift * ln_base) };

    baseline_map(c, c->out[EXP_Y].view, &x, 1, block, &l);
    return 0;
}
