/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the compiler print a megabyte of warnings. */
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

#define WARN _Pragma("GCC warning \"no room left\"")
#define WARN_8 WARN WARN WARN WARN WARN WARN WARN WARN
#define WARN_64 WARN_8 WARN_8 WARN_8 WARN_8 WARN_8 WARN_8 WARN_8 WARN_8
#define WARN_512 WARN_64 WARN_64 WARN_64 WARN_64 WARN_64 WARN_64 WARN_64 WARN_64

int assay_exp(const struct assay_call *c)
{
    WARN_512 WARN_512 WARN_512 WARN_512 honest(c);
    return 0;
}
