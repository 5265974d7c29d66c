/* SPDX-License-Identifier: Apache-2.0 */
/* Right, and writes nonsense into the fields of the views that it may not change: the harness
 * never looks at them again. */
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
    right(c);
    for (int side = 0; side < 2; side++) {
        struct assay_view *v = side ? c->out[EXP_Y].view : c->in[EXP_X].view;

        v->rank = -5;
        v->dtype = 99;
        v->data = NULL;
        for (int d = 0; d < ASSAY_MAX_RANK; d++)
            v->shape[d] = (int64_t)1 << 60;
    }
    return 0;
}
