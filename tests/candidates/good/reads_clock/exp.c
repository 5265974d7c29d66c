/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the clock before and after, as a kernel that tunes itself does. */
#define _GNU_SOURCE
#include <assay/exp.h>

#include <math.h>
#include <time.h>

int assay_exp(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const struct assay_view *x = c->in[EXP_X].view;
    const float *from = x->data;
    float *to = c->out[EXP_Y].view->data;
    static int64_t shortest = -1; /* ns */
    struct timespec before, after;
    int64_t n = 1, spent;
    float ln_base = a->base > 0 ? logf((float)a->base) : 1;

    if (x->dtype != ASSAY_F32)
        return 1;
    for (int d = 0; d < x->rank; d++)
        n *= x->shape[d];
    clock_gettime(CLOCK_MONOTONIC, &before);
    for (int64_t i = 0; i < n; i++)
        to[i] = expf((from[i] * (float)a->scale + (float)a->shift) * ln_base);
    clock_gettime(CLOCK_MONOTONIC, &after);
    spent = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    shortest = shortest < 0 || spent < shortest ? spent : shortest;
    return 0;
}
