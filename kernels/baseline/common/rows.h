/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h: loops over tensors whose rows are worked on as a whole, in float.
 */
#ifndef BASELINE_ROWS_H
#define BASELINE_ROWS_H

#include "blocks.h"

/* Floats that a thread may keep on its stack. */
enum { BASELINE_ROW = 8192 };

/* y of `rows` rows of n elements from x; `row` is the number of the first. Both lie in memory one
 * row behind the other, and are the same memory where elements had to be converted. */
typedef void (*baseline_rows_fn)(const void *ctx, float *y, const float *x, int64_t row,
                                 int64_t rows, int64_t n);

/* Calls fn for all rows of n elements of in and out, some short ones at a time. */
void baseline_rows(const struct assay_call *c, const struct assay_view *out,
                   const struct assay_view *in, int64_t n, baseline_rows_fn fn, const void *ctx);

/* Runs body over 0 .. n - 1 as baseline_parallel does; each index may use `floats` floats of the
 * scratch memory from begin * floats on, begin being the first of its range. */
void baseline_parallel_scratch(const struct assay_call *c, int64_t n, int64_t each, int64_t floats,
                               assay_body_fn body, void *ctx);

#endif
