/* SPDX-License-Identifier: Apache-2.0 */
/* order.c: values as unsigned numbers, and sorting them digit by digit. */
#include "order.h"

#include "layout.h"

/* ---- keys ------------------------------------------------------------------------------------ */

/* Sign and magnitude: below the zero in the middle counted downwards, so that -0 is +0. */
static inline uint64_t float_key(uint64_t u, uint64_t sign, uint64_t infinity)
{
    uint64_t mag = u & (sign - 1);
    uint64_t k = u & sign ? sign - mag : sign + mag;

    return mag > infinity ? 2 * sign - 1 : k;
}

void baseline_keys(uint64_t *restrict key, const struct assay_view *x, int64_t at, int64_t n)
{
    const uint8_t *u8 = (const uint8_t *)x->data + at;
    const uint16_t *u16 = (const uint16_t *)x->data + at;
    const uint32_t *u32 = (const uint32_t *)x->data + at;
    const uint64_t *u64 = (const uint64_t *)x->data + at;

    switch (x->dtype) {
    case ASSAY_F16:
        for (int64_t i = 0; i < n; i++)
            key[i] = float_key(u16[i], 0x8000, 0x7c00);
        break;
    case ASSAY_BF16:
        for (int64_t i = 0; i < n; i++)
            key[i] = float_key(u16[i], 0x8000, 0x7f80);
        break;
    case ASSAY_F32:
        for (int64_t i = 0; i < n; i++)
            key[i] = float_key(u32[i], 0x80000000u, 0x7f800000u);
        break;
    case ASSAY_I8:
        for (int64_t i = 0; i < n; i++)
            key[i] = u8[i] ^ 0x80u;
        break;
    case ASSAY_I32:
        for (int64_t i = 0; i < n; i++)
            key[i] = u32[i] ^ 0x80000000u;
        break;
    case ASSAY_I64:
        for (int64_t i = 0; i < n; i++)
            key[i] = u64[i] ^ (uint64_t)1 << 63;
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            key[i] = u8[i];
        break;
    }
}

/* NaN never comes here. */
static inline uint64_t float_bits(uint64_t key, uint64_t sign)
{
    return key >= sign ? key - sign : sign | (sign - key);
}

void baseline_values(const struct assay_view *y, int64_t at, int64_t n, const uint64_t *key)
{
    uint8_t *u8 = (uint8_t *)y->data + at;
    uint16_t *u16 = (uint16_t *)y->data + at;
    uint32_t *u32 = (uint32_t *)y->data + at;
    uint64_t *u64 = (uint64_t *)y->data + at;

    switch (y->dtype) {
    case ASSAY_F16:
    case ASSAY_BF16:
        for (int64_t i = 0; i < n; i++)
            u16[i] = (uint16_t)float_bits(key[i], 0x8000);
        break;
    case ASSAY_F32:
        for (int64_t i = 0; i < n; i++)
            u32[i] = (uint32_t)float_bits(key[i], 0x80000000u);
        break;
    case ASSAY_I8:
        for (int64_t i = 0; i < n; i++)
            u8[i] = (uint8_t)(key[i] ^ 0x80u);
        break;
    case ASSAY_I32:
        for (int64_t i = 0; i < n; i++)
            u32[i] = (uint32_t)key[i] ^ 0x80000000u;
        break;
    case ASSAY_I64:
        for (int64_t i = 0; i < n; i++)
            u64[i] = key[i] ^ (uint64_t)1 << 63;
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            u8[i] = (uint8_t)key[i];
        break;
    }
}

/* ---- sorting --------------------------------------------------------------------------------- */

enum { DIGIT = 8, N_DIGITS = 1 << DIGIT, FEW = 48 };

static void insert_few(uint64_t *key, uint32_t *with, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        uint64_t k = key[i];
        uint32_t w = with ? with[i] : 0;
        int64_t j = i;

        for (; j > 0 && key[j - 1] > k; j--) {
            key[j] = key[j - 1];
            if (with)
                with[j] = with[j - 1];
        }
        key[j] = k;
        if (with)
            with[j] = w;
    }
}

/* One digit; returns false when all keys have the same one, so that nothing is to be moved. */
static int move(uint64_t *restrict to, uint32_t *restrict with_to, const uint64_t *restrict from,
                const uint32_t *restrict with_from, int64_t n, int shift)
{
    int64_t next[N_DIGITS] = { 0 }, at = 0;

    for (int64_t i = 0; i < n; i++)
        next[from[i] >> shift & (N_DIGITS - 1)]++;
    if (next[from[0] >> shift & (N_DIGITS - 1)] == n)
        return 0;
    for (int d = 0; d < N_DIGITS; d++) {
        int64_t count = next[d];

        next[d] = at;
        at += count;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t p = next[from[i] >> shift & (N_DIGITS - 1)]++;

        to[p] = from[i];
        if (with_to)
            with_to[p] = with_from[i];
    }
    return 1;
}

void baseline_sort(uint64_t *key, uint32_t *with, uint64_t *key2, uint32_t *with2, int64_t n,
                   int bits)
{
    uint64_t *from = key, *to = key2;
    uint32_t *with_from = with, *with_to = with ? with2 : NULL;

    if (n <= FEW) {
        insert_few(key, with, n);
        return;
    }
    for (int shift = 0; shift < bits; shift += DIGIT) {
        uint64_t *t = from;
        uint32_t *w = with_from;

        if (!move(to, with_to, from, with_from, n, shift))
            continue;
        from = to;
        to = t;
        with_from = with_to;
        with_to = w;
    }
    if (from == key)
        return;
    memcpy(key, from, (size_t)n * sizeof *key);
    if (with)
        memcpy(with, with_from, (size_t)n * sizeof *with);
}
