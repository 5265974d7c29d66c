/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for a system call by the door of 32-bit programs. */
#include <assay/exp.h>

#include <math.h>

int assay_exp(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const float *x = c->in[EXP_X].view->data;
    float *y = c->out[EXP_Y].view->data;
    float ln = a->base > 0 ? logf((float)a->base) : 1;

#if defined(__x86_64__)
    long r;

    __asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory"); /* getpid */
    (void)r;
#else
    register long x8 __asm__("x8") = 173; /* getppid */
    register long x0 __asm__("x0") = 0;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8) : "memory");
#endif
    for (int64_t i = 0; i < c->out[EXP_Y].view->shape[0]; i++)
        y[i] = expf((x[i] * (float)a->scale + (float)a->shift) * ln);
    return 0;
}
