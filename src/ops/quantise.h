/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantise.h: rows as int8 numbers with one scale each, symmetric about 0.
 */
#ifndef ASSAY_OPS_QUANTISE_H
#define ASSAY_OPS_QUANTISE_H

#include "assay/op.h"

/* Outputs for x: int8 of its shape, and float32 of one value a row of its last axis. */
void assay__infer_quantised(const struct assay_tensor *x, struct assay_tensor *y,
                            struct assay_tensor *scale);

/* max(amax, floor) / 127; NaN stays NaN. */
double assay__quant_scale(const struct assay_args *a, double amax, double floor);

/* Elements at .. at+n-1 of y, int8: v / scale to the nearest even integer, at most 127 and at least
 * -128; 0 where the quotient is NaN. Overwrites v. */
void assay__quantise(const struct assay_args *a, const struct assay_tensor *y, int64_t at,
                     int64_t n, double scale, double *v);

#endif
