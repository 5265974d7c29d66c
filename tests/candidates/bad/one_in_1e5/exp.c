/* SPDX-License-Identifier: Apache-2.0 */
/* Right, but for one element in 100000, at another place in each call. */
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
    const uint32_t *bits = c->in[EXP_X].view->data;
    float *y = c->out[EXP_Y].view->data;
    int64_t n = c->out[EXP_Y].view->shape[0];

    right(c);
    for (int64_t at = 0; at < n; at += 100000) {
        int64_t length = n - at < 100000 ? n - at : 100000;

        y[at + bits[at] % length] *= 2;
    }
    return 0;
}
