/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attention.h: softmax(Q K^T scale) V in float32, over blocks of keys, with the softmax brought up
 * to date at each.
 *
 * A unit is a head of keys and values with the rows of queries that attend to it. What it is made
 * of is the operator's.
 */
#ifndef BASELINE_ATTENTION_H
#define BASELINE_ATTENTION_H

#include "blocks.h"

struct attention {
    int64_t units, rows, keys; /* rows: of each unit */
    int64_t dk, dv;            /* elements of a query and a key, of a value and a result */
    /* Elements at .. at + n - 1 of row i of a unit as floats: of a query, a key, a value; and of a
     * result, to be stored. */
    void (*query)(const void *ctx, int64_t unit, int64_t i, int64_t at, int64_t n, float *to);
    void (*key)(const void *ctx, int64_t unit, int64_t i, int64_t at, int64_t n, float *to);
    void (*value)(const void *ctx, int64_t unit, int64_t i, int64_t at, int64_t n, float *to);
    void (*store)(const void *ctx, int64_t unit, int64_t i, int64_t at, int64_t n, const float *y);
    /* How many keys, beginning with the first one, a row sees; rows in between two see no more and
     * no less than those. */
    int64_t (*sees)(const void *ctx, int64_t unit, int64_t i);
    const void *ctx;
    float scale;
};

/* 1: there is no memory for the buffers. */
int attention_run(const struct assay_call *c, const struct attention *a);

#endif
