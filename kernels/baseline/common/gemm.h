/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.h: products of matrices in float32: packed, blocked, in vectors as wide as the processor's.
 *
 * What the matrices are made of is the operator's: it hands out lines of them as floats, and takes
 * finished rows of the result.
 */
#ifndef BASELINE_GEMM_H
#define BASELINE_GEMM_H

#include <assay/kernel.h>

/* Elements at .. at + n - 1 of line i, as floats into to. */
typedef void (*gemm_line_fn)(const void *ctx, int64_t i, int64_t at, int64_t n, float *to);

/* A matrix [m, k] on the left, or [k, n] on the right. Lines run along k: there are m, or n, of
 * them; or across it: there are k. */
struct gemm_operand {
    gemm_line_fn line;
    const void *ctx;
    int along_k;
};

/* Row i of the result, columns at .. at + n - 1; v may be changed. */
typedef void (*gemm_row_fn)(const void *ctx, int64_t i, int64_t at, int64_t n, float *v);

struct gemm {
    int64_t m, n, k;
    struct gemm_operand a, b;
    gemm_row_fn row;
    const void *ctx;
};

/* Computes all of the result, in the call's scratch memory and on its threads. */
void gemm_run(const struct assay_call *c, const struct gemm *g);

/*
 * The pieces of it, for kernels that make blocks of their own: panels of A have GEMM_MR rows, those
 * of B GEMM_NR columns.
 */
#if defined(__AVX512F__)
enum { GEMM_LANES = 16, GEMM_MR = 12 };
#elif defined(__AVX2__)
enum { GEMM_LANES = 8, GEMM_MR = 6 };
#else
enum { GEMM_LANES = 4, GEMM_MR = 6 };
#endif
enum { GEMM_NR = 2 * GEMM_LANES };

/* Rows (right: columns) i .. i+n-1 of an operand, steps k0 .. k0+k-1, into panels, each of k times
 * its width; what is missing of the last one is 0. */
void gemm_pack(const struct gemm_operand *o, int right, int64_t i, int64_t n, int64_t k0, int64_t k,
               float *to);

/* c, GEMM_MR x GEMM_NR, = or += a panel of A times one of B. b and c are aligned to 64 bytes, ldc
 * to 16 elements. */
void gemm_panel(int64_t k, const float *a, const float *b, float *c, int64_t ldc, int add);

/* A matrix in a view: line i begins at element first + i * stride. */
struct gemm_matrix {
    const struct assay_view *v;
    int64_t first, stride;
};
void gemm_matrix_line(const void *ctx, int64_t i, int64_t at, int64_t n, float *to);

/* Elements at .. at + n - 1 of a view as floats, and floats into a view. */
void gemm_load(const struct assay_view *v, int64_t at, int64_t n, float *to);
void gemm_store(const struct assay_view *v, int64_t at, int64_t n, const float *from);

#endif
