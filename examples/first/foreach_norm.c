/* SPDX-License-Identifier: Apache-2.0 */
/* y = (sum |x|^p)^(1/p). Sums are kept in double: a float would lose what is added to a large sum.
 */
#include <assay/foreach_norm.h>

#include "tensor.h"

#include <math.h>

static float norm(const struct assay_view *x, double p)
{
    int64_t n = size_of(x);
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += p == 0 ? load(x, i) != 0 : pow(fabsf(load(x, i)), p);
    return (float)(p == 0 ? sum : pow(sum, 1 / p));
}

/* p = Inf: the largest magnitude, p = -Inf: the smallest; NaN if there is one. */
static float extreme(const struct assay_view *x, double p)
{
    int64_t n = size_of(x);
    float best = fabsf(load(x, 0));

    for (int64_t i = 1; i < n; i++) {
        float v = fabsf(load(x, i));

        if (isnan(v) || (p > 0 ? v > best : v < best))
            best = v;
    }
    return best;
}

int assay_foreach_norm(const struct assay_call *c)
{
    const struct foreach_norm_attrs *a = c->attrs;
    const struct assay_arg *x = &c->in[FOREACH_NORM_X];

    for (int64_t t = 0; t < x->count; t++) {
        double p = a->scalar;

        store(&c->out[FOREACH_NORM_Y].view[t], 0,
              isinf(p) ? extreme(&x->view[t], p) : norm(&x->view[t], p));
    }
    return 0;
}
