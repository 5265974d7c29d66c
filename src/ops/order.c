/* SPDX-License-Identifier: Apache-2.0 */
/* order.c: values as unsigned numbers that are ordered as they are. */
#include "ops/order.h"

#include "base/clones.h"
#include "ops/map.h"

#include <math.h>

/* Bits of an element, and of what lies above all finite values and infinity: a NaN's exponent. */
static int n_bits(enum assay_dtype d)
{
    return 8 * (int)assay_dtype_size(d);
}

static uint64_t infinity_of(enum assay_dtype d)
{
    return d == ASSAY_F16 ? 0x7c00 : d == ASSAY_BF16 ? 0x7f80 : 0x7f800000;
}

/* ---- keys ------------------------------------------------------------------------------------ */

ASSAY__CLONES static void order_widen_8(const uint8_t *restrict s, int64_t n, uint64_t *restrict d)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = s[i];
}

ASSAY__CLONES static void order_widen_16(const uint16_t *restrict s, int64_t n,
                                         uint64_t *restrict d)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = s[i];
}

ASSAY__CLONES static void order_widen_32(const uint32_t *restrict s, int64_t n,
                                         uint64_t *restrict d)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = s[i];
}

/* Sign and magnitude: below the zero in the middle counted downwards. */
ASSAY__CLONES static void order_floats(uint64_t *key, int64_t n, uint64_t sign, uint64_t infinity)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t mag = key[i] & (sign - 1);
        uint64_t k = key[i] & sign ? sign - mag : sign + mag;

        key[i] = mag > infinity ? 2 * sign - 1 : k;
    }
}

ASSAY__CLONES static void order_signed(uint64_t *key, int64_t n, uint64_t sign)
{
    for (int64_t i = 0; i < n; i++)
        key[i] ^= sign;
}

void assay__order_keys(const struct assay_tensor *x, int64_t i, int64_t n, uint64_t *key)
{
    size_t size = assay_dtype_size(x->dtype);
    const char *from = (const char *)x->data + (size_t)i * size;
    uint64_t sign = (uint64_t)1 << (n_bits(x->dtype) - 1);
    const void *p = from;

    if (size == 1)
        order_widen_8(p, n, key);
    else if (size == 2)
        order_widen_16(p, n, key);
    else if (size == 4)
        order_widen_32(p, n, key);
    else
        memcpy(key, p, (size_t)n * size);
    if (assay_dtype_is_float(x->dtype))
        order_floats(key, n, sign, infinity_of(x->dtype));
    else if (x->dtype != ASSAY_U8 && x->dtype != ASSAY_BOOL)
        order_signed(key, n, sign);
}

/* ---- values ---------------------------------------------------------------------------------- */

static uint64_t pattern_of(uint64_t key, enum assay_dtype d)
{
    uint64_t sign = (uint64_t)1 << (n_bits(d) - 1);

    if (d == ASSAY_U8 || d == ASSAY_BOOL)
        return key;
    if (!assay_dtype_is_float(d))
        return key ^ sign;
    if (key == 2 * sign - 1) /* the NaN that conversions give */
        return infinity_of(d) | (infinity_of(d) >> 1);
    return key >= sign ? key - sign : sign | (sign - key);
}

/* Little-endian or not: the pattern is stored as a number of its size. */
static void put_pattern(void *to, uint64_t u, size_t size)
{
    uint8_t u8 = (uint8_t)u;
    uint16_t u16 = (uint16_t)u;
    uint32_t u32 = (uint32_t)u;

    memcpy(to,
           size == 1   ? (void *)&u8
           : size == 2 ? (void *)&u16
           : size == 4 ? (void *)&u32
                       : &u,
           size);
}

void assay__order_values(const struct assay_tensor *y, int64_t i, int64_t n, const uint64_t *key,
                         enum assay_dtype d)
{
    size_t size = assay_dtype_size(d);
    uint64_t buf[ASSAY__BLOCK];
    struct assay_tensor block = { .data = buf, .dtype = d };

    for (int64_t at = 0, m; at < n; at += m) {
        m = n - at < ASSAY__BLOCK ? n - at : ASSAY__BLOCK;
        for (int64_t k = 0; k < m; k++)
            put_pattern((char *)buf + (size_t)k * size, pattern_of(key[at + k], d), size);
        if (y->dtype == d)
            memcpy((char *)y->data + (size_t)(i + at) * size, buf, (size_t)m * size);
        else
            assay_load_n(&block, 0, m, (double *)y->data + i + at);
    }
}

/* ---- sorting --------------------------------------------------------------------------------- */

enum { FEW = 32, DIGIT = 8, N_DIGITS = 1 << DIGIT };

static void insert_few(uint64_t *key, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        uint64_t k = key[i];
        int64_t j = i;

        for (; j > 0 && key[j - 1] > k; j--)
            key[j] = key[j - 1];
        key[j] = k;
    }
}

/* By the highest digit, each key swapped to where its digit has room, then digit by digit. */
void assay__order_sort(uint64_t *key, int64_t n, int bits)
{
    int shift = bits > DIGIT ? bits - DIGIT : 0;
    int64_t next[N_DIGITS], end[N_DIGITS], count[N_DIGITS] = { 0 }, at = 0;

    if (n <= FEW || bits <= 0) {
        insert_few(key, bits > 0 ? n : 0);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        count[key[i] >> shift & (N_DIGITS - 1)]++;
    for (int d = 0; d < N_DIGITS; d++) {
        next[d] = at;
        end[d] = at += count[d];
    }
    for (int d = 0; d < N_DIGITS; d++)
        while (next[d] < end[d]) {
            uint64_t k = key[next[d]];
            int to = (int)(k >> shift & (N_DIGITS - 1));

            key[next[d]] = key[next[to]];
            key[next[to]++] = k;
        }
    for (int d = 0; shift > 0 && d < N_DIGITS; d++)
        if (count[d] > 1)
            assay__order_sort(key + end[d] - count[d], count[d], shift);
}

/* ---- zeros ----------------------------------------------------------------------------------- */

static void drop_range(void *ctx, int64_t begin, int64_t end)
{
    const struct assay_tensor *x = ctx;
    double v[ASSAY__BLOCK];

    for (int64_t at = begin, n; at < end; at += n) {
        bool any = false;

        n = end - at < ASSAY__BLOCK ? end - at : ASSAY__BLOCK;
        assay_load_n(x, at, n, v);
        for (int64_t k = 0; k < n; k++)
            any |= v[k] == 0 && signbit(v[k]);
        for (int64_t k = 0; any && k < n; k++)
            if (v[k] == 0)
                assay_store(x, at + k, 0);
    }
}

void assay__drop_negative_zeros(const struct assay_tensor *x, int n_threads)
{
    if (assay_dtype_is_float(x->dtype))
        assay_parallel(assay_numel(x), 64 * ASSAY__BLOCK, n_threads, drop_range,
                       (void *)(uintptr_t)x);
}
