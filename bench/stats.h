/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h: what the tools on result files share: reading several of them, and samples of numbers.
 * Sorted means ascending; n may be 0 unless said otherwise and then gives NaN. */
#ifndef ASSAY_BENCH_STATS_H
#define ASSAY_BENCH_STATS_H

#include "assay/result.h"

/* Reads n result files. NULL and the reason in err when one cannot be read; else n results, given
 * back with assay__stats_release() (NULL: nothing). */
struct assay_result *assay__stats_read(char *const *path, int n, struct assay_err *err);
void assay__stats_release(struct assay_result *r, int n);

/* Prints a cell of a table, right-aligned; "-" for NaN. */
void assay__stats_put(int width, int decimals, double v);

void assay__stats_sort(double *v, int n);
/* Quantile q in [0, 1], linear between neighbours. */
double assay__stats_quantile(const double *sorted, int n, double q);
double assay__stats_mean(const double *v, int n);
/* Standard deviation of a sample, by n - 1. NaN for n < 2. */
double assay__stats_sd(const double *v, int n);

/* An estimate and its 95 % interval; lo and hi are NaN where there is none. */
struct assay__stats_span {
    double mid, lo, hi;
};

/* Median, with the interval of the sign test: n >= 6. */
struct assay__stats_span assay__stats_median(const double *sorted, int n);
/* Hodges-Lehmann: median of the Walsh averages (v[i] + v[j]) / 2, i <= j, with the interval of the
 * signed-rank test: n >= 6. */
struct assay__stats_span assay__stats_hodges_lehmann(const double *sorted, int n);
/* Mean, with Student's interval: n >= 2. */
struct assay__stats_span assay__stats_student(const double *v, int n);

#endif
