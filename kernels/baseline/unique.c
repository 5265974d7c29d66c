/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unique: values that lie close together, as those of 8 and 16 bits do, are marked in a table.
 * Others are dealt to buckets by their highest bits, and the buckets are sorted one by one, in the
 * caches; places travel with the values when the inverse is asked for.
 */
#include <assay/unique.h>

#include "blocks.h"
#include "order.h"

enum { BLOCK = 1024, CLOSE = 1 << 20, BUCKETS = 2048, MAX_PIECES = 32 };

struct job {
    const struct assay_view *x, *y;
    int64_t *inverse; /* NULL: not asked for */
    int64_t n, n_pieces, piece;
    uint64_t min, max;
    uint64_t ends[MAX_PIECES][2];
    /* close together */
    uint8_t *seen; /* [pieces][range] */
    uint32_t *rank;
    /* far apart */
    int shift;
    uint64_t *key[2];
    uint32_t *with[2];
    int64_t (*next)[BUCKETS]; /* [pieces] */
    int64_t first[BUCKETS + 1], distinct[BUCKETS + 1];
};

static int64_t end_of(const struct job *j, int64_t piece)
{
    int64_t end = (piece + 1) * j->piece;

    return end < j->n ? end : j->n;
}

/* Loops over the keys of a piece, block by block. */
#define EACH_BLOCK(j, p, at, m)            \
    for (int64_t at = (p) * (j)->piece, m; \
         m = end_of(j, p) - at, m = m < BLOCK ? m : BLOCK, m > 0; at += m)

static void find_ends(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;
    uint64_t key[BLOCK];

    for (int64_t p = begin; p < end; p++) {
        uint64_t min = UINT64_MAX, max = 0;

        EACH_BLOCK(j, p, at, m)
        {
            baseline_keys(key, j->x, at, m);
            for (int64_t k = 0; k < m; k++) {
                min = key[k] < min ? key[k] : min;
                max = key[k] > max ? key[k] : max;
            }
        }
        j->ends[p][0] = min;
        j->ends[p][1] = max;
    }
}

/* ---- close together -------------------------------------------------------------------------- */

static void mark(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;
    uint64_t key[BLOCK];
    size_t range = (size_t)(j->max - j->min) + 1;

    for (int64_t p = begin; p < end; p++) {
        uint8_t *seen = j->seen + (size_t)p * range;

        memset(seen, 0, range);
        EACH_BLOCK(j, p, at, m)
        {
            baseline_keys(key, j->x, at, m);
            for (int64_t k = 0; k < m; k++)
                seen[key[k] - j->min] = 1;
        }
    }
}

static void look_up(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;
    uint64_t key[BLOCK];

    for (int64_t p = begin; p < end; p++)
        EACH_BLOCK(j, p, at, m)
        {
            baseline_keys(key, j->x, at, m);
            for (int64_t k = 0; k < m; k++)
                j->inverse[at + k] = j->rank[key[k] - j->min];
        }
}

static int64_t close_together(const struct assay_call *c, struct job *j)
{
    int64_t range = (int64_t)(j->max - j->min) + 1, used = 0, n = 0;
    uint64_t key[BLOCK];

    baseline_parallel(c, j->n_pieces, j->piece, mark, j);
    for (int64_t v = 0; v < range; v++) {
        uint8_t seen = 0;

        for (int64_t p = 0; p < j->n_pieces; p++)
            seen |= j->seen[p * range + v];
        j->rank[v] = (uint32_t)(used + n);
        if (seen)
            key[n++] = j->min + (uint64_t)v;
        if (n == BLOCK || v == range - 1) {
            baseline_values(j->y, used, n, key);
            used += n;
            n = 0;
        }
    }
    if (j->inverse)
        baseline_parallel(c, j->n_pieces, j->piece, look_up, j);
    return used;
}

/* ---- far apart ------------------------------------------------------------------------------- */

static void count(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;
    uint64_t key[BLOCK];

    for (int64_t p = begin; p < end; p++) {
        memset(j->next[p], 0, sizeof j->next[p]);
        EACH_BLOCK(j, p, at, m)
        {
            baseline_keys(key, j->x, at, m);
            for (int64_t k = 0; k < m; k++)
                j->next[p][(key[k] - j->min) >> j->shift]++;
        }
    }
}

static void deal(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;
    uint64_t key[BLOCK];

    for (int64_t p = begin; p < end; p++)
        EACH_BLOCK(j, p, at, m)
        {
            baseline_keys(key, j->x, at, m);
            for (int64_t k = 0; k < m; k++) {
                int64_t to = j->next[p][(key[k] - j->min) >> j->shift]++;

                j->key[0][to] = key[k] - j->min;
                if (j->inverse)
                    j->with[0][to] = (uint32_t)(at + k);
            }
        }
}

/* Sorts the buckets and counts the values in each. */
static void sort(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;

    for (int64_t b = begin; b < end; b++) {
        int64_t at = j->first[b], n = j->first[b + 1] - at, used = n > 0;
        const uint64_t *key = j->key[0] + at;

        baseline_sort(j->key[0] + at, j->inverse ? j->with[0] + at : NULL, j->key[1] + at,
                      j->inverse ? j->with[1] + at : NULL, n, j->shift);
        for (int64_t i = 1; i < n; i++)
            used += key[i] != key[i - 1];
        j->distinct[b] = used;
    }
}

static void finish(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;

    for (int64_t b = begin; b < end; b++) {
        int64_t at = j->first[b], n = j->first[b + 1] - at, used = 0;
        uint64_t *key = j->key[0] + at;

        for (int64_t i = 0, last = 0; i < n; i++) {
            if (i == 0 || key[i] != key[last]) {
                j->key[1][at + used++] = key[i] + j->min;
                last = i;
            }
            if (j->inverse)
                j->inverse[j->with[0][at + i]] = j->distinct[b] + used - 1;
        }
        baseline_values(j->y, j->distinct[b], used, j->key[1] + at);
    }
}

static int64_t far_apart(const struct assay_call *c, struct job *j)
{
    int64_t at = 0, below = 0;

    while ((j->max - j->min) >> j->shift >= BUCKETS)
        j->shift++;
    baseline_parallel(c, j->n_pieces, j->piece, count, j);
    for (int64_t b = 0; b < BUCKETS; b++) {
        j->first[b] = at;
        for (int64_t p = 0; p < j->n_pieces; p++) {
            int64_t n = j->next[p][b];

            j->next[p][b] = at;
            at += n;
        }
    }
    j->first[BUCKETS] = at;
    baseline_parallel(c, j->n_pieces, j->piece, deal, j);
    baseline_parallel(c, BUCKETS, j->n / BUCKETS + 1, sort, j);
    for (int64_t b = 0; b < BUCKETS; b++) {
        int64_t n = j->distinct[b];

        j->distinct[b] = below;
        below += n;
    }
    baseline_parallel(c, BUCKETS, j->n / BUCKETS + 1, finish, j);
    return below;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static char *take(char **free, size_t bytes)
{
    char *p = *free;

    *free += (bytes + 63) / 64 * 64;
    return p;
}

/* Lays the arrays out in the scratch memory; false when they do not fit. */
static bool lay_out(const struct assay_call *c, struct job *j, bool close)
{
    size_t n = (size_t)j->n, range = (size_t)(j->max - j->min) + 1;
    char *free = c->scratch;

    if (close) {
        j->rank = (void *)take(&free, range * sizeof *j->rank);
        j->seen = (void *)take(&free, (size_t)j->n_pieces * range);
    } else {
        for (int i = 0; i < 2; i++)
            j->key[i] = (void *)take(&free, n * sizeof *j->key[i]);
        for (int i = 0; i < 2 && j->inverse; i++)
            j->with[i] = (void *)take(&free, n * sizeof *j->with[i]);
    }
    return (size_t)(free - (char *)c->scratch) <= c->scratch_bytes;
}

int assay_unique(const struct assay_call *c)
{
    static int64_t next[MAX_PIECES][BUCKETS];
    static struct job job;
    const struct unique_attrs *a = c->attrs;
    struct assay_view *y = c->out[UNIQUE_Y].view;
    struct job *j = &job;
    int pieces = c->threads < MAX_PIECES ? c->threads : MAX_PIECES;
    bool close;

    *j = (struct job){ .x = c->in[UNIQUE_X].view, .y = y, .next = next };
    j->inverse = a->return_inverse ? c->out[UNIQUE_INVERSE].view->data : NULL;
    j->n = baseline_numel(j->x);
    if (j->n == 0) {
        y->shape[0] = 0;
        return 0;
    }
    j->piece = (j->n + pieces - 1) / pieces;
    j->n_pieces = (j->n + j->piece - 1) / j->piece;
    baseline_parallel(c, j->n_pieces, j->piece, find_ends, j);
    j->min = UINT64_MAX;
    for (int64_t p = 0; p < j->n_pieces; p++) {
        j->min = j->ends[p][0] < j->min ? j->ends[p][0] : j->min;
        j->max = j->ends[p][1] > j->max ? j->ends[p][1] : j->max;
    }
    close = j->max - j->min < CLOSE && j->max - j->min < 16 * (uint64_t)j->n + 65536;
    if (j->n > UINT32_MAX || !lay_out(c, j, close))
        return 1;
    y->shape[0] = close ? close_together(c, j) : far_apart(c, j);
    return 0;
}
