/* SPDX-License-Identifier: Apache-2.0 */
/* weight_quant_batch_matmul: each weight is shifted and scaled where it is multiplied. */
#include <assay/weight_quant_batch_matmul.h>

#include "elem.h"

int assay_weight_quant_batch_matmul(const struct assay_call *c)
{
    const struct assay_view *x = c->in[WEIGHT_QUANT_BATCH_MATMUL_X].view;
    const struct assay_view *w = c->in[WEIGHT_QUANT_BATCH_MATMUL_WEIGHT].view;
    const struct assay_view *scales = c->in[WEIGHT_QUANT_BATCH_MATMUL_ANTIQUANTSCALE].view;
    const struct assay_arg *offset = &c->in[WEIGHT_QUANT_BATCH_MATMUL_ANTIQUANTOFFSET];
    const struct assay_arg *bias = &c->in[WEIGHT_QUANT_BATCH_MATMUL_BIAS];
    const struct assay_view *y = c->out[WEIGHT_QUANT_BATCH_MATMUL_Y].view;
    int64_t k = w->shape[0], n = w->shape[1];

    for (int64_t i = 0; i < x->shape[0]; i++)
        for (int64_t j = 0; j < n; j++) {
            double shift = offset->count ? elem_get(offset->view, j) : 0;
            double scale = elem_get(scales, j), sum = 0;

            for (int64_t s = 0; s < k; s++)
                sum += elem_get(x, i * k + s) * ((elem_get(w, s * n + j) + shift) * scale);
            elem_put(y, i * n + j, bias->count ? sum + elem_get(bias->view, j) : sum);
        }
    return 0;
}
