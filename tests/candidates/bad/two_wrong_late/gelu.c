/* SPDX-License-Identifier: Apache-2.0 */
/* Right for 10 calls, then wrong in two places. */
#include <assay/gelu.h>

#include <math.h>

/* What is asked for, where approximate is "tanh". */
static void right(const struct assay_call *c)
{
    const float *x = c->in[GELU_X].view->data;
    float *y = c->out[GELU_Y].view->data;

    for (int64_t i = 0; i < c->out[GELU_Y].view->shape[0]; i++)
        y[i] = x[i] / (1 + expf(-1.5957691216f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}

int assay_gelu(const struct assay_call *c)
{
    static int calls;
    float *y = c->out[GELU_Y].view->data;
    int64_t n = c->out[GELU_Y].view->shape[0];

    right(c);
    if (calls++ >= 10)
        y[n / 3] = y[n / 2] = 0;
    return 0;
}
