/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.h: what the kernels of this example share. Files in common/ are at hand for every
 * operator. */
#ifndef FLAWED_TENSOR_H
#define FLAWED_TENSOR_H

#include <assay/kernel.h>

/* How many elements a tensor has. A scalar (rank 0) has one. */
static inline int64_t size_of(const struct assay_view *t)
{
    int64_t n = 1;

    for (int d = 0; d < t->rank; d++)
        n *= t->shape[d];
    return n;
}

/* Element i, whatever the type of the tensor is. */
static inline float load(const struct assay_view *t, int64_t i)
{
    if (t->dtype == ASSAY_F32)
        return ((const float *)t->data)[i];
    if (t->dtype == ASSAY_F16)
        return assay_f16_to_f32(((const uint16_t *)t->data)[i]);
    if (t->dtype == ASSAY_BF16)
        return assay_bf16_to_f32(((const uint16_t *)t->data)[i]);
    if (t->dtype == ASSAY_I8)
        return ((const int8_t *)t->data)[i];
    return ((const uint8_t *)t->data)[i];
}

/* Rounds v to the type of the tensor and writes it as element i. */
static inline void store(struct assay_view *t, int64_t i, float v)
{
    if (t->dtype == ASSAY_F32)
        ((float *)t->data)[i] = v;
    else if (t->dtype == ASSAY_F16)
        ((uint16_t *)t->data)[i] = assay_f32_to_f16(v);
    else
        ((uint16_t *)t->data)[i] = assay_f32_to_bf16(v);
}

#endif
