/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv.h: convolutions as products of matrices.
 *
 * Three axes; a convolution of two has a first one of extent 1. A tap is a place of the kernel,
 * with its channel; a position is a place of the output, with its image.
 */
#ifndef BASELINE_CONV_H
#define BASELINE_CONV_H

#include "gemm.h"

enum { CONV_AXES = 3 };

struct conv {
    const struct assay_view *x; /* [images, channels, in] */
    int64_t channels, first_channel;
    int64_t in[CONV_AXES], kernel[CONV_AXES], out[CONV_AXES];
    int64_t stride[CONV_AXES], pad[CONV_AXES], dilation[CONV_AXES];
};

/* x with kernels of one tap; the axes are those of the view behind the first two. */
struct conv conv_of(const struct assay_view *x);

static inline int64_t conv_taps(const struct conv *g)
{
    return g->kernel[0] * g->kernel[1] * g->kernel[2];
}

static inline int64_t conv_positions(const struct conv *g)
{
    return g->out[0] * g->out[1] * g->out[2];
}

/* A line of a product: what tap `tap` (from first_channel on) meets at positions at .. at + n - 1;
 * padding is 0. */
void conv_line(const void *conv, int64_t tap, int64_t at, int64_t n, float *to);

/* A tensor [images, channels, out] by channels: positions at .. at + n - 1 of channel `i`. */
struct conv_map {
    const struct assay_view *v;
    int64_t positions, channels, first_channel;
};
void conv_map_line(const void *map, int64_t i, int64_t at, int64_t n, float *to);
void conv_map_store(const struct conv_map *map, int64_t i, int64_t at, int64_t n, const float *v);

#endif
