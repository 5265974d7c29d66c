/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.h: from pairs to a ratio with an interval. */
#ifndef ASSAY_TIMING_ESTIMATE_H
#define ASSAY_TIMING_ESTIMATE_H

#include "assay/time.h"

/* Estimates from n pairs. Disturbed ones are left out as long as at least half, and six, are not:
 * where a machine is so busy that every long block loses its core, they are what there is. ratio =
 * exp(median log(cand/base)), its interval from order statistics, base_ns = lower quartile. n = 0
 * gives NaNs and COARSE. ASSAY_NOMEM leaves *t alone. */
enum assay_status assay__estimate(struct assay_time *t, const struct assay_pair *pair,
                                  const double *null_ns, int n);

/*
 * Rank k (1-based, from either end) such that the k-th smallest and k-th largest of n values
 * enclose the median with at least 95 % probability whatever the distribution; 0 when n < 6. Exact
 * binomial to n = 1000, normal beyond.
 */
int assay__median_rank(int n);

#endif
