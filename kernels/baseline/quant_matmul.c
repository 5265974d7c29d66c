/* SPDX-License-Identifier: Apache-2.0 */
/* quant_matmul: an int8 product, batch by batch, whose rows are finished in float32. */
#include <assay/quant_matmul.h>

#include "blocks.h"
#include "gemm.h"
#include "gemm_i8.h"

enum { PIECE = 128 };

struct job {
    const struct assay_view *out, *scale, *offset, *row_scale, *bias;
    int64_t first, n, bias_first; /* of this batch: elements of out, and of bias */
};

/* Elements at .. at + n - 1 of a vector of `whole` elements, or of one for all. */
static void vector(const struct assay_view *v, int64_t whole, int64_t at, int64_t n, float *to)
{
    if (whole != 1) {
        gemm_load(v, at, n, to);
        return;
    }
    gemm_load(v, 0, 1, to);
    for (int64_t k = 1; k < n; k++)
        to[k] = to[0];
}

/* A bias of integers may cancel most of the sum. */
static void add_ints(const struct job *j, int64_t at, int64_t n, const int32_t *sum, float *y)
{
    const int32_t *bias = j->bias->data;

    for (int64_t k = 0; k < n; k++)
        y[k] = (float)((int64_t)sum[k] + bias[j->bias_first + at + k]);
}

static void piece(const struct job *j, int64_t i, int64_t at, int64_t n, const int32_t *sum)
{
    int ints = j->bias && j->bias->dtype == ASSAY_I32;
    float y[PIECE], v[PIECE], factor = 1;

    if (ints)
        add_ints(j, at, n, sum, y);
    else
        for (int64_t k = 0; k < n; k++)
            y[k] = (float)sum[k];
    if (j->row_scale)
        gemm_load(j->row_scale, i, 1, &factor);
    vector(j->scale, baseline_numel(j->scale), at, n, v);
    for (int64_t k = 0; k < n; k++)
        y[k] *= v[k];
    if (j->offset) {
        vector(j->offset, baseline_numel(j->offset), at, n, v);
        for (int64_t k = 0; k < n; k++)
            y[k] += v[k];
    }
    for (int64_t k = 0; k < n; k++)
        y[k] *= factor;
    if (j->bias && !ints) {
        gemm_load(j->bias, j->bias_first + at, n, v);
        for (int64_t k = 0; k < n; k++)
            y[k] += v[k];
    }
    baseline_store(j->out, j->first + i * j->n + at, n, y);
}

static void row(const void *ctx, int64_t i, int64_t at, int64_t n, const int32_t *sum)
{
    for (int64_t p = 0; p < n; p += PIECE)
        piece(ctx, i, at + p, n - p < PIECE ? n - p : PIECE, sum + p);
}

int assay_quant_matmul(const struct assay_call *c)
{
    const struct assay_view *x1 = c->in[QUANT_MATMUL_X1].view;
    const struct assay_view *x2 = c->in[QUANT_MATMUL_X2].view;
    struct job j = { .out = c->out[QUANT_MATMUL_OUT].view,
                     .scale = c->in[QUANT_MATMUL_SCALE].view,
                     .offset = c->in[QUANT_MATMUL_OFFSET].view,
                     .row_scale = c->in[QUANT_MATMUL_PERTOKEN_SCALE].view,
                     .bias = c->in[QUANT_MATMUL_BIAS].view };
    int64_t m = x1->shape[x1->rank - 2], k = x1->shape[x1->rank - 1], batches = 1;

    j.n = x2->shape[x2->rank - 1];
    for (int i = 0; i < x1->rank - 2; i++)
        batches *= x1->shape[i];
    for (int64_t b = 0; b < batches; b++) {
        struct gemm_i8 g = { m, j.n, k, NULL, NULL, k, j.n, row, &j };

        g.a = (const int8_t *)x1->data + b * m * k;
        g.b = (const int8_t *)x2->data + b * k * j.n;
        j.first = b * m * j.n;
        j.bias_first = j.bias && j.bias->rank == 3 ? b * j.n : 0;
        gemm_i8_run(c, &g);
    }
    return 0;
}
