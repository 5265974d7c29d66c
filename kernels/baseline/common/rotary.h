/* SPDX-License-Identifier: Apache-2.0 */
/* rotary.h: a head whose elements k and k + half are rotated. */
#ifndef BASELINE_ROTARY_H
#define BASELINE_ROTARY_H

#include <assay/kernel.h>

/* The tables for elements of the second half begin `second` elements behind those of the first. */
static inline void rotary_half(float *y, const float *x, const float *c, const float *s,
                               int64_t half, int64_t second)
{
    const float *restrict from = x;
    const float *restrict co = c;
    const float *restrict si = s;
    float *restrict to = y;

    for (int64_t k = 0; k < half; k++) {
        to[k] = from[k] * co[k] - from[k + half] * si[k];
        to[k + half] = from[k + half] * co[second + k] + from[k] * si[second + k];
    }
}

#endif
