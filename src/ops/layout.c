/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c: copies that change the order of elements. */
#include "ops/layout.h"

#include "ops/map.h"

#include <string.h>

const struct assay_tol assay__exact[] = {
    { ASSAY_F16, 0 }, { ASSAY_BF16, 0 }, { ASSAY_F32, 0 }, { ASSAY_F32, -1 }
};

/* A tile has so many elements a side; GRAIN elements or more are one thread's turn. */
enum { TILE = 64, GRAIN = 16 * ASSAY__BLOCK };

void assay__layout_simplify(struct assay__layout *l)
{
    int rank = 0;

    for (int i = 0; i < l->rank; i++) {
        if (l->n[i] == 1)
            continue;
        if (rank > 0 && l->step[rank - 1] == l->n[i] * l->step[i]) {
            l->n[rank - 1] *= l->n[i];
            l->step[rank - 1] = l->step[i];
            continue;
        }
        l->n[rank] = l->n[i];
        l->step[rank++] = l->step[i];
    }
    if (rank == 0) {
        l->n[0] = l->step[0] = 1;
        rank = 1;
    }
    l->rank = rank;
}

struct job {
    const struct assay_tensor *x, *y;
    struct assay__layout l;
    int64_t y_step[ASSAY_MAX_RANK];
    int last, fast;       /* axes on which y and x run on; the same: rows, else tiles */
    int64_t cut_l, cut_f; /* pieces that the two are cut into */
    int64_t len_l, len_f; /* their length */
};

/* dst[i to] = src[i from] for elements of a size. */
static void move(void *dst, int64_t to, const void *src, int64_t from, int64_t n, size_t size)
{
    if (size == 1)
        for (int64_t i = 0; i < n; i++)
            ((uint8_t *)dst)[i * to] = ((const uint8_t *)src)[i * from];
    else if (size == 2)
        for (int64_t i = 0; i < n; i++)
            ((uint16_t *)dst)[i * to] = ((const uint16_t *)src)[i * from];
    else if (size == 4)
        for (int64_t i = 0; i < n; i++)
            ((uint32_t *)dst)[i * to] = ((const uint32_t *)src)[i * from];
    else
        for (int64_t i = 0; i < n; i++)
            ((uint64_t *)dst)[i * to] = ((const uint64_t *)src)[i * from];
}

/* The n elements at src, which are of the dtype of x, become y[at ..]. */
static void put(const struct job *j, int64_t at, const void *src, int64_t n)
{
    struct assay_tensor from = { .data = (void *)(uintptr_t)src, .dtype = j->x->dtype };
    size_t size = assay_dtype_size(j->y->dtype);
    char *to = (char *)j->y->data + (size_t)at * size;

    if (j->x->dtype == j->y->dtype)
        memcpy(to, src, (size_t)n * size);
    else
        assay_load_n(&from, 0, n, (double *)(void *)to);
}

/* A piece of a row of y. */
static void copy_row(const struct job *j, int64_t x_at, int64_t y_at, int64_t n)
{
    size_t size = assay_dtype_size(j->x->dtype);
    const char *x = (const char *)j->x->data;
    int64_t step = j->l.step[j->last];
    uint64_t buf[ASSAY__BLOCK];

    if (step == 1) {
        put(j, y_at, x + x_at * (int64_t)size, n);
        return;
    }
    for (int64_t at = 0, m; at < n; at += m) {
        m = n - at < ASSAY__BLOCK ? n - at : ASSAY__BLOCK;
        move(buf, 1, x + (x_at + at * step) * (int64_t)size, step, m, size);
        put(j, y_at + at, buf, m);
    }
}

/* A tile of n_f x n_l elements: read along the axis on which x runs on, written along rows of y. */
static void copy_tile(const struct job *j, int64_t x_at, int64_t y_at, int64_t n_f, int64_t n_l)
{
    size_t size = assay_dtype_size(j->x->dtype);
    int64_t step_l = j->l.step[j->last], step_f = j->l.step[j->fast];
    const char *x = (const char *)j->x->data;
    uint64_t tile[TILE * TILE];

    for (int64_t l = 0; l < n_l; l++)
        move((char *)tile + (size_t)l * size, TILE, x + (x_at + l * step_l) * (int64_t)size, step_f,
             n_f, size);
    for (int64_t f = 0; f < n_f; f++)
        put(j, y_at + f * j->y_step[j->fast], (char *)tile + (size_t)(f * TILE) * size, n_l);
}

static void range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t i = begin; i < end; i++) {
        int64_t at_l = i % j->cut_l * j->len_l, rest = i / j->cut_l;
        int64_t at_f = rest % j->cut_f * j->len_f;
        int64_t x_at = j->l.start + at_l * j->l.step[j->last], y_at = at_l, n_l, n_f;

        rest /= j->cut_f;
        n_l = j->l.n[j->last] - at_l < j->len_l ? j->l.n[j->last] - at_l : j->len_l;
        if (j->fast != j->last) {
            x_at += at_f * j->l.step[j->fast];
            y_at += at_f * j->y_step[j->fast];
        }
        for (int d = j->last - 1; d >= 0; d--) {
            if (d == j->fast)
                continue;
            x_at += rest % j->l.n[d] * j->l.step[d];
            y_at += rest % j->l.n[d] * j->y_step[d];
            rest /= j->l.n[d];
        }
        if (j->fast == j->last) {
            copy_row(j, x_at, y_at, n_l);
            continue;
        }
        n_f = j->l.n[j->fast] - at_f < j->len_f ? j->l.n[j->fast] - at_f : j->len_f;
        copy_tile(j, x_at, y_at, n_f, n_l);
    }
}

void assay__layout_copy(const struct assay_args *a, const struct assay_tensor *x,
                        const struct assay__layout *l, const struct assay_tensor *y)
{
    struct job j = { .x = x, .y = y, .l = *l, .cut_f = 1, .len_f = 1 };
    int64_t n = assay_numel(y), each, pieces;

    if (n == 0)
        return;
    assay__layout_simplify(&j.l);
    j.last = j.fast = j.l.rank - 1;
    j.y_step[j.last] = 1;
    for (int d = j.last - 1; d >= 0; d--) {
        j.y_step[d] = j.y_step[d + 1] * j.l.n[d + 1];
        if (j.l.step[d] < j.l.step[j.fast])
            j.fast = d;
    }
    j.len_l = j.fast == j.last ? GRAIN : TILE;
    j.cut_l = (j.l.n[j.last] + j.len_l - 1) / j.len_l;
    pieces = n / j.l.n[j.last] * j.cut_l;
    if (j.fast != j.last) {
        j.len_f = TILE;
        j.cut_f = (j.l.n[j.fast] + TILE - 1) / TILE;
        pieces = pieces / j.l.n[j.fast] * j.cut_f;
    }
    each = n / pieces;
    assay_parallel(pieces, each < GRAIN ? GRAIN / each : 1, a->n_threads, range, &j);
}
