/* SPDX-License-Identifier: Apache-2.0 */
/* heads.h: attention from heads of queries to heads of keys. */
#ifndef BASELINE_HEADS_H
#define BASELINE_HEADS_H

#include <assay/kernel.h>

/* What head h holds at place s of batch b begins at batch * b + head * h + place * s. */
struct heads {
    const struct assay_view *v; /* NULL: absent */
    int64_t batch, head, place, width;
};

/* [b, s, n, d], or with heads_first [b, n, s, d]. */
struct heads heads_of(const struct assay_view *v, bool heads_first);

/* Queries and keys come in up to two parts, one behind the other. */
struct heads_call {
    struct heads query[2], key[2], value, y;
    int64_t batches, heads, kv_heads, places, keys;
    bool causal;
    double scale;  /* not above 0: the root of the width */
    int64_t group; /* set by heads_run */
};

/* What the kernel returns. */
int heads_run(const struct assay_call *c, struct heads_call *h);

/* query [b, s, n, d], key and value [b, s_kv, n_kv, d]. */
int heads_run_qkv(const struct assay_call *c, const struct assay_view *q,
                  const struct assay_view *k, const struct assay_view *v,
                  const struct assay_view *y, double scale, bool causal);

#endif
