/* SPDX-License-Identifier: Apache-2.0 */
/* sums.h: sums of floats, in short stretches of fp32 and beyond them in double, in a fixed order
 * that vectors can follow. */
#ifndef QN_SUMS_H
#define QN_SUMS_H

#include <stdint.h>

double qn__sum(int64_t n, const float *x);
/* Sum of (x - about) y. */
double qn__dot(int64_t n, const float *x, float about, const float *y);
/* The same; *sum_y: sum of y. */
double qn__dot_sum(int64_t n, const float *x, float about, const float *y, double *sum_y);
/* Sum of (x - mean)^2, about a mean of more values than those. */
double qn__squares(int64_t n, const float *x, double mean);
/* to += from, value by value. */
void qn__add(int64_t n, const float *restrict from, float *restrict to);

#endif
