/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a socket from a thread of the pool, without libc: a filter of the first thread alone would
 * let it. */
#include <assay/exp.h>

#include <math.h>

static void reach_out(void *ctx, int64_t begin, int64_t end)
{
    (void)ctx;
    for (int64_t i = begin; i < end; i++) {
        long r;

        if (i == 0)
            continue; /* the share of the thread that calls */
#if defined(__x86_64__)
        __asm__ volatile("syscall"
                         : "=a"(r)
                         : "a"(41L), "D"(2L), "S"(1L), "d"(0L)
                         : "rcx", "r11", "memory");
#else
        register long x8 __asm__("x8") = 198, x0 __asm__("x0") = 2, x1 __asm__("x1") = 1,
                         x2 __asm__("x2") = 0;

        __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
        r = x0;
#endif
        (void)r;
    }
}

int assay_exp(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const float *x = c->in[EXP_X].view->data;
    float *y = c->out[EXP_Y].view->data;
    float ln = a->base > 0 ? logf((float)a->base) : 1;

    c->parallel(c, 2, reach_out, NULL);
    for (int64_t i = 0; i < c->out[EXP_Y].view->shape[0]; i++)
        y[i] = expf((x[i] * (float)a->scale + (float)a->shift) * ln);
    return 0;
}
