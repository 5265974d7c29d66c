/* SPDX-License-Identifier: Apache-2.0 */
/* foreach_norm: one sum, largest or smallest value for each tensor of the list. */
#include <assay/foreach_norm.h>

#include "elem.h"

#include <math.h>

/* NaN wins over any number. */
static double extreme(const struct assay_view *x, int largest)
{
    double best = fabs(elem_get(x, 0));

    for (int64_t i = 1, n = elem_count(x); i < n; i++) {
        double v = fabs(elem_get(x, i));

        if (isnan(v) || (largest ? v > best : v < best))
            best = v;
    }
    return best;
}

static double norm(const struct assay_view *x, double p)
{
    double sum = 0;

    if (isinf(p))
        return extreme(x, p > 0);
    for (int64_t i = 0, n = elem_count(x); i < n; i++) {
        double v = fabs(elem_get(x, i));

        if (p == 0)
            sum += v != 0;
        else if (p == 1)
            sum += v;
        else if (p == 2)
            sum += v * v;
        else
            sum += pow(v, p);
    }
    return p == 0 ? sum : pow(sum, 1 / p);
}

int assay_foreach_norm(const struct assay_call *c)
{
    const struct foreach_norm_attrs *a = c->attrs;
    const struct assay_arg *x = &c->in[FOREACH_NORM_X];

    for (int64_t t = 0; t < x->count; t++)
        elem_put(&c->out[FOREACH_NORM_Y].view[t], 0, norm(&x->view[t], a->scalar));
    return 0;
}
