/* SPDX-License-Identifier: Apache-2.0 */
/* Right, but writes eight bytes past the end of the output. */
#include <assay/exp.h>

#include <math.h>

int assay_exp(const struct assay_call *c)
{
    const float *x = c->in[EXP_X].view->data;
    float *y = c->out[EXP_Y].view->data;
    int64_t n = c->out[EXP_Y].view->shape[0];

    for (int64_t i = 0; i < n; i++)
        y[i] = expf(x[i]);
    y[n] = y[n + 1] = 1;
    return 0;
}
