/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unsorted_segment_sum: y[s] = sum of the data[i] with segment_ids[i] = s; 0 where there is none.
 *
 * In the native run rows are added in their order, in fp32 for all floating dtypes, and rounded
 * once. Integers wrap.
 */
#include "assay/op.h"

#include "ops/index.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/sample.h"

#include <math.h>

enum { DATA, IDS };
enum { SEGMENTS };
#define VALUES (ASSAY_FLOATS | ASSAY_BIT(ASSAY_I32) | ASSAY_BIT(ASSAY_I64))
static const struct assay_param in[] = {
    [DATA] = { "data", VALUES, 0, "[n, ...]", NULL },
    [IDS] = { "segment_ids", ASSAY_BIT(ASSAY_I32) | ASSAY_BIT(ASSAY_I64), 0, "[n]", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", VALUES, 0, "[num_segments, ...]", NULL }, { 0 } };

static const struct assay_attr attrs[] = {
    [SEGMENTS] = { "num_segments", ASSAY_ATTR_INT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    { 0 },
};

static const struct assay_tol tolerance[] = { { ASSAY_F32, 0.001 }, { ASSAY_F32, -1 } };

/* ---- cases ----------------------------------------------------------------------------------- */

/* Segments: one, a few, a share of the rows, as many, or more. Where a segment of many rows would
 * overflow or be NaN for sure, there are more segments than a few. */
static int64_t draw_segments(struct assay_sampler *s, const struct assay_case *c, int64_t rows)
{
    static const double shares[] = { 0.01, 0.1, 0.5, 1, 1.3 };
    bool wide = c->value_class == ASSAY_CLASS_SPECIAL || c->value_class == ASSAY_CLASS_BOUNDARY ||
                (c->value_class == ASSAY_CLASS_LARGE && c->in[DATA].dtype == ASSAY_F16);
    uint64_t choice = wide ? 4 + assay_sample_below(s, 3) : assay_sample_below(s, 7);
    int64_t n;

    if (choice == 0)
        return 1;
    if (choice == 1)
        return 2 + (int64_t)assay_sample_below(s, 15);
    n = (int64_t)((double)rows * shares[choice - 2]);
    return n > 0 ? n : 1;
}

/* A sum of n values of either sign is about sqrt(n) times as large as they are. */
static void sample_range(struct assay_case *c, int64_t rows, int64_t segments)
{
    struct assay_range *r = c->in[DATA].range;
    double most = fmax(0.1 * (double)rows, 4 * (double)rows / (double)segments);
    double fits = fmax(25, floor(assay_dtype_max(ASSAY_F16) / 3 / sqrt(fmax(most, 1))));

    if (c->in[DATA].dtype == ASSAY_F16 && r->hi > fits &&
        (c->value_class == ASSAY_CLASS_LARGE || c->value_class == ASSAY_CLASS_BOUNDARY))
        *r = (struct assay_range){ -fits, fits };
}

/* Any shape, or, in every other case, many rows of few columns. */
static void sample_data(struct assay_sampler *s, const struct assay_case *c, struct assay_shape *x)
{
    int rank = s->rank > 0 ? s->rank : 1;
    int64_t elements = rank == 1 ? s->elements / 2 : s->elements, inner = 1;
    struct assay_shape row;

    if (rank > 1 && assay_sample_below(s, 2)) {
        assay_sample_shape(s, 8 << assay_sample_below(s, 6), rank - 1, c->in[DATA].dtype, &row);
        *x = (struct assay_shape){ .rank = rank };
        for (int i = 1; i < rank; i++)
            inner *= x->dim[i] = row.dim[i - 1];
        x->dim[0] = elements / (inner + 1) > 0 ? elements / (inner + 1) : 1;
    } else {
        elements -= rank > 1 ? elements / 8 : 0; /* for the ids */
        assay_sample_shape(s, elements > 0 ? elements : 1, rank, c->in[DATA].dtype, x);
    }
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    int64_t rows, segments;

    ASSAY_TRY(assay__sample_room(s, c, DATA, 1, err));
    ASSAY_TRY(assay__sample_room(s, c, IDS, 1, err));
    sample_data(s, c, c->in[DATA].shape);
    rows = c->in[DATA].shape->dim[0];
    segments = draw_segments(s, c, rows);
    *c->in[IDS].shape = (struct assay_shape){ 1, { rows } };
    c->in[IDS].range[0] = (struct assay_range){ 0, (double)(segments - 1) };
    sample_range(c, rows, segments);
    c->attr[SEGMENTS] = (struct assay_value){ .set = true, .i = segments };
    return ASSAY_OK;
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *data = &a->in[DATA].t[0], *ids = &a->in[IDS].t[0];
    int64_t segments = a->attr[SEGMENTS].i;
    char x[128], y[128];

    if (data->rank < 1)
        return assay_fail(err, ASSAY_INVALID, "data is a scalar, it needs an axis of rows");
    if (ids->rank != 1 || ids->shape[0] != data->shape[0])
        return assay_fail(
            err, ASSAY_INVALID, "segment_ids %s is not one id for each row of data %s",
            assay_tensor_text(ids, x, sizeof x), assay_tensor_text(data, y, sizeof y));
    if (segments < 0)
        return assay_fail(err, ASSAY_INVALID, "num_segments is %lld, allowed are 0 and more",
                          (long long)segments);
    return ASSAY_OK;
}

static enum assay_status check_values(const struct assay_args *a, struct assay_err *err)
{
    return assay__index_check(&a->in[IDS].t[0], "segment_ids", a->attr[SEGMENTS].i, a->n_threads,
                              err);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    struct assay_tensor *y = &a->out[0].t[0];

    (void)err;
    *y = a->in[DATA].t[0];
    y->data = NULL;
    y->shape[0] = a->attr[SEGMENTS].i;
    return ASSAY_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Some segments in the middle stay empty: their rows go to the neighbour. */
static void empty_some(const struct assay_tensor *ids, int64_t segments)
{
    enum { EVERY = 11 };
    int64_t v[ASSAY__BLOCK];

    if (segments < 3)
        return;
    for (int64_t at = 0, m; at < ids->shape[0]; at += m) {
        m = ids->shape[0] - at < ASSAY__BLOCK ? ids->shape[0] - at : ASSAY__BLOCK;
        assay_load_int_n(ids, at, m, v);
        for (int64_t k = 0; k < m; k++)
            v[k] -= v[k] % EVERY == 1 && v[k] < segments - 1;
        assay_store_int_n(ids, at, m, v);
    }
}

/* Values that have mostly one sign: sums of a part of them are a part of the sum. */
static bool is_lopsided(const struct assay_tensor *data, struct assay_key key)
{
    enum { PROBES = 1024 };
    int64_t n = assay_numel(data);
    double sum = 0, size = 0;

    for (int i = 0; i < PROBES; i++) {
        double v = assay_load(data, (int64_t)assay_rng_below(key, (uint64_t)i, (uint64_t)n));

        if (!isfinite(v))
            continue;
        sum += v;
        size += fabs(v);
    }
    return fabs(sum) > 0.1 * size;
}

enum { HEAVY = 8, MANY = 64 };

struct weights {
    const struct assay_tensor *data, *ids;
    const uint32_t *rows; /* of each segment */
    struct assay_key key;
    int64_t inner;
    bool lopsided;
};

static void weigh_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct weights *w = ctx;
    int64_t n = w->ids->shape[0];

    for (int64_t i = begin; i < end; i++) {
        double rows = w->rows[assay_load_int(w->ids, i)], by, v[ASSAY__BLOCK];
        bool heavy = assay_rng_unit(w->key, (uint64_t)i) * rows < HEAVY || i == 0 || i == n - 1;

        if (rows < MANY || heavy)
            continue;
        by = w->lopsided ? HEAVY / rows : sqrt(HEAVY / rows);
        for (int64_t c = 0, m; c < w->inner; c += m) {
            m = w->inner - c < ASSAY__BLOCK ? w->inner - c : ASSAY__BLOCK;
            assay_load_n(w->data, i * w->inner + c, m, v);
            for (int64_t k = 0; k < m; k++)
                v[k] *= by;
            assay_store_n(w->data, i * w->inner + c, m, v);
        }
    }
}

/*
 * Where values have mostly one sign, a part of the rows of a large segment, scaled up, is the sum
 * of all within the tolerance; where signs are mixed, a single row that is left out is hard to see.
 * So about eight rows of a large segment, drawn anew, and the first and the last row of all, weigh
 * as much as the others together: n rows of one sign add up to n of them, of mixed ones to sqrt(n).
 * Integers are exact as they are.
 */
static enum assay_status weigh(const struct assay_args *a, struct assay_key key,
                               struct assay_err *err)
{
    struct weights w = { .data = &a->in[DATA].t[0], .ids = &a->in[IDS].t[0], .key = key };
    struct assay_arena arena = { 0 };
    int64_t n = w.ids->shape[0], outer, rows;
    uint32_t *count;

    if (!assay_dtype_is_float(w.data->dtype) || n < MANY || n >= UINT32_MAX)
        return ASSAY_OK;
    w.lopsided = is_lopsided(w.data, assay_key_sub(key, 1));
    count = assay_arena_zero(&arena, (size_t)a->attr[SEGMENTS].i * sizeof *count);
    if (!count)
        return assay_fail(err, ASSAY_NOMEM, "no memory to count the rows of %lld segments",
                          (long long)a->attr[SEGMENTS].i);
    for (int64_t i = 0; i < n; i++)
        count[assay_load_int(w.ids, i)]++;
    w.rows = count;
    assay_split(w.data, 0, &outer, &rows, &w.inner);
    assay_parallel(n, w.inner < 1024 ? 4096 / (w.inner + 1) + 1 : 1, a->n_threads, weigh_rows, &w);
    assay_arena_release(&arena);
    return ASSAY_OK;
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    static const unsigned even =
        1 << ASSAY__INDEX_UNIFORM | 1 << ASSAY__INDEX_REPEATS | 1 << ASSAY__INDEX_SORTED;
    const struct assay_tensor *ids = &a->in[IDS].t[0];
    struct assay__index_draw d = { .key = key, .n_threads = a->n_threads };
    int64_t segments = a->attr[SEGMENTS].i;

    if (assay_numel(&a->in[DATA].t[0]) == 0 || segments == 0)
        return ASSAY_OK;
    assay__index_range(a, IDS, segments, &d.lo, &d.hi);
    /* not so that most segments are empty: zeros are easily right */
    d.longest = 2 * ids->shape[0] / segments + 1;
    d.kind = assay__index_kind_of(
        ids, segments, ids->shape[0] / 4 < segments ? even : even | 1 << ASSAY__INDEX_SKEWED);
    assay__index_fill(ids, &d);
    empty_some(ids, segments);
    return weigh(a, assay_key_sub(key, 3), err);
}

/* ---- golden ---------------------------------------------------------------------------------- */

/* Sums of a window: segments first .. first+n-1 of up to ASSAY__WIDTH columns. */
enum { ROOM = 1 << 15 };
union sums {
    double f[ROOM];
    int64_t i[ROOM];
};

struct job {
    const struct assay_args *a;
    const struct assay_tensor *data, *ids, *y;
    bool is_float;
};

static void add_row(const struct job *j, union sums *s, int64_t to, const double *v,
                    const int64_t *u, int width)
{
    if (j->is_float)
        for (int l = 0; l < width; l++)
            s->f[to + l] = assay_round(j->a, ASSAY_F32, s->f[to + l] + v[l]);
    else
        for (int l = 0; l < width; l++)
            s->i[to + l] = (int64_t)((uint64_t)s->i[to + l] + (uint64_t)u[l]);
}

/* Steps k .. k+m-1 of the panel, whose rows lie side by side, or one row. */
static void load(const struct job *j, const struct assay__panel *p, int64_t k, int64_t m, double *v,
                 int64_t *u)
{
    if (j->is_float)
        assay__panel_load(p, j->data, p->n, k, m, v);
    else
        assay__panel_ints(p, j->data, p->n, k, m, u);
}

static void add_rows(const struct job *j, const struct assay__window *w, union sums *s)
{
    const struct assay__panel *p = &w->p;
    bool whole = p->width == p->inner;
    double v[ASSAY__PANEL];
    int64_t ids[ASSAY__PANEL], u[ASSAY__PANEL];

    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay_load_int_n(j->ids, k, m, ids);
        if (whole)
            load(j, p, k, m, v, u);
        for (int64_t i = 0; i < m; i++) {
            int64_t row = ids[i] - w->first, from = whole ? i * p->width : 0;

            if (row < 0 || row >= w->n)
                continue;
            if (!whole)
                load(j, p, k + i, 1, v, u);
            add_row(j, s, row * p->width, v + from, u + from, p->width);
        }
    }
}

static void window(void *ctx, const struct assay__window *w)
{
    const struct job *j = ctx;
    int width = w->p.width;
    union sums s;

    for (int64_t i = 0; i < w->n * width; i++)
        s.i[i] = 0; /* all bits zero is 0.0 as well */
    add_rows(j, w, &s);
    for (int64_t r = 0; r < w->n; r++) {
        int64_t at = (w->first + r) * w->p.inner + w->p.lane;

        if (j->is_float)
            assay_store_n(j->y, at, width, s.f + r * width);
        else
            assay_store_int_n(j->y, at, width, s.i + r * width);
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { a, &a->in[DATA].t[0], &a->in[IDS].t[0], &a->out[0].t[0], false };

    (void)err;
    j.is_float = assay_dtype_is_float(j.data->dtype);
    assay__windows(a, j.data, 0, a->attr[SEGMENTS].i, ROOM, window, &j);
    return ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Every row but the first of its segment is added to others. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    double rows = (double)a->in[IDS].t[0].shape[0], segments = (double)a->attr[SEGMENTS].i;

    if (rows > segments)
        assay__add_lanes(w, &a->in[DATA], (rows - segments) / rows);
}

static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_vector(w, &a->in[DATA], 1);
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "output_f16", "float32 results are judged at a mean relative error of 0.001, rounding to "
                    "float16 stays below 2^-11" },
    { "other_attribute num_segments", "it is the first extent of y, which kernels know; one less "
                                      "is refused where the last segment is used" },
    { 0 },
};

const struct assay_op assay_op_unsorted_segment_sum = {
    .name = "unsorted_segment_sum",
    .tier = 2,
    .formula = "y[s] = sum of data[i] over all i with segment_ids[i] = s",
    .constraints = "data has one axis or more; segment_ids has one id for each row of data\n"
                   "num_segments >= 0\n"
                   "0 <= segment_ids < num_segments",
    .in = in,
    .out = out,
    .attrs = attrs,
    .tol = tolerance,
    .n_tol = 1,
    .sample = sample,
    .check = check,
    .check_values = check_values,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 2, UnsortedSegmentSum",
};
