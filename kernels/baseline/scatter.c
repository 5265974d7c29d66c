/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scatter: data is copied, then updated tile by tile of lanes; what a tile writes to stays in the
 * cache, and no two threads meet. Reductions of 16-bit floats go through a tile of float32.
 */
#include <assay/scatter.h>

#include "blocks.h"
#include "index.h"

struct job {
    struct baseline_index g;
    const struct assay_view *data, *indices, *updates, *y;
    enum scatter_reduce reduce;
    int64_t size, tile, tiles; /* lanes of a tile; tiles of a unit */
    float *scratch;
};

static void copy(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    memcpy((char *)j->y->data + begin * j->size, (const char *)j->data->data + begin * j->size,
           (size_t)((end - begin) * j->size));
}

/* ---- one run of updates ---------------------------------------------------------------------- */

static void put(const struct job *j, int64_t base, const int32_t *to, int64_t at, int64_t n)
{
    const char *u = (const char *)j->updates->data + at * j->size;
    char *y = (char *)j->y->data + base * j->size;

    if (j->size == 4)
        for (int64_t k = 0; k < n; k++)
            ((uint32_t *)y)[to[k]] = ((const uint32_t *)u)[k];
    else if (j->size == 2)
        for (int64_t k = 0; k < n; k++)
            ((uint16_t *)y)[to[k]] = ((const uint16_t *)u)[k];
    else
        for (int64_t k = 0; k < n; k++)
            ((uint64_t *)y)[to[k]] = ((const uint64_t *)u)[k];
}

/* y, or NaN where u is one, without a branch: which value wins cannot be foretold. */
static inline float or_nan(float y, float u)
{
    uint32_t mask = 0u - (uint32_t)(u != u);

    return assay_bits_to_f32(assay_f32_to_bits(y) | (assay_f32_to_bits(u) & mask));
}

static void reduce_f32(enum scatter_reduce reduce, float *y, const int32_t *to, const float *u,
                       int64_t n)
{
    if (reduce == SCATTER_REDUCE_ADD)
        for (int64_t k = 0; k < n; k++)
            y[to[k]] += u[k];
    else if (reduce == SCATTER_REDUCE_MULTIPLY)
        for (int64_t k = 0; k < n; k++)
            y[to[k]] *= u[k];
    else if (reduce == SCATTER_REDUCE_AMIN)
        for (int64_t k = 0; k < n; k++)
            y[to[k]] = or_nan(u[k] < y[to[k]] ? u[k] : y[to[k]], u[k]);
    else
        for (int64_t k = 0; k < n; k++)
            y[to[k]] = or_nan(u[k] > y[to[k]] ? u[k] : y[to[k]], u[k]);
}

/* Sums and products wrap: unsigned. */
static void reduce_i32(enum scatter_reduce reduce, int32_t *y, const int32_t *to, const int32_t *u,
                       int64_t n)
{
    if (reduce == SCATTER_REDUCE_ADD)
        for (int64_t k = 0; k < n; k++)
            y[to[k]] = (int32_t)((uint32_t)y[to[k]] + (uint32_t)u[k]);
    else if (reduce == SCATTER_REDUCE_MULTIPLY)
        for (int64_t k = 0; k < n; k++)
            y[to[k]] = (int32_t)((uint32_t)y[to[k]] * (uint32_t)u[k]);
    else if (reduce == SCATTER_REDUCE_AMIN)
        for (int64_t k = 0; k < n; k++)
            y[to[k]] = u[k] < y[to[k]] ? u[k] : y[to[k]];
    else
        for (int64_t k = 0; k < n; k++)
            y[to[k]] = u[k] > y[to[k]] ? u[k] : y[to[k]];
}

static void reduce_i64(enum scatter_reduce reduce, int64_t *y, const int32_t *to, const int64_t *u,
                       int64_t n)
{
    if (reduce == SCATTER_REDUCE_ADD)
        for (int64_t k = 0; k < n; k++)
            y[to[k]] = (int64_t)((uint64_t)y[to[k]] + (uint64_t)u[k]);
    else if (reduce == SCATTER_REDUCE_MULTIPLY)
        for (int64_t k = 0; k < n; k++)
            y[to[k]] = (int64_t)((uint64_t)y[to[k]] * (uint64_t)u[k]);
    else if (reduce == SCATTER_REDUCE_AMIN)
        for (int64_t k = 0; k < n; k++)
            y[to[k]] = u[k] < y[to[k]] ? u[k] : y[to[k]];
    else
        for (int64_t k = 0; k < n; k++)
            y[to[k]] = u[k] > y[to[k]] ? u[k] : y[to[k]];
}

/* Updates at .. at+n-1 go to elements to[] of y, counted from `base`. */
static void apply(const struct job *j, int64_t base, const int32_t *to, int64_t at, int64_t n)
{
    if (j->reduce == SCATTER_REDUCE_UPDATE)
        put(j, base, to, at, n);
    else if (j->y->dtype == ASSAY_F32)
        reduce_f32(j->reduce, (float *)j->y->data + base, to, (const float *)j->updates->data + at,
                   n);
    else if (j->y->dtype == ASSAY_I32)
        reduce_i32(j->reduce, (int32_t *)j->y->data + base, to,
                   (const int32_t *)j->updates->data + at, n);
    else
        reduce_i64(j->reduce, (int64_t *)j->y->data + base, to,
                   (const int64_t *)j->updates->data + at, n);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* One tile: n lanes from element `at` of the indices and x_at of y on. */
static void tile(const struct job *j, int64_t at, int64_t x_at, int64_t n)
{
    const struct baseline_index *g = &j->g;
    int32_t to[BASELINE_AT];

    for (int64_t r = 0; r < g->rows; r++, at += g->row_step)
        for (int64_t k = 0, m; k < n; k += m) {
            m = n - k < BASELINE_AT ? n - k : BASELINE_AT;
            baseline_index_targets(g, j->indices, at + k, m, g->stride, to);
            apply(j, x_at + k * g->lane, to, at + k, m);
        }
}

/* The same by way of float32: all steps of the tile, `width` lanes each, side by side in sum. */
static void tile_16(const struct job *j, int64_t at, int64_t x_at, int64_t n, float *sum)
{
    const struct baseline_index *g = &j->g;
    int32_t to[BASELINE_AT], width = g->lane ? n : 1;
    int64_t run = g->lane ? width : g->extent, runs = g->lane ? g->extent : 1;
    float u[BASELINE_AT];

    for (int64_t s = 0; s < runs; s++)
        baseline_load(j->data, x_at + s * g->stride, run, sum + s * run);
    for (int64_t r = 0; r < g->rows; r++, at += g->row_step)
        for (int64_t k = 0, m; k < n; k += m) {
            m = n - k < BASELINE_AT ? n - k : BASELINE_AT;
            baseline_index_targets(g, j->indices, at + k, m, width, to);
            reduce_f32(j->reduce, sum + k * g->lane, to, baseline_load(j->updates, at + k, m, u),
                       m);
        }
    for (int64_t s = 0; s < runs; s++)
        baseline_store(j->y, x_at + s * g->stride, run, sum + s * run);
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const struct baseline_index *g = &j->g;
    bool wide = j->size == 2 && j->reduce != SCATTER_REDUCE_UPDATE;
    /* a range has the part of the scratch that its first tile may have */
    float *sum = j->scratch + begin * g->extent * (g->lane ? j->tile : 1);

    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % j->tiles * j->tile, at, x_at;
        int64_t n = g->len - first < j->tile ? g->len - first : j->tile;

        baseline_index_unit(g, i / j->tiles, &at, &x_at);
        at += first;
        x_at += first * g->lane;
        if (wide)
            tile_16(j, at, x_at, n, sum);
        else
            tile(j, at, x_at, n);
    }
}

int assay_scatter(const struct assay_call *c)
{
    const struct scatter_attrs *a = c->attrs;
    struct job j = { .data = c->in[SCATTER_DATA].view,
                     .indices = c->in[SCATTER_INDICES].view,
                     .updates = c->in[SCATTER_UPDATES].view,
                     .y = c->out[SCATTER_Y].view,
                     .reduce = a->reduce,
                     .scratch = c->scratch };

    j.size = (int64_t)baseline_size(j.y->dtype);
    baseline_parallel(c, baseline_numel(j.y), 1, copy, &j);
    if (baseline_numel(j.updates) == 0)
        return 0;
    if (!baseline_index_init(&j.g, j.indices, j.data, a->dim))
        return 1;
    j.tile = j.g.lane ? baseline_index_tile(&j.g, j.size == 2 ? 4 : j.size) : j.g.len;
    j.tile = j.tile < j.g.len ? j.tile : j.g.len;
    j.tiles = (j.g.len + j.tile - 1) / j.tile;
    baseline_parallel(c, j.g.units * j.tiles, j.g.rows * j.tile, body, &j);
    return 0;
}
