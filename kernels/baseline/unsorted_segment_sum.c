/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unsorted_segment_sum. Where rows are long, they are sorted by segment first (by counting), so
 * that each is read once and each sum written once. Short rows are added to sums of 64 bits that
 * lie side by side, double or int64, as many segments at a time as there is room for.
 */
#include <assay/unsorted_segment_sum.h>

#include "blocks.h"
#include "index.h"

enum { LONG = 16, AHEAD = 4, SOON = 24, LINE = 64, SUM_BYTES = 8, FEW_BYTES = 4096, COPIES = 4 };

struct job {
    const struct assay_view *data, *ids, *y;
    int64_t rows, columns, segments;
    bool is_int;
    int64_t *first; /* of each segment, where its rows begin in `order` */
    int64_t *order;
    char *sums;
    int64_t parts, copies; /* of the rows, each with its own copies of the sums */
};

static int64_t id_of(const struct job *j, int64_t i)
{
    return j->ids->dtype == ASSAY_I64 ? ((const int64_t *)j->ids->data)[i]
                                      : ((const int32_t *)j->ids->data)[i];
}

/* ---- long rows ------------------------------------------------------------------------------- */

static void sort_rows(const struct job *j)
{
    int64_t *first = j->first, sum = 0;

    memset(first, 0, (size_t)(j->segments + 1) * sizeof *first);
    for (int64_t i = 0; i < j->rows; i++)
        first[id_of(j, i) + 1]++;
    for (int64_t s = 0; s <= j->segments; s++)
        first[s] = sum += first[s];
    for (int64_t i = 0; i < j->rows; i++)
        j->order[first[id_of(j, i)]++] = i;
    memmove(first + 1, first, (size_t)j->segments * sizeof *first); /* they have moved on by one */
    first[0] = 0;
}

static void add_f32(float *restrict sum, const float *restrict x, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        sum[k] += x[k];
}

static void add_i32(uint32_t *restrict sum, const uint32_t *restrict x, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        sum[k] += x[k];
}

static void add_i64(uint64_t *restrict sum, const uint64_t *restrict x, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        sum[k] += x[k];
}

/* Rows come in no order that the processor could foresee. */
static void fetch(const struct job *j, int64_t k, int64_t first, int64_t n)
{
    int64_t size = (int64_t)baseline_size(j->data->dtype);
    const char *row;

    if (k >= j->rows)
        return;
    row = (const char *)j->data->data + (j->order[k] * j->columns + first) * size;
    for (int64_t b = 0; b < n * size && b < 16 * LINE; b += LINE)
        __builtin_prefetch(row + b);
}

/* Columns first .. first+n-1 of one segment. */
static void sum_rows(const struct job *j, int64_t s, int64_t first, int64_t n)
{
    int64_t at = s * j->columns + first;
    float f[BASELINE_BLOCK], buf[BASELINE_BLOCK];
    float *sum = baseline_target(j->y, at, f);
    uint32_t *i32 = (uint32_t *)j->y->data + at;
    uint64_t *i64 = (uint64_t *)j->y->data + at;

    if (j->y->dtype == ASSAY_I32)
        memset(i32, 0, (size_t)n * sizeof *i32);
    else if (j->y->dtype == ASSAY_I64)
        memset(i64, 0, (size_t)n * sizeof *i64);
    else
        memset(sum, 0, (size_t)n * sizeof *sum);
    for (int64_t k = j->first[s]; k < j->first[s + 1]; k++) {
        int64_t from = j->order[k] * j->columns + first;

        fetch(j, k + AHEAD, first, n);
        if (j->y->dtype == ASSAY_I32)
            add_i32(i32, (const uint32_t *)j->data->data + from, n);
        else if (j->y->dtype == ASSAY_I64)
            add_i64(i64, (const uint64_t *)j->data->data + from, n);
        else
            add_f32(sum, baseline_load(j->data, from, n, buf), n);
    }
    if (!j->is_int)
        baseline_store(j->y, at, n, sum);
}

static void long_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    int64_t pieces = (j->columns + BASELINE_BLOCK - 1) / BASELINE_BLOCK;

    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % pieces * BASELINE_BLOCK;
        int64_t n = j->columns - first < BASELINE_BLOCK ? j->columns - first : BASELINE_BLOCK;

        sum_rows(j, i / pieces, first, n);
    }
}

/* ---- short rows ------------------------------------------------------------------------------ */

/* Segments of rows i .. i+n-1, counted from `first`. */
static void load_ids(const struct job *j, int64_t i, int64_t n, int64_t first, int64_t *s)
{
    const int64_t *i64 = (const int64_t *)j->ids->data + i;
    const int32_t *i32 = (const int32_t *)j->ids->data + i;

    if (j->ids->dtype == ASSAY_I64)
        for (int64_t k = 0; k < n; k++)
            s[k] = i64[k] - first;
    else
        for (int64_t k = 0; k < n; k++)
            s[k] = i32[k] - first;
}

static const uint64_t *load_ints(const struct job *j, int64_t at, int64_t n, uint64_t *buf)
{
    const int32_t *i32 = (const int32_t *)j->data->data + at;

    if (j->data->dtype == ASSAY_I64)
        return (const uint64_t *)j->data->data + at;
    for (int64_t k = 0; k < n; k++)
        buf[k] = (uint64_t)(int64_t)i32[k];
    return buf;
}

static void store_sums(const struct job *j, int64_t at, int64_t n, const void *sums)
{
    const double *d = sums;
    const uint64_t *u = sums;
    float buf[BASELINE_BLOCK];

    for (int64_t k = 0, m; k < n; k += m) {
        float *f = baseline_target(j->y, at + k, buf);

        m = n - k < BASELINE_BLOCK ? n - k : BASELINE_BLOCK;
        if (j->y->dtype == ASSAY_I64)
            memcpy((uint64_t *)j->y->data + at + k, u + k, (size_t)m * sizeof *u);
        else if (j->y->dtype == ASSAY_I32)
            for (int64_t i = 0; i < m; i++)
                ((uint32_t *)j->y->data)[at + k + i] = (uint32_t)u[k + i];
        else
            for (int64_t i = 0; i < m; i++)
                f[i] = (float)d[k + i];
        if (!j->is_int)
            baseline_store(j->y, at + k, m, f);
    }
}

/* m rows, whose segments are s[]; the copies of the sums, n segments each, take turns, so that one
 * addition need not wait for the one before. */
static void add_floats(const struct job *j, const int64_t *s, int64_t m, int64_t n, const float *x,
                       double *sums)
{
    int64_t columns = j->columns, turn = j->copies - 1;

    for (int64_t r = 0; r < m; r++) {
        double *sum;

        if (r + SOON < m && (uint64_t)s[r + SOON] < (uint64_t)n)
            __builtin_prefetch(sums + (((r + SOON) & turn) * n + s[r + SOON]) * columns, 1);
        if ((uint64_t)s[r] >= (uint64_t)n)
            continue;
        sum = sums + ((r & turn) * n + s[r]) * columns;
        sum[0] += x[r * columns];
        for (int64_t k = 1; k < columns; k++)
            sum[k] += x[r * columns + k];
    }
}

static void add_ints(const struct job *j, const int64_t *s, int64_t m, int64_t n, const uint64_t *x,
                     uint64_t *sums)
{
    int64_t columns = j->columns, turn = j->copies - 1;

    for (int64_t r = 0; r < m; r++) {
        uint64_t *sum;

        if (r + SOON < m && (uint64_t)s[r + SOON] < (uint64_t)n)
            __builtin_prefetch(sums + (((r + SOON) & turn) * n + s[r + SOON]) * columns, 1);
        if ((uint64_t)s[r] >= (uint64_t)n)
            continue;
        sum = sums + ((r & turn) * n + s[r]) * columns;
        sum[0] += x[r * columns];
        for (int64_t k = 1; k < columns; k++)
            sum[k] += x[r * columns + k];
    }
}

/* Adds rows begin .. end-1, as far as they belong to segments first .. first+n-1. */
static void add_short(const struct job *j, int64_t begin, int64_t end, int64_t first, int64_t n,
                      void *sums)
{
    int64_t each = BASELINE_BLOCK / j->columns, s[BASELINE_BLOCK];
    float f[BASELINE_BLOCK];
    uint64_t u[BASELINE_BLOCK];

    memset(sums, 0, (size_t)(j->copies * n * j->columns) * SUM_BYTES);
    for (int64_t i = begin, m; i < end; i += m) {
        int64_t at = i * j->columns;

        m = end - i < each ? end - i : each;
        load_ids(j, i, m, first, s);
        if (j->is_int)
            add_ints(j, s, m, n, load_ints(j, at, m * j->columns, u), sums);
        else
            add_floats(j, s, m, n, baseline_load(j->data, at, m * j->columns, f), sums);
    }
}

/* Each part of the rows has its own sums. */
static void short_parts(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t p = begin; p < end; p++)
        add_short(j, j->rows * p / j->parts, j->rows * (p + 1) / j->parts, 0, j->segments,
                  j->sums + p * j->copies * j->segments * j->columns * SUM_BYTES);
}

static void merge(const struct job *j)
{
    int64_t n = j->segments * j->columns;
    double *d = (double *)(void *)j->sums;
    uint64_t *u = (uint64_t *)(void *)j->sums;

    for (int64_t p = 1; p < j->parts * j->copies; p++)
        if (j->is_int)
            add_i64(u, u + p * n, n);
        else
            for (int64_t k = 0; k < n; k++)
                d[k] += d[p * n + k];
}

static void short_rows(const struct assay_call *c, struct job *j)
{
    int64_t bytes = j->columns * SUM_BYTES, room = (int64_t)c->scratch_bytes / bytes;

    j->sums = c->scratch;
    j->parts = c->threads;
    j->copies = j->segments * bytes <= FEW_BYTES ? COPIES : 1;
    if (j->segments * j->parts * j->copies <= room && j->segments * j->parts <= j->rows) {
        baseline_parallel(c, j->parts, j->rows / j->parts * j->columns, short_parts, j);
        merge(j);
        store_sums(j, 0, j->segments * j->columns, j->sums);
        return;
    }
    j->copies = 1;
    for (int64_t s = 0, n; s < j->segments; s += n) {
        n = j->segments - s < room ? j->segments - s : room;
        add_short(j, 0, j->rows, s, n, j->sums);
        store_sums(j, s * j->columns, n * j->columns, j->sums);
    }
}

int assay_unsorted_segment_sum(const struct assay_call *c)
{
    const struct unsorted_segment_sum_attrs *a = c->attrs;
    struct job j = { .data = c->in[UNSORTED_SEGMENT_SUM_DATA].view,
                     .ids = c->in[UNSORTED_SEGMENT_SUM_SEGMENT_IDS].view,
                     .y = c->out[UNSORTED_SEGMENT_SUM_Y].view,
                     .columns = 1,
                     .segments = a->num_segments };
    int64_t pieces;

    j.is_int = j.y->dtype == ASSAY_I32 || j.y->dtype == ASSAY_I64;
    j.rows = j.data->shape[0];
    for (int d = 1; d < j.data->rank; d++)
        j.columns *= j.data->shape[d];
    if (j.columns == 0)
        return 0;
    if (j.columns < LONG) {
        short_rows(c, &j);
        return 0;
    }
    /* the scratch has 64 bytes and more for each row of data and of y: rows are long */
    j.first = c->scratch;
    j.order = j.first + j.segments + 1;
    sort_rows(&j);
    pieces = (j.columns + BASELINE_BLOCK - 1) / BASELINE_BLOCK;
    baseline_parallel(c, j.segments * pieces, (j.rows / (j.segments + 1) + 1) * j.columns / pieces,
                      long_rows, &j);
    return 0;
}
