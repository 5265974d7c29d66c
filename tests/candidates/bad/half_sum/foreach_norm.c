/* SPDX-License-Identifier: Apache-2.0 */
/* Sums in bfloat16. */
#include <assay/foreach_norm.h>

#include <math.h>

int assay_foreach_norm(const struct assay_call *c)
{
    const struct assay_arg *x = &c->in[FOREACH_NORM_X];

    for (int64_t t = 0; t < x->count; t++) {
        const float *from = x->view[t].data;
        uint16_t sum = 0;
        int64_t n = 1;

        for (int d = 0; d < x->view[t].rank; d++)
            n *= x->view[t].shape[d];
        for (int64_t i = 0; i < n; i++)
            sum = assay_f32_to_bf16(assay_bf16_to_f32(sum) + from[i] * from[i]);
        *(float *)c->out[FOREACH_NORM_Y].view[t].data = sqrtf(assay_bf16_to_f32(sum));
    }
    return 0;
}
