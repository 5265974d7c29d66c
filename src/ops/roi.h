/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roi.h: boxes on a map, one axis at a time: bins, the points in them that are looked at, and the
 * elements around each; and boxes as detectors propose them.
 *
 * Points of a box are all pairs of its points along both axes, and weights are products, so that
 * each axis can be looked at for itself.
 */
#ifndef ASSAY_OPS_ROI_H
#define ASSAY_OPS_ROI_H

#include "ops/interpolate.h"

/* An axis of a map of n elements. Native: float32. */
struct assay__roi_axis {
    int64_t n, out; /* bins of a box */
    int64_t ratio;  /* points of a bin; 0 or less: as many as keep them an element apart */
    double scale;   /* elements of the map in a pixel, which boxes count in */
    bool aligned;   /* pixel p is at p - 1/2, and boxes may be small */
    bool native;
};

/* A box along an axis, in elements of the map. */
struct assay__roi {
    double start, bin;
    int64_t grid; /* points of a bin; may be 0 */
};
struct assay__roi assay__roi_place(const struct assay__roi_axis *x, double lo, double hi);

/* Where point i of a bin lies. */
double assay__roi_point(const struct assay__roi_axis *x, const struct assay__roi *r, int64_t bin,
                        int64_t i);

/* The elements around it; false: it is outside, and counts as 0. */
bool assay__roi_taps(const struct assay__roi_axis *x, double at, struct assay__taps *t);

/* Boxes of a regular grid over the map that the filled ones hold, along each axis, if there are so
 * many on an image. */
int64_t assay__roi_grid(int64_t boxes);

/* Elements along an axis that these need, in whole lines of `line` elements, but no more than there
 * are: memory comes in lines. */
double assay__roi_touched(const struct assay__roi_axis *x, int64_t grid, int64_t line);

/*
 * Rewrites boxes [.., 5] (image, x0, y0, x1, y1) on maps of so many images; axis 0 is h, axis 1 is
 * w. Of those on an image the first is all of it, half are a regular grid over it, and the others
 * lie inside, around one of these, over the border or beyond; are long, tiny or empty. None hinges
 * on the last bits of a coordinate: how many points a bin has, which of them are outside and, with
 * `special`, which weights are 0.
 */
void assay__roi_fill(const struct assay_tensor *boxes, const struct assay__roi_axis axis[2],
                     int64_t n_images, bool special, struct assay_key key);

#endif
