/* SPDX-License-Identifier: Apache-2.0 */
/* masked_scale: the formula, element by element. */
#include <assay/masked_scale.h>

#include "elem.h"

int assay_masked_scale(const struct assay_call *c)
{
    const struct masked_scale_attrs *a = c->attrs;
    const struct assay_view *x = c->in[MASKED_SCALE_X].view;
    const struct assay_view *mask = c->in[MASKED_SCALE_MASK].view;
    const struct assay_view *y = c->out[MASKED_SCALE_Y].view;

    for (int64_t i = 0, n = elem_count(y); i < n; i++)
        elem_put(y, i, elem_get(x, i) * elem_get(mask, i) * a->scale);
    return 0;
}
