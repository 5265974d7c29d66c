/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attention.h: y = softmax(Q K^T scale) V for goldens.
 *
 * It is made of units that have nothing in common but their extents: the queries of one head, or
 * of all heads that share one head of keys; or a single query with a list of keys of its own. Each
 * unit has `rows` queries and `keys` keys with their values, which functions of the operator widen
 * tile by tile, so that they may lie in memory in any way. A row sees the first few keys of its
 * unit or all of them, none of the others takes part: not even NaN in its key or value.
 *
 *     struct assay__attention p = { .units = b * heads, .rows = s, .keys = s, .dk = d, .dv = d,
 *                                   .query = load_q, .key = load_k, .value = load_v,
 *                                   .store = store_y, .sees = causal, .ctx = &job,
 *                                   .scale = scale, .dtype = dtype_of_q };
 *     assay__attention(a, &p, err);
 *
 * For a list of keys, key and value read what entry t->row + i of the unit's list points at, and
 * sees tells how long the list is; entries beyond may be asked for, and are anything then.
 *
 * Scores are made for blocks of rows: some MiB of them at a time, and without the keys that no row
 * of a block sees. A row whose scores are all -Inf, or that sees no key, gives 0. The native run
 * adds up products in fp32 and rounds sums, scores, probabilities and results to dtype.
 */
#ifndef ASSAY_OPS_ATTENTION_H
#define ASSAY_OPS_ATTENTION_H

#include "ops/product.h"

struct assay__attention {
    int64_t units, rows, keys;
    int64_t dk, dv; /* elements of a query and of a key, of a value and of a result */
    /* Tiles of unit t->batch: rows of Q and of K are t->cols of dk elements from t->col on, rows of
     * V and of the result of dv elements. What store is given may be changed there. */
    assay__tile_fn query, key, value, store;
    /* How many keys row `row` of a unit sees, beginning with the first one; NULL: all. Rows that
     * see about as many should be neighbours. */
    int64_t (*sees)(const void *ctx, int64_t unit, int64_t row);
    const void *ctx; /* for all of these */
    double scale;
    enum assay_dtype dtype;
    bool stepwise; /* the native run rounds every step of a softmax, not its result alone */
};

enum assay_status assay__attention(const struct assay_args *a, const struct assay__attention *p,
                                   struct assay_err *err);

#endif
