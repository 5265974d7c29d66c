/* SPDX-License-Identifier: Apache-2.0 */
/* roi_align: for each bin of each box the mean of its points, each between four elements. */
#include <assay/roi_align.h>

#include "elem.h"

#include <math.h>

/* A box along one axis: where it begins, how long a bin is, and the points of a bin. */
struct line {
    double start, bin;
    int64_t points;
};

static struct line line_of(const struct roi_align_attrs *a, double lo, double hi, int64_t bins)
{
    struct line l;
    double offset = a->aligned ? 0.5 : 0, size;

    l.start = lo * a->spatial_scale - offset;
    size = hi * a->spatial_scale - offset - l.start;
    if (!a->aligned && size < 1)
        size = 1;
    l.bin = size / (double)bins;
    l.points = a->sampling_ratio > 0 ? a->sampling_ratio : (int64_t)ceil(l.bin);
    return l;
}

static double point_of(const struct line *l, int64_t bin, int64_t i)
{
    return l->start + (double)bin * l->bin + ((double)i + 0.5) * l->bin / (double)l->points;
}

/* Neighbours of a point, and the weight of the second one. */
static double neighbours(double at, int64_t n, int64_t *lo, int64_t *hi)
{
    if (at < 0)
        at = 0;
    *lo = (int64_t)at;
    if (*lo >= n - 1) {
        *lo = *hi = n - 1;
        return 0;
    }
    *hi = *lo + 1;
    return at - (double)*lo;
}

/* The map that begins with element `first`, at one point. */
static double between(const struct assay_view *x, int64_t first, double y, double z)
{
    int64_t h = x->shape[2], w = x->shape[3], top, bottom, left, right;
    double v, u;

    if (y < -1 || y > (double)h || z < -1 || z > (double)w)
        return 0;
    v = neighbours(y, h, &top, &bottom);
    u = neighbours(z, w, &left, &right);
    return (1 - v) * (1 - u) * elem_get(x, first + top * w + left) +
           (1 - v) * u * elem_get(x, first + top * w + right) +
           v * (1 - u) * elem_get(x, first + bottom * w + left) +
           v * u * elem_get(x, first + bottom * w + right);
}

int assay_roi_align(const struct assay_call *c)
{
    const struct roi_align_attrs *a = c->attrs;
    const struct assay_view *x = c->in[ROI_ALIGN_X].view;
    const struct assay_view *boxes = c->in[ROI_ALIGN_BOXES].view;
    const struct assay_view *y = c->out[ROI_ALIGN_Y].view;
    int64_t bins_h = a->outputHeight, bins_w = a->outputWidth, channels = x->shape[1];

    for (int64_t i = 0, n = elem_count(y); i < n; i++) {
        int64_t bin_w = i % bins_w, bin_h = i / bins_w % bins_h;
        int64_t channel = i / bins_w / bins_h % channels, box = i / bins_w / bins_h / channels;
        int64_t image = (int64_t)elem_get(boxes, 5 * box);
        int64_t first = (image * channels + channel) * x->shape[2] * x->shape[3];
        struct line w =
            line_of(a, elem_get(boxes, 5 * box + 1), elem_get(boxes, 5 * box + 3), bins_w);
        struct line h =
            line_of(a, elem_get(boxes, 5 * box + 2), elem_get(boxes, 5 * box + 4), bins_h);
        double sum = 0, points = (double)(h.points * w.points);

        for (int64_t r = 0; r < h.points; r++)
            for (int64_t s = 0; s < w.points; s++)
                sum += between(x, first, point_of(&h, bin_h, r), point_of(&w, bin_w, s));
        elem_put(y, i, points > 0 ? sum / points : 0);
    }
    return 0;
}
