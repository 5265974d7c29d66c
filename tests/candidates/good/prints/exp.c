/* SPDX-License-Identifier: Apache-2.0 */
/* Right, and prints on the way: that goes nowhere and does no harm. */
#include <assay/exp.h>

#include <math.h>
#include <stdio.h>

int assay_exp(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    float ln = a->base > 0 ? logf((float)a->base) : 1;
    const float *x = c->in[EXP_X].view->data;
    float *y = c->out[EXP_Y].view->data;

    printf("n = %lld\n", (long long)c->out[EXP_Y].view->shape[0]);
    fflush(stdout);
    for (int64_t i = 0; i < c->out[EXP_Y].view->shape[0]; i++)
        y[i] = expf(((float)a->scale * x[i] + (float)a->shift) * ln);
    return 0;
}
