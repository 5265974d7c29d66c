/* SPDX-License-Identifier: Apache-2.0 */
/* half.h: runs of float16 to floats and back, by the instructions made for it where there are any.
 */
#ifndef BASELINE_HALF_H
#define BASELINE_HALF_H

#include <assay/kernel.h>

#if defined(__F16C__) && defined(__AVX__)
#include <immintrin.h>

enum { HALF_LANES = 8 };

static inline void half_widen_lanes(float *y, const uint16_t *x)
{
    _mm256_storeu_ps(y, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)x)));
}

static inline void half_narrow_lanes(uint16_t *y, const float *x)
{
    _mm_storeu_si128((__m128i *)(void *)y,
                     _mm256_cvtps_ph(_mm256_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT));
}

/* Less than HALF_LANES: with masks where there are any, for rows may be short. */
#if defined(__AVX512BW__) && defined(__AVX512VL__)

static inline void half_widen_rest(float *y, const uint16_t *x, int64_t n)
{
    __mmask8 m = (__mmask8)((1u << n) - 1);

    _mm256_mask_storeu_ps(y, m, _mm256_cvtph_ps(_mm_maskz_loadu_epi16(m, x)));
}

static inline void half_narrow_rest(uint16_t *y, const float *x, int64_t n)
{
    __mmask8 m = (__mmask8)((1u << n) - 1);

    _mm_mask_storeu_epi16(y, m,
                          _mm256_cvtps_ph(_mm256_maskz_loadu_ps(m, x), _MM_FROUND_TO_NEAREST_INT));
}

#else

static inline void half_widen_rest(float *y, const uint16_t *x, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        y[k] = _cvtsh_ss(x[k]);
}

static inline void half_narrow_rest(uint16_t *y, const float *x, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        y[k] = _cvtss_sh(x[k], _MM_FROUND_TO_NEAREST_INT);
}

#endif

#else

enum { HALF_LANES = 1 };

static inline void half_widen_lanes(float *y, const uint16_t *x)
{
    *y = assay_f16_to_f32(*x);
}

static inline void half_narrow_lanes(uint16_t *y, const float *x)
{
    *y = assay_f32_to_f16(*x);
}

static inline void half_widen_rest(float *y, const uint16_t *x, int64_t n)
{
    (void)y, (void)x, (void)n;
}

static inline void half_narrow_rest(uint16_t *y, const float *x, int64_t n)
{
    (void)y, (void)x, (void)n;
}

#endif

static inline void half_widen(float *y, const uint16_t *x, int64_t n)
{
    int64_t k = 0;

    for (; k + HALF_LANES <= n; k += HALF_LANES)
        half_widen_lanes(y + k, x + k);
    half_widen_rest(y + k, x + k, n - k);
}

static inline void half_narrow(uint16_t *y, const float *x, int64_t n)
{
    int64_t k = 0;

    for (; k + HALF_LANES <= n; k += HALF_LANES)
        half_narrow_lanes(y + k, x + k);
    half_narrow_rest(y + k, x + k, n - k);
}

#endif
