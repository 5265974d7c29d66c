/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scatter: y = data, then y[.., indices[.., i, ..], ..] = or += or *= or .. updates[.., i, ..]
 * along dim, in the order of i.
 *
 * Where several updates meet in one place the last one would win, or the first, or any: an index
 * must not come twice in a slice unless something is reduced. A reduction takes in what data holds.
 * Sums and products of fp16 and bf16 are formed in fp32 and rounded once; minimum and maximum are
 * NaN where a NaN takes part; integers wrap. A reduction that is null, or not given, is "update".
 */
#include "assay/op.h"

#include "ops/index.h"
#include "ops/map.h"
#include "ops/sample.h"

#include <math.h>

enum { DATA, INDICES, UPDATES };
enum { DIM, REDUCE };
enum { UPDATE, ADD, MULTIPLY, AMIN, AMAX };
#define VALUES (ASSAY_FLOATS | ASSAY_BIT(ASSAY_I32) | ASSAY_BIT(ASSAY_I64))
static const struct assay_param in[] = {
    [DATA] = { "data", VALUES, 0, "[.., n, ..]", NULL },
    [INDICES] = { "indices", ASSAY_BIT(ASSAY_I32) | ASSAY_BIT(ASSAY_I64), 0, "[.., m, ..]", NULL },
    [UPDATES] = { "updates", VALUES, 0, "like indices", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", VALUES, 0, "like data", NULL }, { 0 } };

static const char *const reductions[] = {
    [UPDATE] = "update", [ADD] = "add",   [MULTIPLY] = "multiply",
    [AMIN] = "amin",     [AMAX] = "amax", NULL,
};
static const double dims[] = { 0, -1, 1, -2 };
static const struct assay_attr attrs[] = {
    [DIM] = { "dim", ASSAY_ATTR_INT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, dims, 4 },
    [REDUCE] = { "reduce", ASSAY_ATTR_ENUM, 0, { .set = true, .i = UPDATE }, reductions, NULL, 0 },
    { 0 },
};

/* ---- cases ----------------------------------------------------------------------------------- */

/* Ranges in which results tell: no overflow where it can be helped, and not NaN everywhere. */
static void sample_ranges(struct assay_case *c)
{
    struct assay_range *data = c->in[DATA].range, *updates = c->in[UPDATES].range;
    bool half = c->in[DATA].dtype == ASSAY_F16, boundary = c->value_class == ASSAY_CLASS_BOUNDARY;

    if (c->value_class == ASSAY_CLASS_ZEROS)
        return;
    if (!assay_dtype_is_float(
            c->in[DATA].dtype)) { /* -1, 0 and 1 have the same largest value soon */
        if (c->value_class == ASSAY_CLASS_SMALL && c->attr[REDUCE].i >= AMIN)
            *updates = (struct assay_range){ -1000, 1000 };
        return;
    }
    if (c->value_class == ASSAY_CLASS_SPECIAL) {
        if (isnan(data->lo) && c->attr[REDUCE].i != UPDATE)
            *updates = (struct assay_range){ -1, 1 };
    } else if (c->attr[REDUCE].i == MULTIPLY) {
        *updates = boundary ? (struct assay_range){ -1, 1 } : (struct assay_range){ -1.5, 1.5 };
    } else if (c->attr[REDUCE].i == ADD && boundary && half) {
        *data = (struct assay_range){ -30000, 30000 };
        *updates = (struct assay_range){ -100, 100 };
    }
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    static const double shares[] = { 0.125, 0.5, 0.5, 0.75, 1, 2 };
    double share = shares[assay_sample_below(s, c->attr[REDUCE].i == UPDATE ? 5 : 6)];
    int axis;

    for (int i = 0; i < 3; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    axis = assay__index_sample(s, c->in[DATA].dtype, 2, share, INFINITY, c->in[DATA].shape,
                               c->in[INDICES].shape);
    *c->in[UPDATES].shape = *c->in[INDICES].shape;
    c->in[INDICES].range[0] = (struct assay_range){ 0, (double)(c->in[DATA].shape->dim[axis] - 1) };
    sample_ranges(c);
    if (assay_sample_below(s, 2))
        axis -= c->in[DATA].shape->rank;
    c->attr[DIM] = (struct assay_value){ .set = true, .i = axis };
    return ASSAY_OK;
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *data = &a->in[DATA].t[0], *indices = &a->in[INDICES].t[0];
    const struct assay_tensor *updates = &a->in[UPDATES].t[0];
    int axis = assay_axis(data, a->attr[DIM].i);
    char x[128], y[128];

    if (axis < 0)
        return assay_fail(err, ASSAY_INVALID, "dim %lld out of range for rank %d",
                          (long long)a->attr[DIM].i, data->rank);
    if (updates->dtype != data->dtype)
        return assay_fail(err, ASSAY_INVALID, "updates are %s, data %s",
                          assay_dtype_name(updates->dtype), assay_dtype_name(data->dtype));
    if (!assay_same_shape(indices, updates))
        return assay_fail(err, ASSAY_INVALID, "updates %s do not have the shape of indices %s",
                          assay_tensor_text(updates, x, sizeof x),
                          assay_tensor_text(indices, y, sizeof y));
    ASSAY_TRY(assay__index_fits(indices, "indices", data, "data", axis, err));
    if (a->attr[REDUCE].i == UPDATE && indices->shape[axis] > data->shape[axis])
        return assay_fail(err, ASSAY_INVALID,
                          "%lld updates cannot all go to distinct places of an extent of %lld",
                          (long long)indices->shape[axis], (long long)data->shape[axis]);
    return ASSAY_OK;
}

static int64_t extent(const struct assay_args *a)
{
    const struct assay_tensor *data = &a->in[DATA].t[0];

    return data->shape[assay_axis(data, a->attr[DIM].i)];
}

enum { WORDS = 4096 };

struct repeats {
    const struct assay_tensor *indices;
    int64_t n;
    bool *found;
};

/* One bit for each value and lane. */
static void find_repeats(void *ctx, const struct assay__window *w)
{
    const struct repeats *r = ctx;
    const struct assay__panel *p = &w->p;
    uint64_t seen[WORDS] = { 0 };
    int64_t v[ASSAY__PANEL];
    bool twice = false;

    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_ints(p, r->indices, p->n, k, m, v);
        for (int64_t i = 0; i < m; i++)
            for (int l = 0; l < p->width; l++) {
                uint64_t at = (uint64_t)(v[i * p->width + l] - w->first), bit;

                if (at >= (uint64_t)w->n)
                    continue;
                at = at * (uint64_t)p->width + (uint64_t)l;
                bit = (uint64_t)1 << at % 64;
                twice = twice || seen[at / 64] & bit;
                seen[at / 64] |= bit;
            }
    }
    if (twice)
        *r->found = true;
}

/* Says which: only once it is known that there are any. */
static enum assay_status name_repeat(const struct assay_args *a, int axis, struct assay_err *err)
{
    const struct assay_tensor *t = &a->in[INDICES].t[0];
    int64_t outer, m, inner;

    assay_split(t, axis, &outer, &m, &inner);
    for (int64_t s = 0; s < outer * inner; s++)
        for (int64_t k = 1; k < m; k++)
            for (int64_t i = 0; i < k; i++) {
                int64_t first = s / inner * m * inner + s % inner;
                int64_t v = assay_load_int(t, first + k * inner);

                if (v == assay_load_int(t, first + i * inner))
                    return assay_fail(err, ASSAY_INVALID,
                                      "indices: %lld stands at %lld and at %lld along axis %d, but "
                                      "places must be distinct for 'update'",
                                      (long long)v, (long long)i, (long long)k, axis);
            }
    return ASSAY_OK;
}

static enum assay_status check_values(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *indices = &a->in[INDICES].t[0];
    bool found = false;
    struct repeats r = { indices, extent(a), &found };
    int axis = assay_axis(indices, a->attr[DIM].i);

    ASSAY_TRY(assay__index_check(indices, "indices", r.n, a->n_threads, err));
    if (a->attr[REDUCE].i != UPDATE)
        return ASSAY_OK;
    assay__windows(a, indices, axis, r.n, 64 * WORDS, find_repeats, &r);
    return found ? name_repeat(a, axis, err) : ASSAY_OK;
}

/* Products of many factors leave the range of any dtype: no value is frequent there. */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    static const unsigned even =
        1 << ASSAY__INDEX_UNIFORM | 1 << ASSAY__INDEX_BLOCKS | 1 << ASSAY__INDEX_DISTINCT;
    static const unsigned kinds[] = {
        [UPDATE] = 1 << ASSAY__INDEX_DISTINCT,
        [ADD] =
            even | 1 << ASSAY__INDEX_SKEWED | 1 << ASSAY__INDEX_REPEATS | 1 << ASSAY__INDEX_SORTED,
        [MULTIPLY] = even,
        [AMIN] = even | 1 << ASSAY__INDEX_SKEWED | 1 << ASSAY__INDEX_SORTED,
        [AMAX] = even | 1 << ASSAY__INDEX_SKEWED | 1 << ASSAY__INDEX_REPEATS,
    };
    const struct assay_tensor *indices = &a->in[INDICES].t[0];
    struct assay__index_draw d = { .key = key, .n_threads = a->n_threads };
    int64_t n = extent(a);

    (void)err;
    if (assay_numel(indices) == 0 || n == 0)
        return ASSAY_OK;
    assay__index_range(a, INDICES, n, &d.lo, &d.hi);
    d.axis = assay_axis(indices, a->attr[DIM].i);
    d.kind = assay__index_kind_of(indices, n, kinds[a->attr[REDUCE].i]);
    if (d.kind == ASSAY__INDEX_DISTINCT && indices->shape[d.axis] > d.hi - d.lo + 1) {
        if (a->attr[REDUCE].i == UPDATE)
            d.lo = 0, d.hi = n - 1;
        else
            d.kind = ASSAY__INDEX_UNIFORM;
    }
    assay__index_fill(indices, &d);
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

/* What a window of y adds up to: doubles, or integers. */
enum { ROOM = 1 << 15 };
union sums {
    double f[ROOM];
    int64_t i[ROOM];
};

struct job {
    const struct assay_args *a;
    const struct assay_tensor *data, *indices, *updates, *y;
    int axis, reduce;
    bool is_float;
};

static void copy_range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    size_t size = assay_dtype_size(j->data->dtype);
    double v[ASSAY__BLOCK];

    if (j->y->dtype == j->data->dtype) {
        memcpy((char *)j->y->data + (size_t)begin * size,
               (const char *)j->data->data + (size_t)begin * size, (size_t)(end - begin) * size);
        return;
    }
    for (int64_t at = begin, n; at < end; at += n) {
        n = end - at < ASSAY__BLOCK ? end - at : ASSAY__BLOCK;
        assay_load_n(j->data, at, n, v);
        assay_store_n(j->y, at, n, v);
    }
}

/* n elements of data from `at` on become the sums from `to` on, or y becomes those. */
static void move(const struct job *j, union sums *s, int64_t at, int64_t n, int64_t to, bool store)
{
    if (j->is_float && store)
        assay_store_n(j->y, at, n, s->f + to);
    else if (j->is_float)
        assay_load_n(j->data, at, n, s->f + to);
    else if (store)
        assay_store_int_n(j->y, at, n, s->i + to);
    else
        assay_load_int_n(j->data, at, n, s->i + to);
}

/* All of a window, in runs of elements that lie side by side. */
static void move_window(const struct job *j, const struct assay__window *w, const int64_t *lane,
                        int64_t stride, union sums *s, bool store)
{
    int width = w->p.width;

    if (width == 1 && stride == 1) {
        move(j, s, lane[0] + w->first, w->n, 0, store);
        return;
    }
    for (int64_t r = 0; r < w->n; r++)
        for (int l = 0, n; l < width; l += n) {
            for (n = 1; l + n < width && lane[l + n] == lane[l] + n;)
                n++;
            move(j, s, lane[l] + (w->first + r) * stride, n, r * width + l, store);
        }
}

static double combine(const struct assay_args *a, int reduce, double y, double u)
{
    switch (reduce) {
    case ADD:
        return assay_round(a, ASSAY_F32, y + u);
    case MULTIPLY:
        return assay_round(a, ASSAY_F32, y * u);
    case AMIN:
        return isnan(u) || u < y ? u : y;
    case AMAX:
        return isnan(u) || u > y ? u : y;
    default:
        return u;
    }
}

static int64_t combine_ints(int reduce, int64_t y, int64_t u)
{
    switch (reduce) {
    case ADD:
        return (int64_t)((uint64_t)y + (uint64_t)u);
    case MULTIPLY:
        return (int64_t)((uint64_t)y * (uint64_t)u);
    case AMIN:
        return u < y ? u : y;
    case AMAX:
        return u > y ? u : y;
    default:
        return u;
    }
}

static void apply(const struct job *j, const struct assay__window *w, union sums *s)
{
    const struct assay__panel *p = &w->p;
    int64_t at[ASSAY__PANEL], u[ASSAY__PANEL];
    double v[ASSAY__PANEL];

    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_ints(p, j->indices, p->n, k, m, at);
        if (j->is_float)
            assay__panel_load(p, j->updates, p->n, k, m, v);
        else
            assay__panel_ints(p, j->updates, p->n, k, m, u);
        for (int64_t i = 0; i < m * p->width; i++) {
            int64_t row = at[i] - w->first, to = row * p->width + i % p->width;

            if (row < 0 || row >= w->n)
                continue;
            if (j->is_float)
                s->f[to] = combine(j->a, j->reduce, s->f[to], v[i]);
            else
                s->i[to] = combine_ints(j->reduce, s->i[to], u[i]);
        }
    }
}

static void window(void *ctx, const struct assay__window *w)
{
    const struct job *j = ctx;
    int64_t lane[ASSAY__WIDTH], stride;
    union sums s;

    assay__index_lanes(&w->p, j->indices, j->data, j->axis, lane, &stride);
    move_window(j, w, lane, stride, &s, false);
    apply(j, w, &s);
    move_window(j, w, lane, stride, &s, true);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .a = a,
                     .data = &a->in[DATA].t[0],
                     .indices = &a->in[INDICES].t[0],
                     .updates = &a->in[UPDATES].t[0],
                     .y = &a->out[0].t[0],
                     .reduce = (int)a->attr[REDUCE].i };

    (void)err;
    j.axis = assay_axis(j.data, a->attr[DIM].i);
    j.is_float = assay_dtype_is_float(j.data->dtype);
    assay_parallel(assay_numel(j.data), 64 * ASSAY__BLOCK, a->n_threads, copy_range, &j);
    if (assay_numel(j.indices) > 0)
        assay__windows(a, j.indices, j.axis, extent(a), ROOM, window, &j);
    return ASSAY_OK;
}

/* Data need not be read where all of it is written over. Where less is, next to every line of it
 * holds something that stays. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *data = &a->in[DATA].t[0], *updates = &a->in[UPDATES].t[0];

    if (a->attr[REDUCE].i == UPDATE && assay_same_shape(data, updates))
        w->bytes_in -= (double)assay_numel(data) * (double)assay_dtype_size(data->dtype);
}

const struct assay_op assay_op_scatter = {
    .name = "scatter",
    .tier = 2,
    .formula = "y = data, then y[.., indices[.., i, ..], ..] = (or +=, ..) updates[.., i, ..]",
    .constraints =
        "dim counts an axis of data, from the end if negative\n"
        "updates has the dtype of data and the shape of indices\n"
        "indices has the rank of data, and its extents or smaller ones but along dim\n"
        "0 <= indices < extent of data along dim\n"
        "no index twice along dim unless something is reduced (add, multiply, amin, amax)",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .check_values = check_values,
    .fill = fill,
    .golden = golden,
    .work = work,
    .source = "CANN Bench level 2, Scatter",
};
