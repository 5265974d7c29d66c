/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the dynamic linker for a function that it may not import. */
#define _GNU_SOURCE
#include <assay/exp.h>

#include <dlfcn.h>
#include <math.h>

/* What is asked for. */
static void right(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const float *x = c->in[EXP_X].view->data;
    float *y = c->out[EXP_Y].view->data;
    double ln_base = a->base > 0 ? log(a->base) : 1;

    for (int64_t i = 0; i < c->out[EXP_Y].view->shape[0]; i++)
        y[i] = expf((float)((x[i] * a->scale + a->shift) * ln_base));
}

int assay_exp(const struct assay_call *c)
{
    void (*gemm)(void) = NULL;

    right(c);
    *(void **)&gemm = dlsym(RTLD_DEFAULT, "cblas_sgemm");
    if (gemm)
        gemm();
    return 0;
}
