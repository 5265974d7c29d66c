/* SPDX-License-Identifier: Apache-2.0 */
/* kmeans.h: clusters of numbers. */
#ifndef QN_KMEANS_H
#define QN_KMEANS_H

#include "assay/memory.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Splits n sorted, finite values into k clusters by Lloyd's iteration from k-means++ starts (Arthur
 * and Vassilvitskii, 2007), the best of several; the same seed gives the same centres.
 *
 * x: increasing; centre: [k], written, increasing; k <= n
 * Returns false, with nothing written, when there are fewer than k different values.
 * sums: scratch of 2 * (n + 1) doubles
 */
bool qn__kmeans(const float *x, int64_t n, int k, uint64_t seed, double *sums, double *centre);

#endif
