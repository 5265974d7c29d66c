/* SPDX-License-Identifier: Apache-2.0 */
/* maximum: in the element's own type; 16-bit floats by their bit patterns. */
#include <assay/maximum.h>

#include "broadcast.h"

static void row_f32(void *y, const void *x1, const void *x2, int64_t n)
{
    const float *restrict a = x1;
    const float *restrict b = x2;
    float *restrict to = y;

    for (int64_t k = 0; k < n; k++)
        to[k] = b[k] > a[k] || b[k] != b[k] ? b[k] : a[k];
}

/* As signed integers, patterns of negative numbers run backwards until all bits but the sign are
 * turned over. */
static inline int16_t ordered(uint16_t h)
{
    return (int16_t)(h ^ (((int16_t)h >> 15) & 0x7fff));
}

static inline void row_16(uint16_t *restrict to, const uint16_t *restrict a,
                          const uint16_t *restrict b, int64_t n, uint16_t inf)
{
    for (int64_t k = 0; k < n; k++) {
        uint16_t larger = ordered(b[k]) > ordered(a[k]) ? b[k] : a[k];

        larger = (b[k] & 0x7fff) > inf ? b[k] : larger;
        to[k] = (a[k] & 0x7fff) > inf ? a[k] : larger;
    }
}

static void row_f16(void *y, const void *x1, const void *x2, int64_t n)
{
    row_16(y, x1, x2, n, 0x7c00);
}

static void row_bf16(void *y, const void *x1, const void *x2, int64_t n)
{
    row_16(y, x1, x2, n, 0x7f80);
}

static void row_i8(void *y, const void *x1, const void *x2, int64_t n)
{
    const int8_t *restrict a = x1;
    const int8_t *restrict b = x2;
    int8_t *restrict to = y;

    for (int64_t k = 0; k < n; k++)
        to[k] = b[k] > a[k] ? b[k] : a[k];
}

static void row_i32(void *y, const void *x1, const void *x2, int64_t n)
{
    const int32_t *restrict a = x1;
    const int32_t *restrict b = x2;
    int32_t *restrict to = y;

    for (int64_t k = 0; k < n; k++)
        to[k] = b[k] > a[k] ? b[k] : a[k];
}

static void row_i64(void *y, const void *x1, const void *x2, int64_t n)
{
    const int64_t *restrict a = x1;
    const int64_t *restrict b = x2;
    int64_t *restrict to = y;

    for (int64_t k = 0; k < n; k++)
        to[k] = b[k] > a[k] ? b[k] : a[k];
}

int assay_maximum(const struct assay_call *c)
{
    static const baseline_pair_fn rows[ASSAY_N_DTYPES] = {
        [ASSAY_F32] = row_f32, [ASSAY_F16] = row_f16, [ASSAY_BF16] = row_bf16,
        [ASSAY_I8] = row_i8,   [ASSAY_I32] = row_i32, [ASSAY_I64] = row_i64,
    };
    const struct assay_view *y = c->out[MAXIMUM_Y].view;

    baseline_broadcast(c, y, c->in[MAXIMUM_X1].view, c->in[MAXIMUM_X2].view, rows[y->dtype], 1);
    return 0;
}
