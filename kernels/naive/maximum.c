/* SPDX-License-Identifier: Apache-2.0 */
/* maximum: element by element; integers as they are, all others as doubles. */
#include <assay/maximum.h>

#include "broadcast.h"
#include "elem.h"

#include <math.h>

/* NaN on either side wins. */
static double larger(double a, double b)
{
    return isnan(b) || b > a ? b : a;
}

int assay_maximum(const struct assay_call *c)
{
    const struct assay_view *x1 = c->in[MAXIMUM_X1].view;
    const struct assay_view *x2 = c->in[MAXIMUM_X2].view;
    const struct assay_view *y = c->out[MAXIMUM_Y].view;

    for (int64_t i = 0, n = elem_count(y); i < n; i++) {
        int64_t at1 = broadcast_at(x1, y, i), at2 = broadcast_at(x2, y, i);

        if (elem_is_int(y)) {
            int64_t a = elem_get_int(x1, at1), b = elem_get_int(x2, at2);

            elem_put_int(y, i, b > a ? b : a);
        } else {
            elem_put(y, i, larger(elem_get(x1, at1), elem_get(x2, at2)));
        }
    }
    return 0;
}
