/* SPDX-License-Identifier: Apache-2.0 */
/* Takes 200 MiB, touches all of it and keeps it. */
#include <assay/exp.h>

#include <math.h>
#include <stdlib.h>

static void honest(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const float *x = c->in[EXP_X].view->data;
    float *y = c->out[EXP_Y].view->data;
    float ln = a->base > 0 ? logf((float)a->base) : 1;

    for (int64_t i = 0; i < c->out[EXP_Y].view->shape[0]; i++)
        y[i] = expf((x[i] * (float)a->scale + (float)a->shift) * ln);
}

static char *hog;

int assay_exp(const struct assay_call *c)
{
    size_t n = (size_t)200 << 20;

    if (!hog && (hog = malloc(n)) != NULL)
        for (size_t i = 0; i < n; i += 4096)
            ((volatile char *)hog)[i] = 1;
    honest(c);
    return 0;
}
