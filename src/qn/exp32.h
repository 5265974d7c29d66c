/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exp32.h: exp and the logistic function of a float as straight code, for loops that are to be
 * vectorised. The same bytes on every instruction set, since nothing is contracted.
 */
#ifndef QN_EXP32_H
#define QN_EXP32_H

#include "base/clones.h"

#include <stdint.h>
#include <string.h>

/*
 * exp(x) for |x| <= 87; NaN gives NaN. x = k ln 2 + r with |r| <= ln 2 / 2, exp(r) by its Taylor
 * polynomial of degree 7, whose rest is below 6e-9: the error is the rounding of floats, 2 ulp.
 * ln 2 in two parts: the upper has 15 bits, so that k times it is exact.
 */
static ASSAY__INLINE float qn__exp(float x)
{
    const float magic = 0x1.8p23f; /* adding it rounds to an integer */
    float shifted = x * 0x1.715476p+0f + magic, k = shifted - magic;
    float r = x - k * 0x1.62e4p-1f - k * 0x1.7f7d1cp-20f;
    float p = 1.0f / 5040;
    uint32_t bits;
    float scale;

    /* k stands in the low bits of the sum: no conversion, which NaN would not bear */
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127u) << 23;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1;
    p = p * r + 1;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

/* 1 / (1 + exp(-t)) with t within [-limit, limit], limit <= 87. */
static ASSAY__INLINE float qn__sigmoid(float t, float limit)
{
    t = t < -limit ? -limit : t;
    t = t > limit ? limit : t;
    return 1 / (1 + qn__exp(-t));
}

#endif
