/* SPDX-License-Identifier: Apache-2.0 */
/* arg_max: one slice after the other, and in it the first element that no other is larger than. */
#include <assay/arg_max.h>

#include "axis.h"
#include "elem.h"

#include <math.h>

static int is_int(const struct assay_view *x)
{
    return x->dtype == ASSAY_I32 || x->dtype == ASSAY_I64;
}

/* NaN is larger than any number; doubles would not tell all int64 apart. */
static int larger(const struct assay_view *x, int64_t a, int64_t b)
{
    double v, w;

    if (is_int(x))
        return elem_get_int(x, a) > elem_get_int(x, b);
    v = elem_get(x, a);
    w = elem_get(x, b);
    return v > w || (isnan(v) && !isnan(w));
}

int assay_arg_max(const struct assay_call *c)
{
    const struct arg_max_attrs *attrs = c->attrs;
    const struct assay_view *x = c->in[ARG_MAX_INPUT].view;
    int64_t *indices = c->out[ARG_MAX_INDICES].view->data;
    struct axis_split a = axis_of(x, attrs->dim);

    for (int64_t o = 0; o < a.outer; o++)
        for (int64_t i = 0; i < a.inner; i++) {
            int64_t best = 0;

            for (int64_t k = 1; k < a.n; k++)
                if (larger(x, (o * a.n + k) * a.inner + i, (o * a.n + best) * a.inner + i))
                    best = k;
            indices[o * a.inner + i] = best;
        }
    return 0;
}
