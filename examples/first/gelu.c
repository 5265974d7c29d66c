/* SPDX-License-Identifier: Apache-2.0 */
/* y = x Phi(x). A choice among words is an enum of the generated header. */
#include <assay/gelu.h>

#include "tensor.h"

#include <math.h>

/* x / 2 (1 + tanh u) is x sigmoid(2 u), which loses nothing where tanh u is close to -1. */
static float by_tanh(float x)
{
    float u = 0.79788456f * (x + 0.044715f * x * x * x);

    return x / (1 + expf(-2 * u));
}

/* 1 + erf(z) is erfc(-z), for the same reason. */
static float by_erf(float x)
{
    return x * (0.5f * erfcf(-0.70710678f * x));
}

int assay_gelu(const struct assay_call *c)
{
    const struct gelu_attrs *a = c->attrs;
    const struct assay_view *x = c->in[GELU_X].view;
    struct assay_view *y = c->out[GELU_Y].view;
    int64_t n = size_of(y);

    for (int64_t i = 0; i < n; i++) {
        float v = load(x, i);

        store(y, i, a->approximate == GELU_APPROXIMATE_TANH ? by_tanh(v) : by_erf(v));
    }
    return 0;
}
