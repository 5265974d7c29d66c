/* SPDX-License-Identifier: Apache-2.0 */
/* weight_quant_batch_matmul: a float32 product with the weights as they are, shifted where there is
 * an offset; the scales are applied to the sums. */
#include <assay/weight_quant_batch_matmul.h>

#include "gemm.h"

enum { PIECE = 512 };

struct job {
    const struct assay_view *y, *weight, *scale, *offset, *bias;
    int64_t n;
};

static void weights(const void *ctx, int64_t i, int64_t at, int64_t n, float *to)
{
    const struct job *j = ctx;
    float shift[PIECE];

    gemm_load(j->weight, i * j->n + at, n, to);
    for (int64_t p = 0; j->offset && p < n; p += PIECE) {
        int64_t m = n - p < PIECE ? n - p : PIECE;

        gemm_load(j->offset, at + p, m, shift);
        for (int64_t k = 0; k < m; k++)
            to[p + k] += shift[k];
    }
}

static void row(const void *ctx, int64_t i, int64_t at, int64_t n, float *v)
{
    const struct job *j = ctx;
    float scale[PIECE], bias[PIECE] = { 0 };

    for (int64_t p = 0; p < n; p += PIECE) {
        int64_t m = n - p < PIECE ? n - p : PIECE;

        gemm_load(j->scale, at + p, m, scale);
        if (j->bias)
            gemm_load(j->bias, at + p, m, bias);
        for (int64_t k = 0; k < m; k++)
            v[p + k] = v[p + k] * scale[k] + bias[k];
    }
    gemm_store(j->y, i * j->n + at, n, v);
}

int assay_weight_quant_batch_matmul(const struct assay_call *c)
{
    const struct assay_view *x = c->in[WEIGHT_QUANT_BATCH_MATMUL_X].view;
    struct job j = { .y = c->out[WEIGHT_QUANT_BATCH_MATMUL_Y].view,
                     .weight = c->in[WEIGHT_QUANT_BATCH_MATMUL_WEIGHT].view,
                     .scale = c->in[WEIGHT_QUANT_BATCH_MATMUL_ANTIQUANTSCALE].view,
                     .offset = c->in[WEIGHT_QUANT_BATCH_MATMUL_ANTIQUANTOFFSET].view,
                     .bias = c->in[WEIGHT_QUANT_BATCH_MATMUL_BIAS].view };
    int64_t m = x->shape[0], k = x->shape[1];
    struct gemm_matrix left = { x, 0, k };
    struct gemm p = { m, 0, k, { gemm_matrix_line, &left, 1 }, { weights, &j, 0 }, row, &j };

    p.n = j.n = j.weight->shape[1];
    gemm_run(c, &p);
    return 0;
}
