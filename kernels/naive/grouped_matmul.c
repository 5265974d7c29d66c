/* SPDX-License-Identifier: Apache-2.0 */
/* grouped_matmul: group by group, a sum of products for each result. */
#include <assay/grouped_matmul.h>

#include "elem.h"

int assay_grouped_matmul(const struct assay_call *c)
{
    const struct grouped_matmul_attrs *a = c->attrs;
    const struct assay_view *x = c->in[GROUPED_MATMUL_X].view;
    const struct assay_view *w = c->in[GROUPED_MATMUL_WEIGHT].view;
    const struct assay_arg *bias = &c->in[GROUPED_MATMUL_BIAS];
    const struct assay_arg *y = &c->out[GROUPED_MATMUL_Y];
    int64_t k = x->shape[1], n = w->shape[a->transpose_weight ? 1 : 2];
    /* from one element of a row or column of weight to the next */
    int64_t down = a->transpose_weight ? 1 : n, right = a->transpose_weight ? k : 1;
    int64_t begin = 0;

    for (int64_t g = 0; g < a->group_list.n; g++) {
        for (int64_t i = begin; i < a->group_list.v[g]; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = 0;

                for (int64_t s = 0; s < k; s++)
                    sum += elem_get(x, i * k + s) * elem_get(w, g * k * n + s * down + j * right);
                if (bias->count)
                    sum += elem_get(bias->view, g * n + j);
                if (a->split_item < 2)
                    elem_put(&y->view[g], (i - begin) * n + j, sum);
                else
                    elem_put(&y->view[0], i * n + j, sum);
            }
        begin = a->group_list.v[g];
    }
    return 0;
}
