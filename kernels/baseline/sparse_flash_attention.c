/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sparse_flash_attention: the heads that share a list are the rows of a unit, and its keys are
 * gathered block by block; values are their beginnings. With is_causal, lists are first brought
 * into scratch memory without what their queries do not see.
 *
 * Many rows are worth the packing of attention_run(). With few, a block of keys is widened once,
 * for scores and for results.
 */
#include <assay/sparse_flash_attention.h>

#include "attention.h"
#include "gemm.h"
#include "heads.h"
#include "reduce.h"
#include "vec.h"

#include <stdlib.h>

#ifndef __has_builtin
#define __has_builtin(x) 0
#endif

enum { LANES = GEMM_LANES, FEW = 20, KEYS = 64, COLUMNS = 4, AHEAD = 8 };

struct job {
    struct heads q, k, list, y;
    int64_t kv_heads, group, places, keys;
    int64_t dk, dv; /* padded to whole vectors */
    bool causal;
    float scale;
    int32_t *seen, *room; /* with causal: length and keys of each unit's list */
};

/* Where unit (b n2 + kv) s1 + place has what p holds, `heads` heads of p for each list. */
static int64_t at_unit(const struct job *j, const struct heads *p, int64_t unit, int64_t heads)
{
    int64_t head = unit / j->places;

    return head / j->kv_heads * p->batch + head % j->kv_heads * heads * p->head +
           unit % j->places * p->place;
}

static const int32_t *list_of(const struct job *j, int64_t unit)
{
    if (j->causal)
        return j->room + unit * j->list.width;
    return (const int32_t *)j->list.v->data + at_unit(j, &j->list, unit, 1);
}

static void load_query(const void *ctx, int64_t unit, int64_t i, int64_t at, int64_t n, float *to)
{
    const struct job *j = ctx;

    gemm_load(j->q.v, at_unit(j, &j->q, unit, j->group) + i * j->q.head + at, n, to);
}

/* Where the head of keys of a unit begins. */
static int64_t keys_of(const struct job *j, int64_t unit)
{
    int64_t head = unit / j->places;

    return head / j->kv_heads * j->k.batch + head % j->kv_heads * j->k.head;
}

/* A key, or a value. */
static void load_key(const void *ctx, int64_t unit, int64_t i, int64_t at, int64_t n, float *to)
{
    const struct job *j = ctx;

    gemm_load(j->k.v, keys_of(j, unit) + list_of(j, unit)[i] * j->k.place + at, n, to);
}

static void store(const void *ctx, int64_t unit, int64_t i, int64_t at, int64_t n, const float *y)
{
    const struct job *j = ctx;

    gemm_store(j->y.v, at_unit(j, &j->y, unit, j->group) + i * j->y.head + at, n, y);
}

static int64_t sees(const void *ctx, int64_t unit, int64_t i)
{
    const struct job *j = ctx;

    (void)i;
    return j->causal ? j->seen[unit] : j->list.width;
}

/* ---- few rows -------------------------------------------------------------------------------- */

typedef float vec __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

/* Buffers of one thread, in floats: rows and keys of dk, results of dv. */
struct buffers {
    float *q, *k, *s, *y;
};

/* Sums of neighbours: those of a, then those of b. */
static inline vec pair_sums(vec a, vec b)
{
#if defined(__AVX512F__) && __has_builtin(__builtin_shufflevector)
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28,
                                   30) +
           __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
#elif defined(__AVX2__) && __has_builtin(__builtin_shufflevector)
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14) +
           __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
#else
    vec sum = { 0 };

    for (int l = 0; l < LANES / 2; l++) {
        sum[l] = a[2 * l] + a[2 * l + 1];
        sum[LANES / 2 + l] = b[2 * l] + b[2 * l + 1];
    }
    return sum;
#endif
}

/* Products of `rows` rows of q with LANES / rows keys: those of the first row, then of the second.
 */
static inline vec dots(int rows, const float *q, const float *k, int64_t d)
{
    vec acc[LANES] = { { 0 } };
    int n = LANES / rows;

    for (int64_t i = 0; i < d; i += LANES)
#pragma GCC unroll 2
        for (int r = 0; r < rows; r++) {
            vec x = *(const vec *)(q + r * d + i);

#pragma GCC unroll 16
            for (int l = 0; l < n; l++)
                acc[r * n + l] += x * *(const vec *)(k + l * d + i);
        }
#pragma GCC unroll 4
    for (int left = LANES; left > 1; left /= 2)
#pragma GCC unroll 8
        for (int l = 0; l < left / 2; l++)
            acc[l] = pair_sums(acc[2 * l], acc[2 * l + 1]);
    return acc[0];
}

static void few_scores(const struct job *j, const struct buffers *b, int64_t n)
{
    int64_t r = 0;

    for (; r + 2 <= j->group; r += 2)
        for (int64_t k = 0; k < n; k += LANES / 2) {
            vec s = dots(2, b->q + r * j->dk, b->k + k * j->dk, j->dk) * j->scale;

            memcpy(b->s + r * KEYS + k, &s, sizeof s / 2);
            memcpy(b->s + (r + 1) * KEYS + k, (const char *)&s + sizeof s / 2, sizeof s / 2);
        }
    for (int64_t k = 0; r < j->group && k < n; k += LANES)
        *(vec *)(b->s + r * KEYS + k) =
            dots(1, b->q + r * j->dk, b->k + k * j->dk, j->dk) * j->scale;
}

struct row {
    float max, sum;
};

/* Scores of n keys become weights; the result is what earlier ones are worth now. */
static float soften(float *restrict s, int64_t n, struct row *r)
{
    float max = reduce_max(s, n), base, alpha;

    max = max > r->max ? max : r->max;
    base = max == -__builtin_inff() ? 0.0f : max;
    alpha = vec_exp(r->max - base);
    for (int64_t k = 0; k < n; k++)
        s[k] = vec_exp(s[k] - base);
    for (int64_t k = n; k < KEYS; k++)
        s[k] = 0.0f;
    r->sum = r->sum * alpha + (float)reduce_sum(s, n);
    r->max = max;
    return alpha;
}

/* COLUMNS vectors of `rows` results, or fewer. */
static inline void add_values(int rows, int columns, const struct job *j, const struct buffers *b,
                              int64_t r, int64_t at, int64_t n, const float *alpha)
{
    vec acc[2][COLUMNS];

    for (int i = 0; i < rows; i++)
        for (int c = 0; c < columns; c++)
            acc[i][c] = *(const vec *)(b->y + (r + i) * j->dv + at + c * LANES) * alpha[r + i];
    for (int64_t k = 0; k < n; k++)
#pragma GCC unroll 2
        for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
            for (int c = 0; c < columns; c++)
                acc[i][c] +=
                    b->s[(r + i) * KEYS + k] * *(const vec *)(b->k + k * j->dk + at + c * LANES);
    for (int i = 0; i < rows; i++)
        for (int c = 0; c < columns; c++)
            *(vec *)(b->y + (r + i) * j->dv + at + c * LANES) = acc[i][c];
}

static void few_values(const struct job *j, const struct buffers *b, int64_t n, const float *alpha)
{
    for (int64_t r = 0; r < j->group; r += 2) {
        int64_t at = 0;

        for (; at + COLUMNS * LANES <= j->dv; at += COLUMNS * LANES)
            if (r + 1 < j->group)
                add_values(2, COLUMNS, j, b, r, at, n, alpha);
            else
                add_values(1, COLUMNS, j, b, r, at, n, alpha);
        for (; at < j->dv; at += LANES)
            if (r + 1 < j->group)
                add_values(2, 1, j, b, r, at, n, alpha);
            else
                add_values(1, 1, j, b, r, at, n, alpha);
    }
}

/* n keys of a list of `all`, and zeros up to whole tiles; what comes later is asked for ahead. */
static void widen(const struct job *j, const int32_t *list, int64_t n, int64_t all, int64_t first,
                  float *to)
{
    const char *data = (const char *)j->k.v->data;
    int64_t bytes = j->k.width * 2;

    for (int64_t i = 0; i < n; i++) {
        if (i + AHEAD < all)
            for (int64_t line = 0; line < bytes; line += 64)
                __builtin_prefetch(data + (first + list[i + AHEAD] * j->k.place) * 2 + line);
        gemm_load(j->k.v, first + list[i] * j->k.place, j->k.width, to + i * j->dk);
        for (int64_t d = j->k.width; d < j->dk; d++)
            to[i * j->dk + d] = 0.0f;
    }
    for (int64_t i = n; i < KEYS && i % LANES != 0; i++)
        memset(to + i * j->dk, 0, (size_t)j->dk * sizeof *to);
}

static void run_few(const struct job *j, const struct buffers *b, int64_t unit)
{
    const int32_t *list = list_of(j, unit);
    int64_t all = sees(j, unit, 0), first = keys_of(j, unit);
    float alpha[FEW];
    struct row row[FEW];

    for (int64_t r = 0; r < j->group; r++) {
        row[r] = (struct row){ -__builtin_inff(), 0.0f };
        load_query(j, unit, r, 0, j->q.width, b->q + r * j->dk);
        for (int64_t d = j->q.width; d < j->dk; d++)
            b->q[r * j->dk + d] = 0.0f;
    }
    memset(b->y, 0, (size_t)(j->group * j->dv) * sizeof *b->y);
    for (int64_t k = 0; k < all; k += KEYS) {
        int64_t n = all - k < KEYS ? all - k : KEYS;

        widen(j, list + k, n, all - k, first, b->k);
        few_scores(j, b, n);
        for (int64_t r = 0; r < j->group; r++)
            alpha[r] = soften(b->s + r * KEYS, n, &row[r]);
        few_values(j, b, n, alpha);
    }
    for (int64_t r = 0; r < j->group; r++) {
        float *y = b->y + r * j->dv, inverse = 1.0f / row[r].sum;
        int none = row[r].max == -__builtin_inff() && !(row[r].sum != 0.0f);

        for (int64_t d = 0; d < j->dv; d++)
            y[d] = none ? 0.0f : y[d] * inverse;
        store(j, unit, r, 0, j->y.width, y);
    }
}

struct few {
    const struct job *j;
    float *memory;
    int64_t each, units, threads;
};

static void few_body(void *ctx, int64_t begin, int64_t end)
{
    const struct few *f = ctx;
    const struct job *j = f->j;

    for (int64_t t = begin; t < end; t++) {
        float *at = f->memory + t * f->each;
        struct buffers b = { at, at + FEW * j->dk, NULL, NULL };

        b.s = b.k + KEYS * j->dk;
        b.y = b.s + FEW * KEYS;
        for (int64_t u = f->units * t / f->threads; u < f->units * (t + 1) / f->threads; u++)
            run_few(j, &b, u);
    }
}

static int run_all_few(const struct assay_call *c, const struct job *j, int64_t units)
{
    struct few f = { j, c->scratch, (FEW + KEYS) * j->dk + FEW * (KEYS + j->dv), units,
                     c->threads };
    size_t bytes;

    if (units * j->group * j->list.width * (j->dk + j->dv) < 200000)
        f.threads = 1; /* not worth a second one */
    f.each = (f.each + 15) / 16 * 16;
    bytes = (size_t)(f.each * f.threads) * sizeof *f.memory;
    if (bytes > c->scratch_bytes)
        f.memory = aligned_alloc(64, bytes);
    if (!f.memory)
        return 1;
    if (f.threads > 1)
        c->parallel(c, f.threads, few_body, &f);
    else
        few_body(&f, 0, 1);
    if (f.memory != c->scratch)
        free(f.memory);
    return 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

static void shorten(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t u = begin; u < end; u++) {
        const int32_t *from = (const int32_t *)j->list.v->data + at_unit(j, &j->list, u, 1);
        int64_t limit = u % j->places + j->keys - j->places;
        int32_t *to = j->room + u * j->list.width;
        int32_t n = 0;

        for (int64_t l = 0; l < j->list.width; l++) {
            to[n] = from[l];
            n += from[l] <= limit;
        }
        j->seen[u] = n;
    }
}

/* The lists as they are seen, in the first part of the scratch memory; the rest is left to `c`. */
static void shorten_all(struct job *j, struct assay_call *c, int64_t units)
{
    size_t bytes = (size_t)(units * (j->list.width + 1)) * sizeof(int32_t);

    bytes = (bytes + 63) / 64 * 64;
    j->seen = c->scratch;
    j->room = j->seen + units;
    baseline_parallel(c, units, j->list.width, shorten, j);
    c->scratch = (char *)c->scratch + bytes;
    c->scratch_bytes -= bytes;
}

int assay_sparse_flash_attention(const struct assay_call *c)
{
    const struct sparse_flash_attention_attrs *a = c->attrs;
    const struct assay_view *q = c->in[SPARSE_FLASH_ATTENTION_QUERY].view;
    const struct assay_view *k = c->in[SPARSE_FLASH_ATTENTION_KEY].view;
    bool first = a->inputLayout == SPARSE_FLASH_ATTENTION_INPUTLAYOUT_BNSD;
    int heads = first ? 1 : 2, places = first ? 2 : 1;
    struct job j = { .q = heads_of(q, first),
                     .k = heads_of(k, first),
                     .list = heads_of(c->in[SPARSE_FLASH_ATTENTION_SPARSEINDICES].view, first),
                     .y = heads_of(c->out[SPARSE_FLASH_ATTENTION_Y].view, first),
                     .kv_heads = k->shape[heads],
                     .group = q->shape[heads] / k->shape[heads],
                     .places = q->shape[places],
                     .keys = k->shape[places],
                     .causal = a->is_causal,
                     .scale = (float)a->scaleValue };
    struct attention p = { .units = q->shape[0] * j.kv_heads * j.places,
                           .rows = j.group,
                           .keys = j.list.width,
                           .dk = j.q.width,
                           .dv = j.y.width,
                           .query = load_query,
                           .key = load_key,
                           .value = load_key,
                           .store = store,
                           .sees = sees,
                           .ctx = &j,
                           .scale = j.scale };
    struct assay_call rest = *c;

    if (j.causal)
        shorten_all(&j, &rest, p.units);
    j.dk = (p.dk + LANES - 1) / LANES * LANES;
    j.dv = (p.dv + LANES - 1) / LANES * LANES;
    return j.group <= FEW ? run_all_few(&rest, &j, p.units) : attention_run(&rest, &p);
}
