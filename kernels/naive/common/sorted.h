/* SPDX-License-Identifier: Apache-2.0 */
/* sorted.h: elements as integers that are ordered as they are, and sorting them by merging. */
#ifndef NAIVE_SORTED_H
#define NAIVE_SORTED_H

#include <assay/kernel.h>

struct item {
    int64_t value;
    int64_t at;
};

static inline int64_t sorted_float(uint32_t u, uint32_t sign, uint32_t infinity)
{
    uint32_t mag = u & (sign - 1);

    if (mag > infinity) /* NaN is the largest */
        return INT64_MAX;
    return u & sign ? -(int64_t)mag : mag;
}

static inline int64_t sorted_value(const struct assay_view *x, int64_t i)
{
    switch (x->dtype) {
    case ASSAY_F16:
        return sorted_float(((const uint16_t *)x->data)[i], 0x8000u, 0x7c00u);
    case ASSAY_BF16:
        return sorted_float(((const uint16_t *)x->data)[i], 0x8000u, 0x7f80u);
    case ASSAY_F32:
        return sorted_float(((const uint32_t *)x->data)[i], 0x80000000u, 0x7f800000u);
    case ASSAY_I8:
        return ((const int8_t *)x->data)[i];
    case ASSAY_U8:
        return ((const uint8_t *)x->data)[i];
    case ASSAY_I32:
        return ((const int32_t *)x->data)[i];
    default:
        return ((const int64_t *)x->data)[i];
    }
}

/* Sorts n items upwards; equal ones stay in order. spare has room for as many. */
static inline void sort_items(struct item *v, struct item *spare, int64_t n)
{
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t at = 0; at < n; at += 2 * run) {
            int64_t a = at, a_end = at + run < n ? at + run : n;
            int64_t b = a_end, b_end = at + 2 * run < n ? at + 2 * run : n;

            for (int64_t to = at; to < b_end; to++)
                if (b == b_end || (a < a_end && v[a].value <= v[b].value))
                    spare[to] = v[a++];
                else
                    spare[to] = v[b++];
        }
        memcpy(v, spare, (size_t)n * sizeof *v);
    }
}

#endif
