/* SPDX-License-Identifier: Apache-2.0 */
/* Heats the core up, or wakes its wide units, before it is timed. */
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

static volatile float sink;

int assay_exp(const struct assay_call *c)
{
    static int calls;
    float s[16] = { 0 };

    for (int64_t i = 0; calls == 0 && i < 20000000; i++)
        for (int j = 0; j < 16; j++)
            s[j] = s[j] * 0.999f + 1;
    sink = s[3];
    calls++;
    honest(c);
    return 0;
}
