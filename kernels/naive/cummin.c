/* SPDX-License-Identifier: Apache-2.0 */
/* cummin: one slice after the other; the latest of equal elements, a NaN before all numbers. */
#include <assay/cummin.h>

#include "axis.h"
#include "elem.h"

#include <math.h>

static double get(const struct assay_view *x, int64_t i)
{
    return x->dtype == ASSAY_I32 ? (double)elem_get_int(x, i) : elem_get(x, i);
}

static void put(const struct assay_view *y, int64_t i, double v)
{
    if (y->dtype == ASSAY_I32)
        ((int32_t *)y->data)[i] = (int32_t)v;
    else
        elem_put(y, i, v);
}

int assay_cummin(const struct assay_call *c)
{
    const struct cummin_attrs *attrs = c->attrs;
    const struct assay_view *x = c->in[CUMMIN_INPUT].view;
    const struct assay_view *values = c->out[CUMMIN_VALUES].view;
    int64_t *indices = c->out[CUMMIN_INDICES].view->data;
    struct axis_split a = axis_of(x, attrs->dim);

    for (int64_t o = 0; o < a.outer; o++)
        for (int64_t i = 0; i < a.inner; i++) {
            double least = INFINITY;
            int64_t where = 0;

            for (int64_t k = 0; k < a.n; k++) {
                int64_t at = (o * a.n + k) * a.inner + i;
                double v = get(x, at);

                if (v <= least || isnan(v)) {
                    least = v;
                    where = k;
                }
                put(values, at, least);
                indices[at] = where;
            }
        }
    return 0;
}
