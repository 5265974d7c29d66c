/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h: values as unsigned numbers that are ordered as they are, for operators that sort and
 * select.
 *
 * A key has as many bits as an element. -0 is +0; every NaN is the same and the largest.
 */
#ifndef ASSAY_OPS_ORDER_H
#define ASSAY_OPS_ORDER_H

#include "assay/op.h"

/* Keys of elements i .. i+n-1. */
void assay__order_keys(const struct assay_tensor *x, int64_t i, int64_t n, uint64_t *key);

/* The values of dtype d that have these keys go to elements i .. of y, which is of that dtype, or
 * of fp64 for a floating d. */
void assay__order_values(const struct assay_tensor *y, int64_t i, int64_t n, const uint64_t *key,
                         enum assay_dtype d);

/* Sorts n keys, which agree in all but the lowest `bits` bits, upwards and in place. */
void assay__order_sort(uint64_t *key, int64_t n, int bits);

/* Turns -0 into +0, so that what merges them, or sorts them, has but one result. */
void assay__drop_negative_zeros(const struct assay_tensor *x, int n_threads);

#endif
