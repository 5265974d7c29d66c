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
    case ASSAY_I32:
        return ((const int32_t *)v->data)[i];
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

/* The same for integers, exact; a number that does not fit wraps. */
static inline int64_t elem_get_int(const struct assay_view *v, int64_t i)
{
    switch (v->dtype) {
    case ASSAY_I8:
        return ((const int8_t *)v->data)[i];
    case ASSAY_U8:
        return ((const uint8_t *)v->data)[i];
    case ASSAY_I16:
        return ((const int16_t *)v->data)[i];
    case ASSAY_I32:
        return ((const int32_t *)v->data)[i];
    default:
        return ((const int64_t *)v->data)[i];
    }
}

static inline void elem_put_int(const struct assay_view *v, int64_t i, int64_t y)
{
    switch (v->dtype) {
    case ASSAY_I8:
    case ASSAY_U8:
        ((uint8_t *)v->data)[i] = (uint8_t)y;
        break;
    case ASSAY_I16:
        ((uint16_t *)v->data)[i] = (uint16_t)y;
        break;
    case ASSAY_I32:
        ((uint32_t *)v->data)[i] = (uint32_t)y;
        break;
    default:
        ((int64_t *)v->data)[i] = y;
        break;
    }
}

/* ---- as they are ------------------------------------------------------------------------------
 */

static inline bool elem_is_int(const struct assay_view *v)
{
    return v->dtype == ASSAY_I8 || v->dtype == ASSAY_I16 || v->dtype == ASSAY_I32 ||
           v->dtype == ASSAY_I64 || v->dtype == ASSAY_U8;
}

static inline size_t elem_size(const struct assay_view *v)
{
    switch (v->dtype) {
    case ASSAY_F64:
    case ASSAY_I64:
        return 8;
    case ASSAY_F32:
    case ASSAY_I32:
        return 4;
    case ASSAY_F16:
    case ASSAY_BF16:
    case ASSAY_I16:
        return 2;
    default:
        return 1;
    }
}

/* y[to] = x[from], whatever the dtype. */
static inline void elem_copy(const struct assay_view *y, int64_t to, const struct assay_view *x,
                             int64_t from)
{
    size_t size = elem_size(x);

    memcpy((char *)y->data + (size_t)to * size, (const char *)x->data + (size_t)from * size, size);
}

#endif
