/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moments.h: what norms, softmax and quantisers take of a run of consecutive values: the largest,
 * the mean of squares, mean and variance. The native run adds in float32.
 */
#ifndef ASSAY_OPS_MOMENTS_H
#define ASSAY_OPS_MOMENTS_H

#include "assay/op.h"

/* Continue with n more values, at most ASSAY__BLOCK: a sum, one of squares, the largest value, the
 * largest magnitude. NaN wins. Start with 0, 0, -INFINITY, 0. */
double assay__fold_sum(const struct assay_args *a, double acc, const double *v, int64_t n);
double assay__fold_squares(const struct assay_args *a, double acc, const double *v, int64_t n);
double assay__fold_max(double acc, const double *v, int64_t n);
double assay__fold_amax(double acc, const double *v, int64_t n);

/* The same of elements at .. at+n-1 of t. */
double assay__mean_square(const struct assay_args *a, const struct assay_tensor *t, int64_t at,
                          int64_t n);
double assay__amax(const struct assay_tensor *t, int64_t at, int64_t n);

/* Mean, and mean of squared distances from it. */
struct assay__moments {
    double mean, var;
};
struct assay__moments assay__moments(const struct assay_args *a, const struct assay_tensor *t,
                                     int64_t at, int64_t n);

/* exp(x - top), a term of softmax. */
double assay__power(const struct assay_args *a, double x, double top);

/* 1 / sqrt(v + eps) */
double assay__rstd(const struct assay_args *a, double v, double eps);

/* check of an attribute that is added to a variance: a finite number, not negative. */
enum assay_status assay__check_epsilon(double eps, struct assay_err *err);

#endif
