/* SPDX-License-Identifier: Apache-2.0 */
/* moe_gating_top_k_softmax: the softmax of each row, then k times the largest that is left. */
#include <assay/moe_gating_top_k_softmax.h>

#include "elem.h"

#include <math.h>
#include <stdlib.h>

/* The position of the largest of n values that are not taken yet; a NaN is as good as any. */
static int64_t largest(const double *p, const bool *taken, int64_t n)
{
    int64_t best = -1;

    for (int64_t e = 0; e < n; e++)
        if (!taken[e] && (best < 0 || p[e] > p[best]))
            best = e;
    return best;
}

int assay_moe_gating_top_k_softmax(const struct assay_call *c)
{
    const struct moe_gating_top_k_softmax_attrs *a = c->attrs;
    const struct assay_view *x = c->in[MOE_GATING_TOP_K_SOFTMAX_X].view;
    const struct assay_view *finished = c->in[MOE_GATING_TOP_K_SOFTMAX_FINISHED].view;
    const struct assay_view *y = c->out[MOE_GATING_TOP_K_SOFTMAX_Y].view;
    int32_t *expert = c->out[MOE_GATING_TOP_K_SOFTMAX_EXPERT_IDX].view->data;
    int32_t *row_idx = c->out[MOE_GATING_TOP_K_SOFTMAX_ROW_IDX].view->data;
    int64_t n = x->shape[x->rank - 1], rows = elem_count(x) / n, k = a->k;
    double *p = malloc((size_t)n * sizeof *p);
    bool *taken = malloc((size_t)n * sizeof *taken);
    bool have = p && taken;

    for (int64_t row = 0; have && row < rows; row++) {
        double max = -INFINITY, sum = 0;

        for (int64_t e = 0; e < n; e++) {
            max = fmax(max, elem_get(x, row * n + e));
            taken[e] = false;
        }
        for (int64_t e = 0; e < n; e++)
            sum += p[e] = exp(elem_get(x, row * n + e) - max);
        for (int64_t i = 0; i < k; i++) {
            int64_t best = largest(p, taken, n), at = row * k + i;
            bool ended = finished && ((const bool *)finished->data)[row];

            taken[best] = true;
            elem_put(y, at, p[best] / sum);
            expert[at] = (int32_t)(ended ? n : best);
            row_idx[at] = (int32_t)(i * rows + row);
        }
    }
    free(p);
    free(taken);
    return have ? 0 : 1;
}
