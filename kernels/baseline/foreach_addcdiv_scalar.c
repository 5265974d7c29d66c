/* SPDX-License-Identifier: Apache-2.0 */
/* foreach_addcdiv_scalar: x1 + x2 / x3 scalar, one loop for each tensor of the lists. */
#include <assay/foreach_addcdiv_scalar.h>

#include "blocks.h"

static void block(const void *ctx, float *y, const float *const *x, int64_t n)
{
    const float *restrict x1 = x[0];
    const float *restrict x2 = x[1];
    const float *restrict x3 = x[2];
    float *restrict to = y;
    float scalar = *(const float *)ctx;

    for (int64_t k = 0; k < n; k++)
        to[k] = x1[k] + x2[k] / x3[k] * scalar;
}

int assay_foreach_addcdiv_scalar(const struct assay_call *c)
{
    const struct foreach_addcdiv_scalar_attrs *a = c->attrs;
    const struct assay_arg *y = &c->out[FOREACH_ADDCDIV_SCALAR_Y];
    float scalar = (float)a->scalar;

    for (int64_t t = 0; t < y->count; t++) {
        const struct assay_view *in[] = {
            &c->in[FOREACH_ADDCDIV_SCALAR_X1].view[t],
            &c->in[FOREACH_ADDCDIV_SCALAR_X2].view[t],
            &c->in[FOREACH_ADDCDIV_SCALAR_X3].view[t],
        };

        baseline_map(c, &y->view[t], in, 3, block, &scalar);
    }
    return 0;
}
