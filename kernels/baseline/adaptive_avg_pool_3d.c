/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adaptive_avg_pool_3d: eight rows of results at a time. The rows of x that each is made of are
 * added up column by column, a few at a time in registers; then the eight are turned, so that the
 * columns of a box are added up for all of them at once. Rows and slabs whose boxes are those of
 * the one before are copied. Boxes as wide as x are runs of memory.
 */
#include <assay/adaptive_avg_pool_3d.h>

#include "blocks.h"
#include "half.h"
#include "lanes.h"

enum { TILE = 256, SPAN = 512, PITCH = SPAN + LANES, PIECE = 32, ROWS = LANES };

struct job {
    const struct assay_view *x, *y;
    const int64_t *in, *out; /* extents of a volume */
    int64_t numel;           /* of x */
    size_t size;             /* of an element */
};

/* Outputs of a row, and the columns of their boxes. */
struct tile {
    int64_t first, n;
    int64_t begin[TILE], end[TILE];
    float weight[TILE];
};

struct box {
    int64_t begin, end;
};

/* Box i of n over m elements. */
static struct box box_of(int64_t i, int64_t m, int64_t n)
{
    return (struct box){ i * m / n, ((i + 1) * m + n - 1) / n };
}

static bool same_box(struct box a, struct box b)
{
    return a.begin == b.begin && a.end == b.end;
}

/* As many outputs as have their columns within SPAN, but one at least. */
static void make_tile(const struct job *j, struct tile *t, int64_t first)
{
    t->first = first;
    for (t->n = 0; t->n < TILE && first + t->n < j->out[2]; t->n++) {
        struct box b = box_of(first + t->n, j->in[2], j->out[2]);

        if (t->n > 0 && b.end - t->begin[0] > SPAN)
            break;
        t->begin[t->n] = b.begin;
        t->end[t->n] = b.end;
        t->weight[t->n] = 1.0f / (float)(b.end - b.begin);
    }
}

/* ---- columns --------------------------------------------------------------------------------- */

typedef uint16_t bits __attribute__((vector_size(LANES * sizeof(uint16_t)), aligned(2), may_alias));
typedef uint32_t wide __attribute__((vector_size(LANES * sizeof(uint32_t))));

static inline lanes load_f32(const void *x, int64_t at)
{
    return *(const lanes *)((const float *)x + at);
}

static inline lanes load_f16(const void *x, int64_t at)
{
    lanes v = { 0 };

    for (int k = 0; k < LANES; k += HALF_LANES)
        half_widen_lanes((float *)&v + k, (const uint16_t *)x + at + k);
    return v;
}

static inline lanes load_bf16(const void *x, int64_t at)
{
    const bits *b = (const bits *)((const uint16_t *)x + at);
    wide w = __builtin_convertvector(*b, wide) << 16;

    return (lanes)w;
}

/* Adds n columns of `rows` rows, a row apart; up to LANES - 1 columns behind them, too. */
static inline void add_block(lanes (*load)(const void *, int64_t), const void *x, int64_t at,
                             int64_t pitch, int64_t rows, int64_t n, float *to)
{
    for (int64_t k = 0; k < n; k += LANES) {
        lanes sum = load(x, at + k);

        for (int64_t r = 1; r < rows; r++)
            sum += load(x, at + r * pitch + k);
        *(lanes *)(to + k) += sum;
    }
}

/* The same where x ends before a whole vector does. */
static void add_slowly(const struct job *j, int64_t at, int64_t rows, int64_t n, float *to)
{
    float buf[SPAN];

    for (int64_t r = 0; r < rows; r++) {
        const float *v = baseline_load(j->x, at + r * j->in[2], n, buf);

        for (int64_t k = 0; k < n; k++)
            to[k] += v[k];
    }
}

static void add_rows(const struct job *j, int64_t at, int64_t rows, int64_t n, float *to)
{
    const void *x = j->x->data;

    if (at + (rows - 1) * j->in[2] + n + LANES > j->numel)
        add_slowly(j, at, rows, n, to);
    else if (j->x->dtype == ASSAY_F32)
        add_block(load_f32, x, at, j->in[2], rows, n, to);
    else if (j->x->dtype == ASSAY_F16)
        add_block(load_f16, x, at, j->in[2], rows, n, to);
    else
        add_block(load_bf16, x, at, j->in[2], rows, n, to);
}

/* n columns from `first` on, over all rows of a box. */
static void add_columns(const struct job *j, int64_t plane, struct box d, struct box h,
                        int64_t first, int64_t n, float *to)
{
    for (int64_t slab = d.begin; slab < d.end; slab++)
        for (int64_t row = h.begin, m; row < h.end; row += m) {
            m = h.end - row < PIECE ? h.end - row : PIECE;
            add_rows(j, ((plane * j->in[0] + slab) * j->in[1] + row) * j->in[2] + first, m, n, to);
        }
}

/* ---- rows of results ------------------------------------------------------------------------- */

/* Up to ROWS rows of results of one slab, those that are not like the one before. */
struct group {
    int n;
    int64_t row[ROWS];
    struct box h[ROWS];
};

struct desk {
    float columns[ROWS][PITCH], turned[PITCH * ROWS], sum[(TILE + LANES) * ROWS];
    float row[ROWS][TILE + LANES];
};

/* The boxes of a tile, of what they have among n columns from `first` on, in all rows at once. */
static void add_boxes(const struct tile *t, const struct desk *w, int64_t first, int64_t n,
                      float *to)
{
    for (int64_t k = 0; k < t->n; k++) {
        int64_t from = t->begin[k] > first ? t->begin[k] - first : 0;
        int64_t end = t->end[k] < first + n ? t->end[k] - first : n;
        lanes s = { 0 };

        for (int64_t i = from; i < end; i++)
            s += *(const lanes *)(w->turned + i * ROWS);
        *(lanes *)(to + k * ROWS) += s;
    }
}

static void make_rows(const struct job *j, const struct tile *t, struct desk *w, int64_t plane,
                      struct box d, const struct group *g)
{
    int64_t last = t->end[t->n - 1];
    lanes by = { 0 };

    for (int r = 0; r < g->n; r++)
        by[r] = 1.0f / (float)((d.end - d.begin) * (g->h[r].end - g->h[r].begin));
    memset(w->sum, 0, (size_t)(t->n * ROWS) * sizeof *w->sum);
    for (int64_t first = t->begin[0], n; first < last; first += n) {
        n = last - first < SPAN ? last - first : SPAN;
        for (int r = 0; r < g->n; r++) {
            memset(w->columns[r], 0, (size_t)(n + LANES) * sizeof w->columns[r][0]);
            add_columns(j, plane, d, g->h[r], first, n, w->columns[r]);
        }
        for (int64_t i = 0; i < n; i += LANES)
            tile_turn(w->turned + i * ROWS, ROWS, &w->columns[0][i], PITCH);
        add_boxes(t, w, first, n, w->sum);
    }
    for (int64_t k = 0; k < t->n; k++)
        *(lanes *)(w->sum + k * ROWS) *= by * t->weight[k];
    for (int64_t i = 0; i < t->n; i += LANES)
        tile_turn(&w->row[0][i], TILE + LANES, w->sum + i * ROWS, ROWS);
}

static void put_row(const struct job *j, const struct tile *t, int64_t row, const float *v)
{
    int64_t at = row * j->out[2] + t->first;

    if (j->y->dtype == ASSAY_F32)
        memcpy((float *)j->y->data + at, v, (size_t)t->n * sizeof *v);
    else
        baseline_store(j->y, at, t->n, v);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static inline double add_run(lanes (*load)(const void *, int64_t), const void *x, int64_t at,
                             int64_t n)
{
    double sum = 0;

    for (int64_t i = 0, m; i < n; i += m) {
        lanes a = { 0 }, b = { 0 };

        m = n - i < SPAN ? n - i : SPAN;
        for (int64_t k = 0; k < m; k += 2 * LANES) {
            a += load(x, at + i + k);
            b += load(x, at + i + k + LANES);
        }
        a += b;
        for (int k = 0; k < LANES; k++)
            sum += a[k];
    }
    return sum;
}

static double sum_run(const struct job *j, int64_t at, int64_t n)
{
    int64_t whole = n / (2 * LANES) * (2 * LANES);
    float buf[2 * LANES];
    const float *v = baseline_load(j->x, at + whole, n - whole, buf);
    double sum = j->x->dtype == ASSAY_F32   ? add_run(load_f32, j->x->data, at, whole)
                 : j->x->dtype == ASSAY_F16 ? add_run(load_f16, j->x->data, at, whole)
                                            : add_run(load_bf16, j->x->data, at, whole);

    for (int64_t k = 0; k < n - whole; k++)
        sum += v[k];
    return sum;
}

/* A box as wide as x. */
static float wide_box(const struct job *j, int64_t plane, struct box d, struct box h)
{
    int64_t n = (h.end - h.begin) * j->in[2];
    double sum = 0, all = (double)(n * (d.end - d.begin));

    if (h.end - h.begin == j->in[1])
        return (float)(sum_run(j, (plane * j->in[0] + d.begin) * n, (int64_t)all) / all);
    for (int64_t slab = d.begin; slab < d.end; slab++)
        sum += sum_run(j, ((plane * j->in[0] + slab) * j->in[1] + h.begin) * j->in[2], n);
    return (float)(sum / all);
}

/* ---- slabs of results ------------------------------------------------------------------------ */

/* Copies the tile of n rows from `from` on to those from `to` on. */
static void copy_rows(const struct job *j, const struct tile *t, int64_t to, int64_t from,
                      int64_t n)
{
    char *y = j->y->data;

    for (int64_t r = 0; r < n; r++)
        memcpy(y + (size_t)((to + r) * j->out[2] + t->first) * j->size,
               y + (size_t)((from + r) * j->out[2] + t->first) * j->size, (size_t)t->n * j->size);
}

static void flush(const struct job *j, const struct tile *t, struct desk *w, int64_t plane,
                  struct box d, int64_t first, struct group *g)
{
    if (j->out[2] == 1)
        for (int r = 0; r < g->n; r++)
            w->row[r][0] = wide_box(j, plane, d, g->h[r]);
    else if (g->n > 0)
        make_rows(j, t, w, plane, d, g);
    for (int r = 0; r < g->n; r++)
        put_row(j, t, first + g->row[r], w->row[r]);
    g->n = 0;
}

static void make_slab(const struct job *j, const struct tile *t, struct desk *w, int64_t plane,
                      struct box d, int64_t first)
{
    struct box before = { -1, -1 };
    struct group g = { 0 };

    for (int64_t i = 0; i < j->out[1]; i++) {
        struct box h = box_of(i, j->in[1], j->out[1]);

        if (same_box(h, before))
            continue;
        before = h;
        g.row[g.n] = i;
        g.h[g.n++] = h;
        if (g.n == ROWS)
            flush(j, t, w, plane, d, first, &g);
    }
    flush(j, t, w, plane, d, first, &g);
    for (int64_t i = 1; i < j->out[1]; i++)
        if (same_box(box_of(i, j->in[1], j->out[1]), box_of(i - 1, j->in[1], j->out[1])))
            copy_rows(j, t, first + i, first + i - 1, 1);
}

static void slabs(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    struct tile t;
    struct desk w;

    for (int64_t first = 0; first < j->out[2]; first += t.n) {
        make_tile(j, &t, first);
        for (int64_t s = begin; s < end; s++) {
            struct box d = box_of(s % j->out[0], j->in[0], j->out[0]);

            if (s > begin && s % j->out[0] > 0 &&
                same_box(d, box_of(s % j->out[0] - 1, j->in[0], j->out[0])))
                copy_rows(j, &t, s * j->out[1], (s - 1) * j->out[1], j->out[1]);
            else
                make_slab(j, &t, &w, s / j->out[0], d, s * j->out[1]);
        }
    }
}

int assay_adaptive_avg_pool_3d(const struct assay_call *c)
{
    const struct assay_view *x = c->in[ADAPTIVE_AVG_POOL_3D_X].view;
    const struct assay_view *y = c->out[ADAPTIVE_AVG_POOL_3D_Y].view;
    struct job j = {
        x, y, x->shape + 2, y->shape + 2, baseline_numel(x), x->dtype == ASSAY_F32 ? 4 : 2
    };
    int64_t n = y->shape[0] * y->shape[1] * j.out[0];

    if (n > 0)
        baseline_parallel(c, n, (j.numel + baseline_numel(y)) / n, slabs, &j);
    return 0;
}
