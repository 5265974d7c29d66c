/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv.h: the geometry of convolutions, and the matrices that turn them into products.
 *
 * Always three axes; a convolution of two has a first one of extent 1. x is [images, channels, in],
 * results [images, .., out]. A tap is a place of the kernel: its channel within the group and its
 * place along the axes, numbered row by row. A position is a place of the output: image, then place
 * along the axes. Tap t meets at position p the element of x
 *
 *     p * stride - pad + t * dilation
 *
 * along each axis; outside of x there is padding.
 */
#ifndef ASSAY_OPS_CONV_H
#define ASSAY_OPS_CONV_H

#include "ops/product.h"

enum { ASSAY__CONV_AXES = 3 };

struct assay__conv {
    int64_t images, channels, groups; /* channels of x, in all groups together */
    int64_t in[ASSAY__CONV_AXES], kernel[ASSAY__CONV_AXES], out[ASSAY__CONV_AXES];
    int64_t stride[ASSAY__CONV_AXES], pad[ASSAY__CONV_AXES], dilation[ASSAY__CONV_AXES];
};

/* Extents of images and channels from x [n, c, ..] of 2 or 3 axes, kernels of one group, and no
 * padding, stride or dilation yet. */
struct assay__conv assay__conv_of(const struct assay_tensor *x);

/* Sets stride, padding (the same before and behind) and dilation of axis a (of `axes` in all, from
 * 0), and the extent of the output. Refuses what has no output. */
enum assay_status assay__conv_axis(struct assay__conv *g, int a, int axes, int64_t kernel,
                                   int64_t stride, int64_t pad, int64_t dilation,
                                   struct assay_err *err);

int64_t assay__conv_taps(const struct assay__conv *g);      /* of one channel */
int64_t assay__conv_positions(const struct assay__conv *g); /* of one image */

/* The matrix [taps of a group, positions of all images]; its batches are groups. Padding is 0. */
struct assay__conv_columns {
    const struct assay__conv *g;
    const struct assay_tensor *x;
};
void assay__conv_load_columns(const void *columns, const struct assay__tile *t);

/* A tensor [images, channels, out] as the matrix [channels of a group, positions of all images]. */
struct assay__conv_map {
    const struct assay__conv *g;
    const struct assay_tensor *t;
    int64_t channels; /* of a group */
};
void assay__conv_load_map(const void *map, const struct assay__tile *t);
void assay__conv_store_map(const struct assay__conv_map *map, const struct assay__tile *t);

/*
 * Multiplications for one pair of input and output channel: as they stand, and how many are left at
 * least. By minimal filtering (Winograd) n results of a filter of m neighbouring taps take n + m -
 * 1 multiplications; a stride divides the taps into those that meet the same elements.
 */
double assay__conv_products(const struct assay__conv *g);
double assay__conv_least_products(const struct assay__conv *g);

/* Which part of x any tap meets. */
double assay__conv_touched(const struct assay__conv *g);

#endif
