/* SPDX-License-Identifier: Apache-2.0 */
/* y = x mask scale. Each input has a type of its own. */
#include <assay/masked_scale.h>

#include "tensor.h"

int assay_masked_scale(const struct assay_call *c)
{
    const struct masked_scale_attrs *a = c->attrs;
    const struct assay_view *x = c->in[MASKED_SCALE_X].view;
    const struct assay_view *mask = c->in[MASKED_SCALE_MASK].view;
    struct assay_view *y = c->out[MASKED_SCALE_Y].view;
    int64_t n = size_of(y);

    for (int64_t i = 0; i < n; i++)
        store(y, i, load(x, i) * (load(mask, i) * (float)a->scale));
    return 0;
}
