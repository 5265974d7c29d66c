/* SPDX-License-Identifier: Apache-2.0 */
/* softmax: slice by slice; the elements of a slice are `inner` apart. */
#include <assay/softmax.h>

#include "axis.h"
#include "elem.h"

#include <math.h>

int assay_softmax(const struct assay_call *c)
{
    const struct softmax_attrs *attrs = c->attrs;
    const struct assay_view *x = c->in[SOFTMAX_X].view;
    const struct assay_view *y = c->out[SOFTMAX_Y].view;
    struct axis_split a = axis_of(x, attrs->dim);
    int64_t n = a.n, inner = a.inner;

    for (int64_t s = 0; s < a.outer * inner; s++) {
        int64_t first = s / inner * n * inner + s % inner;
        double max = -INFINITY, sum = 0;

        for (int64_t i = 0; i < n; i++)
            max = fmax(max, elem_get(x, first + i * inner));
        for (int64_t i = 0; i < n; i++)
            sum += exp(elem_get(x, first + i * inner) - max);
        for (int64_t i = 0; i < n; i++)
            elem_put(y, first + i * inner, exp(elem_get(x, first + i * inner) - max) / sum);
    }
    return 0;
}
