/* SPDX-License-Identifier: Apache-2.0 */
/* Flaw: writes eight bytes past the end of the output. */
#include <assay/gelu.h>

#include "tensor.h"

#include <math.h>

int assay_gelu(const struct assay_call *c)
{
    const struct gelu_attrs *a = c->attrs;
    const struct assay_view *x = c->in[GELU_X].view;
    struct assay_view *y = c->out[GELU_Y].view;
    int64_t n = size_of(y);
    int64_t past = 8 / (y->dtype == ASSAY_F32 ? 4 : 2);

    for (int64_t i = 0; i < n; i++) {
        float v = load(x, i);
        float u = 0.79788456f * (v + 0.044715f * v * v * v);

        store(y, i,
              a->approximate == GELU_APPROXIMATE_TANH ? v / (1 + expf(-2 * u))
                                                      : v * (0.5f * erfcf(-0.70710678f * v)));
    }
    for (int64_t i = n; i < n + past; i++)
        store(y, i, 1);
    return 0;
}
