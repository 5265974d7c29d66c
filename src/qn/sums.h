/* SPDX-License-Identifier: Apache-2.0 */
/* sums.h: sums of floats in double, in a fixed order that vectors can follow. */
#ifndef QN_SUMS_H
#define QN_SUMS_H

#include <stdint.h>

double qn__sum(int64_t n, const float *x);
double qn__dot(int64_t n, const float *x, const float *y);
/* Sum of (x - mean)^2. */
double qn__sum_squares(int64_t n, const float *x, double mean);

#endif
