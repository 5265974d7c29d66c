/* SPDX-License-Identifier: Apache-2.0 */
/* swi_glu: the formula, element by element; dim splits the tensor into runs of a and b. */
#include <assay/swi_glu.h>

#include "elem.h"

#include <math.h>

int assay_swi_glu(const struct assay_call *c)
{
    const struct swi_glu_attrs *attrs = c->attrs;
    const struct assay_view *x = c->in[SWI_GLU_INPUT].view;
    const struct assay_view *y = c->out[SWI_GLU_OUTPUT].view;
    int64_t dim = attrs->dim < 0 ? attrs->dim + x->rank : attrs->dim;
    int64_t half = 1; /* length of a run */

    for (int64_t d = dim; d < y->rank; d++)
        half *= y->shape[d];
    for (int64_t i = 0, n = elem_count(y); i < n; i++) {
        int64_t at = i / half * 2 * half + i % half;
        double a = elem_get(x, at), b = elem_get(x, at + half);

        elem_put(y, i, a / (1 + exp(-a)) * b);
    }
    return 0;
}
