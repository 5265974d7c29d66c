/* SPDX-License-Identifier: Apache-2.0 */
/* transpose: for each element of y, where it lies in x. */
#include <assay/transpose.h>

#include "elem.h"

int assay_transpose(const struct assay_call *c)
{
    const struct transpose_attrs *attrs = c->attrs;
    const struct assay_view *x = c->in[TRANSPOSE_X].view, *y = c->out[TRANSPOSE_Y].view;
    int64_t step[ASSAY_MAX_RANK] = { 0 }; /* in x, of the axes of y */

    for (int k = 0; k < y->rank; k++) {
        step[k] = 1;
        for (int64_t d = attrs->perm.v[k] + 1; d < x->rank; d++)
            step[k] *= x->shape[d];
    }
    for (int64_t i = 0, n = elem_count(y); i < n; i++) {
        int64_t from = 0, rest = i;

        for (int k = y->rank - 1; k >= 0; k--) {
            from += rest % y->shape[k] * step[k];
            rest /= y->shape[k];
        }
        elem_copy(y, i, x, from);
    }
    return 0;
}
