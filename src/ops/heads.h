/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heads.h: what operators share that attend from heads of queries to heads of keys.
 *
 * heads / kv_heads heads of queries share a head of keys and values: together they are a unit whose
 * rows are the places of queries, and within a place the heads. With `causal` the last query sees
 * all keys and each query before it one less, down to none.
 */
#ifndef ASSAY_OPS_HEADS_H
#define ASSAY_OPS_HEADS_H

#include "assay/op.h"

/* A tensor of heads: what head h holds at a place begins at batch * b + head * h + place * s, and
 * has width elements. */
struct assay__heads {
    const struct assay_tensor *t; /* NULL: absent */
    int64_t batch, head, place, width;
};

/* [b, s, n, d], or with heads_first [b, n, s, d]. */
struct assay__heads assay__heads_of(const struct assay_tensor *t, bool heads_first);

/* Queries and keys come in up to two parts, one behind the other. */
enum { ASSAY__PARTS = 2 };
struct assay__attend {
    int64_t batches, heads, kv_heads, places, keys;
    struct assay__heads query[ASSAY__PARTS], key[ASSAY__PARTS], value, y;
    bool causal;
    double scale;   /* as it is used */
    int64_t picked; /* keys that a query looks at, of those that it sees; 0: all of them */
};

/* Width of a query and of a key. */
int64_t assay__attend_width(const struct assay__attend *h);

/* The scale that a scale attribute stands for. */
double assay__attend_scale(const struct assay_args *a, int attr, int64_t width);

/* How many keys the query at a place sees. */
int64_t assay__attend_sees(const struct assay__attend *h, int64_t place);

enum assay_status assay__attend_golden(const struct assay_args *a, const struct assay__attend *h,
                                       struct assay_err *err);

/* Rewrites queries and keys so that a few keys matter much to a query, and many a little; values
 * keep what they hold. Zeros stay, and few infinities and NaN remain. */
enum assay_status assay__attend_fill(struct assay_args *a, const struct assay__attend *h,
                                     struct assay_key key, struct assay_err *err);

/* Two products for each pair of a query and a key that it sees; on an accelerator also 8 vector
 * operations. Queries that see nothing need not be read. */
void assay__attend_work(const struct assay__attend *h, struct assay_work *w);
void assay__attend_work_npu(const struct assay__attend *h, struct assay_work *w);

/* ---- cases ----------------------------------------------------------------------------------- */

/* Extents of a drawn case. */
struct assay__attend_extents {
    int64_t batches, heads, kv_heads, places, keys;
    int64_t width, value_width;
};

/*
 * Draws batches, heads, places and keys for s->elements elements in queries, keys and values whose
 * widths are given: prompts, single queries to many keys, and what lies between. groups: how many
 * heads of queries may share one of keys. e->kv_heads stays as it is, unless it is 0.
 */
void assay__attend_sample(struct assay_sampler *s, const int64_t *groups, int n_groups, bool causal,
                          struct assay__attend_extents *e);

/* Width of a head: usual ones, and primes. */
int64_t assay__attend_sample_width(struct assay_sampler *s, enum assay_dtype d, int64_t most);

/* A range for keys, such that scores of queries of range q differ by a few. In some cases they are
 * so large that exponentials overflow unless the largest is taken off: rarely, for the rounding of
 * such scores in 16 bits excuses most that may be wrong. Where *scale is positive, it is drawn
 * instead, unless it fits. */
struct assay_range assay__attend_sample_keys(struct assay_sampler *s, const struct assay_range *q,
                                             enum assay_dtype d, int64_t width, double *scale);

#endif
