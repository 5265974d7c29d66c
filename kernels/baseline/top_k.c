/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_k: each slice collects what is better than the k-th best so far: a few in sorted lists, many
 * in a heap of twice as much as is asked for or somewhat more, from which then what is worse than
 * the k-th is dropped again. Slices that lie side by side are collected together. Keys are turned
 * so that the smallest is the best.
 */
#include <assay/top_k.h>

#include "blocks.h"
#include "layout.h"
#include "order.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { WIDTH = 16, BLOCK = 1024, PIECE = 32, FEW = 32 };

/* What one slice has collected. */
struct lane {
    uint64_t *key;
    uint32_t *at;
    uint64_t bound; /* only what is below it is of interest */
    int64_t n;
};

struct job {
    const struct assay_view *x, *y;
    int64_t *idx;
    int64_t n, inner, k, room; /* room: of a lane */
    int width, bits;
    uint64_t flip;
    char *memory;
    size_t each; /* bytes of it for one thread */
    atomic_int taken;
};

/* ---- one slice ------------------------------------------------------------------------------- */

static inline void swap(struct lane *l, int64_t i, int64_t j)
{
    uint64_t key = l->key[i];
    uint32_t at = l->at[i];

    l->key[i] = l->key[j];
    l->at[i] = l->at[j];
    l->key[j] = key;
    l->at[j] = at;
}

static uint64_t median(uint64_t a, uint64_t b, uint64_t c)
{
    return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

/* Brings the k smallest to the front, in three parts: below, equal to and above a middle one. */
static void keep_best(struct lane *l, int64_t k)
{
    int64_t low = 0, high = l->n;

    while (high - low > 1) {
        uint64_t mid = median(l->key[low], l->key[low + (high - low) / 2], l->key[high - 1]);
        int64_t below = low, above = high;

        for (int64_t i = low; i < above;)
            if (l->key[i] < mid)
                swap(l, i++, below++);
            else if (l->key[i] > mid)
                swap(l, i, --above);
            else
                i++;
        if (k <= below)
            high = below;
        else if (k >= above)
            low = above;
        else
            break;
    }
    l->n = k;
    l->bound = 0;
    for (int64_t i = 0; i < k; i++)
        l->bound = l->key[i] > l->bound ? l->key[i] : l->bound;
}

static inline void collect(struct lane *l, const struct job *j, uint64_t key, int64_t at)
{
    if (key >= l->bound)
        return;
    l->key[l->n] = key;
    l->at[l->n++] = (uint32_t)at;
    if (l->n == j->room)
        keep_best(l, j->k);
}

static bool any_below(const uint64_t *key, const uint64_t *bound, int64_t n)
{
    int any = 0;

    for (int64_t i = 0; i < n; i++)
        any |= key[i] < bound[i];
    return any;
}

static bool any_below_one(const uint64_t *key, uint64_t bound)
{
    int any = 0;

    for (int i = 0; i < PIECE; i++)
        any |= key[i] < bound;
    return any;
}

/* ---- panels ---------------------------------------------------------------------------------- */

static void turn(uint64_t *key, int64_t n, uint64_t flip)
{
    for (int64_t i = 0; i < n; i++)
        key[i] ^= flip;
}

/* A slice whose elements lie one behind the other. */
static void collect_run(struct lane *l, const struct job *j, int64_t from)
{
    uint64_t key[BLOCK];

    for (int64_t s = 0, m; s < j->n; s += m) {
        m = j->n - s < BLOCK ? j->n - s : BLOCK;
        baseline_keys(key, j->x, from + s, m);
        turn(key, m, j->flip);
        for (int64_t i = 0; i < m; i += PIECE) {
            int64_t end = i + PIECE < m ? i + PIECE : m;

            if (end - i == PIECE && !any_below_one(key + i, l->bound))
                continue;
            for (int64_t e = i; e < end; e++)
                collect(l, j, key[e], s + e);
        }
    }
}

/* Slices side by side, row by row. */
static void collect_rows(struct lane *l, const struct job *j, int64_t from, int width)
{
    uint64_t key[WIDTH], bound[WIDTH];

    for (int w = 0; w < width; w++)
        bound[w] = l[w].bound;
    for (int64_t s = 0; s < j->n; s++) {
        baseline_keys(key, j->x, from + s * j->inner, width);
        turn(key, width, j->flip);
        if (!any_below(key, bound, width))
            continue;
        for (int w = 0; w < width; w++) {
            collect(&l[w], j, key[w], s);
            bound[w] = l[w].bound;
        }
    }
}

/*
 * Elements whose key is UINT64_MAX, the worst that there is, are not collected. Where others do not
 * suffice, they follow in order; this is the next one from place s on.
 */
static int64_t next_worst(const struct job *j, int64_t from, int64_t s)
{
    uint64_t key;

    for (; s < j->n; s++) {
        baseline_keys(&key, j->x, from + s * j->inner, 1);
        if ((key ^ j->flip) == UINT64_MAX)
            break;
    }
    return s;
}

/* ---- a few ----------------------------------------------------------------------------------- */

/* Sorted lists of slices side by side; equal keys in the order in which they came. */
enum { HALF = WIDTH / 2 };
typedef uint64_t lanes __attribute__((vector_size(HALF * sizeof(uint64_t))));
struct lists {
    lanes key[FEW][2], at[FEW][2];
};

/* A row takes its places in the lists, what it displaces those behind, and so on. */
static void insert_row(struct lists *l, int64_t k, const uint64_t *row, uint64_t place)
{
    for (int half = 0; half < 2; half++) {
        lanes key, at = place - (lanes){ 0 };

        memcpy(&key, row + half * HALF, sizeof key);
        for (int64_t i = 0; i < k; i++) {
            lanes better = (lanes)(key < l->key[i][half]);
            lanes swap_key = (key ^ l->key[i][half]) & better;
            lanes swap_at = (at ^ l->at[i][half]) & better;

            l->key[i][half] ^= swap_key;
            l->at[i][half] ^= swap_at;
            key ^= swap_key;
            at ^= swap_at;
        }
    }
}

static void list_rows(struct lists *l, const struct job *j, int64_t from, int width)
{
    uint64_t key[WIDTH];
    const uint64_t *worst = (const uint64_t *)l->key[j->k - 1];

    for (int w = width; w < WIDTH; w++)
        key[w] = UINT64_MAX;
    for (int64_t s = 0; s < j->n; s++) {
        baseline_keys(key, j->x, from + s * j->inner, width);
        turn(key, width, j->flip);
        if (any_below(key, worst, WIDTH))
            insert_row(l, j->k, key, (uint64_t)s);
    }
}

/* A slice alone: lane 0. */
static void list_run(struct lists *l, const struct job *j, int64_t from)
{
    uint64_t key[BLOCK], *list_key = (uint64_t *)l->key, *list_at = (uint64_t *)l->at;
    int64_t last = (j->k - 1) * WIDTH;

    for (int64_t s = 0, m; s < j->n; s += m) {
        m = j->n - s < BLOCK ? j->n - s : BLOCK;
        baseline_keys(key, j->x, from + s, m);
        turn(key, m, j->flip);
        for (int64_t i = 0; i < m; i += PIECE) {
            int64_t end = i + PIECE < m ? i + PIECE : m;

            if (end - i == PIECE && !any_below_one(key + i, list_key[last]))
                continue;
            for (int64_t e = i; e < end; e++) {
                int64_t to = last;

                if (key[e] >= list_key[last])
                    continue;
                for (; to > 0 && list_key[to - WIDTH] > key[e]; to -= WIDTH) {
                    list_key[to] = list_key[to - WIDTH];
                    list_at[to] = list_at[to - WIDTH];
                }
                list_key[to] = key[e];
                list_at[to] = (uint64_t)(s + e);
            }
        }
    }
}

/* All of a panel; from, to: its first elements in x and y. */
static void select_few(const struct job *j, int64_t from, int64_t to, int width)
{
    size_t size = baseline_size(j->x->dtype);
    struct lists l;

    const uint64_t *key = (const uint64_t *)l.key, *list_at = (const uint64_t *)l.at;

    memset(l.key, 0xff, (size_t)j->k * sizeof *l.key); /* UINT64_MAX */
    if (j->inner == 1)
        list_run(&l, j, from);
    else
        list_rows(&l, j, from, width);
    for (int w = 0; w < width; w++)
        for (int64_t i = 0, worst = -1; i < j->k; i++) {
            int64_t y_at = to + i * j->inner + w, at = (int64_t)list_at[i * WIDTH + w];

            if (key[i * WIDTH + w] == UINT64_MAX)
                at = worst = next_worst(j, from + w, worst + 1);
            j->idx[y_at] = at;
            memcpy((char *)j->y->data + (size_t)y_at * size,
                   (const char *)j->x->data + (size_t)(from + w + at * j->inner) * size, size);
        }
}

/* ---- many ------------------------------------------------------------------------------------ */

/* The sorted best of a slice; from: its first element in x, to: its first one in y. */
static void write(struct lane *l, const struct job *j, uint64_t *key2, uint32_t *at2, int64_t from,
                  int64_t to)
{
    size_t size = baseline_size(j->x->dtype);

    for (int64_t worst = -1; l->n < j->k; l->n++) {
        l->key[l->n] = UINT64_MAX;
        l->at[l->n] = (uint32_t)(worst = next_worst(j, from, worst + 1));
    }
    if (l->n > j->k)
        keep_best(l, j->k);
    baseline_sort(l->key, l->at, key2, at2, j->k, j->bits);
    for (int64_t s = 0; s < j->k; s++) {
        int64_t y_at = to + s * j->inner;

        j->idx[y_at] = l->at[s];
        memcpy((char *)j->y->data + (size_t)y_at * size,
               (const char *)j->x->data + (size_t)(from + l->at[s] * j->inner) * size, size);
    }
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;
    char *memory = j->memory + (size_t)atomic_fetch_add(&j->taken, 1) * j->each;
    size_t room = (size_t)j->room, cut = (size_t)((j->inner + j->width - 1) / j->width);
    uint64_t *keys = (uint64_t *)(void *)memory;
    uint32_t *ats = (uint32_t *)(void *)(keys + ((size_t)j->width + 1) * room);
    struct lane l[WIDTH];

    for (int64_t i = begin; i < end; i++) {
        int64_t outer = i / (int64_t)cut, lane = i % (int64_t)cut * j->width;
        int64_t from = outer * j->n * j->inner + lane, to = outer * j->k * j->inner + lane;
        int width = j->inner - lane < j->width ? (int)(j->inner - lane) : j->width;

        if (j->k <= FEW) {
            select_few(j, from, to, width);
            continue;
        }
        for (int w = 0; w < width; w++)
            l[w] = (struct lane){ keys + (size_t)w * room, ats + (size_t)w * room, UINT64_MAX, 0 };
        if (j->inner == 1)
            collect_run(l, j, from);
        else
            collect_rows(l, j, from, width);
        for (int w = 0; w < width; w++)
            write(&l[w], j, keys + (size_t)j->width * room, ats + (size_t)j->width * room, from + w,
                  to + w);
    }
}

int assay_top_k(const struct assay_call *c)
{
    const struct top_k_attrs *a = c->attrs;
    struct job j = { .x = c->in[TOP_K_X].view, .y = c->out[TOP_K_Y].view, .inner = 1, .k = a->k };
    int dim = (int)(a->dim < 0 ? a->dim + j.x->rank : a->dim);
    int64_t outer = 1, panels;
    void *own = NULL;

    for (int d = 0; d < j.x->rank; d++)
        if (d < dim)
            outer *= j.x->shape[d];
        else if (d > dim)
            j.inner *= j.x->shape[d];
    j.idx = c->out[TOP_K_IDX].view->data;
    j.n = j.x->shape[dim];
    if (j.n > UINT32_MAX)
        return 1;
    /* as many bits as the element; keys stay below 2^bits, so that UINT64_MAX is no key but of 64
     */
    j.bits = 8 * (int)baseline_size(j.x->dtype);
    j.flip = a->largest ? UINT64_MAX >> (64 - j.bits) : 0;
    j.room = (2 * j.k + PIECE < j.n ? 2 * j.k + PIECE : j.n) + 1;
    j.room += j.room % 2;
    j.width = j.inner < WIDTH ? (int)j.inner : WIDTH;
    j.each = ((size_t)j.width + 1) * (size_t)j.room * (sizeof(uint64_t) + sizeof(uint32_t));
    j.each = (j.each + 63) / 64 * 64;
    j.memory = c->scratch;
    if ((size_t)c->threads * j.each > c->scratch_bytes)
        j.memory = own = malloc((size_t)c->threads * j.each);
    if (!j.memory)
        return 1;
    panels = outer * ((j.inner + j.width - 1) / j.width);
    if (panels > 0)
        baseline_parallel(c, panels, j.n * j.width, body, &j);
    free(own);
    return 0;
}
