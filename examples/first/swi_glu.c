/* SPDX-License-Identifier: Apache-2.0 */
/* y = a sigmoid(a) b: along dim, the first half of the input is a and the second half is b. */
#include <assay/swi_glu.h>

#include "tensor.h"

#include <math.h>

int assay_swi_glu(const struct assay_call *c)
{
    const struct swi_glu_attrs *attrs = c->attrs;
    const struct assay_view *x = c->in[SWI_GLU_INPUT].view;
    struct assay_view *y = c->out[SWI_GLU_OUTPUT].view;
    int64_t dim = attrs->dim < 0 ? attrs->dim + x->rank : attrs->dim;
    int64_t runs = 1, half = 1; /* a run is `half` elements of a, then as many of b */

    for (int64_t d = 0; d < dim; d++)
        runs *= y->shape[d];
    for (int64_t d = dim; d < y->rank; d++)
        half *= y->shape[d];
    for (int64_t r = 0; r < runs; r++)
        for (int64_t i = 0; i < half; i++) {
            float a = load(x, 2 * r * half + i), b = load(x, (2 * r + 1) * half + i);

            store(y, r * half + i, a / (1 + expf(-a)) * b);
        }
    return 0;
}
