/* SPDX-License-Identifier: Apache-2.0 */
/* masked_scale: x (mask scale), in float32 whatever the two dtypes are. */
#include <assay/masked_scale.h>

#include "blocks.h"

static void block(const void *ctx, float *y, const float *const *x, int64_t n)
{
    const float *restrict from = x[0];
    const float *restrict mask = x[1];
    float *restrict to = y;
    float scale = *(const float *)ctx;

    for (int64_t k = 0; k < n; k++)
        to[k] = from[k] * (mask[k] * scale);
}

int assay_masked_scale(const struct assay_call *c)
{
    const struct masked_scale_attrs *a = c->attrs;
    const struct assay_view *in[] = { c->in[MASKED_SCALE_X].view, c->in[MASKED_SCALE_MASK].view };
    float scale = (float)a->scale;

    baseline_map(c, c->out[MASKED_SCALE_Y].view, in, 2, block, &scale);
    return 0;
}
