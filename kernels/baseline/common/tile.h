/* SPDX-License-Identifier: Apache-2.0 */
/* tile.h: eight rows of eight floats become eight columns. */
#ifndef BASELINE_TILE_H
#define BASELINE_TILE_H

#include <assay/kernel.h>

enum { TILE_EDGE = 8 };

#if defined(__AVX__)
#include <immintrin.h>

/* to[c * to_pitch + r] = from[r * from_pitch + c]: pairs, then fours, then halves change places. */
static inline void tile_turn(float *to, int64_t to_pitch, const float *from, int64_t from_pitch)
{
    __m256 r[8], s[8];

    for (int i = 0; i < 8; i++)
        r[i] = _mm256_loadu_ps(from + i * from_pitch);
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
        _mm256_storeu_ps(to + i * to_pitch, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
        _mm256_storeu_ps(to + (i + 4) * to_pitch, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
    }
}

#else

static inline void tile_turn(float *to, int64_t to_pitch, const float *from, int64_t from_pitch)
{
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 8; c++)
            to[c * to_pitch + r] = from[r * from_pitch + c];
}

#endif

#endif
