/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_ints.c: runs of elements of integer tensors, exact where doubles are not. */
#include "assay/tensor.h"

#include <string.h>

void assay_load_int_n(const struct assay_tensor *t, int64_t i, int64_t n, int64_t *dst)
{
    const void *from = (const char *)t->data + (size_t)i * assay_dtype_size(t->dtype);
    const int8_t *i8 = from;
    const uint8_t *u8 = from;
    const int16_t *i16 = from;
    const int32_t *i32 = from;

    switch (t->dtype) {
    case ASSAY_I8:
        for (int64_t k = 0; k < n; k++)
            dst[k] = (int)i8[k];
        break;
    case ASSAY_U8:
    case ASSAY_BOOL:
        for (int64_t k = 0; k < n; k++)
            dst[k] = u8[k];
        break;
    case ASSAY_I16:
        for (int64_t k = 0; k < n; k++)
            dst[k] = i16[k];
        break;
    case ASSAY_I32:
        for (int64_t k = 0; k < n; k++)
            dst[k] = i32[k];
        break;
    case ASSAY_I64:
        memcpy(dst, from, (size_t)n * sizeof *dst);
        break;
    default:
        for (int64_t k = 0; k < n; k++)
            dst[k] = assay_load_int(t, i + k);
        break;
    }
}

void assay_store_int_n(const struct assay_tensor *t, int64_t i, int64_t n, const int64_t *src)
{
    void *to = (char *)t->data + (size_t)i * assay_dtype_size(t->dtype);
    uint8_t *i8 = to;
    uint16_t *i16 = to;
    uint32_t *i32 = to;

    switch (t->dtype) {
    case ASSAY_I8:
        for (int64_t k = 0; k < n; k++)
            i8[k] = (uint8_t)src[k];
        break;
    case ASSAY_I16:
        for (int64_t k = 0; k < n; k++)
            i16[k] = (uint16_t)src[k];
        break;
    case ASSAY_I32:
        for (int64_t k = 0; k < n; k++)
            i32[k] = (uint32_t)src[k];
        break;
    case ASSAY_I64:
        memcpy(to, src, (size_t)n * sizeof *src);
        break;
    default:
        for (int64_t k = 0; k < n; k++)
            assay_store_int(t, i + k, src[k]);
        break;
    }
}
