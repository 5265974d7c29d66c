/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moe_gating_top_k_softmax: some tokens at a time, one in each lane, their experts one below the
 * other. Exponentials are only added up. The k best are found among the logits as integers of the
 * same order, with the number of the expert in the low bits, by sorting networks: blocks of k are
 * sorted and merged with the best so far. Nothing of it branches. NaN needs no care: it goes
 * through the exponentials into the sum.
 */
#include <assay/moe_gating_top_k_softmax.h>

#include "blocks.h"
#include "tile.h"
#include "vec.h"

#include <math.h>
#include <stdlib.h>

#define NETWORK_ITEM uint64_t
#define NETWORK(name) name##_64
#include "network.h"
#undef NETWORK_ITEM
#undef NETWORK

#define NETWORK_ITEM uint32_t
#define NETWORK(name) name##_32
#include "network.h"

enum { LANES = NETWORK_LANES, PIECE = 64, CHUNK = 32, LINE = 64, STACK = 1 << 16 };

struct job {
    const struct assay_view *x, *y;
    const bool *finished; /* NULL: none */
    int32_t *expert, *row;
    int64_t n, k, rows;
    uint32_t mask; /* of the numbers of experts in narrow items; 0: none */
    int64_t width; /* of a block: k, up to a power of two */
    int64_t chunk; /* experts at a time, one block or more */
};

/* ---- logits ---------------------------------------------------------------------------------- */

/* x[e * LANES + l] = logit e of token first + l; a token beyond the last is the last one again. */
static void load(const struct job *j, int64_t first, float *x)
{
    float buf[LANES * PIECE];

    for (int64_t e = 0; e < j->n; e += PIECE) {
        int64_t m = j->n - e < PIECE ? j->n - e : PIECE;

        for (int l = 0; l < LANES; l++) {
            int64_t row = first + l < j->rows ? first + l : j->rows - 1;
            const float *from = baseline_load(j->x, row * j->n + e, m, buf + l * PIECE);

            if (from != buf + l * PIECE)
                memcpy(buf + l * PIECE, from, (size_t)m * sizeof *buf);
        }
        for (int64_t i = 0; i < m; i += TILE_EDGE)
            for (int l = 0; l < LANES; l += TILE_EDGE)
                tile_turn(x + (e + i) * LANES + l, LANES, buf + l * PIECE + i, PIECE);
    }
}

static void find_tops(const float *x, int64_t n, float *tops)
{
    float top[LANES];

    for (int l = 0; l < LANES; l++)
        top[l] = -INFINITY;
    for (int64_t e = 0; e < n; e++)
        for (int l = 0; l < LANES; l++)
            top[l] = x[e * LANES + l] > top[l] ? x[e * LANES + l] : top[l];
    memcpy(tops, top, sizeof top);
}

static void add_powers(const float *x, int64_t n, const float *top, float *sums)
{
    float sum[LANES] = { 0 };

    for (int64_t e = 0; e < n; e += PIECE) {
        int64_t end = n - e < PIECE ? n : e + PIECE;
        float part[LANES] = { 0 };

        for (int64_t i = e; i < end; i++)
            for (int l = 0; l < LANES; l++)
                part[l] += vec_exp(x[i * LANES + l] - top[l]);
        for (int l = 0; l < LANES; l++)
            sum[l] += part[l];
    }
    memcpy(sums, sum, sizeof sum);
}

/*
 * One logit as a key above the number of its expert, so that of equal ones the lower number is the
 * larger item; no item is 0. Keys of 16-bit numbers leave the low bits of a word free: there may be
 * `mask` experts.
 */
static inline uint32_t key_of(float x)
{
    uint32_t u = assay_f32_to_bits(x);

    return u ^ ((0u - (u >> 31)) | 0x80000000u);
}

static inline float logit_of(uint32_t key)
{
    return assay_bits_to_f32(key ^ (((key >> 31) - 1u) | 0x80000000u));
}

static inline uint64_t wide_item(uint32_t key, uint32_t expert)
{
    return (uint64_t)key << 32 | (uint32_t)~expert;
}

static inline int32_t expert_of(uint64_t item)
{
    return (int32_t) ~(uint32_t)item;
}

static uint32_t mask_of(enum assay_dtype d)
{
    return d == ASSAY_BF16 ? 0xffff : d == ASSAY_F16 ? 0x1fff : 0;
}

/* Experts e .. e+room-1 of all lanes; zeros behind the last. */
static void make_wide(const struct job *j, const float *x, int64_t e, int64_t room, items_64 *v)
{
    int32_t n = (int32_t)((j->n - e < room ? j->n - e : room) * LANES);
    const float *from = x + e * LANES;
    uint64_t *to = v->lane;

    for (int32_t t = 0; t < n; t++)
        to[t] = wide_item(key_of(from[t]), (uint32_t)e + (uint32_t)t / LANES);
    memset(to + n, 0, (size_t)(room * LANES - n) * sizeof *to);
}

static void make_narrow(const struct job *j, const float *x, int64_t e, int64_t room, items_32 *v)
{
    int32_t n = (int32_t)((j->n - e < room ? j->n - e : room) * LANES);
    const float *from = x + e * LANES;
    uint32_t *to = v->lane, mask = j->mask;

    for (int32_t t = 0; t < n; t++)
        to[t] = (key_of(from[t]) & ~mask) | (mask - ((uint32_t)e + (uint32_t)t / LANES));
    memset(to + n, 0, (size_t)(room * LANES - n) * sizeof *to);
}

/* In keys of negative numbers the bits below are all set. */
static void widen(const struct job *j, const items_32 *v, items_64 *to)
{
    uint32_t mask = j->mask;

    for (int64_t i = 0; i < j->k; i++)
        for (int l = 0; l < LANES; l++) {
            uint32_t item = v[i].lane[l];
            uint32_t key = item >> 31 ? item & ~mask : item | mask;

            to[i].lane[l] = wide_item(key, mask - (item & mask));
        }
}

/* ---- results --------------------------------------------------------------------------------- */

/* y[i * LANES + l] = probability of choice i in lane l. */
static void powers_of(const items_64 *best, int64_t k, const float *top, const float *sum, float *y)
{
    float inverse[LANES] = { 0 };

    for (int l = 0; l < LANES; l++)
        inverse[l] = 1.0f / sum[l];
    for (int64_t i = 0; i < k; i++)
        for (int l = 0; l < LANES; l++)
            y[i * LANES + l] =
                vec_exp(logit_of((uint32_t)(best[i].lane[l] >> 32)) - top[l]) * inverse[l];
}

static void put(const struct job *j, int64_t first, const items_64 *best, const float *powers)
{
    int64_t lanes = j->rows - first < LANES ? j->rows - first : LANES;

    for (int64_t l = 0; l < lanes; l++) {
        int64_t row = first + l, at = row * j->k;
        bool ended = j->finished && j->finished[row];

        for (int64_t i = 0; i < j->k; i += PIECE) {
            int64_t m = j->k - i < PIECE ? j->k - i : PIECE;
            float buf[PIECE], *y = baseline_target(j->y, at + i, buf);

            for (int64_t c = 0; c < m; c++) {
                y[c] = powers[(i + c) * LANES + l];
                j->expert[at + i + c] = ended ? (int32_t)j->n : expert_of(best[i + c].lane[l]);
                j->row[at + i + c] = (int32_t)((i + c) * j->rows + row);
            }
            baseline_store(j->y, at + i, m, y);
        }
    }
}

/* The logits of the next group are one run of memory: a share of it for each chunk of this one. */
static void ask_for(const struct job *j, int64_t first, int64_t e)
{
    int64_t size = j->x->dtype == ASSAY_F32 ? 4 : 2, all = j->rows * j->n * size;
    int64_t from = ((first + LANES) * j->n + e * LANES) * size;
    int64_t to = from + j->chunk * LANES * size;

    for (; from < to && from < all; from += LINE)
        __builtin_prefetch((const char *)j->x->data + from);
}

/* The best k of all lanes. There is memory for a chunk behind the block `best`, and for another
 * block and chunk behind that. */
static void find_best(const struct job *j, int64_t first, const float *x, items_64 *best)
{
    items_64 *wide = best + j->width;
    items_32 *few = (items_32 *)(void *)(wide + j->chunk), *narrow = few + j->width;
    bool fits = j->n <= (int64_t)j->mask;

    for (int64_t e = 0; e < j->n; e += j->chunk) {
        ask_for(j, first, e);
        if (fits) {
            make_narrow(j, x, e, j->chunk, narrow);
            take_32(few, narrow, j->chunk, j->width, e == 0);
        } else {
            make_wide(j, x, e, j->chunk, wide);
            take_64(best, wide, j->chunk, j->width, e == 0);
        }
    }
    if (fits)
        widen(j, few, best);
}

/* Groups of LANES tokens. */
static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    size_t floats = (size_t)(j->n + PIECE) * LANES * sizeof(float);
    size_t block = (size_t)(j->width + j->chunk);
    size_t bytes = floats + block * (sizeof(items_64) + sizeof(items_32));
    _Alignas(64) char stack[STACK];
    char *own = bytes > STACK ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
    float *x = (float *)(void *)(own ? own : stack), top[LANES], sum[LANES];
    items_64 *best = (items_64 *)(void *)((char *)x + floats);

    for (int64_t g = begin; g < end && (own || bytes <= STACK); g++) {
        load(j, g * LANES, x);
        find_tops(x, j->n, top);
        add_powers(x, j->n, top, sum);
        find_best(j, g * LANES, x, best);
        powers_of(best, j->k, top, sum, x);
        put(j, g * LANES, best, x);
    }
    free(own);
}

int assay_moe_gating_top_k_softmax(const struct assay_call *c)
{
    const struct moe_gating_top_k_softmax_attrs *a = c->attrs;
    const struct assay_view *finished = c->in[MOE_GATING_TOP_K_SOFTMAX_FINISHED].view;
    struct job j = { .x = c->in[MOE_GATING_TOP_K_SOFTMAX_X].view,
                     .y = c->out[MOE_GATING_TOP_K_SOFTMAX_Y].view,
                     .finished = finished ? finished->data : NULL,
                     .expert = c->out[MOE_GATING_TOP_K_SOFTMAX_EXPERT_IDX].view->data,
                     .row = c->out[MOE_GATING_TOP_K_SOFTMAX_ROW_IDX].view->data,
                     .k = a->k,
                     .mask =
                         mask_of((enum assay_dtype)c->in[MOE_GATING_TOP_K_SOFTMAX_X].view->dtype),
                     .width = 1 };

    j.n = j.x->shape[j.x->rank - 1];
    j.rows = baseline_numel(j.x) / j.n;
    while (j.width < j.k)
        j.width *= 2;
    for (j.chunk = j.width; j.chunk < CHUNK && j.chunk < j.n;)
        j.chunk *= 2;
    if (j.rows > 0)
        baseline_parallel(c, (j.rows + LANES - 1) / LANES, 4 * j.n * LANES, body, &j);
    return 0;
}
