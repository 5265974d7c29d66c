/* SPDX-License-Identifier: Apache-2.0 */
/* grouped_matmul: one float32 product for each group that has rows. */
#include <assay/grouped_matmul.h>

#include "gemm.h"

enum { PIECE = 512 };

struct job {
    const struct assay_view *y, *bias;
    int64_t first, bias_first, n; /* where the group begins in y and in bias */
};

static void row(const void *ctx, int64_t i, int64_t at, int64_t n, float *v)
{
    const struct job *j = ctx;
    float bias[PIECE];

    for (int64_t p = 0; j->bias && p < n; p += PIECE) {
        int64_t m = n - p < PIECE ? n - p : PIECE;

        gemm_load(j->bias, j->bias_first + at + p, m, bias);
        for (int64_t k = 0; k < m; k++)
            v[p + k] += bias[k];
    }
    gemm_store(j->y, j->first + i * j->n + at, n, v);
}

int assay_grouped_matmul(const struct assay_call *c)
{
    const struct grouped_matmul_attrs *a = c->attrs;
    const struct assay_view *x = c->in[GROUPED_MATMUL_X].view;
    const struct assay_view *w = c->in[GROUPED_MATMUL_WEIGHT].view;
    int turned = a->transpose_weight, split = a->split_item < 2;
    int64_t k = x->shape[1], n = w->shape[turned ? 1 : 2], begin = 0;

    for (int64_t g = 0; g < a->group_list.n; g++) {
        int64_t end = a->group_list.v[g];
        struct gemm_matrix left = { x, begin * k, k }, right = { w, g * k * n, turned ? k : n };
        struct job j = { &c->out[GROUPED_MATMUL_Y].view[split ? g : 0],
                         c->in[GROUPED_MATMUL_BIAS].view, split ? 0 : begin * n, g * n, n };
        struct gemm p = {
            end - begin, n, k, { gemm_matrix_line, &left, 1 }, { gemm_matrix_line, &right, turned },
            row,         &j
        };

        gemm_run(c, &p);
        begin = end;
    }
    return 0;
}
