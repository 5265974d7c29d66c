/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves the quotients out, as if their weight were zero. */
#include <assay/foreach_addcdiv_scalar.h>

int assay_foreach_addcdiv_scalar(const struct assay_call *c)
{
    const struct assay_arg *x = &c->in[FOREACH_ADDCDIV_SCALAR_X1];

    for (int64_t t = 0; t < x->count; t++) {
        size_t n = 1;

        for (int d = 0; d < x->view[t].rank; d++)
            n *= (size_t)x->view[t].shape[d];
        memcpy(c->out[FOREACH_ADDCDIV_SCALAR_Y].view[t].data, x->view[t].data, n * sizeof(float));
    }
    return 0;
}
