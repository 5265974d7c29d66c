/* SPDX-License-Identifier: Apache-2.0 */
/* tile.h: eight rows of eight floats become eight columns. */
#ifndef BASELINE_TILE_H
#define BASELINE_TILE_H

#include <assay/kernel.h>

enum { TILE_EDGE = 8 };

#if defined(__AVX__)
#include <immintrin.h>

/* Pairs, then fours, then halves change places. */
static inline void tile_flip(__m256 r[8])
{
    __m256 s[8];

    for (int i = 0; i < 4; i++) {
        s[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
        s[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        r[4 * i] = _mm256_shuffle_ps(s[4 * i], s[4 * i + 2], 0x44);
        r[4 * i + 1] = _mm256_shuffle_ps(s[4 * i], s[4 * i + 2], 0xee);
        r[4 * i + 2] = _mm256_shuffle_ps(s[4 * i + 1], s[4 * i + 3], 0x44);
        r[4 * i + 3] = _mm256_shuffle_ps(s[4 * i + 1], s[4 * i + 3], 0xee);
    }
    for (int i = 0; i < 4; i++) {
        s[i] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x20);
        s[i + 4] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
    }
    for (int i = 0; i < 8; i++)
        r[i] = s[i];
}

/* to[c * to_pitch + r] = from[r * from_pitch + c] */
static inline void tile_turn(float *to, int64_t to_pitch, const float *from, int64_t from_pitch)
{
    __m256 r[8];

    for (int i = 0; i < 8; i++)
        r[i] = _mm256_loadu_ps(from + i * from_pitch);
    tile_flip(r);
    for (int i = 0; i < 8; i++)
        _mm256_storeu_ps(to + i * to_pitch, r[i]);
}

#else

static inline void tile_turn(float *to, int64_t to_pitch, const float *from, int64_t from_pitch)
{
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 8; c++)
            to[c * to_pitch + r] = from[r * from_pitch + c];
}

#endif

/* The same for any number of rows and columns; to and from lie apart. Last tiles reach back over
 * what is done already. */
static inline void tile_turn_all(float *to, int64_t to_pitch, const float *from, int64_t from_pitch,
                                 int64_t rows, int64_t columns)
{
    if (rows < TILE_EDGE || columns < TILE_EDGE) {
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < columns; c++)
                to[c * to_pitch + r] = from[r * from_pitch + c];
        return;
    }
    for (int64_t i = 0; i < rows; i += TILE_EDGE) {
        int64_t r = i + TILE_EDGE <= rows ? i : rows - TILE_EDGE;

        for (int64_t k = 0; k < columns; k += TILE_EDGE) {
            int64_t c = k + TILE_EDGE <= columns ? k : columns - TILE_EDGE;

            tile_turn(to + c * to_pitch + r, to_pitch, from + r * from_pitch + c, from_pitch);
        }
    }
}

/* The same from float16, and to it. */
#if defined(__AVX__) && defined(__F16C__)

static inline void tile_turn_widen(float *to, int64_t to_pitch, const uint16_t *from,
                                   int64_t from_pitch)
{
    __m256 r[8];

    for (int i = 0; i < 8; i++)
        r[i] = _mm256_cvtph_ps(
            _mm_loadu_si128((const __m128i *)(const void *)(from + i * from_pitch)));
    tile_flip(r);
    for (int i = 0; i < 8; i++)
        _mm256_storeu_ps(to + i * to_pitch, r[i]);
}

static inline void tile_turn_narrow(uint16_t *to, int64_t to_pitch, const float *from,
                                    int64_t from_pitch)
{
    __m256 r[8];

    for (int i = 0; i < 8; i++)
        r[i] = _mm256_loadu_ps(from + i * from_pitch);
    tile_flip(r);
    for (int i = 0; i < 8; i++)
        _mm_storeu_si128((__m128i *)(void *)(to + i * to_pitch),
                         _mm256_cvtps_ph(r[i], _MM_FROUND_TO_NEAREST_INT));
}

#else

static inline void tile_turn_widen(float *to, int64_t to_pitch, const uint16_t *from,
                                   int64_t from_pitch)
{
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 8; c++)
            to[c * to_pitch + r] = assay_f16_to_f32(from[r * from_pitch + c]);
}

static inline void tile_turn_narrow(uint16_t *to, int64_t to_pitch, const float *from,
                                    int64_t from_pitch)
{
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 8; c++)
            to[c * to_pitch + r] = assay_f32_to_f16(from[r * from_pitch + c]);
}

#endif

#endif
