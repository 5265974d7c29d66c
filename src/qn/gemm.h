/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.h: fp32 products: OpenBLAS where it is installed, else a plain loop. */
#ifndef QN_GEMM_H
#define QN_GEMM_H

#include "qn/pool.h"

#include <stdbool.h>
#include <stdint.h>

/* A product C = A B, or C += A B; [m, k] times [k, n], row-major. turn_a: A lies in memory as its
 * transpose, [k, m]. All extents below 2^31. On the caller's thread. */
struct qn_gemm {
    int64_t m, n, k;
    const float *a;
    int64_t lda;
    bool turn_a;
    const float *b;
    int64_t ldb;
    bool turn_b;
    float *c;
    int64_t ldc;
    bool add;
};

void qn__gemm(const struct qn_gemm *g);
/* The same on all threads, in tiles of tile_m rows and tile_n columns. */
void qn__gemm_tiles(const struct qn_gemm *g, int64_t tile_m, int64_t tile_n, struct qn_pool *pool);
/* The same without BLAS. */
void qn__gemm_plain(const struct qn_gemm *g);

#endif
