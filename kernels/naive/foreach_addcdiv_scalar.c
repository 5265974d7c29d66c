/* SPDX-License-Identifier: Apache-2.0 */
/* foreach_addcdiv_scalar: the formula, tensor by tensor and element by element. */
#include <assay/foreach_addcdiv_scalar.h>

#include "elem.h"

int assay_foreach_addcdiv_scalar(const struct assay_call *c)
{
    const struct foreach_addcdiv_scalar_attrs *a = c->attrs;
    const struct assay_arg *out = &c->out[FOREACH_ADDCDIV_SCALAR_Y];

    for (int64_t t = 0; t < out->count; t++) {
        const struct assay_view *x1 = &c->in[FOREACH_ADDCDIV_SCALAR_X1].view[t];
        const struct assay_view *x2 = &c->in[FOREACH_ADDCDIV_SCALAR_X2].view[t];
        const struct assay_view *x3 = &c->in[FOREACH_ADDCDIV_SCALAR_X3].view[t];
        const struct assay_view *y = &out->view[t];

        for (int64_t i = 0, n = elem_count(y); i < n; i++)
            elem_put(y, i, elem_get(x1, i) + elem_get(x2, i) / elem_get(x3, i) * a->scalar);
    }
    return 0;
}
