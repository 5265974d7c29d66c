/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.c: copies that change the order of elements. Axes that run on in each other are one. Where
 * the last axis of y is not the one on which x runs on, the two are walked in tiles, and squares of
 * 16 bytes a side are turned in registers.
 */
#include "layout.h"

#include "blocks.h"

#include <string.h>

/* ---- squares --------------------------------------------------------------------------------- */

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAVE_SHUFFLE 1
#endif
#endif

#ifdef HAVE_SHUFFLE
typedef uint8_t bytes __attribute__((vector_size(16)));
typedef uint16_t halves __attribute__((vector_size(16)));
typedef uint32_t words __attribute__((vector_size(16)));
typedef uint64_t longs __attribute__((vector_size(16)));

/* The even or odd elements of a result come from a, the others from b. */
static inline bytes low_bytes(bytes a, bytes b)
{
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

static inline bytes high_bytes(bytes a, bytes b)
{
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                   31);
}

static inline bytes low(bytes a, bytes b, int size)
{
    if (size == 1)
        return low_bytes(a, b);
    if (size == 2)
        return (bytes)__builtin_shufflevector((halves)a, (halves)b, 0, 8, 1, 9, 2, 10, 3, 11);
    if (size == 4)
        return (bytes)__builtin_shufflevector((words)a, (words)b, 0, 4, 1, 5);
    return (bytes)__builtin_shufflevector((longs)a, (longs)b, 0, 2);
}

static inline bytes high(bytes a, bytes b, int size)
{
    if (size == 1)
        return high_bytes(a, b);
    if (size == 2)
        return (bytes)__builtin_shufflevector((halves)a, (halves)b, 4, 12, 5, 13, 6, 14, 7, 15);
    if (size == 4)
        return (bytes)__builtin_shufflevector((words)a, (words)b, 2, 6, 3, 7);
    return (bytes)__builtin_shufflevector((longs)a, (longs)b, 1, 3);
}

/* Rows of 16 bytes, 16 / size of them, become columns: interleaving the first half of them with the
 * second, as often as the side has bits, moves each element to its place. Strides in bytes. */
static inline __attribute__((always_inline)) void square(char *y, int64_t y_step, const char *x,
                                                         int64_t x_step, int size)
{
    const int side = 16 / size;
    bytes v[16], w[16];

    for (int i = 0; i < side; i++)
        memcpy(&v[i], x + i * x_step, 16);
    for (int bit = 1; bit < side; bit *= 2) {
        for (int i = 0; i < side / 2; i++) {
            w[2 * i] = low(v[i], v[i + side / 2], size);
            w[2 * i + 1] = high(v[i], v[i + side / 2], size);
        }
        for (int i = 0; i < side; i++)
            v[i] = w[i];
    }
    for (int i = 0; i < side; i++)
        memcpy(y + i * y_step, &v[i], 16);
}
#endif

/* ---- tiles ----------------------------------------------------------------------------------- */

/* Rows and columns of a tile; strides of the two axes in bytes. On f x runs on when x_f is the size
 * of an element, on l y does. */
struct tile {
    char *y;
    const char *x;
    int64_t n_f, n_l, x_f, x_l, y_f;
};

/* Elements f_from .. of columns l_from .. one by one. */
static inline __attribute__((always_inline)) void plain(const struct tile *t, int64_t f_from,
                                                        int64_t l_from, int64_t l_to, int size)
{
    for (int64_t f = f_from; f < t->n_f; f++)
        for (int64_t l = l_from; l < l_to; l++)
            memcpy(t->y + f * t->y_f + l * size, t->x + f * t->x_f + l * t->x_l, (size_t)size);
}

static inline __attribute__((always_inline)) void turn(const struct tile *t, int size)
{
    int64_t f_done = 0, l_done = 0;

#ifdef HAVE_SHUFFLE
    const int64_t side = 16 / size;

    if (t->x_f == size) {
        f_done = t->n_f / side * side;
        l_done = t->n_l / side * side;
    }
    for (int64_t f = 0; f < f_done; f += side)
        for (int64_t l = 0; l < l_done; l += side)
            square(t->y + f * t->y_f + l * size, t->y_f, t->x + l * t->x_l + f * size, t->x_l,
                   size);
#endif
    plain(t, f_done, 0, l_done, size);
    plain(t, 0, l_done, t->n_l, size);
}

static void turn_tile(const struct tile *t, size_t size)
{
    if (size == 1)
        turn(t, 1);
    else if (size == 2)
        turn(t, 2);
    else if (size == 4)
        turn(t, 4);
    else
        turn(t, 8);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void every(char *restrict y, const char *restrict x, int64_t n, int64_t step, size_t size)
{
    if (size == 1)
        for (int64_t i = 0; i < n; i++)
            y[i] = x[i * step];
    else if (size == 2)
        for (int64_t i = 0; i < n; i++)
            memcpy(y + 2 * i, x + 2 * i * step, 2);
    else if (size == 4)
        for (int64_t i = 0; i < n; i++)
            memcpy(y + 4 * i, x + 4 * i * step, 4);
    else
        for (int64_t i = 0; i < n; i++)
            memcpy(y + 8 * i, x + 8 * i * step, 8);
}

/* The usual steps as constants, so that compilers make vectors of the loop. */
static void copy_row(char *y, const char *x, int64_t n, int64_t step, size_t size)
{
    if (step == 1)
        memcpy(y, x, (size_t)n * size);
    else if (step == 2)
        every(y, x, n, 2, size);
    else if (step == 3)
        every(y, x, n, 3, size);
    else if (step == 4)
        every(y, x, n, 4, size);
    else
        every(y, x, n, step, size);
}

/* ---- the whole ------------------------------------------------------------------------------- */

enum { SIDE_BYTES = 256, ROW_BYTES = 32768 };

struct job {
    const char *x;
    char *y;
    size_t size;
    struct baseline_layout l;
    int64_t y_step[ASSAY_MAX_RANK];
    int last, fast;       /* axes on which y and x run on */
    int64_t len_l, len_f; /* what they are cut into */
    int64_t cut_l, cut_f; /* how many pieces that makes */
};

static int64_t shorter(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void piece(const struct job *j, int64_t x_at, int64_t y_at, int64_t n_f, int64_t n_l)
{
    int64_t size = (int64_t)j->size;
    const char *x = j->x + x_at * size;
    char *y = j->y + y_at * size;
    struct tile t = { y, x, n_f, n_l, 0, 0, 0 };

    if (j->fast == j->last) {
        copy_row(y, x, n_l, j->l.step[j->last], j->size);
        return;
    }
    t.x_f = j->l.step[j->fast] * size;
    t.x_l = j->l.step[j->last] * size;
    t.y_f = j->y_step[j->fast] * size;
    turn_tile(&t, j->size);
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const struct baseline_layout *l = &j->l;

    for (int64_t i = begin; i < end; i++) {
        int64_t at_f = i % j->cut_f * j->len_f, rest = i / j->cut_f;
        int64_t at_l = rest % j->cut_l * j->len_l, x_at = l->start, y_at = at_l, n_f = 1;

        rest /= j->cut_l;
        x_at += at_l * l->step[j->last];
        if (j->fast != j->last) {
            x_at += at_f * l->step[j->fast];
            y_at += at_f * j->y_step[j->fast];
            n_f = shorter(j->len_f, l->n[j->fast] - at_f);
        }
        for (int d = j->last - 1; d >= 0; d--) {
            if (d == j->fast)
                continue;
            x_at += rest % l->n[d] * l->step[d];
            y_at += rest % l->n[d] * j->y_step[d];
            rest /= l->n[d];
        }
        piece(j, x_at, y_at, n_f, shorter(j->len_l, l->n[j->last] - at_l));
    }
}

/* Leaves out axes of one place and joins those that run on in each other. */
static void simplify(struct baseline_layout *l)
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
    if (rank == 0)
        l->n[rank] = l->step[rank] = 1;
    l->rank = rank ? rank : 1;
}

void baseline_layout_copy(const struct assay_call *c, const struct assay_view *y,
                          const struct assay_view *x, const struct baseline_layout *l)
{
    struct job j = { x->data, y->data, baseline_size(x->dtype), *l, { 0 }, 0, 0, 1, 1, 1, 1 };
    int64_t n = baseline_numel(y), pieces;

    if (n == 0)
        return;
    simplify(&j.l);
    j.last = j.fast = j.l.rank - 1;
    j.y_step[j.last] = 1;
    for (int d = j.last - 1; d >= 0; d--) {
        j.y_step[d] = j.y_step[d + 1] * j.l.n[d + 1];
        if (j.l.step[d] < j.l.step[j.fast])
            j.fast = d;
    }
    j.len_l = (j.fast == j.last ? ROW_BYTES : SIDE_BYTES) / (int64_t)j.size;
    j.cut_l = (j.l.n[j.last] + j.len_l - 1) / j.len_l;
    pieces = n / j.l.n[j.last] * j.cut_l;
    if (j.fast != j.last) {
        j.len_f = SIDE_BYTES / (int64_t)j.size;
        j.cut_f = (j.l.n[j.fast] + j.len_f - 1) / j.len_f;
        pieces = pieces / j.l.n[j.fast] * j.cut_f;
    }
    baseline_parallel(c, pieces, n / pieces, body, &j);
}
