/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sparse_flash_attention: attention where each query looks at a list of keys. n1 / n2 heads of
 * queries that follow each other share a head of keys and values, and at each place also the list.
 * With is_causal, keys behind the query count for nothing although they are listed.
 *
 * value is key without its last elements, as in the source, whose cases all have it so; a kernel
 * may read either. Lists hold no key twice: the formula would count it twice, the reference, which
 * masks what is not listed, once. scaleValue is used as it is, of either sign. A query that has
 * nothing to look at, or whose scores are all -Inf, gives 0.
 */
#include "ops/attention.h"
#include "ops/fit.h"
#include "ops/heads.h"
#include "ops/index.h"
#include "ops/lanes.h"
#include "ops/lists.h"
#include "ops/qkv.h"
#include "ops/sample.h"

#include <math.h>
#include <stdatomic.h>

enum { QUERY, KEY, VALUE, INDICES, N_IN };
enum { SCALE, LAYOUT, CAUSAL };
enum { BSND, BNSD };
static const struct assay_param in[] = {
    [QUERY] = { "query", ASSAY__HALVES, 0, "[b, s1, n1, dk], BNSD: [b, n1, s1, dk]", NULL },
    [KEY] = { "key", ASSAY__HALVES, 0, "[b, s2, n2, dk], BNSD: [b, n2, s2, dk]", NULL },
    [VALUE] = { "value", ASSAY__HALVES, 0, "the first dv elements of each key", NULL },
    [INDICES] = { "sparseIndices", ASSAY_BIT(ASSAY_I32), 0,
                  "[b, s1, n2, topk], BNSD: [b, n2, s1, topk]", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", ASSAY__HALVES, 0, "like query, but dv", NULL },
                                          { 0 } };

static const char *const layouts[] = { "BSND", "BNSD", NULL };
/* What a case has of these is the sign. */
enum { SCALES = 6 };
static const double scales[SCALES] = { 0.08838, 0.07217, 0.04419, 0.5, 1, -0.1 };
static const struct assay_attr attrs[] = {
    [SCALE] = { "scaleValue", ASSAY_ATTR_FLOAT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, scales, SCALES },
    [LAYOUT] = { "inputLayout", ASSAY_ATTR_ENUM, 0, { .set = true }, layouts, NULL, 0 },
    [CAUSAL] = { "is_causal", ASSAY_ATTR_BOOL, 0, { .set = true }, NULL, NULL, 0 },
    { 0 },
};

/* Where heads and places stand in a shape. */
static int heads_axis(const struct assay_value *attr)
{
    return attr[LAYOUT].i == BNSD ? 1 : 2;
}

static int places_axis(const struct assay_value *attr)
{
    return 3 - heads_axis(attr);
}

/* Heads, and the lists as heads of keys. A unit is a list: (b n2 + kv) s1 + place. */
struct job {
    struct assay__attend h;
    struct assay__heads list;
    int64_t group;       /* heads that share a list */
    const int32_t *seen; /* keys of each unit that count; NULL: all */
};

static struct job job_of(const struct assay_args *a)
{
    const struct assay_tensor *q = a->in[QUERY].t, *k = a->in[KEY].t;
    bool first = a->attr[LAYOUT].i == BNSD;
    double scale = a->attr[SCALE].f;
    struct assay__attend h = { .batches = q->shape[0],
                               .heads = q->shape[heads_axis(a->attr)],
                               .kv_heads = k->shape[heads_axis(a->attr)],
                               .places = q->shape[places_axis(a->attr)],
                               .keys = k->shape[places_axis(a->attr)],
                               .query = { assay__heads_of(q, first) },
                               .key = { assay__heads_of(k, first) },
                               .value = assay__heads_of(a->in[VALUE].t, first),
                               .y = assay__heads_of(a->out[0].t, first),
                               .causal = a->attr[CAUSAL].i,
                               .scale = a->native ? (double)(float)scale : scale,
                               .picked = a->in[INDICES].t->shape[3] };

    return (struct job){ h, assay__heads_of(a->in[INDICES].t, first), h.heads / h.kv_heads, NULL };
}

static int64_t units_of(const struct job *j)
{
    return j->h.batches * j->h.kv_heads * j->h.places;
}

/* Where what unit u has of p begins, p having a head for each list. */
static int64_t unit_at(const struct job *j, const struct assay__heads *p, int64_t u)
{
    int64_t place = u % j->h.places, head = u / j->h.places;

    return head / j->h.kv_heads * p->batch + head % j->h.kv_heads * p->head + place * p->place;
}

/* The keys that a unit sees are those below. */
static int64_t limit_of(const struct job *j, int64_t u)
{
    return assay__attend_sees(&j->h, u % j->h.places);
}

/* ---- contract -------------------------------------------------------------------------------- */

/* Input i has rank 4 and the extents of `like` but where free_head, free_place, free_width. */
static enum assay_status fits(const struct assay_args *a, int i, int like, const bool free[4],
                              struct assay_err *err)
{
    const struct assay_tensor *t = a->in[i].t, *to = a->in[like].t;
    bool ok = t->rank == 4 && (t->dtype == to->dtype || i == INDICES);

    for (int k = 0; ok && k < 4; k++)
        ok = free[k] || t->shape[k] == to->shape[k];
    if (!ok)
        return assay__misfit(in[i].name, t, in[like].name, to, NULL, err);
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *q = a->in[QUERY].t, *k = a->in[KEY].t;
    const struct assay_tensor *list = a->in[INDICES].t;
    bool own[4] = { false, true, true, false }, width[4] = { false, false, false, true };
    int head = heads_axis(a->attr), place = places_axis(a->attr);
    char text[128];

    if (q->rank != 4)
        return assay_fail(err, ASSAY_INVALID, "query %s, must have rank 4",
                          assay_tensor_text(q, text, sizeof text));
    ASSAY_TRY(fits(a, KEY, QUERY, own, err));
    ASSAY_TRY(fits(a, VALUE, KEY, width, err));
    if (a->in[VALUE].t->shape[3] > k->shape[3])
        return assay_fail(err, ASSAY_INVALID, "value has width %lld, key %lld: must not be wider",
                          (long long)a->in[VALUE].t->shape[3], (long long)k->shape[3]);
    own[head] = own[3] = true;
    own[place] = false;
    ASSAY_TRY(fits(a, INDICES, QUERY, own, err));
    if (list->shape[head] != k->shape[head] || k->shape[head] < 1 ||
        q->shape[head] % k->shape[head] != 0)
        return assay_fail(err, ASSAY_INVALID,
                          "%lld heads of queries, %lld of keys, %lld of lists: must be a multiple, "
                          "and as many lists as keys",
                          (long long)q->shape[head], (long long)k->shape[head],
                          (long long)list->shape[head]);
    if (list->shape[3] > k->shape[place])
        return assay_fail(err, ASSAY_INVALID, "lists of %lld keys, there are %lld",
                          (long long)list->shape[3], (long long)k->shape[place]);
    return assay__check_scale(a, SCALE, err);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    (void)err;
    *a->out[0].t = *a->in[QUERY].t;
    a->out[0].t->data = NULL;
    a->out[0].t->shape[3] = a->in[VALUE].t->shape[3];
    return ASSAY_OK;
}

/* The first unit that holds something twice, or the first value that is no key. */
struct search {
    struct job j;
    _Atomic int64_t first;
};

static void found(struct search *s, int64_t at)
{
    int64_t had = atomic_load(&s->first);

    while (at < had && !atomic_compare_exchange_weak(&s->first, &had, at))
        ;
}

static void search_lists(void *ctx, int64_t begin, int64_t end)
{
    struct search *s = ctx;
    const struct assay__heads *list = &s->j.list;

    for (int64_t u = begin; u < end; u++)
        if (assay__holds_twice(list->t, unit_at(&s->j, list, u), list->width, s->j.h.keys)) {
            found(s, u);
            return;
        }
}

/* Rows of key and value, as they lie in memory. */
static void search_values(void *ctx, int64_t begin, int64_t end)
{
    struct search *s = ctx;
    const struct assay_tensor *k = s->j.h.key[0].t, *v = s->j.h.value.t;
    size_t size = assay_dtype_size(k->dtype);

    for (int64_t r = begin; r < end; r++)
        if (memcmp((const char *)k->data + (size_t)(r * k->shape[3]) * size,
                   (const char *)v->data + (size_t)(r * v->shape[3]) * size,
                   (size_t)v->shape[3] * size) != 0) {
            found(s, r);
            return;
        }
}

static enum assay_status check_values(const struct assay_args *a, struct assay_err *err)
{
    struct search s = { .j = job_of(a) };
    int64_t rows = s.j.h.batches * s.j.h.kv_heads * s.j.h.keys;

    ASSAY_TRY(
        assay__index_check(a->in[INDICES].t, in[INDICES].name, s.j.h.keys, a->n_threads, err));
    atomic_init(&s.first, INT64_MAX);
    assay_parallel(units_of(&s.j), 64, a->n_threads, search_lists, &s);
    if (s.first != INT64_MAX)
        return assay_fail(err, ASSAY_INVALID,
                          "sparseIndices: a key twice in batch %lld, head %lld, place %lld",
                          (long long)(s.first / s.j.h.places / s.j.h.kv_heads),
                          (long long)(s.first / s.j.h.places % s.j.h.kv_heads),
                          (long long)(s.first % s.j.h.places));
    assay_parallel(rows, 256, a->n_threads, search_values, &s);
    if (s.first != INT64_MAX)
        return assay_fail(err, ASSAY_INVALID, "value: row %lld is not the beginning of that of key",
                          (long long)s.first);
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static struct assay_shape shape_of(const struct assay_case *c, int64_t batches, int64_t places,
                                   int64_t heads, int64_t width)
{
    struct assay_shape x = { 4, { batches, 0, 0, width } };

    x.dim[heads_axis(c->attr)] = heads;
    x.dim[places_axis(c->attr)] = places;
    return x;
}

/* Extents, and how long lists are. */
struct drawn {
    struct assay__attend_extents e;
    int64_t picked;
};

/* Single queries and chunks of them, to many keys; now and then more queries than keys, of which,
 * with is_causal, the first ones see nothing. */
static void draw_places(struct assay_sampler *s, double most, bool causal, struct drawn *d)
{
    struct assay__attend_extents *e = &d->e;
    double least = fmin(fmax(24, sqrt((double)s->elements) / 16), most / 2);
    int kind = (int)assay_sample_below(s, 8);

    e->keys = assay__sample_ratio(s, least, fmin(most, 8192)) | 1;
    e->places = kind < 3 ? 1 + causal + (int64_t)assay_sample_below(s, 4)
                         : assay__sample_ratio(s, 4, fmax(5, (double)e->keys / 4));
    if (kind == 7) {
        e->keys = assay__sample_ratio(s, fmin(least, most / 4), fmax(16, fmin(most / 4, 200)));
        e->places = e->keys + assay__sample_ratio(s, 1, (double)e->keys / 4);
    }
    d->picked = (int64_t)((double)e->keys / exp(assay_sample_between(s, 0.1, 2.8)));
    d->picked = d->picked < 16 ? 16 : d->picked;
    if (d->picked > e->keys || assay_sample_below(s, 10) == 0)
        d->picked = e->keys;
}

static void draw_extents(struct assay_sampler *s, bool causal, struct drawn *d)
{
    enum { TRIES = 256, N_GROUPS = 10, N_HEADS = 6 };
    static const int64_t groups[N_GROUPS] = { 1, 4, 8, 16, 32, 64, 2, 3, 4, 12 };
    static const int64_t kv_heads[N_HEADS] = { 1, 1, 2, 4, 8, 3 };
    struct assay__attend_extents *e = &d->e;
    double elements = (double)s->elements, both = (double)(e->width + e->value_width);

    for (int i = 0; i < TRIES; i++) {
        int64_t group = groups[assay_sample_below(s, N_GROUPS)];
        double unit, n;

        draw_places(s, fmax(24, elements / both / 1.5), causal, d);
        unit = (double)(e->places * group * e->width) + (double)e->keys * both +
               (double)(e->places * d->picked);
        n = elements / unit;
        e->kv_heads = kv_heads[assay_sample_below(s, N_HEADS)];
        e->heads = e->kv_heads * group;
        e->batches = (int64_t)floor(n / (double)e->kv_heads + 0.5);
        if (e->batches < 1 || (double)(e->batches * e->kv_heads) > 1.1 * n)
            continue;
        if (n * (double)(group * e->places * d->picked) * both <= ASSAY__MOST_PRODUCTS)
            return;
    }
    *e = (struct assay__attend_extents){ 1, 1, 1, 1, 1, e->width, e->value_width };
    e->keys = (int64_t)fmax(12, elements / both - 2);
    d->picked = 12;
}

/* Infinities and NaN are in the queries. In lists that are cut short by is_causal, whether a key
 * that counts nothing is multiplied by 0 is up to a kernel. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { N_MORE = 4 };
    static const int64_t more[N_MORE] = { 0, 0, 16, 64 };
    static const struct assay_range usual = { -2, 2 };
    bool special = c->value_class == ASSAY_CLASS_SPECIAL, negative = c->attr[SCALE].f < 0;
    enum assay_dtype d = c->in[QUERY].dtype;
    struct drawn drawn = { 0 };
    struct assay__attend_extents *e = &drawn.e;
    struct assay_value *scale = &c->attr[SCALE];

    for (int i = QUERY; i < N_IN; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    e->width = assay__attend_sample_width(s, d, (int64_t)fmax(32, sqrt((double)s->elements) / 2));
    e->value_width = e->width - more[assay_sample_below(s, N_MORE)];
    e->value_width = e->value_width < 8 ? e->width : e->value_width;
    draw_extents(s, c->attr[CAUSAL].i, &drawn);
    c->in[QUERY].shape[0] = shape_of(c, e->batches, e->places, e->heads, e->width);
    c->in[KEY].shape[0] = shape_of(c, e->batches, e->keys, e->kv_heads, e->width);
    c->in[VALUE].shape[0] = shape_of(c, e->batches, e->keys, e->kv_heads, e->value_width);
    c->in[INDICES].shape[0] = shape_of(c, e->batches, e->places, e->kv_heads, drawn.picked);
    c->in[INDICES].range[0] = (struct assay_range){ 0, (double)(e->keys - 1) };
    *scale = (struct assay_value){ .set = true, .f = fabs(scale->f) };
    c->in[KEY].range[0] =
        assay__attend_sample_keys(s, special ? &usual : c->in[QUERY].range, d, e->width, &scale->f);
    if (negative)
        scale->f = -scale->f;
    c->in[VALUE].range[0] = c->in[KEY].range[0];
    return ASSAY_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

struct filling {
    struct job j;
    struct assay_key key;
};

static void fill_lists(void *ctx, int64_t begin, int64_t end)
{
    enum { PIECE = 256 };
    const struct filling *f = ctx;
    const struct assay__heads *to = &f->j.list;
    int64_t v[PIECE];

    for (int64_t u = begin; u < end; u++) {
        struct assay_sampler s = { .key = f->key, .next = (uint64_t)u * 8 };
        struct assay__list l = assay__draw_list(&s, f->j.h.keys, to->width, limit_of(&f->j, u));
        int64_t at = unit_at(&f->j, to, u);

        for (int64_t k = 0, n; k < to->width; k += n) {
            n = to->width - k < PIECE ? to->width - k : PIECE;
            for (int64_t i = 0; i < n; i++)
                v[i] = assay__list_entry(&l, k + i);
            assay_store_int_n(to->t, at + k, n, v);
        }
    }
}

static void copy_values(void *ctx, int64_t begin, int64_t end)
{
    const struct filling *f = ctx;
    const struct assay_tensor *k = f->j.h.key[0].t, *v = f->j.h.value.t;
    size_t size = assay_dtype_size(k->dtype);

    for (int64_t r = begin; r < end; r++)
        memcpy((char *)v->data + (size_t)(r * v->shape[3]) * size,
               (const char *)k->data + (size_t)(r * k->shape[3]) * size,
               (size_t)v->shape[3] * size);
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    struct filling f = { job_of(a), assay_key_sub(key, 1) };

    f.j.h.scale = fabs(f.j.h.scale);
    ASSAY_TRY(assay__attend_fill(a, &f.j.h, assay_key_sub(key, 2), err));
    assay_parallel(f.j.h.batches * f.j.h.kv_heads * f.j.h.keys, 256, a->n_threads, copy_values, &f);
    if (f.j.list.width > 0)
        assay_parallel(units_of(&f.j), 64, a->n_threads, fill_lists, &f);
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

enum { PIECE = 512 };

/* Counts what each list has below the limit of its unit. */
static void count_range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    int32_t *seen = (int32_t *)j->seen;
    int64_t v[PIECE];

    for (int64_t u = begin; u < end; u++) {
        int64_t at = unit_at(j, &j->list, u), limit = limit_of(j, u);

        seen[u] = 0;
        for (int64_t k = 0, n; k < j->list.width; k += n) {
            n = j->list.width - k < PIECE ? j->list.width - k : PIECE;
            assay_load_int_n(j->list.t, at + k, n, v);
            for (int64_t i = 0; i < n; i++)
                seen[u] += v[i] < limit;
        }
    }
}

static int64_t sees(const void *ctx, int64_t unit, int64_t row)
{
    const struct job *j = ctx;

    (void)row;
    return j->seen[unit];
}

/* Entries first .. first+n-1 of what a unit's list has below the limit; the key 0 behind the last
 * one. */
static void entries(const struct job *j, int64_t unit, int64_t first, int64_t n, int64_t *to)
{
    int64_t at = unit_at(j, &j->list, unit), limit = limit_of(j, unit), v[PIECE];

    for (int64_t i = 0; i < n; i++)
        to[i] = 0;
    for (int64_t k = 0, skip = first, m; k < j->list.width && n > 0; k += m) {
        m = j->list.width - k < PIECE ? j->list.width - k : PIECE;
        assay_load_int_n(j->list.t, at + k, m, v);
        for (int64_t i = 0; i < m && n > 0; i++) {
            if (v[i] >= limit || skip-- > 0)
                continue;
            *to++ = v[i];
            n--;
        }
    }
}

static void load_listed(const struct job *j, const struct assay__heads *from,
                        const struct assay__tile *t)
{
    int64_t head = t->batch / j->h.places, list[PIECE];
    int64_t first = head / j->h.kv_heads * from->batch + head % j->h.kv_heads * from->head;

    for (int64_t r = 0; r < t->rows; r++) {
        if (r % PIECE == 0)
            entries(j, t->batch, t->row + r, t->rows - r < PIECE ? t->rows - r : PIECE, list);
        assay_load_n(from->t, first + list[r % PIECE] * from->place + t->col, t->cols,
                     t->v + r * t->ld);
    }
}

static void load_key(const void *ctx, const struct assay__tile *t)
{
    const struct job *j = ctx;

    load_listed(j, &j->h.key[0], t);
}

static void load_value(const void *ctx, const struct assay__tile *t)
{
    const struct job *j = ctx;

    load_listed(j, &j->h.value, t);
}

/* Where row r of a unit is in a tensor that has a head for each row. */
static int64_t row_at(const struct job *j, const struct assay__heads *p, int64_t unit, int64_t r)
{
    int64_t head = unit / j->h.places;

    return head / j->h.kv_heads * p->batch + (head % j->h.kv_heads * j->group + r) * p->head +
           unit % j->h.places * p->place;
}

static void load_query(const void *ctx, const struct assay__tile *t)
{
    const struct job *j = ctx;
    const struct assay__heads *q = &j->h.query[0];

    for (int64_t r = 0; r < t->rows; r++)
        assay_load_n(q->t, row_at(j, q, t->batch, t->row + r) + t->col, t->cols, t->v + r * t->ld);
}

static void store(const void *ctx, const struct assay__tile *t)
{
    const struct job *j = ctx;
    const struct assay__heads *y = &j->h.y;

    for (int64_t r = 0; r < t->rows; r++)
        assay_store_n(y->t, row_at(j, y, t->batch, t->row + r) + t->col, t->cols, t->v + r * t->ld);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = job_of(a);
    struct assay__attention p = { .units = units_of(&j),
                                  .rows = j.group,
                                  .keys = j.list.width,
                                  .dk = j.h.query[0].width,
                                  .dv = j.h.value.width,
                                  .query = load_query,
                                  .key = load_key,
                                  .value = load_value,
                                  .store = store,
                                  .sees = sees,
                                  .ctx = &j,
                                  .scale = j.h.scale,
                                  .dtype = a->in[QUERY].t->dtype,
                                  .stepwise = true };
    int32_t *seen = assay_arena_array(a->arena, (size_t)p.units + 1, sizeof *seen);

    if (!seen)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld counts", (long long)p.units);
    j.seen = seen;
    assay_parallel(p.units, 64, a->n_threads, count_range, &j);
    return assay__attention(a, &p, err);
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Pairs of a query and a key that count, at the least: all keys that are not seen may be listed. */
static double pairs(const struct job *j)
{
    double sum = 0;

    for (int64_t s = 0; s < j->h.places; s++) {
        int64_t hidden = j->h.keys - assay__attend_sees(&j->h, s);

        sum += hidden < j->list.width ? (double)(j->list.width - hidden) : 0;
    }
    return sum * (double)(j->h.batches * j->h.heads);
}

/* The last query looks at all keys that it lists, so that at least those have to be read, and
 * values with them. Queries and lists of places that see nothing need not. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    struct job j = job_of(a);
    enum assay_dtype d = a->in[QUERY].t->dtype;
    double size = (double)assay_dtype_size(d), lists = (double)(j.h.batches * j.h.kv_heads);
    double width = (double)j.h.query[0].width, listed = (double)j.list.width;
    double blind = 0;

    for (int64_t s = 0; s < j.h.places; s++)
        blind += assay__attend_sees(&j.h, s) == 0;
    w->bytes_in -= lists * ((double)j.h.keys - (j.h.places > 0 ? listed : 0)) * width * size;
    w->bytes_in -= (double)assay_numel(a->in[VALUE].t) * size;
    w->bytes_in -= blind * lists * ((double)j.group * width * size + 4 * listed);
    assay__add_products(w, d, pairs(&j) * (width + (double)j.h.value.width));
}

/* There, keys and values are read as they are listed, or all of them, whichever is less, and
 * whatever is_causal says. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    struct job j = job_of(a);
    enum assay_dtype d = a->in[QUERY].t->dtype;
    double both = (double)(j.h.query[0].width + j.h.value.width), size;
    double scores = (double)(j.h.batches * j.h.heads * j.h.places) * (double)j.list.width;
    double all = (double)(j.h.batches * j.h.kv_heads * j.h.keys);
    double listed = (double)units_of(&j) * (double)j.list.width;

    size = both * (double)assay_dtype_size(d);
    w->amount[ASSAY_UNIT_MTE2] -= (all - fmin(all, listed)) * size;
    assay__add_cube(w, d, scores * both);
    w->amount[ASSAY_UNIT_VEC_32] += 11 * scores;
}

static const struct assay_spared spared[] = {
    { "swapped key value", "value is the beginning of key, as in a cache of latent vectors" },
    { 0 },
};

const struct assay_op assay_op_sparse_flash_attention = {
    .name = "sparse_flash_attention",
    .tier = 4,
    .formula = "y = softmax(query key[list]^T scaleValue) value[list] in each head, where list is "
               "that of the query's place in sparseIndices; query head h has key, value and list "
               "head h n2 / n1, rounded down",
    .constraints = "query, key and value have one dtype and rank 4; n1 is a multiple of n2\n"
                   "value is the first dv elements of each key, dv <= dk\n"
                   "0 <= sparseIndices < s2, no key twice in a list\n"
                   "is_causal: query i sees keys j <= i + s2 - s1; others count nothing, and a "
                   "query that sees none of its list gives 0",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .check_values = check_values,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 4, SparseFlashAttention",
};
