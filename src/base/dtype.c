/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.c: sizes, names and limits of the element types; roundings from double. */
#include "base/dtype.h"
#include "assay/tensor.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    size_t size;
    double min, max;
} dtypes[ASSAY_N_DTYPES] = {
    [ASSAY_F64] = { "float64", 8, -DBL_MAX, DBL_MAX },
    [ASSAY_F32] = { "float32", 4, -(double)FLT_MAX, (double)FLT_MAX },
    [ASSAY_F16] = { "float16", 2, -65504, 65504 },
    [ASSAY_BF16] = { "bfloat16", 2, -0x1.fep127, 0x1.fep127 },
    [ASSAY_I8] = { "int8", 1, INT8_MIN, INT8_MAX },
    [ASSAY_U8] = { "uint8", 1, 0, UINT8_MAX },
    [ASSAY_I16] = { "int16", 2, INT16_MIN, INT16_MAX },
    [ASSAY_I32] = { "int32", 4, INT32_MIN, INT32_MAX },
    [ASSAY_I64] = { "int64", 8, -0x1p63, 0x1p63 },
    [ASSAY_BOOL] = { "bool", 1, 0, 1 },
};

static bool known(enum assay_dtype d)
{
    return (unsigned)d < ASSAY_N_DTYPES;
}

size_t assay_dtype_size(enum assay_dtype d)
{
    return known(d) ? dtypes[d].size : 0;
}

const char *assay_dtype_name(enum assay_dtype d)
{
    return known(d) ? dtypes[d].name : "unknown";
}

bool assay_dtype_parse(const char *name, enum assay_dtype *d)
{
    for (int i = 0; i < ASSAY_N_DTYPES; i++)
        if (!strcmp(name, dtypes[i].name)) {
            *d = (enum assay_dtype)i;
            return true;
        }
    return false;
}

bool assay_dtype_is_float(enum assay_dtype d)
{
    return d == ASSAY_F64 || d == ASSAY_F32 || d == ASSAY_F16 || d == ASSAY_BF16;
}

double assay_dtype_max(enum assay_dtype d)
{
    return known(d) ? dtypes[d].max : 0;
}

double assay_dtype_min(enum assay_dtype d)
{
    return known(d) ? dtypes[d].min : 0;
}

uint16_t assay_f64_to_f16(double x)
{
    return assay__f64_to_f16(x);
}

uint16_t assay_f64_to_bf16(double x)
{
    return assay__f64_to_bf16(x);
}

double assay_round_to(enum assay_dtype d, double x)
{
    switch (d) {
    case ASSAY_F32:
        return (double)(float)x;
    case ASSAY_F16:
        return (double)assay_f16_to_f32(assay__f64_to_f16(x));
    case ASSAY_BF16:
        return (double)assay_bf16_to_f32(assay__f64_to_bf16(x));
    case ASSAY_I8:
    case ASSAY_U8:
    case ASSAY_I16:
    case ASSAY_I32:
    case ASSAY_BOOL:
        return assay__f64_to_int(x, dtypes[d].min, dtypes[d].max);
    case ASSAY_I64:
        return isnan(x) ? 0 : fmin(fmax(rint(x), -0x1p63), 0x1p63) + 0.0;
    case ASSAY_F64:
    case ASSAY_N_DTYPES:
        break;
    }
    return x;
}
