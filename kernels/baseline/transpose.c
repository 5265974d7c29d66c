/* SPDX-License-Identifier: Apache-2.0 */
/* transpose: the axes of x in the order of y. */
#include <assay/transpose.h>

#include "layout.h"

int assay_transpose(const struct assay_call *c)
{
    const struct transpose_attrs *a = c->attrs;
    const struct assay_view *x = c->in[TRANSPOSE_X].view, *y = c->out[TRANSPOSE_Y].view;
    struct baseline_layout l = { .rank = y->rank };
    int64_t step[ASSAY_MAX_RANK] = { 0 }, all = 1;

    for (int k = x->rank - 1; k >= 0; k--) {
        step[k] = all;
        all *= x->shape[k];
    }
    for (int k = 0; k < y->rank; k++) {
        l.n[k] = y->shape[k];
        l.step[k] = step[a->perm.v[k]];
    }
    baseline_layout_copy(c, y, x, &l);
    return 0;
}
