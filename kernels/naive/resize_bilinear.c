/* SPDX-License-Identifier: Apache-2.0 */
/* resize_bilinear: the four neighbours of each source point, weighted by nearness. */
#include <assay/resize_bilinear.h>

#include "elem.h"

#include <math.h>

/* The neighbours of output d along an axis, and the weight of the second one. */
struct near {
    int64_t lo, hi;
    double w;
};

static struct near neighbours(int64_t d, int64_t in, int64_t out, double scale, bool align)
{
    struct near n = { d, d, 0 };
    double src;

    if (in == out)
        return n;
    if (align)
        src = out > 1 ? (double)d * (double)(in - 1) / (double)(out - 1) : 0;
    else
        src = ((double)d + 0.5) * (scale > 0 ? 1 / scale : (double)in / (double)out) - 0.5;
    if (src < 0)
        src = 0;
    n.lo = (int64_t)src < in - 1 ? (int64_t)src : in - 1;
    n.hi = n.lo + 1 < in ? n.lo + 1 : n.lo;
    n.w = src - (double)n.lo;
    return n;
}

int assay_resize_bilinear(const struct assay_call *c)
{
    const struct resize_bilinear_attrs *a = c->attrs;
    const struct assay_view *x = c->in[RESIZE_BILINEAR_X].view;
    const struct assay_view *y = c->out[RESIZE_BILINEAR_Y].view;
    const int64_t *in = x->shape + 2, *out = y->shape + 2;
    double scale[2] = { 0, 0 };

    for (int k = 0; a->has_scale_factor && k < 2; k++)
        scale[k] = a->scale_factor.v[k];
    for (int64_t p = 0; p < x->shape[0] * x->shape[1]; p++)
        for (int64_t i = 0; i < out[0]; i++)
            for (int64_t j = 0; j < out[1]; j++) {
                struct near r = neighbours(i, in[0], out[0], scale[0], a->align_corners);
                struct near s = neighbours(j, in[1], out[1], scale[1], a->align_corners);
                int64_t lo = (p * in[0] + r.lo) * in[1], hi = (p * in[0] + r.hi) * in[1];
                double above = (1 - s.w) * elem_get(x, lo + s.lo) + s.w * elem_get(x, lo + s.hi);
                double below = (1 - s.w) * elem_get(x, hi + s.lo) + s.w * elem_get(x, hi + s.hi);

                elem_put(y, (p * out[0] + i) * out[1] + j, (1 - r.w) * above + r.w * below);
            }
    return 0;
}
