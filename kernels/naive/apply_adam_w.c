/* SPDX-License-Identifier: Apache-2.0 */
/* apply_adam_w: the formula, element by element. */
#include <assay/apply_adam_w.h>

#include "elem.h"

#include <math.h>

int assay_apply_adam_w(const struct assay_call *c)
{
    const struct apply_adam_w_attrs *a = c->attrs;
    const struct assay_view *var = c->in[APPLY_ADAM_W_VAR].view;
    const struct assay_view *grad = c->in[APPLY_ADAM_W_GRAD].view;
    const struct assay_view *y = c->out[APPLY_ADAM_W_Y].view;
    double lr = a->maximize ? -a->lr : a->lr;
    double unbias_m = 1 - pow(a->beta1, (double)a->step);
    double unbias_v = 1 - pow(a->beta2, (double)a->step);

    for (int64_t i = 0, n = elem_count(y); i < n; i++) {
        double w = elem_get(var, i), g = elem_get(grad, i);
        double m = elem_get(c->in[APPLY_ADAM_W_M].view, i);
        double v = elem_get(c->in[APPLY_ADAM_W_V].view, i);
        double step;

        m = a->beta1 * m + (1 - a->beta1) * g;
        v = a->beta2 * v + (1 - a->beta2) * g * g;
        step = m / unbias_m / (sqrt(v / unbias_v) + a->epsilon);
        if (a->weight_decay != 0)
            step += a->weight_decay * w;
        elem_put(y, i, w - lr * step);
    }
    return 0;
}
