/* SPDX-License-Identifier: Apache-2.0 */
/* exp: the formula, element by element. */
#include <assay/exp.h>

#include "elem.h"

#include <math.h>

int assay_exp(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const struct assay_view *x = c->in[EXP_X].view;
    const struct assay_view *y = c->out[EXP_Y].view;
    double ln_base = a->base > 0 ? log(a->base) : 1;

    for (int64_t i = 0, n = elem_count(y); i < n; i++)
        elem_put(y, i, exp((elem_get(x, i) * a->scale + a->shift) * ln_base));
    return 0;
}
