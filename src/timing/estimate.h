/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.h: from pairs to a ratio with an interval. */
#ifndef ASSAY_TIMING_ESTIMATE_H
#define ASSAY_TIMING_ESTIMATE_H

#include "assay/time.h"

/*
 * Estimates from n pairs in rounds. Disturbed pairs are left out where they are no more than a
 * quarter and six others remain.
 *
 * Rounds agree when the intervals of all of them overlap; a round is a measurement by itself, with
 * processes of its own. Then the pairs are one sample: the ratio is the median of their log-ratios.
 * When they do not, what differs is the processes, and the sample is the medians of the rounds. Its
 * interval needs six of them; until then the ratio is UNRESOLVED and its interval the union of the
 * rounds'. Fewer than six pairs in all: COARSE, and the interval spans them.
 *
 * base_ns is the lower quartile of the baseline's blocks in the same pairs. n = 0 gives NaNs.
 * ASSAY_NOMEM leaves *t alone.
 */
enum assay_status assay__estimate(struct assay_time *t, const struct assay_pair *pair,
                                  const double *null_ns, int n);

/*
 * Rank k (1-based, from the low end) such that quantile q of the distribution of n values, whatever
 * it is, lies below the k-th smallest with at most probability `tail`; 0 when n is too small for
 * that. Exact binomial to n = 400, normal beyond. For the high end: n + 1 minus the rank of
 * quantile 1 - q.
 */
int assay__quantile_rank(int n, double q, double tail);

#endif
