/* SPDX-License-Identifier: Apache-2.0 */
/* dynamic_quant: row by row. */
#include <assay/dynamic_quant.h>

#include "elem.h"
#include "quant.h"

int assay_dynamic_quant(const struct assay_call *c)
{
    const struct assay_view *x = c->in[DYNAMIC_QUANT_X].view;
    int8_t *y = c->out[DYNAMIC_QUANT_Y].view->data;
    float *scale = c->out[DYNAMIC_QUANT_SCALE].view->data;
    int64_t d = x->shape[x->rank - 1];

    for (int64_t row = 0, rows = elem_count(x) / d; row < rows; row++) {
        double max = 1e-12;

        for (int64_t i = 0; i < d; i++)
            max = quant_max(max, elem_get(x, row * d + i));
        scale[row] = (float)(max / 127);
        for (int64_t i = 0; i < d; i++)
            y[row * d + i] = quant_int8(elem_get(x, row * d + i), max / 127);
    }
    return 0;
}
