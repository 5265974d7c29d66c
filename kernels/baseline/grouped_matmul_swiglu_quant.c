/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouped_matmul_swiglu_quant: group by group, as many rows of an exact product at a time as half
 * of the scratch memory holds as floats; they are gated where they lie, and quantised.
 */
#include <assay/grouped_matmul_swiglu_quant.h>

#include "blocks.h"
#include "gemm_i8.h"
#include "quantise.h"
#include "vec.h"

#include <float.h>

struct job {
    float *v; /* rows of n real values */
    int64_t first, n;
    const float *row_scale, *column_scale; /* of the first row, of this group */
    int8_t *y;
    float *y_scale;
};

static void real_values(const void *ctx, int64_t i, int64_t at, int64_t n, const int32_t *sum)
{
    const struct job *j = ctx;
    const float *restrict column = j->column_scale + at;
    float *restrict to = j->v + i * j->n + at;
    float row = j->row_scale[i];

    for (int64_t k = 0; k < n; k++)
        to[k] = (float)sum[k] * row * column[k];
}

/* As quantise_row(), for scales that are so small that they have no inverse. */
static void quantise_tiny(int8_t *y, float *v, int64_t n, float most)
{
    const float up = 0x1p100f;
    float scale = (most < FLT_MIN ? FLT_MIN : most) * up / 127.0f;

    for (int64_t k = 0; k < n; k++)
        v[k] *= up;
    quantise_row(y, v, n, scale);
}

static void finish(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    int64_t half = j->n / 2;
    float buf[BASELINE_BLOCK];

    for (int64_t i = begin; i < end; i++) {
        float *v = j->v + i * j->n, most;
        int8_t *y = j->y + (j->first + i) * half;
        int32_t bits = 0;

        for (int64_t k = 0; k < half; k += BASELINE_BLOCK) {
            int64_t m = half - k < BASELINE_BLOCK ? half - k : BASELINE_BLOCK;

            vec_gate(buf, v + k, v + half + k, m);
            bits = quantise_amax(buf, m, bits);
            memcpy(v + k, buf, (size_t)m * sizeof *v);
        }
        most = assay_bits_to_f32((uint32_t)bits);
        j->y_scale[j->first + i] = (most < FLT_MIN ? FLT_MIN : most) / 127.0f;
        if (most < 0x1p-100f)
            quantise_tiny(y, v, half, most);
        else
            quantise_row(y, v, half, j->y_scale[j->first + i]);
    }
}

int assay_grouped_matmul_swiglu_quant(const struct assay_call *c)
{
    const struct grouped_matmul_swiglu_quant_attrs *a = c->attrs;
    const struct assay_view *w = c->in[GROUPED_MATMUL_SWIGLU_QUANT_WEIGHT].view;
    const int8_t *x = c->in[GROUPED_MATMUL_SWIGLU_QUANT_X].view->data;
    const float *rows = c->in[GROUPED_MATMUL_SWIGLU_QUANT_X_SCALE].view->data;
    const float *columns = c->in[GROUPED_MATMUL_SWIGLU_QUANT_WEIGHT_SCALE].view->data;
    int64_t k = w->shape[1], n = w->shape[2], begin = 0;
    size_t half = c->scratch_bytes / 128 * 64;
    int64_t most = (int64_t)(half / sizeof(float)) / n;
    struct assay_call products = *c;
    struct job j = { .v = c->scratch,
                     .n = n,
                     .y = c->out[GROUPED_MATMUL_SWIGLU_QUANT_Y].view->data,
                     .y_scale = c->out[GROUPED_MATMUL_SWIGLU_QUANT_Y_SCALE].view->data };

    products.scratch = (char *)c->scratch + half;
    products.scratch_bytes = half;
    for (int64_t g = 0; g < a->group_list.n; g++) {
        int64_t end = a->group_list.v[g];

        for (int64_t m; begin < end; begin += m) {
            struct gemm_i8 p = {
                0, n, k, x + begin * k, (const int8_t *)w->data + g * k * n, k, n, real_values, &j
            };

            m = p.m = end - begin < most ? end - begin : most;
            j.first = begin;
            j.row_scale = rows + begin;
            j.column_scale = columns + g * n;
            gemm_i8_run(&products, &p);
            baseline_parallel(c, m, 2 * n, finish, &j);
        }
    }
    return 0;
}
