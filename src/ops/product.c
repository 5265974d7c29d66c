/* SPDX-License-Identifier: Apache-2.0 */
/* product.c: matrix products of goldens, tile by tile. */
#include "ops/product.h"

#include "base/blas.h"
#include "base/clones.h"

#include <stdatomic.h>

/* The largest tiles: 3.5 MiB of buffers a thread. With int8, TILE_K products of at most 2^15 add up
 * in fp32 without rounding. */
enum { TILE_M = 256, TILE_N = 512, TILE_K = 256, MIN_TILES = 8, MIN_TILE_N = 128, MIN_TILE_M = 64 };

/* Buffers of one thread. The floats are for sums in fp32. */
struct slot {
    atomic_flag taken;
    double *a, *b, *c, *turned;
    float *fa, *fb, *fc;
};

struct job {
    const struct assay__product *p;
    const struct assay__blas *blas;
    bool native, in_f32;
    int64_t tile_m, tile_n, tiles_m, tiles_n;
    struct slot *slots;
};

/* ---- without BLAS ---------------------------------------------------------------------------- */

enum { BLOCK_M = 4, BLOCK_N = 16 };

/* Rows i .. i+3 of c, all 16 columns from j on. A row beyond the last one is the last one again. */
static ASSAY__INLINE void block(int64_t i, int64_t j, int64_t m, int64_t n, int64_t k,
                                const double *restrict a, const double *restrict b,
                                double *restrict c)
{
    const double *row[BLOCK_M];
    double acc[BLOCK_M][BLOCK_N];

    for (int r = 0; r < BLOCK_M; r++) {
        int64_t at = i + r < m ? i + r : m - 1;

        row[r] = a + at * k;
        for (int l = 0; l < BLOCK_N; l++)
            acc[r][l] = c[at * n + j + l];
    }
    for (int64_t s = 0; s < k; s++)
        for (int r = 0; r < BLOCK_M; r++)
            for (int l = 0; l < BLOCK_N; l++)
                acc[r][l] += row[r][s] * b[s * n + j + l];
    for (int r = 0; r < BLOCK_M && i + r < m; r++)
        for (int l = 0; l < BLOCK_N; l++)
            c[(i + r) * n + j + l] = acc[r][l];
}

/* c += a b, all row by row. */
ASSAY__CLONES static void product_plain_f64(int64_t m, int64_t n, int64_t k,
                                            const double *restrict a, const double *restrict b,
                                            double *restrict c)
{
    int64_t whole = n / BLOCK_N * BLOCK_N;

    for (int64_t j = 0; j < whole; j += BLOCK_N)
        for (int64_t i = 0; i < m; i += BLOCK_M)
            block(i, j, m, n, k, a, b, c);
    for (int64_t i = 0; i < m; i++)
        for (int64_t s = 0; s < k; s++)
            for (int64_t j = whole; j < n; j++)
                c[i * n + j] += a[i * k + s] * b[s * n + j];
}

ASSAY__CLONES static void product_plain_f32(int64_t m, int64_t n, int64_t k,
                                            const float *restrict a, const float *restrict b,
                                            float *restrict c)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t s = 0; s < k; s++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += a[i * k + s] * b[s * n + j];
}

static void turn(int64_t rows, int64_t cols, const double *from, double *to)
{
    for (int64_t r0 = 0; r0 < rows; r0 += 8)
        for (int64_t c = 0; c < cols; c++)
            for (int64_t r = r0; r < rows && r < r0 + 8; r++)
                to[c * rows + r] = from[r * cols + c];
}

/* ---- one step along k ------------------------------------------------------------------------ */

/* Steps k0 .. k0+k-1 of the tile c. */
static void load(const struct assay__operand *o, const struct assay__tile *t, double *v)
{
    struct assay__tile w = *t;

    if (o->by_columns) {
        w.row = t->col;
        w.col = t->row;
        w.rows = t->cols;
        w.cols = t->rows;
    }
    w.ld = w.cols;
    w.v = v;
    o->load(o->ctx, &w);
}

ASSAY__CLONES static void product_narrow(int64_t n, const double *restrict from, float *restrict to)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)from[i];
}

ASSAY__CLONES static void product_add(int64_t n, const float *restrict from, double *restrict to)
{
    for (int64_t i = 0; i < n; i++)
        to[i] += (double)from[i];
}

ASSAY__CLONES static void product_widen(int64_t n, const float *restrict from, double *restrict to)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (double)from[i];
}

/* Sums in fp32: of int8 from 0 on in each step, to be added up in fp64; else through all of k. */
static void step_f32(const struct job *j, const struct slot *s, int m, int n, int k, bool first)
{
    const struct assay__product *p = j->p;
    float keep = first || p->int8 ? 0 : 1;

    product_narrow((int64_t)m * k, s->a, s->fa);
    product_narrow((int64_t)n * k, s->b, s->fb);
    if (j->blas) {
        j->blas->sgemm(ASSAY__ROW_MAJOR, p->a.by_columns ? ASSAY__TRANS : ASSAY__NO_TRANS,
                       p->b.by_columns ? ASSAY__TRANS : ASSAY__NO_TRANS, m, n, k, 1, s->fa,
                       p->a.by_columns ? m : k, s->fb, p->b.by_columns ? k : n, keep, s->fc, n);
    } else {
        if (keep == 0)
            memset(s->fc, 0, (size_t)m * (size_t)n * sizeof *s->fc);
        product_plain_f32(m, n, k, s->fa, s->fb, s->fc);
    }
    if (p->int8)
        product_add((int64_t)m * n, s->fc, s->c);
}

static void step(const struct job *j, struct slot *s, const struct assay__tile *c, int64_t k0,
                 int64_t k)
{
    const struct assay__product *p = j->p;
    struct assay__tile a = { c->batch, c->row, k0, c->rows, k, k, NULL };
    struct assay__tile b = { c->batch, k0, c->col, k, c->cols, c->cols, NULL };
    int m = (int)c->rows, n = (int)c->cols;

    load(&p->a, &a, s->a);
    load(&p->b, &b, s->b);
    /* Without BLAS both have to lie row by row. */
    if (!j->blas && p->a.by_columns) {
        turn(k, m, s->a, s->turned);
        memcpy(s->a, s->turned, (size_t)(m * k) * sizeof *s->a);
    }
    if (!j->blas && p->b.by_columns) {
        turn(n, k, s->b, s->turned);
        memcpy(s->b, s->turned, (size_t)(n * k) * sizeof *s->b);
    }
    if (j->in_f32)
        step_f32(j, s, m, n, (int)k, k0 == 0);
    else if (j->blas)
        j->blas->dgemm(ASSAY__ROW_MAJOR, p->a.by_columns ? ASSAY__TRANS : ASSAY__NO_TRANS,
                       p->b.by_columns ? ASSAY__TRANS : ASSAY__NO_TRANS, m, n, (int)k, 1, s->a,
                       p->a.by_columns ? m : (int)k, s->b, p->b.by_columns ? (int)k : n, 1, s->c,
                       n);
    else
        product_plain_f64(m, n, k, s->a, s->b, s->c);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* There is one slot for each thread, so one is free. */
static struct slot *take(struct slot *slots)
{
    while (atomic_flag_test_and_set_explicit(&slots->taken, memory_order_acquire))
        slots++;
    return slots;
}

static void tiles(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const struct assay__product *p = j->p;
    struct slot *s = take(j->slots);

    for (int64_t i = begin; i < end; i++) {
        int64_t row = i / j->tiles_n % j->tiles_m * j->tile_m, col = i % j->tiles_n * j->tile_n;
        struct assay__tile c = {
            i / j->tiles_n / j->tiles_m, row, col, p->m - row, p->n - col, 0, s->c
        };

        c.rows = c.rows < j->tile_m ? c.rows : j->tile_m;
        c.ld = c.cols = c.cols < j->tile_n ? c.cols : j->tile_n;
        memset(s->c, 0, (size_t)(c.rows * c.cols) * sizeof *s->c);
        for (int64_t k = 0; k < p->k; k += TILE_K)
            step(j, s, &c, k, p->k - k < TILE_K ? p->k - k : TILE_K);
        if (j->in_f32 && !p->int8 && p->k > 0)
            product_widen(c.rows * c.cols, s->fc, s->c);
        p->store(p->ctx, &c);
    }
    atomic_flag_clear_explicit(&s->taken, memory_order_release);
}

static enum assay_status make_slots(struct job *j, int n, struct assay_arena *arena,
                                    struct assay_err *err)
{
    size_t a = (size_t)(j->tile_m * TILE_K), b = (size_t)(j->tile_n * TILE_K);
    size_t c = (size_t)(j->tile_m * j->tile_n), most = a > b ? a : b;

    j->slots = assay_arena_array(arena, (size_t)n, sizeof *j->slots);
    for (int i = 0; j->slots && i < n; i++) {
        struct slot *s = &j->slots[i];
        double *v = assay_arena_array(arena, a + b + c + (j->blas ? 0 : most), sizeof *v);
        float *f = j->in_f32 ? assay_arena_array(arena, a + b + c, sizeof *f) : NULL;

        if (!v || (j->in_f32 && !f))
            return assay_fail(err, ASSAY_NOMEM, "no memory for the tiles of a product");
        *s =
            (struct slot){ ATOMIC_FLAG_INIT, v, v + a, v + a + b, v + a + b + c, NULL, NULL, NULL };
        if (f) {
            s->fa = f;
            s->fb = f + a;
            s->fc = f + a + b;
        }
    }
    return j->slots ? ASSAY_OK
                    : assay_fail(err, ASSAY_NOMEM, "no memory for the tiles of a product");
}

static int64_t pieces(int64_t n, int64_t tile)
{
    return (n + tile - 1) / tile;
}

static int64_t shrink(int64_t n, int64_t tile)
{
    return n < tile ? n : tile;
}

/* Large tiles read less; but there should be work for a few threads. */
static void choose_tiles(struct job *j)
{
    const struct assay__product *p = j->p;
    int64_t m = TILE_M, n = TILE_N;

    while (n > MIN_TILE_N && p->batches * pieces(p->m, m) * pieces(p->n, n) < MIN_TILES)
        n /= 2;
    while (m > MIN_TILE_M && p->batches * pieces(p->m, m) * pieces(p->n, n) < MIN_TILES)
        m /= 2;
    j->tile_m = shrink(p->m, m);
    j->tile_n = shrink(p->n, n);
    j->tiles_m = pieces(p->m, j->tile_m);
    j->tiles_n = pieces(p->n, j->tile_n);
}

enum assay_status assay__product(const struct assay_args *a, const struct assay__product *p,
                                 struct assay_err *err)
{
    struct job j = { .p = p, .native = a->native, .blas = p->plain ? NULL : assay__blas() };
    int64_t n_tiles, most = assay_parallel_threads(a->n_threads);

    if (p->batches <= 0 || p->m <= 0 || p->n <= 0)
        return ASSAY_OK;
    j.in_f32 = a->native || (p->int8 && j.blas);
    choose_tiles(&j);
    n_tiles = p->batches * j.tiles_m * j.tiles_n;
    ASSAY_TRY(make_slots(&j, (int)(most < n_tiles ? most : n_tiles), a->arena, err));
    assay_parallel(n_tiles, 1, a->n_threads, tiles, &j);
    return ASSAY_OK;
}

/* ---- matrices in tensors --------------------------------------------------------------------- */

static void load_runs(const struct assay__tile *t, const struct assay_tensor *from, int64_t at,
                      int64_t row, int64_t col)
{
    for (int64_t r = 0; r < t->rows; r++) {
        int64_t first = at + (t->row + r) * row + t->col * col;

        if (col == 1)
            assay_load_n(from, first, t->cols, t->v + r * t->ld);
        else
            for (int64_t c = 0; c < t->cols; c++)
                t->v[r * t->ld + c] = assay_load(from, first + c * col);
    }
}

static void load_rows(const void *ctx, const struct assay__tile *t)
{
    const struct assay__matrix *m = ctx;

    load_runs(t, m->t, m->at + t->batch * m->batch, m->row, m->col);
}

static void load_columns(const void *ctx, const struct assay__tile *t)
{
    const struct assay__matrix *m = ctx;

    load_runs(t, m->t, m->at + t->batch * m->batch, m->col, m->row);
}

struct assay__operand assay__operand_of(const struct assay__matrix *m)
{
    bool by_columns = m->col != 1 && m->row == 1;

    return (struct assay__operand){ by_columns ? load_columns : load_rows, m, by_columns };
}

void assay__matrix_store(const struct assay__matrix *m, const struct assay__tile *t)
{
    for (int64_t r = 0; r < t->rows; r++)
        assay_store_n(m->t, m->at + t->batch * m->batch + (t->row + r) * m->row + t->col, t->cols,
                      t->v + r * t->ld);
}
