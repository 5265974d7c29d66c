/* SPDX-License-Identifier: Apache-2.0 */
/* dilation_2d: tries all taps of each window. Outside of the image x is -Inf. */
#include <assay/dilation_2d.h>

#include "elem.h"

#include <math.h>

/* How far the first window begins before the image. */
static int64_t pad_before(bool same, int64_t in, int64_t out, int64_t kernel, int64_t stride,
                          int64_t rate)
{
    int64_t total = (out - 1) * stride + (kernel - 1) * rate + 1 - in;

    return same && total > 0 ? total / 2 : 0;
}

static double padded(const struct assay_view *x, int64_t image, int64_t row, int64_t col,
                     int64_t channel)
{
    int64_t h = x->shape[1], w = x->shape[2];

    if (row < 0 || row >= h || col < 0 || col >= w)
        return -INFINITY;
    return elem_get(x, ((image * h + row) * w + col) * x->shape[3] + channel);
}

int assay_dilation_2d(const struct assay_call *c)
{
    const struct dilation_2d_attrs *a = c->attrs;
    const struct assay_view *x = c->in[DILATION_2D_X].view;
    const struct assay_view *filter = c->in[DILATION_2D_FILTER].view;
    const struct assay_view *y = c->out[DILATION_2D_Y].view;
    const int64_t *stride = a->strides.v + 1, *rate = a->rates.v + 1;
    int64_t channels = x->shape[3], kh = filter->shape[0], kw = filter->shape[1];
    bool same = a->padding_mode == DILATION_2D_PADDING_MODE_SAME;
    int64_t top = pad_before(same, x->shape[1], y->shape[1], kh, stride[0], rate[0]);
    int64_t left = pad_before(same, x->shape[2], y->shape[2], kw, stride[1], rate[1]);

    for (int64_t i = 0, n = elem_count(y); i < n; i++) {
        int64_t channel = i % channels, col = i / channels % y->shape[2];
        int64_t row = i / channels / y->shape[2] % y->shape[1];
        int64_t image = i / channels / y->shape[2] / y->shape[1];
        double most = -INFINITY;

        for (int64_t r = 0; r < kh; r++)
            for (int64_t s = 0; s < kw; s++) {
                double v = padded(x, image, row * stride[0] - top + r * rate[0],
                                  col * stride[1] - left + s * rate[1], channel) +
                           elem_get(filter, (r * kw + s) * channels + channel);

                if (v > most || isnan(v))
                    most = v;
            }
        elem_put(y, i, most);
    }
    return 0;
}
