/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantise.h: rows of floats as int8. The largest magnitude is found on the bit patterns: without
 * their sign they are ordered as the numbers are, NaN above all. Quotients are products with the
 * inverse, rounded by adding a large number.
 */
#ifndef BASELINE_QUANTISE_H
#define BASELINE_QUANTISE_H

#include <assay/kernel.h>

#include <float.h>

/* The larger one of most and |v[k]|, as bits. */
static inline int32_t quantise_amax(const float *v, int64_t n, int32_t most)
{
    for (int64_t k = 0; k < n; k++) {
        int32_t mag = (int32_t)(assay_f32_to_bits(v[k]) & 0x7fffffffu);

        most = mag > most ? mag : most;
    }
    return most;
}

/* y = v / scale, |v| <= 127 scale; 0 throughout where the scale is Inf or NaN. */
static inline void quantise_row(int8_t *y, const float *v, int64_t n, float scale)
{
    const float round = 12582912.0f; /* 1.5 * 2^23 */
    float inverse = 1.0f / scale;
    int8_t *restrict to = y;

    if (!(scale <= FLT_MAX)) {
        memset(y, 0, (size_t)n);
        return;
    }
    for (int64_t k = 0; k < n; k++)
        to[k] = (int8_t)(int32_t)(assay_f32_to_bits(v[k] * inverse + round) - 0x4b400000u);
}

#endif
