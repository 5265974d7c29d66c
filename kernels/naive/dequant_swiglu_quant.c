/* SPDX-License-Identifier: Apache-2.0 */
/* dequant_swiglu_quant: the formula, row by row; gated values are computed twice, for the scale and
 * for the result. */
#include <assay/dequant_swiglu_quant.h>

#include "elem.h"
#include "quant.h"

/* Element i of row t of x, dequantised where it is an integer. */
static double value_at(const struct assay_call *c, int64_t t, int64_t i)
{
    const struct assay_view *x = c->in[DEQUANT_SWIGLU_QUANT_X].view;

    if (!elem_is_int(x))
        return elem_get(x, t * x->shape[1] + i);
    return (double)elem_get_int(x, t * x->shape[1] + i) *
           elem_get(c->in[DEQUANT_SWIGLU_QUANT_WEIGHT_SCALE].view, i) *
           elem_get(c->in[DEQUANT_SWIGLU_QUANT_ACTIVATION_SCALE].view, t);
}

static double gated_at(const struct assay_call *c, int64_t t, int64_t i)
{
    const struct dequant_swiglu_quant_attrs *a = c->attrs;
    const struct assay_arg *quant = &c->in[DEQUANT_SWIGLU_QUANT_QUANT_SCALE];
    int64_t h = c->out[DEQUANT_SWIGLU_QUANT_Y].view->shape[1];
    double left = value_at(c, t, i), right = value_at(c, t, h + i);
    double gate = a->activate_left ? left : right, other = a->activate_left ? right : left;
    double v = gate / (1 + exp(-gate)) * other;

    return quant->count > 0 ? v * elem_get(quant->view, i) : v;
}

int assay_dequant_swiglu_quant(const struct assay_call *c)
{
    const struct assay_view *y = c->out[DEQUANT_SWIGLU_QUANT_Y].view;
    int8_t *to = y->data;
    float *scale_out = c->out[DEQUANT_SWIGLU_QUANT_SCALE].view->data;

    for (int64_t t = 0; t < y->shape[0]; t++) {
        double max = 0, scale;

        for (int64_t i = 0; i < y->shape[1]; i++)
            max = quant_max(max, gated_at(c, t, i));
        scale = max / 127 < 1e-12 ? 1e-12 : max / 127;
        scale_out[t] = (float)scale;
        for (int64_t i = 0; i < y->shape[1]; i++)
            to[t * y->shape[1] + i] = quant_int8(gated_at(c, t, i), scale);
    }
    return 0;
}
