/* SPDX-License-Identifier: Apache-2.0 */
/* sigmoid: the formula, element by element. */
#include <assay/sigmoid.h>

#include "elem.h"

#include <math.h>

int assay_sigmoid(const struct assay_call *c)
{
    const struct assay_view *x = c->in[SIGMOID_X].view;
    const struct assay_view *y = c->out[SIGMOID_Y].view;

    for (int64_t i = 0, n = elem_count(y); i < n; i++)
        elem_put(y, i, 1 / (1 + exp(-elem_get(x, i))));
    return 0;
}
