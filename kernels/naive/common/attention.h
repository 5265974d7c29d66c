/* SPDX-License-Identifier: Apache-2.0 */
/* attention.h: softmax(Q K^T scale) V, one query after the other. */
#ifndef NAIVE_ATTENTION_H
#define NAIVE_ATTENTION_H

#include "elem.h"

#include <math.h>
#include <stdlib.h>

/* What head h holds at place s of batch b: width elements from batch * b + head * h + place * s. */
struct heads {
    const struct assay_view *v;
    int64_t batch, head, place, width;
};

/* [b, s, n, d], or [b, n, s, d]. */
static inline struct heads heads_of(const struct assay_view *v, bool heads_first)
{
    int64_t d = v->shape[3], inner = v->shape[2] * d;
    struct heads h = { v, v->shape[1] * inner, heads_first ? inner : d, heads_first ? d : inner,
                       d };

    return h;
}

static inline int64_t heads_at(const struct heads *h, int64_t b, int64_t head, int64_t place)
{
    return b * h->batch + head * h->head + place * h->place;
}

/* Queries and keys come in one part or two. */
struct attention {
    int parts;
    struct heads q[2], k[2], v, y;
    int64_t batches, n_q, n_kv, s_q, s_kv;
    double scale;
    bool causal;
};

static inline double attention_score(const struct attention *a, int64_t b, int64_t head, int64_t i,
                                     int64_t kv, int64_t j)
{
    double sum = 0;

    for (int p = 0; p < a->parts; p++) {
        int64_t q = heads_at(&a->q[p], b, head, i), k = heads_at(&a->k[p], b, kv, j);

        for (int64_t d = 0; d < a->q[p].width; d++)
            sum += elem_get(a->q[p].v, q + d) * elem_get(a->k[p].v, k + d);
    }
    return sum * a->scale;
}

/* One query: p and sum have room for all keys, and for a value. */
static inline void attention_row(const struct attention *a, int64_t b, int64_t head, int64_t i,
                                 double *p, double *sum)
{
    int64_t kv = head / (a->n_q / a->n_kv), n = a->s_kv;
    int64_t y = heads_at(&a->y, b, head, i);
    double most = -INFINITY, total = 0;

    if (a->causal && i + a->s_kv - a->s_q + 1 < n)
        n = i + a->s_kv - a->s_q + 1;
    for (int64_t j = 0; j < n; j++) {
        p[j] = attention_score(a, b, head, i, kv, j);
        most = p[j] > most || isnan(p[j]) ? p[j] : most;
    }
    if (most == -INFINITY) /* no key to look at */
        n = 0;
    for (int64_t j = 0; j < n; j++)
        total += p[j] = exp(p[j] - most);
    for (int64_t d = 0; d < a->v.width; d++)
        sum[d] = 0;
    for (int64_t j = 0; j < n; j++) {
        int64_t v = heads_at(&a->v, b, kv, j);

        for (int64_t d = 0; d < a->v.width; d++)
            sum[d] += p[j] / total * elem_get(a->v.v, v + d);
    }
    for (int64_t d = 0; d < a->v.width; d++)
        elem_put(a->y.v, y + d, sum[d]);
}

static inline int attention_run(const struct attention *a)
{
    double *p = malloc((size_t)(a->s_kv + a->v.width + 1) * sizeof *p);

    if (!p)
        return 1;
    for (int64_t b = 0; b < a->batches; b++)
        for (int64_t head = 0; head < a->n_q; head++)
            for (int64_t i = 0; i < a->s_q; i++)
                attention_row(a, b, head, i, p, p + a->s_kv);
    free(p);
    return 0;
}

/* A scale that is not positive stands for the root of the width. */
static inline double attention_scale(double scale, int64_t width)
{
    return scale > 0 ? scale : 1 / sqrt((double)width);
}

/* query [b, s, n, d], key and value [b, s_kv, n_kv, d]. */
static inline int attention_qkv(const struct assay_view *q, const struct assay_view *k,
                                const struct assay_view *v, const struct assay_view *y,
                                double scale, bool causal)
{
    struct attention a = { 1,
                           { heads_of(q, false) },
                           { heads_of(k, false) },
                           heads_of(v, false),
                           heads_of(y, false),
                           q->shape[0],
                           q->shape[2],
                           k->shape[2],
                           q->shape[1],
                           k->shape[1],
                           attention_scale(scale, q->shape[3]),
                           causal };

    return attention_run(&a);
}

#endif
