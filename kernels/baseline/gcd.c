/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gcd: the binary algorithm on many pairs at a time, without branches: both numbers odd, the
 * difference takes the place of the larger one and loses its factors of two, until it is 0. Further
 * steps leave a pair of 0 and the divisor as it is.
 */
#include <assay/gcd.h>

#include "broadcast.h"

enum { LANES = 64, STEPS = 4 }; /* steps between two looks at whether all pairs are done */

/* Zeros at the low end of v; v 0: any number. Both forms are such that compilers vectorise them. */
static inline uint32_t low_zeros32(uint32_t v)
{
#ifdef __AVX512VPOPCNTDQ__
    return (uint32_t)__builtin_popcount(~v & (v - 1)) & 31;
#else
    /* the exponent of the lowest bit as a float */
    return (assay_f32_to_bits((float)(int32_t)(v & (0 - v))) - (127u << 23)) >> 23 & 31;
#endif
}

static inline uint16_t low_zeros16(uint16_t v)
{
#ifdef __AVX512BITALG__
    return (uint16_t)(__builtin_popcount((uint16_t)(~v & (v - 1))) & 15);
#else
    return (uint16_t)(low_zeros32(v) & 15);
#endif
}

static inline uint64_t low_zeros64(uint64_t v)
{
#ifdef __AVX512VPOPCNTDQ__
    return (uint64_t)__builtin_popcountll(~v & (v - 1)) & 63;
#else
    return (uint64_t)__builtin_ctzll(v | (uint64_t)1 << 63);
#endif
}

/* Pairs of magnitudes in a and b become their divisors, in a. */
static void divisors16(uint16_t *restrict a, uint16_t *restrict b)
{
    uint16_t shift[LANES], going;

    for (int k = 0; k < LANES; k++) {
        shift[k] = low_zeros16((uint16_t)(a[k] | b[k]));
        a[k] = (uint16_t)(a[k] >> low_zeros16(a[k]));
        b[k] = (uint16_t)(b[k] >> low_zeros16(b[k]));
    }
    do {
        going = 0;
        for (int k = 0; k < LANES; k++) {
            uint16_t u = a[k], v = b[k];

            for (int step = 0; step < STEPS; step++) {
                uint16_t less = u < v ? u : v, rest = (uint16_t)((u < v ? v : u) - less);

                u = less;
                v = (uint16_t)(rest >> low_zeros16(rest));
            }
            a[k] = u;
            b[k] = v;
            going |= u < v ? u : v;
        }
    } while (going);
    for (int k = 0; k < LANES; k++)
        a[k] = (uint16_t)((a[k] | b[k]) << shift[k]);
}

static void divisors32(uint32_t *restrict a, uint32_t *restrict b)
{
    uint32_t shift[LANES], going;

    for (int k = 0; k < LANES; k++) {
        shift[k] = low_zeros32(a[k] | b[k]);
        a[k] >>= low_zeros32(a[k]);
        b[k] >>= low_zeros32(b[k]);
    }
    do {
        going = 0;
        for (int k = 0; k < LANES; k++) {
            uint32_t u = a[k], v = b[k];

            for (int step = 0; step < STEPS; step++) {
                uint32_t less = u < v ? u : v, rest = (u < v ? v : u) - less;

                u = less;
                v = rest >> low_zeros32(rest);
            }
            a[k] = u;
            b[k] = v;
            going |= u < v ? u : v;
        }
    } while (going);
    for (int k = 0; k < LANES; k++)
        a[k] = (a[k] | b[k]) << shift[k];
}

static void divisors64(uint64_t *restrict a, uint64_t *restrict b)
{
    uint64_t shift[LANES], going;

    for (int k = 0; k < LANES; k++) {
        shift[k] = low_zeros64(a[k] | b[k]);
        a[k] >>= low_zeros64(a[k]);
        b[k] >>= low_zeros64(b[k]);
    }
    do {
        going = 0;
        for (int k = 0; k < LANES; k++) {
            uint64_t u = a[k], v = b[k];

            for (int step = 0; step < STEPS; step++) {
                uint64_t less = u < v ? u : v, rest = (u < v ? v : u) - less;

                u = less;
                v = rest >> low_zeros64(rest);
            }
            a[k] = u;
            b[k] = v;
            going |= u < v ? u : v;
        }
    } while (going);
    for (int k = 0; k < LANES; k++)
        a[k] = (a[k] | b[k]) << shift[k];
}

/* What is beyond n in the last lanes is 0. */
static void row_i16(void *y, const void *x1, const void *x2, int64_t n)
{
    const int16_t *x[2] = { x1, x2 };
    uint16_t *to = y;

    for (int64_t at = 0; at < n; at += LANES) {
        int64_t m = n - at < LANES ? n - at : LANES;
        uint16_t v[2][LANES] = { { 0 } };

        for (int i = 0; i < 2; i++)
            for (int64_t k = 0; k < m; k++)
                v[i][k] = (uint16_t)(x[i][at + k] < 0 ? -x[i][at + k] : x[i][at + k]);
        divisors16(v[0], v[1]);
        memcpy(to + at, v[0], (size_t)m * sizeof *to);
    }
}

/* Where all numbers are of half the length, as they often are, twice as many are worked on at a
 * time. */
static void divisors32_of_16(uint32_t *a, const uint32_t *b)
{
    uint16_t u[LANES], v[LANES];

    for (int k = 0; k < LANES; k++) {
        u[k] = (uint16_t)a[k];
        v[k] = (uint16_t)b[k];
    }
    divisors16(u, v);
    for (int k = 0; k < LANES; k++)
        a[k] = u[k];
}

static void divisors64_of_32(uint64_t *a, const uint64_t *b)
{
    uint32_t u[LANES], v[LANES];

    for (int k = 0; k < LANES; k++) {
        u[k] = (uint32_t)a[k];
        v[k] = (uint32_t)b[k];
    }
    divisors32(u, v);
    for (int k = 0; k < LANES; k++)
        a[k] = u[k];
}

static void row_i32(void *y, const void *x1, const void *x2, int64_t n)
{
    const int32_t *x[2] = { x1, x2 };
    uint32_t *to = y;

    for (int64_t at = 0; at < n; at += LANES) {
        int64_t m = n - at < LANES ? n - at : LANES;
        uint32_t v[2][LANES] = { { 0 } }, all = 0;

        for (int i = 0; i < 2; i++)
            for (int64_t k = 0; k < m; k++) {
                uint32_t u = (uint32_t)x[i][at + k];

                v[i][k] = x[i][at + k] < 0 ? 0 - u : u;
                all |= v[i][k];
            }
        if (all >> 16)
            divisors32(v[0], v[1]);
        else
            divisors32_of_16(v[0], v[1]);
        memcpy(to + at, v[0], (size_t)m * sizeof *to);
    }
}

static void row_i64(void *y, const void *x1, const void *x2, int64_t n)
{
    const int64_t *x[2] = { x1, x2 };
    uint64_t *to = y;

    for (int64_t at = 0; at < n; at += LANES) {
        int64_t m = n - at < LANES ? n - at : LANES;
        uint64_t v[2][LANES] = { { 0 } }, all = 0;

        for (int i = 0; i < 2; i++)
            for (int64_t k = 0; k < m; k++) {
                uint64_t u = (uint64_t)x[i][at + k];

                v[i][k] = x[i][at + k] < 0 ? 0 - u : u;
                all |= v[i][k];
            }
        if (all >> 32)
            divisors64(v[0], v[1]);
        else
            divisors64_of_32(v[0], v[1]);
        memcpy(to + at, v[0], (size_t)m * sizeof *to);
    }
}

int assay_gcd(const struct assay_call *c)
{
    const struct assay_view *y = c->out[GCD_Y].view;
    baseline_pair_fn row = y->dtype == ASSAY_I16   ? row_i16
                           : y->dtype == ASSAY_I32 ? row_i32
                                                   : row_i64;

    baseline_broadcast(c, y, c->in[GCD_X1].view, c->in[GCD_X2].view, row, 8);
    return 0;
}
