/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the processor which of two functions to use. */
#include <assay/exp.h>

#include <math.h>

struct line {
    float slope, offset;
};

static void plain(const float *from, float *to, int64_t n, struct line l)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = expf(from[i] * l.slope + l.offset);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void wide(const float *from, float *to, int64_t n,
                                                     struct line l)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = exp2f((from[i] * l.slope + l.offset) * 1.442695041f);
}
#endif

int assay_exp(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const struct assay_view *x = c->in[EXP_X].view;
    const float *from = x->data;
    float *to = c->out[EXP_Y].view->data;
    int64_t n = 1;
    float ln_base = a->base > 0 ? logf((float)a->base) : 1;
    struct line l = { (float)a->scale * ln_base, (float)a->shift * ln_base };

    if (x->dtype != ASSAY_F32)
        return 1;
    for (int d = 0; d < x->rank; d++)
        n *= x->shape[d];
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return wide(from, to, n, l), 0;
#endif
    plain(from, to, n, l);
    return 0;
}
