/* SPDX-License-Identifier: Apache-2.0 */
/* y = base^(scale x + shift). The attributes come in the struct of the generated header. */
#include <assay/exp.h>

#include "tensor.h"

#include <math.h>

int assay_exp(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const struct assay_view *x = c->in[EXP_X].view;
    struct assay_view *y = c->out[EXP_Y].view;
    float scale = (float)a->scale, shift = (float)a->shift;
    float ln_base = a->base > 0 ? logf((float)a->base) : 1; /* 0 or less: e */
    int64_t n = size_of(y);

    for (int64_t i = 0; i < n; i++)
        store(y, i, expf((scale * load(x, i) + shift) * ln_base));
    return 0;
}
