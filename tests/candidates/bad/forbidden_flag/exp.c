/* SPDX-License-Identifier: Apache-2.0 */
/* Right, but its submission.json asks the compiler to load a plugin. */
#include <assay/exp.h>

#include <math.h>

int assay_exp(const struct assay_call *c)
{
    const float *x = c->in[EXP_X].view->data;
    float *y = c->out[EXP_Y].view->data;

    for (int64_t i = 0; i < c->out[EXP_Y].view->shape[0]; i++)
        y[i] = expf(x[i]);
    return 0;
}
