/* SPDX-License-Identifier: Apache-2.0 */
/* index.c: integer tensors that say where to read or write. */
#include "ops/index.h"

#include "assay/case.h"

#include <math.h>
#include <stdio.h>

enum { BLOCK = 1024, GRAIN = 16 * BLOCK };

/* ---- values ---------------------------------------------------------------------------------- */

void assay__panel_ints(const struct assay__panel *p, const struct assay_tensor *t, int64_t n,
                       int64_t k, int64_t m, int64_t *v)
{
    if (p->width == p->inner) {
        assay_load_int_n(t, assay__panel_at(p, n, k), m * p->width, v);
        return;
    }
    for (int64_t i = 0; i < m; i++)
        assay_load_int_n(t, assay__panel_at(p, n, k + i), p->width, v + i * p->width);
}

void assay__pick(void *dst, const void *x, const int64_t *at, int64_t n, size_t size)
{
    const uint8_t *x8 = x;
    const uint16_t *x16 = x;
    const uint32_t *x32 = x;
    const uint64_t *x64 = x;

    switch (size) {
    case 1:
        for (int64_t i = 0; i < n; i++)
            ((uint8_t *)dst)[i] = x8[at[i]];
        break;
    case 2:
        for (int64_t i = 0; i < n; i++)
            ((uint16_t *)dst)[i] = x16[at[i]];
        break;
    case 4:
        for (int64_t i = 0; i < n; i++)
            ((uint32_t *)dst)[i] = x32[at[i]];
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            ((uint64_t *)dst)[i] = x64[at[i]];
        break;
    }
}

struct rows {
    const struct assay_tensor *x, *index, *y;
    int64_t n; /* elements of a row */
};

static void pick_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct rows *r = ctx;
    size_t bytes = (size_t)r->n * assay_dtype_size(r->x->dtype);

    for (int64_t i = begin; i < end; i++) {
        int64_t from = assay_load_int(r->index, i);

        if (r->y->dtype == r->x->dtype)
            memcpy((char *)r->y->data + (size_t)i * bytes,
                   (const char *)r->x->data + (size_t)from * bytes, bytes);
        else
            assay_load_n(r->x, from * r->n, r->n, (double *)r->y->data + i * r->n);
    }
}

void assay__pick_rows(const struct assay_args *a, const struct assay_tensor *x,
                      const struct assay_tensor *index, const struct assay_tensor *y)
{
    struct rows r = { x, index, y, 1 };

    for (int d = 1; d < x->rank; d++)
        r.n *= x->shape[d];
    if (r.n > 0)
        assay_parallel(assay_numel(index), r.n < GRAIN ? GRAIN / r.n : 1, a->n_threads, pick_rows,
                       &r);
}

/* ---- checks ---------------------------------------------------------------------------------- */

enum assay_status assay__index_fits(const struct assay_tensor *index, const char *name,
                                    const struct assay_tensor *x, const char *of, int axis,
                                    struct assay_err *err)
{
    char a[96], b[96];

    if (index->rank != x->rank)
        return assay_fail(err, ASSAY_INVALID, "%s %s does not have the rank of %s %s", name,
                          assay_tensor_text(index, a, sizeof a), of,
                          assay_tensor_text(x, b, sizeof b));
    for (int d = 0; d < x->rank; d++)
        if (d != axis && index->shape[d] > x->shape[d])
            return assay_fail(err, ASSAY_INVALID,
                              "axis %d of %s %s is longer than that of %s %s, which only axis %d "
                              "may be",
                              d, name, assay_tensor_text(index, a, sizeof a), of,
                              assay_tensor_text(x, b, sizeof b), axis);
    return ASSAY_OK;
}

enum { PIECES = 64 };

struct scan {
    const struct assay_tensor *t;
    int64_t lo, n, piece;
    int64_t bad[PIECES]; /* first element out of range; -1: none */
};

static void scan_pieces(void *ctx, int64_t begin, int64_t end)
{
    struct scan *s = ctx;
    int64_t v[BLOCK], numel = assay_numel(s->t);

    for (int64_t i = begin; i < end; i++) {
        int64_t last = (i + 1) * s->piece < numel ? (i + 1) * s->piece : numel;

        s->bad[i] = -1;
        for (int64_t at = i * s->piece; at < last && s->bad[i] < 0; at += BLOCK) {
            int64_t m = last - at < BLOCK ? last - at : BLOCK;
            uint64_t out = 0;

            assay_load_int_n(s->t, at, m, v);
            for (int64_t k = 0; k < m; k++)
                out |= ((uint64_t)v[k] - (uint64_t)s->lo) | /* sign bit: out of range */
                       ((uint64_t)s->n - 1 - (uint64_t)v[k]);
            for (int64_t k = 0; k < m && out >> 63 && s->bad[i] < 0; k++)
                if (v[k] < s->lo || v[k] >= s->n)
                    s->bad[i] = at + k;
        }
    }
}

/* "3,17" for element i. */
static void put_place(const struct assay_tensor *t, int64_t i, char *buf, size_t size)
{
    int64_t below = assay_numel(t);
    size_t used = 0;

    buf[0] = 0;
    for (int d = 0; d < t->rank && used < size; d++) {
        below /= t->shape[d];
        used += (size_t)snprintf(buf + used, size - used, "%s%lld", d ? "," : "",
                                 (long long)(i / below));
        i %= below;
    }
}

enum assay_status assay__index_check_from(const struct assay_tensor *t, const char *name,
                                          int64_t lo, int64_t n, int n_threads,
                                          struct assay_err *err)
{
    int64_t numel = assay_numel(t);
    struct scan s = { .t = t, .lo = lo, .n = n, .piece = numel / PIECES + 1 };
    int64_t pieces = (numel + s.piece - 1) / s.piece;
    char place[160];

    assay_parallel(pieces, s.piece < GRAIN ? GRAIN / s.piece : 1, n_threads, scan_pieces, &s);
    for (int64_t i = 0; i < pieces; i++) {
        if (s.bad[i] < 0)
            continue;
        put_place(t, s.bad[i], place, sizeof place);
        if (n <= lo)
            return assay_fail(err, ASSAY_INVALID, "%s[%s] has nothing to point at", name, place);
        return assay_fail(err, ASSAY_INVALID, "%s[%s] is %lld, outside of %lld to %lld", name,
                          place, (long long)assay_load_int(t, s.bad[i]), (long long)lo,
                          (long long)n - 1);
    }
    return ASSAY_OK;
}

enum assay_status assay__index_check(const struct assay_tensor *t, const char *name, int64_t n,
                                     int n_threads, struct assay_err *err)
{
    return assay__index_check_from(t, name, 0, n, n_threads, err);
}

/* ---- what they point at ---------------------------------------------------------------------- */

/* Where position i of the axes from..to-1 of the index lies in x. */
static int64_t place_in(const struct assay_tensor *index, const struct assay_tensor *x, int from,
                        int to, int64_t i)
{
    int64_t at = 0, stride = 1;

    for (int d = x->rank - 1; d >= from; d--) {
        if (d < to) {
            at += i % index->shape[d] * stride;
            i /= index->shape[d];
        }
        stride *= x->shape[d];
    }
    return at;
}

void assay__index_lanes(const struct assay__panel *p, const struct assay_tensor *index,
                        const struct assay_tensor *x, int axis, int64_t at[ASSAY__WIDTH],
                        int64_t *stride)
{
    int64_t base = place_in(index, x, 0, axis, p->outer);
    int last = index->rank - 1;

    *stride = 1;
    for (int d = last; d > axis; d--)
        *stride *= x->shape[d];
    for (int i = 0; i < p->width; i++) {
        bool next = i > 0 && last > axis && (p->lane + i) % index->shape[last] != 0;

        at[i] = next ? at[i - 1] + 1 : base + place_in(index, x, axis + 1, last + 1, p->lane + i);
    }
}

struct windows {
    struct assay__panel all;
    int64_t per_outer, per_panel, extent, each;
    assay__window_fn body;
    void *ctx;
};

static void window_range(void *ctx, int64_t begin, int64_t end)
{
    const struct windows *j = ctx;

    for (int64_t i = begin; i < end; i++) {
        struct assay__window w = { .p = j->all };
        int64_t panel = i / j->per_panel, left;

        w.p.outer = panel / j->per_outer;
        w.p.lane = panel % j->per_outer * ASSAY__WIDTH;
        left = w.p.inner - w.p.lane;
        w.p.width = left < ASSAY__WIDTH ? (int)left : ASSAY__WIDTH;
        w.first = i % j->per_panel * j->each;
        w.n = j->extent - w.first < j->each ? j->extent - w.first : j->each;
        j->body(j->ctx, &w);
    }
}

void assay__windows(const struct assay_args *a, const struct assay_tensor *t, int axis,
                    int64_t extent, int64_t room, assay__window_fn body, void *ctx)
{
    struct windows j = { .extent = extent, .body = body, .ctx = ctx };
    int64_t outer, widest, cost;

    assay_split(t, axis, &outer, &j.all.n, &j.all.inner);
    widest = j.all.inner < ASSAY__WIDTH ? j.all.inner : ASSAY__WIDTH;
    if (extent == 0 || widest == 0)
        return;
    j.per_outer = (j.all.inner + ASSAY__WIDTH - 1) / ASSAY__WIDTH;
    j.each = room / widest;
    j.per_panel = (extent + j.each - 1) / j.each;
    cost = (j.all.n + (extent < j.each ? extent : j.each)) * widest;
    assay_parallel(outer * j.per_outer * j.per_panel, cost < GRAIN ? GRAIN / cost : 1, a->n_threads,
                   window_range, &j);
}
