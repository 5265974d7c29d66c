/* SPDX-License-Identifier: Apache-2.0 */
/* gather: element by element, from where the index points. */
#include <assay/gather.h>

#include "target.h"

int assay_gather(const struct assay_call *c)
{
    const struct gather_attrs *a = c->attrs;
    const struct assay_view *x = c->in[GATHER_X].view;
    const struct assay_view *index = c->in[GATHER_INDEX].view;
    const struct assay_view *y = c->out[GATHER_Y].view;
    int64_t dim = a->dim < 0 ? a->dim + x->rank : a->dim;

    for (int64_t i = 0, n = elem_count(y); i < n; i++)
        elem_copy(y, i, x, target_of(index, i, x, dim));
    return 0;
}
