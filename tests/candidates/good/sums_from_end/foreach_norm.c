/* SPDX-License-Identifier: Apache-2.0 */
/* Sums from the end in 32 float lanes, then pairwise. */
#include <assay/foreach_norm.h>

#include <math.h>

enum { LANES = 32 };

static float square_sum(const float *x, int64_t n)
{
    float lane[LANES] = { 0 };

    for (; n % LANES; n--)
        lane[n % LANES] += x[n - 1] * x[n - 1];
    for (; n; n -= LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += x[n - LANES + k] * x[n - LANES + k];
    for (int half = LANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            lane[k] += lane[k + half];
    return lane[0];
}

int assay_foreach_norm(const struct assay_call *c)
{
    const struct foreach_norm_attrs *a = c->attrs;
    const struct assay_arg *x = &c->in[FOREACH_NORM_X];

    for (int64_t t = 0; t < x->count; t++) {
        int64_t n = 1;

        if (x->view[t].dtype != ASSAY_F32 || a->scalar != 2)
            return 1;
        for (int d = 0; d < x->view[t].rank; d++)
            n *= x->view[t].shape[d];
        *(float *)c->out[FOREACH_NORM_Y].view[t].data = sqrtf(square_sum(x->view[t].data, n));
    }
    return 0;
}
