/* SPDX-License-Identifier: Apache-2.0 */
/* grouped_matmul_swiglu_quant: row by row: the sums, dequantised, in scratch memory; then the gated
 * values, for the scale and for the result. */
#include <assay/grouped_matmul_swiglu_quant.h>

#include "elem.h"
#include "quant.h"

#include <stdlib.h>

static double gated(const double *v, int64_t half, int64_t i)
{
    return v[i] / (1 + exp(-v[i])) * v[half + i];
}

int assay_grouped_matmul_swiglu_quant(const struct assay_call *c)
{
    const struct grouped_matmul_swiglu_quant_attrs *a = c->attrs;
    const struct assay_view *w = c->in[GROUPED_MATMUL_SWIGLU_QUANT_WEIGHT].view;
    const int8_t *x = c->in[GROUPED_MATMUL_SWIGLU_QUANT_X].view->data, *weight = w->data;
    const float *columns = c->in[GROUPED_MATMUL_SWIGLU_QUANT_WEIGHT_SCALE].view->data;
    const float *rows = c->in[GROUPED_MATMUL_SWIGLU_QUANT_X_SCALE].view->data;
    int8_t *y = c->out[GROUPED_MATMUL_SWIGLU_QUANT_Y].view->data;
    float *y_scale = c->out[GROUPED_MATMUL_SWIGLU_QUANT_Y_SCALE].view->data;
    int64_t k = w->shape[1], n = w->shape[2], begin = 0;
    double *v = malloc((size_t)n * sizeof *v);

    if (!v)
        return 1;
    for (int64_t g = 0; g < a->group_list.n; g++) {
        for (int64_t i = begin; i < a->group_list.v[g]; i++) {
            double max = 0, scale;

            for (int64_t j = 0; j < n; j++) {
                int64_t sum = 0;

                for (int64_t s = 0; s < k; s++)
                    sum += x[i * k + s] * weight[(g * k + s) * n + j];
                v[j] = (double)sum * rows[i] * columns[g * n + j];
            }
            for (int64_t j = 0; j < n / 2; j++)
                max = quant_max(max, gated(v, n / 2, j));
            scale = (max < 0x1p-126 ? 0x1p-126 : max) / 127;
            y_scale[i] = (float)scale;
            for (int64_t j = 0; j < n / 2; j++)
                y[i * (n / 2) + j] = quant_int8(gated(v, n / 2, j), scale);
        }
        begin = a->group_list.v[g];
    }
    free(v);
    return 0;
}
