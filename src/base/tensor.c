/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.c: shapes, and elements as doubles or integers. */
#include "assay/tensor.h"
#include "base/clones.h"
#include "base/dtype.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* ---- shapes ---------------------------------------------------------------------------------- */

int64_t assay_numel(const struct assay_tensor *t)
{
    int64_t n = 1;

    for (int i = 0; i < t->rank; i++)
        n *= t->shape[i];
    return n;
}

enum assay_status assay_tensor_size(const struct assay_tensor *t, int64_t *numel, size_t *bytes,
                                    struct assay_err *err)
{
    size_t size = assay_dtype_size(t->dtype), total = size;
    bool empty = false;

    if (size == 0)
        return assay_fail(err, ASSAY_INVALID, "unknown dtype %d", (int)t->dtype);
    if (t->rank < 0 || t->rank > ASSAY_MAX_RANK)
        return assay_fail(err, ASSAY_INVALID, "rank %d is not in 0..%d", t->rank, ASSAY_MAX_RANK);
    for (int i = 0; i < t->rank; i++) {
        if (t->shape[i] < 0)
            return assay_fail(err, ASSAY_INVALID, "extent %d is negative: %lld", i,
                              (long long)t->shape[i]);
        /* An empty extent does not excuse the others: products of some of them are used as well. */
        if (t->shape[i] == 0)
            empty = true;
        else if (!assay_mul_size(total, (size_t)t->shape[i], &total) || total > PTRDIFF_MAX)
            return assay_fail(err, ASSAY_INVALID, "size overflows at extent %d: %lld", i,
                              (long long)t->shape[i]);
    }
    *bytes = empty ? 0 : total;
    *numel = (int64_t)(*bytes / size);
    return ASSAY_OK;
}

bool assay_same_shape(const struct assay_tensor *a, const struct assay_tensor *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    return true;
}

const char *assay_tensor_text(const struct assay_tensor *t, char *buf, size_t size)
{
    int at = snprintf(buf, size, "%s [", assay_dtype_name(t->dtype));

    for (int i = 0; i < t->rank && at >= 0 && (size_t)at < size; i++)
        at += snprintf(buf + at, size - (size_t)at, "%s%lld", i ? "," : "", (long long)t->shape[i]);
    if (at >= 0 && (size_t)at < size)
        snprintf(buf + at, size - (size_t)at, "]");
    return buf;
}

int assay_axis(const struct assay_tensor *t, int64_t axis)
{
    if (axis < -(int64_t)t->rank || axis >= t->rank)
        return -1;
    return (int)(axis < 0 ? axis + t->rank : axis);
}

void assay_split(const struct assay_tensor *t, int axis, int64_t *outer, int64_t *n, int64_t *inner)
{
    *outer = 1;
    *inner = 1;
    *n = t->shape[axis];
    for (int i = 0; i < axis; i++)
        *outer *= t->shape[i];
    for (int i = axis + 1; i < t->rank; i++)
        *inner *= t->shape[i];
}

/* ---- single elements ------------------------------------------------------------------------- */

double assay_load(const struct assay_tensor *t, int64_t i)
{
    switch (t->dtype) {
    case ASSAY_F64:
        return ((const double *)t->data)[i];
    case ASSAY_F32:
        return (double)((const float *)t->data)[i];
    case ASSAY_F16:
        return (double)assay_f16_to_f32(((const uint16_t *)t->data)[i]);
    case ASSAY_BF16:
        return (double)assay_bf16_to_f32(((const uint16_t *)t->data)[i]);
    default:
        return (double)assay_load_int(t, i);
    }
}

/* From double to int64, saturated; the others fit in 32 bits. */
static int64_t to_i64(double v)
{
    v = assay_round_to(ASSAY_I64, v);
    return v >= 0x1p63 ? INT64_MAX : (int64_t)v;
}

void assay_store(const struct assay_tensor *t, int64_t i, double v)
{
    switch (t->dtype) {
    case ASSAY_F64:
        ((double *)t->data)[i] = v;
        break;
    case ASSAY_F32:
        ((float *)t->data)[i] = (float)v;
        break;
    case ASSAY_F16:
        ((uint16_t *)t->data)[i] = assay__f64_to_f16(v);
        break;
    case ASSAY_BF16:
        ((uint16_t *)t->data)[i] = assay__f64_to_bf16(v);
        break;
    case ASSAY_I64:
        ((int64_t *)t->data)[i] = to_i64(v);
        break;
    default:
        assay_store_int(t, i, (int64_t)assay_round_to(t->dtype, v));
    }
}

int64_t assay_load_int(const struct assay_tensor *t, int64_t i)
{
    switch (t->dtype) {
    case ASSAY_I8:
        return ((const int8_t *)t->data)[i];
    case ASSAY_U8:
    case ASSAY_BOOL:
        return ((const uint8_t *)t->data)[i];
    case ASSAY_I16:
        return ((const int16_t *)t->data)[i];
    case ASSAY_I32:
        return ((const int32_t *)t->data)[i];
    case ASSAY_I64:
        return ((const int64_t *)t->data)[i];
    default:
        assert(!assay_dtype_is_float(t->dtype));
        return 0;
    }
}

void assay_store_int(const struct assay_tensor *t, int64_t i, int64_t v)
{
    switch (t->dtype) {
    case ASSAY_I8:
        ((int8_t *)t->data)[i] = (int8_t)v;
        break;
    case ASSAY_U8:
        ((uint8_t *)t->data)[i] = (uint8_t)v;
        break;
    case ASSAY_BOOL:
        ((uint8_t *)t->data)[i] = v != 0;
        break;
    case ASSAY_I16:
        ((int16_t *)t->data)[i] = (int16_t)v;
        break;
    case ASSAY_I32:
        ((int32_t *)t->data)[i] = (int32_t)v;
        break;
    case ASSAY_I64:
        ((int64_t *)t->data)[i] = v;
        break;
    default:
        assert(!assay_dtype_is_float(t->dtype));
    }
}

/* ---- many elements: one plain loop per dtype ------------------------------------------------- */

ASSAY__CLONES static void tensor_load_f32(const float *restrict s, int64_t n, double *restrict d)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = (double)s[i];
}

ASSAY__CLONES static void tensor_load_f16(const uint16_t *restrict s, int64_t n, double *restrict d)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = (double)assay_f16_to_f32(s[i]);
}

ASSAY__CLONES static void tensor_load_bf16(const uint16_t *restrict s, int64_t n,
                                           double *restrict d)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = (double)assay_bf16_to_f32(s[i]);
}

ASSAY__CLONES static void tensor_load_i8(const int8_t *restrict s, int64_t n, double *restrict d)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = s[i];
}

ASSAY__CLONES static void tensor_load_u8(const uint8_t *restrict s, int64_t n, double *restrict d)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = s[i];
}

ASSAY__CLONES static void tensor_load_i16(const int16_t *restrict s, int64_t n, double *restrict d)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = s[i];
}

ASSAY__CLONES static void tensor_load_i32(const int32_t *restrict s, int64_t n, double *restrict d)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = s[i];
}

ASSAY__CLONES static void tensor_load_i64(const int64_t *restrict s, int64_t n, double *restrict d)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = (double)s[i];
}

void assay_load_n(const struct assay_tensor *t, int64_t i, int64_t n, double *dst)
{
    const char *s = (const char *)t->data + i * (int64_t)assay_dtype_size(t->dtype);
    const void *from = s;

    switch (n > 0 ? t->dtype : ASSAY_N_DTYPES) {
    case ASSAY_F64:
        memcpy(dst, from, (size_t)n * sizeof *dst);
        break;
    case ASSAY_F32:
        tensor_load_f32(from, n, dst);
        break;
    case ASSAY_F16:
        tensor_load_f16(from, n, dst);
        break;
    case ASSAY_BF16:
        tensor_load_bf16(from, n, dst);
        break;
    case ASSAY_I8:
        tensor_load_i8(from, n, dst);
        break;
    case ASSAY_U8:
    case ASSAY_BOOL:
        tensor_load_u8(from, n, dst);
        break;
    case ASSAY_I16:
        tensor_load_i16(from, n, dst);
        break;
    case ASSAY_I32:
        tensor_load_i32(from, n, dst);
        break;
    case ASSAY_I64:
        tensor_load_i64(from, n, dst);
        break;
    case ASSAY_N_DTYPES:
        break;
    }
}

ASSAY__CLONES static void tensor_store_f32(float *restrict d, int64_t n, const double *restrict s)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = (float)s[i];
}

ASSAY__CLONES static void tensor_store_f16(uint16_t *restrict d, int64_t n,
                                           const double *restrict s)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = assay__f64_to_f16(s[i]);
}

ASSAY__CLONES static void tensor_store_bf16(uint16_t *restrict d, int64_t n,
                                            const double *restrict s)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = assay__f64_to_bf16(s[i]);
}

ASSAY__CLONES static void tensor_store_i8(int8_t *restrict d, int64_t n, const double *restrict s)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = (int8_t)(int32_t)assay__f64_to_int(s[i], INT8_MIN, INT8_MAX);
}

/* uint8 and bool, which differ in the largest value. */
ASSAY__CLONES static void tensor_store_u8(uint8_t *restrict d, int64_t n, const double *restrict s,
                                          double max)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = (uint8_t)(int32_t)assay__f64_to_int(s[i], 0, max);
}

ASSAY__CLONES static void tensor_store_i16(int16_t *restrict d, int64_t n, const double *restrict s)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = (int16_t)(int32_t)assay__f64_to_int(s[i], INT16_MIN, INT16_MAX);
}

ASSAY__CLONES static void tensor_store_i32(int32_t *restrict d, int64_t n, const double *restrict s)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = (int32_t)assay__f64_to_int(s[i], INT32_MIN, INT32_MAX);
}

void assay_store_n(const struct assay_tensor *t, int64_t i, int64_t n, const double *src)
{
    char *d = (char *)t->data + i * (int64_t)assay_dtype_size(t->dtype);
    void *to = d;

    switch (n > 0 ? t->dtype : ASSAY_N_DTYPES) {
    case ASSAY_F64:
        memcpy(to, src, (size_t)n * sizeof *src);
        break;
    case ASSAY_F32:
        tensor_store_f32(to, n, src);
        break;
    case ASSAY_F16:
        tensor_store_f16(to, n, src);
        break;
    case ASSAY_BF16:
        tensor_store_bf16(to, n, src);
        break;
    case ASSAY_I8:
        tensor_store_i8(to, n, src);
        break;
    case ASSAY_U8:
        tensor_store_u8(to, n, src, UINT8_MAX);
        break;
    case ASSAY_BOOL:
        tensor_store_u8(to, n, src, 1);
        break;
    case ASSAY_I16:
        tensor_store_i16(to, n, src);
        break;
    case ASSAY_I32:
        tensor_store_i32(to, n, src);
        break;
    case ASSAY_I64:
        for (int64_t k = 0; k < n; k++)
            ((int64_t *)to)[k] = to_i64(src[k]);
        break;
    case ASSAY_N_DTYPES:
        break;
    }
}
