/* SPDX-License-Identifier: Apache-2.0 */
/* order.h: values as unsigned numbers of 64 bits that are ordered as they are; NaN the largest. */
#ifndef BASELINE_ORDER_H
#define BASELINE_ORDER_H

#include <assay/kernel.h>

/* Keys of elements at .. at + n - 1. */
void baseline_keys(uint64_t *key, const struct assay_view *x, int64_t at, int64_t n);

/* The values with such keys, which were taken from elements of the dtype of y. */
void baseline_values(const struct assay_view *y, int64_t at, int64_t n, const uint64_t *key);

/* Sorts n keys, and with them the numbers in `with` (NULL: none), upwards by their lowest `bits`
 * bits; the others are equal. The second arrays are scratch of the same sizes. */
void baseline_sort(uint64_t *key, uint32_t *with, uint64_t *key2, uint32_t *with2, int64_t n,
                   int bits);

#endif
