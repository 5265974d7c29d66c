/* SPDX-License-Identifier: Apache-2.0 */
/* attention.c: attention of goldens, block by block. */
#include "ops/attention.h"

#include "base/clones.h"

#include <math.h>
#include <stdatomic.h>

/* Scores kept at a time; rows of a block: few where they see different keys. */
enum { SCORES = 1 << 21, MOST_ROWS = 1024, LEAST_ROWS = 128 };

/* Some units, and a block of rows of each. */
struct block {
    const struct assay_args *a;
    const struct assay__attention *p;
    int64_t unit, units, row, rows, keys;
    double *scores;      /* [units, rows, keys]; then probabilities */
    int64_t *seen;       /* [units, rows]: how many of them count */
    atomic_bool special; /* a value is infinite or NaN */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t seen_by(const struct assay__attention *p, int64_t unit, int64_t row)
{
    int64_t n = p->sees ? p->sees(p->ctx, unit, row) : p->keys;

    return n < 0 ? 0 : least(n, p->keys);
}

/* n values as the native run has them; all at once, which is faster. */
enum { SOME = 512 };
static void round_some(const struct assay_args *a, enum assay_dtype d, int64_t n, double *v)
{
    double room[SOME];
    struct assay_tensor t = { .dtype = d, .rank = 1, .shape = { SOME }, .data = room };

    for (int64_t i = 0; a->native && i < n; i += SOME) {
        int64_t m = least(n - i, SOME);

        assay_store_n(&t, 0, m, v + i);
        assay_load_n(&t, 0, m, v + i);
    }
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* A tile as the operator counts. */
static struct assay__tile shifted(const struct block *b, const struct assay__tile *t, int64_t row)
{
    struct assay__tile to = *t;

    to.batch += b->unit;
    to.row += row;
    return to;
}

static void load_query(const void *ctx, const struct assay__tile *t)
{
    const struct block *b = ctx;
    struct assay__tile own = shifted(b, t, b->row);

    b->p->query(b->p->ctx, &own);
}

static void load_key(const void *ctx, const struct assay__tile *t)
{
    const struct block *b = ctx;
    struct assay__tile own = shifted(b, t, 0);

    b->p->key(b->p->ctx, &own);
}

static void store_scores(const void *ctx, const struct assay__tile *t)
{
    const struct block *b = ctx;

    for (int64_t r = 0; r < t->rows; r++) {
        double *v = t->v + r * t->ld;

        round_some(b->a, b->p->dtype, t->cols, v);
        for (int64_t c = 0; c < t->cols; c++)
            v[c] *= b->p->scale;
        round_some(b->a, b->p->dtype, t->cols, v);
        memcpy(b->scores + (t->batch * b->rows + t->row + r) * b->keys + t->col, v,
               (size_t)t->cols * sizeof *v);
    }
}

static enum assay_status make_scores(struct block *b, const struct assay_args *a,
                                     struct assay_err *err)
{
    struct assay__product s = { .batches = b->units,
                                .m = b->rows,
                                .n = b->keys,
                                .k = b->p->dk,
                                .a = { load_query, b, false },
                                .b = { load_key, b, true },
                                .store = store_scores,
                                .ctx = b };

    return assay__product(a, &s, err);
}

/* ---- probabilities --------------------------------------------------------------------------- */

/* The largest of n numbers; NaN if there is one. */
static double largest(const double *v, int64_t n)
{
    double most = -INFINITY;

    for (int64_t i = 0; i < n; i++) {
        if (isnan(v[i]))
            return v[i];
        most = v[i] > most ? v[i] : most;
    }
    return most;
}

/* n scores become powers; the result is their sum. */
static double powers(int64_t n, double *v, double most)
{
    double sum = 0;

    for (int64_t k = 0; k < n; k++)
        sum += v[k] = exp(v[k] - most);
    return sum;
}

static double powers_in_steps(const struct block *b, int64_t n, double *v, double most)
{
    double sum = 0;

    for (int64_t k = 0; k < n; k++)
        v[k] -= most;
    round_some(b->a, b->p->dtype, n, v);
    for (int64_t k = 0; k < n; k++)
        v[k] = exp(v[k]);
    round_some(b->a, b->p->dtype, n, v);
    for (int64_t k = 0; k < n; k++)
        sum += v[k];
    return assay_round_to(b->p->dtype, sum);
}

static void softmax_range(void *ctx, int64_t begin, int64_t end)
{
    const struct block *b = ctx;

    for (int64_t i = begin; i < end; i++) {
        double *v = b->scores + i * b->keys, sum, most;
        int64_t n = least(seen_by(b->p, b->unit + i / b->rows, b->row + i % b->rows), b->keys);

        most = largest(v, n);
        if (most == -INFINITY)
            n = 0;
        b->seen[i] = n;
        sum = b->p->stepwise && b->a->native ? powers_in_steps(b, n, v, most) : powers(n, v, most);
        for (int64_t k = 0; k < n; k++)
            v[k] /= sum;
        round_some(b->a, b->p->dtype, n, v);
        memset(v + n, 0, (size_t)(b->keys - n) * sizeof *v);
    }
}

/* ---- results --------------------------------------------------------------------------------- */

static void load_probabilities(const void *ctx, const struct assay__tile *t)
{
    const struct block *b = ctx;

    for (int64_t r = 0; r < t->rows; r++)
        memcpy(t->v + r * t->ld, b->scores + (t->batch * b->rows + t->row + r) * b->keys + t->col,
               (size_t)t->cols * sizeof *t->v);
}

/* 0, or NaN where one of them is not finite. */
ASSAY__CLONES static double attention_test(const double *v, int64_t n)
{
    double lane[8] = { 0 }, sum = 0;
    int64_t i = 0;

    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            lane[l] += v[i + l] * 0;
    for (; i < n; i++)
        sum += v[i] * 0;
    for (int l = 0; l < 8; l++)
        sum += lane[l];
    return sum;
}

static void load_value(const void *ctx, const struct assay__tile *t)
{
    struct block *b = *(struct block *const *)ctx;
    struct assay__tile own = shifted(b, t, 0);

    b->p->value(b->p->ctx, &own);
    for (int64_t r = 0; r < t->rows; r++)
        if (attention_test(t->v + r * t->ld, t->cols) != 0)
            atomic_store_explicit(&b->special, true, memory_order_relaxed);
}

static void store_results(const void *ctx, const struct assay__tile *t)
{
    const struct block *b = ctx;
    struct assay__tile own = shifted(b, t, b->row);

    b->p->store(b->p->ctx, &own);
}

static enum assay_status make_results(struct block *b, const struct assay_args *a,
                                      struct assay_err *err)
{
    struct assay__product y = { .batches = b->units,
                                .m = b->rows,
                                .n = b->p->dv,
                                .k = b->keys,
                                .a = { load_probabilities, b, false },
                                .b = { load_value, &b, false },
                                .store = store_results,
                                .ctx = b };

    return assay__product(a, &y, err);
}

/* ---- results where values are infinite or NaN ------------------------------------------------ */

/* What a row does not see must not be multiplied by 0 there. */
enum { PART_ROWS = 16, PART_KEYS = 32, PART_COLS = 128 };

static void add_keys(const struct block *b, const struct assay__tile *y,
                     const struct assay__tile *values)
{
    for (int64_t r = 0; r < y->rows; r++) {
        int64_t at = values->batch * b->rows + y->row + r, seen = b->seen[at];
        const double *p = b->scores + at * b->keys + values->row;
        double *sum = y->v + r * y->ld;

        for (int64_t k = 0; k < values->rows && values->row + k < seen; k++)
            for (int64_t c = 0; c < y->cols; c++) {
                sum[c] += p[k] * values->v[k * values->ld + c];
                if (b->a->native)
                    sum[c] = (double)(float)sum[c];
            }
    }
}

static void special_range(void *ctx, int64_t begin, int64_t end)
{
    const struct block *b = ctx;
    int64_t row_parts = (b->rows + PART_ROWS - 1) / PART_ROWS;
    int64_t col_parts = (b->p->dv + PART_COLS - 1) / PART_COLS;
    double sums[PART_ROWS * PART_COLS], values[PART_KEYS * PART_COLS] = { 0 };

    for (int64_t i = begin; i < end; i++) {
        int64_t col = i % col_parts * PART_COLS, row = i / col_parts % row_parts * PART_ROWS;
        struct assay__tile y = { i / col_parts / row_parts,        row,       col, 0,
                                 least(b->p->dv - col, PART_COLS), PART_COLS, sums };

        y.rows = least(b->rows - row, PART_ROWS);
        memset(sums, 0, sizeof sums);
        for (int64_t k = 0; k < b->keys; k += PART_KEYS) {
            struct assay__tile t = { y.batch, k,         col,   least(b->keys - k, PART_KEYS),
                                     y.cols,  PART_COLS, values };
            struct assay__tile own = shifted(b, &t, 0);

            b->p->value(b->p->ctx, &own);
            add_keys(b, &y, &t);
        }
        store_results(b, &y);
    }
}

static void make_special_results(struct block *b, const struct assay_args *a)
{
    int64_t row_parts = (b->rows + PART_ROWS - 1) / PART_ROWS;
    int64_t col_parts = (b->p->dv + PART_COLS - 1) / PART_COLS;

    assay_parallel(b->units * row_parts * col_parts, 1, a->n_threads, special_range, b);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Large blocks multiply faster; small ones leave out more of what is not seen. */
static int64_t block_rows(const struct assay__attention *p)
{
    int64_t most = MOST_ROWS, rows;

    if (p->sees) {
        most = p->rows / 8 < LEAST_ROWS ? LEAST_ROWS : p->rows / 8;
        most = least(most, MOST_ROWS);
    }
    rows = least(p->rows, most);
    while (rows > 1 && rows * p->keys > SCORES)
        rows /= 2;
    return rows;
}

static enum assay_status run_block(struct block *b, const struct assay_args *a,
                                   struct assay_err *err)
{
    b->keys = 0;
    for (int64_t u = 0; u < b->units; u++)
        for (int64_t r = 0; r < b->rows; r++) {
            int64_t n = seen_by(b->p, b->unit + u, b->row + r);

            b->keys = n > b->keys ? n : b->keys;
        }
    atomic_store(&b->special, false);
    b->scores =
        assay_arena_array(a->arena, (size_t)(b->units * b->rows * b->keys) + 1, sizeof *b->scores);
    b->seen = assay_arena_array(a->arena, (size_t)(b->units * b->rows), sizeof *b->seen);
    if (!b->scores || !b->seen)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the scores of an attention");
    ASSAY_TRY(make_scores(b, a, err));
    assay_parallel(b->units * b->rows, 16, a->n_threads, softmax_range, b);
    ASSAY_TRY(make_results(b, a, err));
    if (atomic_load(&b->special))
        make_special_results(b, a);
    return ASSAY_OK;
}

enum assay_status assay__attention(const struct assay_args *a, const struct assay__attention *p,
                                   struct assay_err *err)
{
    struct assay_arena scratch = { 0 };
    struct assay_args own = *a;
    int64_t rows, units;
    enum assay_status st = ASSAY_OK;

    if (p->units <= 0 || p->rows <= 0 || p->dv <= 0)
        return ASSAY_OK;
    own.arena = &scratch;
    rows = block_rows(p);
    units = p->keys > 0 ? SCORES / (rows * p->keys) : p->units;
    units = units < 1 ? 1 : units;
    for (int64_t u = 0; u < p->units && !st; u += units)
        for (int64_t r = 0; r < p->rows && !st; r += rows) {
            struct block b = { .a = &own,
                               .p = p,
                               .unit = u,
                               .units = least(p->units - u, units),
                               .row = r,
                               .rows = least(p->rows - r, rows) };

            st = run_block(&b, &own, err);
            assay_arena_reset(&scratch);
        }
    assay_arena_release(&scratch);
    return st;
}
