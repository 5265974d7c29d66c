/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h: elements of up to 32 bits as integers of the same order, so that one loop serves all
 * dtypes. A NaN takes the key that the caller gives, which its order puts first. Zeros differ by
 * their sign: -0 comes just below 0.
 */
#ifndef BASELINE_KEYS_H
#define BASELINE_KEYS_H

#include <assay/kernel.h>

enum { KEYS_BLOCK = 2048 };

/* Bit pattern u of a float, as a signed integer; `inf` is the pattern of +Inf. */
static inline int32_t keys_order(int32_t u, int32_t inf, int32_t nan_key)
{
    int32_t size = u & 0x7fffffff;
    int32_t key = u < 0 ? ~size : size;

    return size > inf ? nan_key : key;
}

/* Elements at .. at + n - 1 of a float16, bfloat16, float32 or int32 tensor: its own memory when it
 * is int32, else in buf (KEYS_BLOCK keys). */
static inline const int32_t *keys_load(const struct assay_view *v, int64_t at, int64_t n,
                                       int32_t nan_key, int32_t *buf)
{
    const int16_t *half = (const int16_t *)v->data + at;
    const int32_t *word = (const int32_t *)v->data + at;

    if (v->dtype == ASSAY_I32)
        return word;
    if (v->dtype == ASSAY_F32)
        for (int64_t i = 0; i < n; i++)
            buf[i] = keys_order(word[i], 0x7f800000, nan_key);
    else
        for (int64_t i = 0, inf = v->dtype == ASSAY_F16 ? 0x7c00 : 0x7f80; i < n; i++) {
            int32_t size = half[i] & 0x7fff;
            int32_t key = half[i] < 0 ? ~size : size;

            buf[i] = size > (int32_t)inf ? nan_key : key;
        }
    return buf;
}

#endif
