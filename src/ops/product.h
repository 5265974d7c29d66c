/* SPDX-License-Identifier: Apache-2.0 */
/*
 * product.h: matrix products of goldens.
 *
 * C = A B is computed in tiles: those of A and B are widened into small buffers by functions of the
 * operator, multiplied and summed up along k, and handed to a function that finishes and stores
 * them. Which tiles there are depends on the extents alone, so that the bits of a result do not
 * depend on the number of threads. A tile is multiplied by the BLAS or, without one, by a plain
 * loop.
 *
 * Sums are in fp64; in the native run in fp32, as a library of that precision makes them. Products
 * of int8 are exact in both.
 */
#ifndef ASSAY_OPS_PRODUCT_H
#define ASSAY_OPS_PRODUCT_H

#include "assay/op.h"

/* Rows row .. row+rows-1 and columns col .. col+cols-1 of a matrix of a batch: element (row + r,
 * col + c) at v[r * ld + c]. */
struct assay__tile {
    int64_t batch, row, col, rows, cols, ld;
    double *v;
};

typedef void (*assay__tile_fn)(const void *ctx, const struct assay__tile *t);

/* What a product reads: load fills tiles. by_columns: it is asked for tiles of the transposed
 * matrix, because memory runs along the columns. */
struct assay__operand {
    assay__tile_fn load;
    const void *ctx;
    bool by_columns;
};

/* A matrix that lies in a tensor: element (r, c) of batch b is number at + b * batch + r * row +
 * c * col. */
struct assay__matrix {
    const struct assay_tensor *t;
    int64_t at, row, col, batch;
};

struct assay__product {
    int64_t batches, m, n, k;   /* [m, k] times [k, n] */
    struct assay__operand a, b; /* k may be 0: then all sums are 0 */
    assay__tile_fn store;       /* rows of C lie in v[r * ld ..], and may be changed there */
    const void *ctx;
    bool int8;  /* all of A and B are integers from -128 to 255, at most 128 in one of them */
    bool plain; /* without BLAS, for tests */
};

enum assay_status assay__product(const struct assay_args *a, const struct assay__product *p,
                                 struct assay_err *err);

/* The operand that such a matrix is; m must stay where it is. */
struct assay__operand assay__operand_of(const struct assay__matrix *m);

/* Stores a tile in such a matrix, whose columns must be neighbours (col = 1). */
void assay__matrix_store(const struct assay__matrix *m, const struct assay__tile *t);

#endif
