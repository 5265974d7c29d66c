/* SPDX-License-Identifier: Apache-2.0 */
/* gelu: both formulas, element by element. */
#include <assay/gelu.h>

#include "elem.h"

#include <math.h>

static double by_erf(double x)
{
    return x * 0.5 * (1 + erf(x * 0.70710678118654752440));
}

static double by_tanh(double x)
{
    return x * 0.5 * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

int assay_gelu(const struct assay_call *c)
{
    const struct gelu_attrs *a = c->attrs;
    const struct assay_view *x = c->in[GELU_X].view;
    const struct assay_view *y = c->out[GELU_Y].view;

    for (int64_t i = 0, n = elem_count(y); i < n; i++) {
        double v = elem_get(x, i);

        elem_put(y, i, a->approximate == GELU_APPROXIMATE_TANH ? by_tanh(v) : by_erf(v));
    }
    return 0;
}
