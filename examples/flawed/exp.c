/* SPDX-License-Identifier: Apache-2.0 */
/* Flaw: a semicolon is missing, so it does not compile. */
#include <assay/exp.h>

#include "tensor.h"

#include <math.h>

int assay_exp(const struct assay_call *c)
{
    const struct assay_view *x = c->in[EXP_X].view;
    struct assay_view *y = c->out[EXP_Y].view;
    int64_t n = size_of(y)

    for (int64_t i = 0; i < n; i++)
        store(y, i, expf(load(x, i)));
    return 0;
}
