/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pick.h: looking up PICK_LANES floats at once among PICK_REACH ones that lie side by side. Where
 * neighbouring results look at neighbouring elements, shuffles do what gathers do much slower.
 * PICK_LANES is 1 where there are no such instructions; plain loops are best there.
 */
#ifndef BASELINE_PICK_H
#define BASELINE_PICK_H

#include <assay/kernel.h>

#if defined(__AVX512F__)

#include <immintrin.h>
enum { PICK_LANES = 16, PICK_REACH = 32 };

static inline __m256 pick_upper(__m512 v)
{
    return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(v), 1));
}

/* y[k] = a[k] v[lo[k]] + b[k] v[hi[k]], indices below PICK_REACH. In doubles: of large elements of
 * both signs little may be left. */
static inline void pick_pairs(double *y, const float *v, const int32_t *lo, const int32_t *hi,
                              const double *a, const double *b)
{
    __m512 v0 = _mm512_loadu_ps(v), v1 = _mm512_loadu_ps(v + 16);
    __m512 x = _mm512_permutex2var_ps(v0, _mm512_loadu_si512(lo), v1);
    __m512 z = _mm512_permutex2var_ps(v0, _mm512_loadu_si512(hi), v1);

    for (int i = 0; i < 2; i++, y += 8, a += 8, b += 8) {
        __m512d p = _mm512_cvtps_pd(i == 0 ? _mm512_castps512_ps256(x) : pick_upper(x));
        __m512d q = _mm512_cvtps_pd(i == 0 ? _mm512_castps512_ps256(z) : pick_upper(z));

        _mm512_storeu_pd(
            y, _mm512_fmadd_pd(_mm512_loadu_pd(a), p, _mm512_mul_pd(_mm512_loadu_pd(b), q)));
    }
}

#elif defined(__AVX2__) && defined(__FMA__)

#include <immintrin.h>
enum { PICK_LANES = 8, PICK_REACH = 16 };

static inline __m256 pick_two(__m256 v0, __m256 v1, __m256i at)
{
    /* bit 3 of the index becomes the sign bit that the blend looks at */
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(v0, at), _mm256_permutevar8x32_ps(v1, at),
                            _mm256_castsi256_ps(_mm256_slli_epi32(at, 28)));
}

static inline void pick_pairs(double *y, const float *v, const int32_t *lo, const int32_t *hi,
                              const double *a, const double *b)
{
    __m256 v0 = _mm256_loadu_ps(v), v1 = _mm256_loadu_ps(v + 8);
    __m256 x = pick_two(v0, v1, _mm256_loadu_si256((const __m256i *)(const void *)lo));
    __m256 z = pick_two(v0, v1, _mm256_loadu_si256((const __m256i *)(const void *)hi));

    for (int i = 0; i < 2; i++, y += 4, a += 4, b += 4) {
        __m256d p =
            _mm256_cvtps_pd(i == 0 ? _mm256_castps256_ps128(x) : _mm256_extractf128_ps(x, 1));
        __m256d q =
            _mm256_cvtps_pd(i == 0 ? _mm256_castps256_ps128(z) : _mm256_extractf128_ps(z, 1));

        _mm256_storeu_pd(
            y, _mm256_fmadd_pd(_mm256_loadu_pd(a), p, _mm256_mul_pd(_mm256_loadu_pd(b), q)));
    }
}

#else

enum { PICK_LANES = 1, PICK_REACH = 2 };

static inline void pick_pairs(double *y, const float *v, const int32_t *lo, const int32_t *hi,
                              const double *a, const double *b)
{
    *y = *a * (double)v[*lo] + *b * (double)v[*hi];
}

#endif

#endif
