/* SPDX-License-Identifier: Apache-2.0 */
/* add_rms_norm_dynamic_quant: the formula, row by row; the sum is taken anew wherever it is needed.
 */
#include <assay/add_rms_norm_dynamic_quant.h>

#include "elem.h"
#include "quant.h"

static double sum_at(const struct assay_call *c, int64_t i)
{
    return elem_get(c->in[ADD_RMS_NORM_DYNAMIC_QUANT_X1].view, i) +
           elem_get(c->in[ADD_RMS_NORM_DYNAMIC_QUANT_X2].view, i);
}

int assay_add_rms_norm_dynamic_quant(const struct assay_call *c)
{
    const struct add_rms_norm_dynamic_quant_attrs *a = c->attrs;
    const struct assay_view *gamma = c->in[ADD_RMS_NORM_DYNAMIC_QUANT_GAMMA].view;
    const struct assay_view *x_out = c->out[ADD_RMS_NORM_DYNAMIC_QUANT_XOUT].view;
    int8_t *y = c->out[ADD_RMS_NORM_DYNAMIC_QUANT_Y].view->data;
    float *scale_out = c->out[ADD_RMS_NORM_DYNAMIC_QUANT_SCALEOUT].view->data;
    int64_t d = gamma->shape[0];

    for (int64_t row = 0, rows = elem_count(x_out) / d; row < rows; row++) {
        double squares = 0, max = 1e-12, rstd;

        for (int64_t i = 0; i < d; i++) {
            double r = sum_at(c, row * d + i);

            elem_put(x_out, row * d + i, r);
            squares += r * r;
        }
        rstd = 1 / sqrt(squares / (double)d + a->epsilon);
        for (int64_t i = 0; i < d; i++)
            max = quant_max(max, sum_at(c, row * d + i) * rstd * elem_get(gamma, i));
        scale_out[row] = (float)(max / 127);
        for (int64_t i = 0; i < d; i++)
            y[row * d + i] =
                quant_int8(sum_at(c, row * d + i) * rstd * elem_get(gamma, i), max / 127);
    }
    return 0;
}
