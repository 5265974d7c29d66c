/* SPDX-License-Identifier: Apache-2.0 */
/* rms_norm: the formula, row by row. */
#include <assay/rms_norm.h>

#include "elem.h"

#include <math.h>

int assay_rms_norm(const struct assay_call *c)
{
    const struct rms_norm_attrs *a = c->attrs;
    const struct assay_view *x = c->in[RMS_NORM_X].view;
    const struct assay_view *gamma = c->in[RMS_NORM_GAMMA].view;
    const struct assay_view *y = c->out[RMS_NORM_Y].view;
    int64_t d = x->shape[x->rank - 1];

    for (int64_t row = 0, rows = d > 0 ? elem_count(x) / d : 0; row < rows; row++) {
        double sum = 0, scale;

        for (int64_t i = 0; i < d; i++)
            sum += elem_get(x, row * d + i) * elem_get(x, row * d + i);
        scale = 1 / sqrt(sum / (double)d + a->epsilon);
        for (int64_t i = 0; i < d; i++)
            elem_put(y, row * d + i, elem_get(x, row * d + i) * scale * elem_get(gamma, i));
    }
    return 0;
}
