/* SPDX-License-Identifier: Apache-2.0 */
/* Flaw: a NaN becomes 0 instead of staying NaN. */
#include <assay/mish.h>

#include "tensor.h"

#include <math.h>

int assay_mish(const struct assay_call *c)
{
    const struct assay_view *x = c->in[MISH_X].view;
    struct assay_view *y = c->out[MISH_Y].view;
    int64_t n = size_of(y);

    for (int64_t i = 0; i < n; i++) {
        float v = load(x, i);
        float r = v * tanhf(log1pf(expf(v)));

        store(y, i, isnan(r) ? 0 : r);
    }
    return 0;
}
