/* SPDX-License-Identifier: Apache-2.0 */
/* mish: the formula, element by element. */
#include <assay/mish.h>

#include "elem.h"

#include <math.h>

int assay_mish(const struct assay_call *c)
{
    const struct assay_view *x = c->in[MISH_X].view;
    const struct assay_view *y = c->out[MISH_Y].view;

    for (int64_t i = 0, n = elem_count(y); i < n; i++) {
        double v = elem_get(x, i);

        elem_put(y, i, v * tanh(log1p(exp(v))));
    }
    return 0;
}
