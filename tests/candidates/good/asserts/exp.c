/* SPDX-License-Identifier: Apache-2.0 */
/* Checks its own assumptions with assert, and sorts. */
#include <assay/exp.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

int assay_exp(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const struct assay_view *x = c->in[EXP_X].view;
    const float *from = x->data;
    float *to = c->out[EXP_Y].view->data;
    int64_t n = 1;
    float ln_base = a->base > 0 ? logf((float)a->base) : 1, sample[64];

    assert(x->rank >= 0 && x->rank <= ASSAY_MAX_RANK);
    if (x->dtype != ASSAY_F32)
        return 1;
    for (int d = 0; d < x->rank; d++)
        n *= x->shape[d];
    for (int i = 0; i < 64; i++)
        sample[i] = from[n * i / 64];
    qsort(sample, 64, sizeof *sample, ascending);
    assert(!(sample[0] > sample[63]));
    for (int64_t i = 0; i < n; i++)
        to[i] = expf((from[i] * (float)a->scale + (float)a->shift) * ln_base);
    return 0;
}
