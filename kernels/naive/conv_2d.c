/* SPDX-License-Identifier: Apache-2.0 */
/* conv_2d: a sum over channels and taps for each result. Padding is multiplied like zeros. */
#include <assay/conv_2d.h>

#include "elem.h"

enum { SOME = 64 };

/* Element [image, channel, row, col] of x, 0 outside. */
static double padded(const struct assay_view *x, int64_t plane, int64_t row, int64_t col)
{
    int64_t h = x->shape[2], w = x->shape[3];

    if (row < 0 || row >= h || col < 0 || col >= w)
        return 0;
    return elem_get(x, (plane * h + row) * w + col);
}

/* n results of a row, for which each weight is looked up once. */
static void some_of_row(const struct assay_call *c, int64_t first, int64_t n)
{
    const struct conv_2d_attrs *a = c->attrs;
    const struct assay_view *x = c->in[CONV_2D_X].view, *f = c->in[CONV_2D_FILTER].view;
    const struct assay_view *y = c->out[CONV_2D_Y].view;
    int64_t channels = x->shape[1], kh = f->shape[2], kw = f->shape[3];
    int64_t outputs = y->shape[1], h = y->shape[2], w = y->shape[3];
    int64_t image = first / (outputs * h * w), o = first / (h * w) % outputs;
    int64_t top = first / w % h * a->strides.v[0] - a->pads.v[0];
    int64_t left = first % w * a->strides.v[1] - a->pads.v[2];
    double sum[SOME];

    for (int64_t i = 0; i < n; i++)
        sum[i] = elem_get(c->in[CONV_2D_BIAS].view, o);
    for (int64_t ch = 0; ch < channels; ch++)
        for (int64_t r = 0; r < kh; r++)
            for (int64_t s = 0; s < kw; s++) {
                double weight = elem_get(f, ((o * channels + ch) * kh + r) * kw + s);
                int64_t row = top + r * a->dilations.v[0], col = left + s * a->dilations.v[1];

                for (int64_t i = 0; i < n; i++)
                    sum[i] +=
                        weight * padded(x, image * channels + ch, row, col + i * a->strides.v[1]);
            }
    for (int64_t i = 0; i < n; i++)
        elem_put(y, first + i, sum[i]);
}

int assay_conv_2d(const struct assay_call *c)
{
    const struct assay_view *y = c->out[CONV_2D_Y].view;
    int64_t w = y->shape[3];

    for (int64_t i = 0, count = elem_count(y), n; i < count; i += n) {
        n = w - i % w < SOME ? w - i % w : SOME;
        some_of_row(c, i, n);
    }
    return 0;
}
