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

/* y[k] = a[k] v[lo[k]] + b[k] v[hi[k]], indices below PICK_REACH. */
static inline void pick_pairs(float *y, const float *v, const int32_t *lo, const int32_t *hi,
                              const float *a, const float *b)
{
    __m512 v0 = _mm512_loadu_ps(v), v1 = _mm512_loadu_ps(v + 16);
    __m512 x = _mm512_permutex2var_ps(v0, _mm512_loadu_si512(lo), v1);
    __m512 z = _mm512_permutex2var_ps(v0, _mm512_loadu_si512(hi), v1);

    _mm512_storeu_ps(y,
                     _mm512_fmadd_ps(_mm512_loadu_ps(a), x, _mm512_mul_ps(_mm512_loadu_ps(b), z)));
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

static inline void pick_pairs(float *y, const float *v, const int32_t *lo, const int32_t *hi,
                              const float *a, const float *b)
{
    __m256 v0 = _mm256_loadu_ps(v), v1 = _mm256_loadu_ps(v + 8);
    __m256 x = pick_two(v0, v1, _mm256_loadu_si256((const __m256i *)(const void *)lo));
    __m256 z = pick_two(v0, v1, _mm256_loadu_si256((const __m256i *)(const void *)hi));

    _mm256_storeu_ps(y,
                     _mm256_fmadd_ps(_mm256_loadu_ps(a), x, _mm256_mul_ps(_mm256_loadu_ps(b), z)));
}

#else

enum { PICK_LANES = 1, PICK_REACH = 2 };

static inline void pick_pairs(float *y, const float *v, const int32_t *lo, const int32_t *hi,
                              const float *a, const float *b)
{
    *y = *a * v[*lo] + *b * v[*hi];
}

#endif

#endif
