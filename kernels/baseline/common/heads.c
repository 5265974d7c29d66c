/* SPDX-License-Identifier: Apache-2.0 */
/* heads.c: heads as units of attention. */
#include "heads.h"

#include "attention.h"
#include "gemm.h"

#include <math.h>

struct heads heads_of(const struct assay_view *v, bool heads_first)
{
    int64_t d = v->shape[3], inner = v->shape[2] * d;
    struct heads h = { v, v->shape[1] * inner, heads_first ? inner : d, heads_first ? d : inner,
                       d };

    return h;
}

/* Elements at .. at + n - 1 of what parts hold at one place, one behind the other. */
static void load(const struct heads *part, int64_t b, int64_t head, int64_t place, int64_t at,
                 int64_t n, float *to)
{
    for (int i = 0; i < 2 && part[i].v && n > 0; i++) {
        const struct heads *p = &part[i];
        int64_t m = p->width - at < n ? p->width - at : n;

        if (m > 0) {
            gemm_load(p->v, b * p->batch + head * p->head + place * p->place + at, m, to);
            to += m;
            n -= m;
            at += m;
        }
        at -= p->width;
    }
}

/* Divisions of small numbers, which are much faster in 32 bits. */
static inline int64_t over(int64_t n, int64_t by)
{
    return (int64_t)((uint32_t)n / (uint32_t)by);
}

/* Where a row of a unit, or of its keys, lies. */
struct at {
    int64_t batch, head, place;
};

static inline struct at row_at(const struct heads_call *h, int64_t unit, int64_t i)
{
    int64_t batch = over(unit, h->kv_heads), place = over(i, h->group);

    return (struct at){ batch, (unit - batch * h->kv_heads) * h->group + i - place * h->group,
                        place };
}

static inline struct at key_at(const struct heads_call *h, int64_t unit, int64_t i)
{
    int64_t batch = over(unit, h->kv_heads);

    return (struct at){ batch, unit - batch * h->kv_heads, i };
}

static void load_query(const void *ctx, int64_t unit, int64_t i, int64_t at, int64_t n, float *to)
{
    const struct heads_call *h = ctx;
    struct at p = row_at(h, unit, i);

    load(h->query, p.batch, p.head, p.place, at, n, to);
}

static void load_key(const void *ctx, int64_t unit, int64_t i, int64_t at, int64_t n, float *to)
{
    const struct heads_call *h = ctx;
    struct at p = key_at(h, unit, i);

    load(h->key, p.batch, p.head, p.place, at, n, to);
}

static void load_value(const void *ctx, int64_t unit, int64_t i, int64_t at, int64_t n, float *to)
{
    const struct heads_call *h = ctx;
    struct at p = key_at(h, unit, i);

    gemm_load(h->value.v,
              p.batch * h->value.batch + p.head * h->value.head + i * h->value.place + at, n, to);
}

static void store(const void *ctx, int64_t unit, int64_t i, int64_t at, int64_t n, const float *y)
{
    const struct heads_call *h = ctx;
    struct at p = row_at(h, unit, i);

    gemm_store(h->y.v, p.batch * h->y.batch + p.head * h->y.head + p.place * h->y.place + at, n, y);
}

static int64_t sees(const void *ctx, int64_t unit, int64_t i)
{
    const struct heads_call *h = ctx;
    int64_t n = h->keys;

    (void)unit;
    if (h->causal)
        n += over(i, h->group) + 1 - h->places;
    return n < 0 ? 0 : n < h->keys ? n : h->keys;
}

int heads_run(const struct assay_call *c, struct heads_call *h)
{
    int64_t dk = h->query[0].width + h->query[1].width;
    struct attention a = { h->batches * h->kv_heads,
                           h->places * (h->heads / h->kv_heads),
                           h->keys,
                           dk,
                           h->value.width,
                           load_query,
                           load_key,
                           load_value,
                           store,
                           sees,
                           h,
                           (float)(h->scale > 0 ? h->scale : 1 / sqrt((double)dk)) };

    h->group = h->heads / h->kv_heads;
    return attention_run(c, &a);
}

int heads_run_qkv(const struct assay_call *c, const struct assay_view *q,
                  const struct assay_view *k, const struct assay_view *v,
                  const struct assay_view *y, double scale, bool causal)
{
    struct heads_call h = { .query = { heads_of(q, false) },
                            .key = { heads_of(k, false) },
                            .value = heads_of(v, false),
                            .y = heads_of(y, false),
                            .batches = q->shape[0],
                            .heads = q->shape[2],
                            .kv_heads = k->shape[2],
                            .places = q->shape[1],
                            .keys = k->shape[1],
                            .causal = causal,
                            .scale = scale };

    return heads_run(c, &h);
}
