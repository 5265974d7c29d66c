/* SPDX-License-Identifier: Apache-2.0 */
/* quant_matmul: a sum of products for each result, then scale, offset and bias. */
#include <assay/quant_matmul.h>

#include "elem.h"

/* An element of a vector that may be absent, or hold one number for all. */
static double vector_get(const struct assay_arg *v, int64_t i, double otherwise)
{
    if (v->count == 0)
        return otherwise;
    return elem_get(v->view, elem_count(v->view) == 1 ? 0 : i);
}

int assay_quant_matmul(const struct assay_call *c)
{
    const struct assay_view *x1 = c->in[QUANT_MATMUL_X1].view;
    const struct assay_view *x2 = c->in[QUANT_MATMUL_X2].view;
    const struct assay_view *out = c->out[QUANT_MATMUL_OUT].view;
    const struct assay_arg *bias = &c->in[QUANT_MATMUL_BIAS];
    const int8_t *a = x1->data, *b = x2->data;
    int64_t m = x1->shape[x1->rank - 2], k = x1->shape[x1->rank - 1], n = out->shape[out->rank - 1];
    int first = bias->count && bias->view->dtype == ASSAY_I32;

    for (int64_t row = 0, rows = n ? elem_count(out) / n : 0; row < rows; row++)
        for (int64_t j = 0; j < n; j++) {
            int64_t batch = row / m, sum = 0;
            int64_t at = bias->count && bias->view->rank == 3 ? batch * n + j : j;
            double add = vector_get(bias, at, 0), y;

            for (int64_t s = 0; s < k; s++)
                sum += a[row * k + s] * b[(batch * k + s) * n + j];
            y = (double)sum + (first ? add : 0);
            y = y * vector_get(&c->in[QUANT_MATMUL_SCALE], j, 1);
            y = y + vector_get(&c->in[QUANT_MATMUL_OFFSET], j, 0);
            y = y * vector_get(&c->in[QUANT_MATMUL_PERTOKEN_SCALE], row % m, 1);
            elem_put(out, row * n + j, y + (first ? 0 : add));
        }
    return 0;
}
