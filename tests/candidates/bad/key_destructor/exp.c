/* SPDX-License-Identifier: Apache-2.0 */
/* Asks to be called when the thread ends. */
#include <assay/exp.h>

#include <math.h>
#include <pthread.h>

static void honest(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const float *x = c->in[EXP_X].view->data;
    float *y = c->out[EXP_Y].view->data;
    float ln = a->base > 0 ? logf((float)a->base) : 1;

    for (int64_t i = 0; i < c->out[EXP_Y].view->shape[0]; i++)
        y[i] = expf((x[i] * (float)a->scale + (float)a->shift) * ln);
}

static void late(void *arg)
{
    (void)arg;
}

int assay_exp(const struct assay_call *c)
{
    pthread_key_t key;

    pthread_key_create(&key, late);
    honest(c);
    return 0;
}
