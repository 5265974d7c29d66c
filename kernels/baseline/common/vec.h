/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec.h: float functions without branches or calls, so that compilers vectorise loops over them.
 * NaN, infinities, overflow and gradual underflow come out as in the functions of the C library.
 */
#ifndef BASELINE_VEC_H
#define BASELINE_VEC_H

#include <assay/kernel.h>

/* 2^n for -126 <= n <= 127. */
static inline float vec_pow2(int32_t n)
{
    return assay_bits_to_f32((uint32_t)(n + 127) << 23);
}

/*
 * exp(x + low) for |low| far below 1: x + low = n ln 2 + r, |r| <= ln 2 / 2, exp(r) by a minimax
 * polynomial (relative error 3.3e-9). 2^n is applied in two factors, so that it may lie outside the
 * normal range.
 */
static inline float vec_exp_sum(float x, float low)
{
    const float round = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
    float c = x > 89.0f ? 89.0f : x < -104.0f ? -104.0f : x;
    float shifted = c * 1.44269504f + round;
    float n = shifted - round;
    int32_t i = (int32_t)(assay_f32_to_bits(shifted) - 0x4b400000u);
    int32_t half = i >> 1;
    float r = (c - n * 0.693145752f) - n * 1.42860677e-6f + low;
    float p = 1.381314456e-3f;

    p = p * r + 8.369418827e-3f;
    p = p * r + 4.166845679e-2f;
    p = p * r + 1.666651479e-1f;
    p = p * r + 4.999999305e-1f;
    p = p * r * r + r + 1.0f;
    return p * vec_pow2(half) * vec_pow2(i - half);
}

static inline float vec_exp(float x)
{
    return vec_exp_sum(x, 0.0f);
}

static inline float vec_sigmoid(float x)
{
    return 1.0f / (1.0f + vec_exp(-x));
}

/* y = gate / (1 + exp(-gate)) up; y does not overlap the others. */
static inline void vec_gate(float *y, const float *gate, const float *up, int64_t n)
{
    const float *restrict a = gate;
    const float *restrict b = up;
    float *restrict to = y;

    for (int64_t k = 0; k < n; k++)
        to[k] = a[k] / (1.0f + vec_exp(-a[k])) * b[k];
}

/*
 * tanh(x) = m / (m + 2) with m = exp(2 x) - 1 = 2^n (exp(r) - 1) + (2^n - 1), so that small values
 * keep their relative accuracy. From 10 on the quotient is 1.
 */
static inline float vec_tanh(float x)
{
    const float round = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
    float c = 2.0f * (x > 10.0f ? 10.0f : x < -10.0f ? -10.0f : x);
    float shifted = c * 1.44269504f + round;
    float n = shifted - round;
    float r = (c - n * 0.693145752f) - n * 1.42860677e-6f;
    float scale = vec_pow2((int32_t)(assay_f32_to_bits(shifted) - 0x4b400000u));
    float p = 1.381314456e-3f, m;

    p = p * r + 8.369418827e-3f;
    p = p * r + 4.166845679e-2f;
    p = p * r + 1.666651479e-1f;
    p = p * r + 4.999999305e-1f;
    p = p * r * r + r;
    m = scale * p + (scale - 1.0f);
    return m / (m + 2.0f);
}

/*
 * The normal distribution function, with small relative error in both tails:
 * Phi(-a) = exp(-a a / 2) (1 + u) P(u), u = (3 sqrt 2 - a) / (3 sqrt 2 + a), for a >= 0; P is a
 * minimax fit on 0 <= a <= 15 (relative error 2.6e-9). The square is split so that its rounding
 * does not grow in the exponential.
 */
static inline float vec_phi(float x)
{
    float mag = assay_bits_to_f32(assay_f32_to_bits(x) & 0x7fffffffu);
    float a = mag > 15.0f ? 15.0f : mag;
    float head = assay_bits_to_f32(assay_f32_to_bits(a) & 0xfffff000u);
    float e = vec_exp_sum(-0.5f * head * head, -0.5f * (a - head) * (a + head));
    float t = 1.0f / (4.24264069f + a);
    float u = (4.24264069f - a) * t;
    float p = 2.690480271e-5f;
    float tail;

    p = p * u - 3.986994094e-5f;
    p = p * u - 2.567715200e-4f;
    p = p * u - 1.024134810e-4f;
    p = p * u + 2.236729845e-3f;
    p = p * u + 9.960792448e-3f;
    p = p * u + 2.587215462e-2f;
    p = p * u + 4.918568926e-2f;
    p = p * u + 7.361620766e-2f;
    p = p * u + 8.950057567e-2f;
    tail = e * p * (8.48528137f * t); /* 1 + u = 6 sqrt 2 / (3 sqrt 2 + a) */
    return x > 0.0f ? 1.0f - tail : tail;
}

/* log2(x) for a finite float x > 0, in double with relative error below 1e-9 of the result's scale.
 */
static inline double vec_log2(float x)
{
    float scaled = x < 1.17549435e-38f ? x * 16777216.0f : x; /* subnormal: times 2^24 */
    double bias = x < 1.17549435e-38f ? -24.0 : 0.0;
    uint32_t u = assay_f32_to_bits(scaled) - 0x3f3504f3u; /* 1 / sqrt 2 becomes 0 */
    int32_t e = (int32_t)u >> 23;
    double m = assay_bits_to_f32((u & 0x7fffffu) + 0x3f3504f3u); /* 1 / sqrt 2 <= m < sqrt 2 */
    double s = (m - 1.0) / (m + 1.0);
    double q = s * s;
    /* 2 / ln 2 (s + s^3 / 3 + .. + s^11 / 11), |s| <= 0.1716 */
    double p = 0.26230818925;

    p = p * q + 0.32059889797;
    p = p * q + 0.41219858311;
    p = p * q + 0.57707801636;
    p = p * q + 0.96179669393;
    p = p * q + 2.88539008178;
    return p * s + e + bias;
}

/* 2^w in double with relative error below 1e-8; w is cut at +-1000. */
static inline double vec_pow2d(double w)
{
    const double round = 6755399441055744.0; /* 1.5 * 2^52 */
    double c = w > 1000.0 ? 1000.0 : w < -1000.0 ? -1000.0 : w;
    double shifted = c + round;
    double r = (c - (shifted - round)) * 0.69314718055994531;
    double p = 1.0 / 40320;
    uint64_t u;
    double scale;

    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    memcpy(&u, &shifted, sizeof u);
    u = (u + 1023u) << 52; /* the low bits of shifted are the integer */
    memcpy(&scale, &u, sizeof scale);
    return p * scale;
}

/* log(x) for a finite double x >= 2^-1000, with relative error below 1e-9, near 1 too. */
static inline double vec_logd(double x)
{
    uint64_t u, m, e;
    double mant, expo, s, q, p = 0.18181818182;

    memcpy(&u, &x, sizeof u);
    u -= 0x3fe6a09e667f3bcdu; /* 1 / sqrt 2 becomes 0 */
    m = (u & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu;
    e = ((u + 0x4000000000000000u) >> 52) | 0x4330000000000000u; /* 2^52 + exponent + 1024 */
    memcpy(&mant, &m, sizeof mant);
    memcpy(&expo, &e, sizeof expo);
    s = (mant - 1.0) / (mant + 1.0);
    q = s * s;
    /* 2 (s + s^3 / 3 + .. + s^11 / 11), |s| <= 0.1716 */
    p = p * q + 0.22222222222;
    p = p * q + 0.28571428571;
    p = p * q + 0.4;
    p = p * q + 0.66666666667;
    p = p * q + 2.0;
    return p * s + (expo - 4503599627371520.0) * 0.69314718055994531;
}

#endif
