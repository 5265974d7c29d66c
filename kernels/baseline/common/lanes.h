/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h: a few channels of a tensor [.., channels, points] as floats, point by point, so that the
 * channels of a point are one run of memory; and back.
 */
#ifndef BASELINE_LANES_H
#define BASELINE_LANES_H

#include "tile.h"

enum { LANES = TILE_EDGE, LANES_POINTS = 64 };

/* One point in LANES channels. */
typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

/*
 * n points in LANES channels, the first of which begins with element `at` and the others `pitch`
 * elements further each. Only `used` of them are there (or more); others are zeros. A point has
 * `width` floats at `to`. The last points are followed by others, up to a multiple of LANES.
 */
void lanes_take(const struct assay_view *v, int64_t at, int64_t pitch, int used, int64_t n,
                float *to, int64_t width);

/* The way back; reads as far as that writes. */
void lanes_put(const struct assay_view *v, int64_t at, int64_t pitch, int used, int64_t n,
               const float *from, int64_t width);

#endif
