/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.h: from pairs to a ratio with an interval. */
#ifndef ASSAY_TIMING_ESTIMATE_H
#define ASSAY_TIMING_ESTIMATE_H

#include "assay/time.h"

/*
 * Estimates from n pairs in rounds: the ratio is the median over rounds of the median of their
 * pairs, its interval that of the sign test over rounds. Pairs of one round share what a process
 * is given at its start (where its pages lie, for one), so that they are not independent; rounds
 * are. Fewer than six rounds: COARSE, and the interval spans them. base_ns is the lower quartile of
 * all pairs. Disturbed pairs are left out where a round has others. n = 0 gives NaNs. ASSAY_NOMEM
 * leaves *t alone.
 */
enum assay_status assay__estimate(struct assay_time *t, const struct assay_pair *pair,
                                  const double *null_ns, int n);

/*
 * Rank k (1-based, from either end) such that the k-th smallest and k-th largest of n values
 * enclose the median with at least 95 % probability whatever the distribution; 0 when n < 6. Exact
 * binomial to n = 1000, normal beyond.
 */
int assay__median_rank(int n);

#endif
