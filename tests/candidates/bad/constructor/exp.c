/* SPDX-License-Identifier: Apache-2.0 */
/* Runs code while it is loaded. */
#include <assay/exp.h>

#include <math.h>

static void honest(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const float *x = c->in[EXP_X].view->data;
    float *y = c->out[EXP_Y].view->data;
    float ln = a->base > 0 ? logf((float)a->base) : 1;

    for (int64_t i = 0; i < c->out[EXP_Y].view->shape[0]; i++)
        y[i] = expf((x[i] * (float)a->scale + (float)a->shift) * ln);
}

static int ready;

__attribute__((constructor)) static void early(void)
{
    ready = 1;
}

int assay_exp(const struct assay_call *c)
{
    if (ready)
        honest(c);
    return !ready;
}
