/* SPDX-License-Identifier: Apache-2.0 */
/* conv_2d: a sum over channels and taps for each result. Padding is multiplied like zeros. */
#include <assay/conv_2d.h>

#include "elem.h"

/* Element [image, channel, row, col] of x, 0 outside. */
static double padded(const struct assay_view *x, int64_t plane, int64_t row, int64_t col)
{
    int64_t h = x->shape[2], w = x->shape[3];

    if (row < 0 || row >= h || col < 0 || col >= w)
        return 0;
    return elem_get(x, (plane * h + row) * w + col);
}

int assay_conv_2d(const struct assay_call *c)
{
    const struct conv_2d_attrs *a = c->attrs;
    const struct assay_view *x = c->in[CONV_2D_X].view, *f = c->in[CONV_2D_FILTER].view;
    const struct assay_view *bias = c->in[CONV_2D_BIAS].view, *y = c->out[CONV_2D_Y].view;
    int64_t channels = x->shape[1], kh = f->shape[2], kw = f->shape[3];
    int64_t outputs = y->shape[1], h = y->shape[2], w = y->shape[3];

    for (int64_t i = 0, n = elem_count(y); i < n; i++) {
        int64_t image = i / (outputs * h * w), o = i / (h * w) % outputs;
        int64_t top = i / w % h * a->strides.v[0] - a->pads.v[0];
        int64_t left = i % w * a->strides.v[1] - a->pads.v[2];
        double sum = elem_get(bias, o);

        for (int64_t ch = 0; ch < channels; ch++)
            for (int64_t r = 0; r < kh; r++)
                for (int64_t s = 0; s < kw; s++)
                    sum += elem_get(f, ((o * channels + ch) * kh + r) * kw + s) *
                           padded(x, image * channels + ch, top + r * a->dilations.v[0],
                                  left + s * a->dilations.v[1]);
        elem_put(y, i, sum);
    }
    return 0;
}
