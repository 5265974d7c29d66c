/* SPDX-License-Identifier: Apache-2.0 */
/* y = x1 + x2 / x3 scalar. A list parameter has `count` views. */
#include <assay/foreach_addcdiv_scalar.h>

#include "tensor.h"

int assay_foreach_addcdiv_scalar(const struct assay_call *c)
{
    const struct foreach_addcdiv_scalar_attrs *a = c->attrs;
    const struct assay_arg *x1 = &c->in[FOREACH_ADDCDIV_SCALAR_X1];
    const struct assay_arg *x2 = &c->in[FOREACH_ADDCDIV_SCALAR_X2];
    const struct assay_arg *x3 = &c->in[FOREACH_ADDCDIV_SCALAR_X3];
    const struct assay_arg *y = &c->out[FOREACH_ADDCDIV_SCALAR_Y];
    float scalar = (float)a->scalar;

    for (int64_t t = 0; t < y->count; t++) {
        int64_t n = size_of(&y->view[t]);

        for (int64_t i = 0; i < n; i++) {
            float quotient = load(&x2->view[t], i) / load(&x3->view[t], i);

            store(&y->view[t], i, load(&x1->view[t], i) + quotient * scalar);
        }
    }
    return 0;
}
