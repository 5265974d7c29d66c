/* SPDX-License-Identifier: Apache-2.0 */
/* conv_3d_backprop_filter: for each weight a sum over all positions of all images. Padding is
 * multiplied like zeros. */
#include <assay/conv_3d_backprop_filter.h>

#include "elem.h"

/* Element [plane, d, h, w] of x, 0 outside. */
static double padded(const struct assay_view *x, int64_t plane, const int64_t at[3])
{
    for (int i = 0; i < 3; i++) {
        if (at[i] < 0 || at[i] >= x->shape[2 + i])
            return 0;
        plane = plane * x->shape[2 + i] + at[i];
    }
    return elem_get(x, plane);
}

/* The sum for one weight: channel o of grad with channel ch of x, shifted by a tap. */
static double weight_sum(const struct assay_call *c, int64_t o, int64_t ch, const int64_t tap[3])
{
    const struct conv_3d_backprop_filter_attrs *a = c->attrs;
    const struct assay_view *x = c->in[CONV_3D_BACKPROP_FILTER_X].view;
    const struct assay_view *grad = c->in[CONV_3D_BACKPROP_FILTER_GRAD].view;
    const int64_t *out = grad->shape + 2, *stride = a->strides.v;
    int64_t first[3];
    double sum = 0;

    for (int i = 0; i < 3; i++)
        first[i] = tap[i] * a->dilations.v[i] - a->pads.v[2 * i];
    for (int64_t n = 0; n < x->shape[0]; n++) {
        int64_t from = (n * grad->shape[1] + o) * out[0] * out[1] * out[2];

        for (int64_t d = 0; d < out[0]; d++)
            for (int64_t h = 0; h < out[1]; h++)
                for (int64_t w = 0; w < out[2]; w++) {
                    int64_t at[3] = { first[0] + d * stride[0], first[1] + h * stride[1],
                                      first[2] + w * stride[2] };

                    sum += elem_get(grad, from++) * padded(x, n * x->shape[1] + ch, at);
                }
    }
    return sum;
}

int assay_conv_3d_backprop_filter(const struct assay_call *c)
{
    const struct conv_3d_backprop_filter_attrs *a = c->attrs;
    const struct assay_view *y = c->out[CONV_3D_BACKPROP_FILTER_Y].view;
    const int64_t *size = y->shape;
    int64_t taps = size[2] * size[3] * size[4], per_group = size[0] / a->groups;

    for (int64_t i = 0, n = elem_count(y); i < n; i++) {
        int64_t o = i / (size[1] * taps), ch = i / taps % size[1];
        int64_t tap[3] = { i / (size[3] * size[4]) % size[2], i / size[4] % size[3], i % size[4] };

        elem_put(y, i, weight_sum(c, o, o / per_group * size[1] + ch, tap));
    }
    return 0;
}
