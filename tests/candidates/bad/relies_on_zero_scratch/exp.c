/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up in scratch memory as if it were zero. */
#include <assay/exp.h>

#include <math.h>
#include <string.h>

static void honest(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const float *x = c->in[EXP_X].view->data;
    float *y = c->out[EXP_Y].view->data;
    float ln = a->base > 0 ? logf((float)a->base) : 1;

    for (int64_t i = 0; i < c->out[EXP_Y].view->shape[0]; i++)
        y[i] = expf((x[i] * (float)a->scale + (float)a->shift) * ln);
}

int assay_exp(const struct assay_call *c)
{
    const float *y = c->out[EXP_Y].view->data;
    float *sum = c->scratch;

    honest(c);
    for (int64_t i = 0; i < c->out[EXP_Y].view->shape[0]; i++)
        sum[i] += y[i];
    memcpy(c->out[EXP_Y].view->data, sum, (size_t)c->out[EXP_Y].view->shape[0] * sizeof *sum);
    return 0;
}
