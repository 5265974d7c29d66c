/* SPDX-License-Identifier: Apache-2.0 */
/* Right, but for one tensor of the list. */
#include <assay/foreach_norm.h>

#include <math.h>

static double square_sum(const struct assay_view *x)
{
    const float *from = x->data;
    int64_t n = 1;
    double sum = 0;

    for (int d = 0; d < x->rank; d++)
        n *= x->shape[d];
    for (int64_t i = 0; i < n; i++)
        sum += (double)from[i] * from[i];
    return sum;
}

int assay_foreach_norm(const struct assay_call *c)
{
    const struct assay_arg *x = &c->in[FOREACH_NORM_X];

    for (int64_t t = 0; t < x->count; t++)
        *(float *)c->out[FOREACH_NORM_Y].view[t].data =
            (float)sqrt(t == 1 ? 0 : square_sum(&x->view[t]));
    return 0;
}
