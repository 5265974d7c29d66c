/* SPDX-License-Identifier: Apache-2.0 */
/* Is a blob of machine code, with a system call in it. */
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

/* getppid() */
#if defined(__x86_64__)
__asm__(".text\nblob: .byte 0xb8, 0x6e, 0, 0, 0, 0x0f, 0x05, 0xc3");
#elif defined(__aarch64__)
__asm__(".text\nblob: .inst 0xd28015a8, 0xd4000001, 0xd65f03c0");
#endif
long blob(void) __attribute__((visibility("hidden")));

int assay_exp(const struct assay_call *c)
{
    blob();
    honest(c);
    return 0;
}
