/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_blocks.h: what products of all types share: how they are cut into blocks, where those lie in
 * the scratch memory, and who computes which.
 *
 * A block of B, kc x nc, is packed into panels of nr columns and stays in the second-level cache;
 * panels of mr rows of A stay in the first and pass over it. Sums, of 4 bytes each, are kept in a
 * block of C until all of k is in.
 */
#ifndef BASELINE_GEMM_BLOCKS_H
#define BASELINE_GEMM_BLOCKS_H

#include <assay/kernel.h>

struct gemm_blocks {
    int64_t m, n, k;
    int64_t mr, nr, kc; /* kc: a multiple of unit */
    int64_t unit, size; /* k is padded to a multiple of unit; bytes of a packed element */
    /* Rows (right: columns) i .. i+n-1, steps k0 .. k0+k-1, into panels; what is missing of the
     * last panel is 0. */
    void (*pack)(const void *ctx, int right, int64_t i, int64_t n, int64_t k0, int64_t k, void *to);
    /* c, mr x nr, = or += a panel of A times one of B; k is padded. */
    void (*multiply)(int64_t k, const void *a, const void *b, void *c, int64_t ldc, int add);
    /* Row i of the result is finished from column `at` on. */
    void (*row)(const void *ctx, int64_t i, int64_t at, int64_t n, void *v);
    const void *ctx;
};

void gemm_blocks_run(const struct assay_call *c, const struct gemm_blocks *g);

static inline int64_t gemm_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t gemm_round_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

#endif
