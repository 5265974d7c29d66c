/* SPDX-License-Identifier: Apache-2.0 */
/* Uses setjmp and longjmp for an error of its own, inside one call. */
#include <assay/exp.h>

#include <math.h>
#include <setjmp.h>

static jmp_buf unsupported;

static int64_t count(const struct assay_view *x)
{
    int64_t n = 1;

    if (x->dtype != ASSAY_F32)
        longjmp(unsupported, 1);
    for (int d = 0; d < x->rank; d++)
        n *= x->shape[d];
    return n;
}

static void works(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const float *from = c->in[EXP_X].view->data;
    float *to = c->out[EXP_Y].view->data, ln_base = a->base > 0 ? logf((float)a->base) : 1;
    int64_t n = count(c->in[EXP_X].view);

    for (int64_t i = 0; i < n; i++)
        to[i] = expf((from[i] * (float)a->scale + (float)a->shift) * ln_base);
    longjmp(unsupported, 2);
}

int assay_exp(const struct assay_call *c)
{
    int how = setjmp(unsupported);

    if (!how)
        works(c);
    return how == 1;
}
