/* SPDX-License-Identifier: Apache-2.0 */
/* sums.h: sums of floats, in short stretches of fp32 and beyond them in double, in a fixed order
 * that vectors can follow. */
#ifndef QN_SUMS_H
#define QN_SUMS_H

#include <stdint.h>

double qn__sum(int64_t n, const float *x);
/* Sum of (x - about) y. */
double qn__dot(int64_t n, const float *x, float about, const float *y);
/* Sum of (x - mean)^2, where mean is that of x or of more values of which x are some. */
double qn__sum_squares(int64_t n, const float *x, double mean);
/* to += from, value by value. */
void qn__add(int64_t n, const float *restrict from, float *restrict to);

#endif
