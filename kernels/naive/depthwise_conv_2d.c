/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise_conv_2d: a sum over the taps for each result. Padding is multiplied like zeros. */
#include <assay/depthwise_conv_2d.h>

#include "elem.h"

/* Element [plane, row, col] of x, 0 outside. */
static double padded(const struct assay_view *x, int64_t plane, int64_t row, int64_t col)
{
    int64_t h = x->shape[2], w = x->shape[3];

    if (row < 0 || row >= h || col < 0 || col >= w)
        return 0;
    return elem_get(x, (plane * h + row) * w + col);
}

int assay_depthwise_conv_2d(const struct assay_call *c)
{
    const struct depthwise_conv_2d_attrs *a = c->attrs;
    const struct assay_view *x = c->in[DEPTHWISE_CONV_2D_X].view;
    const struct assay_view *weight = c->in[DEPTHWISE_CONV_2D_WEIGHT].view;
    const struct assay_view *bias = c->in[DEPTHWISE_CONV_2D_BIAS].view;
    const struct assay_view *y = c->out[DEPTHWISE_CONV_2D_Y].view;
    int64_t kh = weight->shape[1], kw = weight->shape[2], h = y->shape[2], w = y->shape[3];

    for (int64_t i = 0, n = elem_count(y); i < n; i++) {
        int64_t plane = i / (h * w), channel = plane % x->shape[1];
        int64_t top = i / w % h * a->stride.v[0] - a->padding.v[0];
        int64_t left = i % w * a->stride.v[1] - a->padding.v[1];
        double sum = elem_get(bias, channel);

        for (int64_t r = 0; r < kh; r++)
            for (int64_t s = 0; s < kw; s++)
                sum += elem_get(weight, (channel * kh + r) * kw + s) *
                       padded(x, plane, top + r * a->dilation.v[0], left + s * a->dilation.v[1]);
        elem_put(y, i, sum);
    }
    return 0;
}
