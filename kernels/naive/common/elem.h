/* SPDX-License-Identifier: Apache-2.0 */
/* elem.h: one element of a tensor at a time, as a double. */
#ifndef NAIVE_ELEM_H
#define NAIVE_ELEM_H

#include <assay/kernel.h>

static inline int64_t elem_count(const struct assay_view *v)
{
    int64_t n = 1;

    for (int i = 0; i < v->rank; i++)
        n *= v->shape[i];
    return n;
}

static inline double elem_get(const struct assay_view *v, int64_t i)
{
    switch (v->dtype) {
    case ASSAY_F32:
        return ((const float *)v->data)[i];
    case ASSAY_F16:
        return assay_f16_to_f32(((const uint16_t *)v->data)[i]);
    case ASSAY_BF16:
        return assay_bf16_to_f32(((const uint16_t *)v->data)[i]);
    case ASSAY_I8:
        return ((const int8_t *)v->data)[i];
    default:
        return ((const uint8_t *)v->data)[i];
    }
}

static inline void elem_put(const struct assay_view *v, int64_t i, double y)
{
    switch (v->dtype) {
    case ASSAY_F16:
        ((uint16_t *)v->data)[i] = assay_f32_to_f16((float)y);
        break;
    case ASSAY_BF16:
        ((uint16_t *)v->data)[i] = assay_f32_to_bf16((float)y);
        break;
    default:
        ((float *)v->data)[i] = (float)y;
        break;
    }
}

#endif
