/* SPDX-License-Identifier: Apache-2.0 */
/* quantise.c: rows as int8 numbers with one scale each. */
#include "ops/quantise.h"

void assay__infer_quantised(const struct assay_tensor *x, struct assay_tensor *y,
                            struct assay_tensor *scale)
{
    *y = *scale = *x;
    y->data = scale->data = NULL;
    y->dtype = ASSAY_I8;
    scale->dtype = ASSAY_F32;
    scale->rank--;
    scale->shape[scale->rank] = 0;
}

double assay__quant_scale(const struct assay_args *a, double amax, double floor)
{
    double least = assay_round(a, ASSAY_F32, floor);

    return assay_round(a, ASSAY_F32, (amax < least ? least : amax) / 127);
}

/* Storing rounds to nearest even, saturates, and makes 0 of NaN. */
void assay__quantise(const struct assay_args *a, const struct assay_tensor *y, int64_t at,
                     int64_t n, double scale, double *v)
{
    for (int64_t i = 0; i < n; i++)
        v[i] = assay_round(a, ASSAY_F32, v[i] / scale);
    assay_store_n(y, at, n, v);
}
