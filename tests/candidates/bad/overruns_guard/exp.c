/* SPDX-License-Identifier: Apache-2.0 */
/* Right, and writes one byte at the far end of the zone behind the output. */
#include <assay/exp.h>

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
    float *y = c->out[EXP_Y].view->data;
    int64_t n = c->out[EXP_Y].view->shape[0];
    unsigned char *end = (unsigned char *)(y + n);

    right(c);
    end[255] = (unsigned char)~end[255];
    return 0;
}
