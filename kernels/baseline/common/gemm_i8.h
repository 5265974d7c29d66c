/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_i8.h: exact products of int8 matrices: dot products of four, where the processor has them.
 */
#ifndef BASELINE_GEMM_I8_H
#define BASELINE_GEMM_I8_H

#include <assay/kernel.h>

/* Row i of the result, columns at .. at + n - 1. */
typedef void (*gemm_i8_row_fn)(const void *ctx, int64_t i, int64_t at, int64_t n, const int32_t *v);

/* a [m, k] times b [k, n], both row by row with lda, ldb elements from one row to the next. Sums
 * must fit into 32 bits: k <= 131071. */
struct gemm_i8 {
    int64_t m, n, k;
    const int8_t *a, *b;
    int64_t lda, ldb;
    gemm_i8_row_fn row;
    const void *ctx;
};

void gemm_i8_run(const struct assay_call *c, const struct gemm_i8 *g);

#endif
