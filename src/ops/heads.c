/* SPDX-License-Identifier: Apache-2.0 */
/* heads.c: attention from heads of queries to heads of keys. */
#include "ops/heads.h"

#include "ops/attention.h"
#include "ops/lanes.h"

#include <math.h>

struct assay__heads assay__heads_of(const struct assay_tensor *t, bool heads_first)
{
    int64_t d = t->shape[3], inner = t->shape[2] * d;

    return (struct assay__heads){ t, t->shape[1] * inner, heads_first ? inner : d,
                                  heads_first ? d : inner, d };
}

int64_t assay__attend_width(const struct assay__attend *h)
{
    return h->query[0].width + h->query[1].width;
}

/* The native run has scale as a scalar of a product with 16-bit numbers: a float32 number. */
double assay__attend_scale(const struct assay_args *a, int attr, int64_t width)
{
    double scale = a->attr[attr].f;

    if (scale <= 0)
        scale = 1 / sqrt((double)(width > 0 ? width : 1));
    return a->native ? (double)(float)scale : scale;
}

int64_t assay__attend_sees(const struct assay__attend *h, int64_t place)
{
    int64_t n = h->causal ? place + 1 + h->keys - h->places : h->keys;

    return n < 0 ? 0 : n < h->keys ? n : h->keys;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* Columns t->col .. of row r of a tile, which has `parts` parts; the row lies at b, head, place. */
static void load_row(const struct assay__heads *part, const struct assay__tile *t, int64_t r,
                     int64_t b, int64_t head, int64_t place)
{
    int64_t begin = 0;

    for (int i = 0; i < ASSAY__PARTS && part[i].t; begin += part[i++].width) {
        const struct assay__heads *p = &part[i];
        int64_t lo = t->col > begin ? t->col - begin : 0;
        int64_t hi = t->col + t->cols - begin;

        hi = hi < p->width ? hi : p->width;
        if (lo < hi)
            assay_load_n(p->t, b * p->batch + head * p->head + place * p->place + lo, hi - lo,
                         t->v + r * t->ld + begin + lo - t->col);
    }
}

static void load_query(const void *ctx, const struct assay__tile *t)
{
    const struct assay__attend *h = ctx;
    int64_t group = h->heads / h->kv_heads, first = t->batch % h->kv_heads * group;

    for (int64_t r = 0; r < t->rows; r++)
        load_row(h->query, t, r, t->batch / h->kv_heads, first + (t->row + r) % group,
                 (t->row + r) / group);
}

static void load_key(const void *ctx, const struct assay__tile *t)
{
    const struct assay__attend *h = ctx;

    for (int64_t r = 0; r < t->rows; r++)
        load_row(h->key, t, r, t->batch / h->kv_heads, t->batch % h->kv_heads, t->row + r);
}

static void load_value(const void *ctx, const struct assay__tile *t)
{
    const struct assay__attend *h = ctx;
    const struct assay__heads part[ASSAY__PARTS] = { h->value };

    for (int64_t r = 0; r < t->rows; r++)
        load_row(part, t, r, t->batch / h->kv_heads, t->batch % h->kv_heads, t->row + r);
}

static void store(const void *ctx, const struct assay__tile *t)
{
    const struct assay__attend *h = ctx;
    const struct assay__heads *y = &h->y;
    int64_t group = h->heads / h->kv_heads, first = t->batch % h->kv_heads * group;

    for (int64_t r = 0; r < t->rows; r++)
        assay_store_n(y->t,
                      t->batch / h->kv_heads * y->batch + (t->row + r) / group * y->place +
                          (first + (t->row + r) % group) * y->head + t->col,
                      t->cols, t->v + r * t->ld);
}

static int64_t sees(const void *ctx, int64_t unit, int64_t row)
{
    const struct assay__attend *h = ctx;

    (void)unit;
    return assay__attend_sees(h, row / (h->heads / h->kv_heads));
}

enum assay_status assay__attend_golden(const struct assay_args *a, const struct assay__attend *h,
                                       struct assay_err *err)
{
    struct assay__attention p = { .units = h->batches * h->kv_heads,
                                  .rows =
                                      h->kv_heads > 0 ? h->places * (h->heads / h->kv_heads) : 0,
                                  .keys = h->keys,
                                  .dk = assay__attend_width(h),
                                  .dv = h->value.width,
                                  .query = load_query,
                                  .key = load_key,
                                  .value = load_value,
                                  .store = store,
                                  .sees = h->causal ? sees : NULL,
                                  .ctx = h,
                                  .scale = h->scale,
                                  .dtype = h->value.t->dtype };

    return assay__attention(a, &p, err);
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Of a query and a key that it sees, in all. */
static double pairs(const struct assay__attend *h)
{
    double sum = 0;

    for (int64_t s = 0; s < h->places; s++)
        sum += (double)assay__attend_sees(h, s);
    return sum * (double)h->batches * (double)h->heads;
}

void assay__attend_work(const struct assay__attend *h, struct assay_work *w)
{
    enum assay_dtype d = h->value.t->dtype;
    double width = (double)assay__attend_width(h);
    int64_t blind = h->causal && h->places > h->keys ? h->places - h->keys : 0;

    w->bytes_in -=
        (double)blind * (double)h->batches * (double)h->heads * width * (double)assay_dtype_size(d);
    assay__add_products(w, d, pairs(h) * (width + (double)h->value.width));
}

void assay__attend_work_npu(const struct assay__attend *h, struct assay_work *w)
{
    assay__add_cube(w, h->value.t->dtype,
                    pairs(h) * (double)(assay__attend_width(h) + h->value.width));
    w->amount[ASSAY_UNIT_VEC_32] += 8 * pairs(h);
}
