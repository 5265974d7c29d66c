/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather: y[.., i, ..] = x[.., index[.., i, ..], ..] along dim.
 *
 * A copy, of every dtype. Integers have no tolerance. Floats have that of their dtype all the same,
 * as in the published harness: values that went through an 8-bit float on their way are found by
 * it, and a single bit of bfloat16 is not.
 */
#include "assay/op.h"

#include "ops/index.h"
#include "ops/sample.h"

#include <math.h>

enum { X, INDEX };
enum { DIM };
#define VALUES (ASSAY_FLOATS | ASSAY_BIT(ASSAY_I8) | ASSAY_BIT(ASSAY_I32) | ASSAY_BIT(ASSAY_I64))
#define INDICES (ASSAY_BIT(ASSAY_I8) | ASSAY_BIT(ASSAY_I32) | ASSAY_BIT(ASSAY_I64))
static const struct assay_param in[] = {
    [X] = { "x", VALUES, 0, "[.., n, ..]", NULL },
    [INDEX] = { "index", INDICES, 0, "[.., m, ..]", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", VALUES, 0, "like index", NULL }, { 0 } };

static const double dims[] = { 0, -1, 1, -2 };
static const struct assay_attr attrs[] = {
    [DIM] = { "dim", ASSAY_ATTR_INT, 0, { .set = true, .i = 0 }, NULL, dims, 4 },
    { 0 },
};

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    static const double shares[] = { 0.25, 0.5, 0.5, 1, 2 };
    double share = shares[assay_sample_below(s, 5)];
    double reach = assay_dtype_max(c->in[INDEX].dtype) + 1;
    int axis;

    ASSAY_TRY(assay__sample_room(s, c, X, 1, err));
    ASSAY_TRY(assay__sample_room(s, c, INDEX, 1, err));
    axis =
        assay__index_sample(s, c->in[X].dtype, 1, share, reach, c->in[X].shape, c->in[INDEX].shape);
    c->in[INDEX].range[0].lo = 0;
    c->in[INDEX].range[0].hi = fmin((double)c->in[X].shape->dim[axis], reach) - 1;
    if (assay_sample_below(s, 2))
        axis -= c->in[X].shape->rank;
    c->attr[DIM] = (struct assay_value){ .set = true, .i = axis };
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0];
    int axis = assay_axis(x, a->attr[DIM].i);

    if (axis < 0)
        return assay_fail(err, ASSAY_INVALID, "dim %lld out of range for rank %d",
                          (long long)a->attr[DIM].i, x->rank);
    return assay__index_fits(&a->in[INDEX].t[0], "index", x, "x", axis, err);
}

static int64_t extent(const struct assay_args *a)
{
    const struct assay_tensor *x = &a->in[X].t[0];

    return x->shape[assay_axis(x, a->attr[DIM].i)];
}

static enum assay_status check_values(const struct assay_args *a, struct assay_err *err)
{
    return assay__index_check(&a->in[INDEX].t[0], "index", extent(a), a->n_threads, err);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    struct assay_tensor *y = &a->out[0].t[0];

    (void)err;
    *y = a->in[INDEX].t[0];
    y->dtype = a->in[X].t[0].dtype;
    y->data = NULL;
    return ASSAY_OK;
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    static const unsigned kinds = 1 << ASSAY__INDEX_UNIFORM | 1 << ASSAY__INDEX_SKEWED |
                                  1 << ASSAY__INDEX_BLOCKS | 1 << ASSAY__INDEX_REPEATS |
                                  1 << ASSAY__INDEX_SORTED | 1 << ASSAY__INDEX_DISTINCT;
    const struct assay_tensor *index = &a->in[INDEX].t[0];
    struct assay__index_draw d = { .key = key, .n_threads = a->n_threads };

    (void)err;
    if (assay_numel(index) == 0 || extent(a) == 0)
        return ASSAY_OK;
    assay__index_range(a, INDEX, extent(a), &d.lo, &d.hi);
    d.axis = assay_axis(index, a->attr[DIM].i);
    d.kind = assay__index_kind_of(index, extent(a), kinds);
    if (d.kind == ASSAY__INDEX_DISTINCT && index->shape[d.axis] > d.hi - d.lo + 1)
        d.kind = ASSAY__INDEX_UNIFORM;
    assay__index_fill(index, &d);
    return ASSAY_OK;
}

struct job {
    const struct assay_tensor *x, *index, *y;
    int axis;
};

/* Picked elements, as they are in x, go to steps k .. k+m-1 of y. */
static void put(const struct job *j, const struct assay__panel *p, int64_t k, int64_t m, void *got)
{
    size_t size = assay_dtype_size(j->x->dtype);
    struct assay_tensor t = { .data = got, .dtype = j->x->dtype };
    double v[ASSAY__PANEL];

    if (j->y->dtype != j->x->dtype) {
        assay_load_n(&t, 0, m * p->width, v);
        assay__panel_store(p, j->y, p->n, k, m, v);
        return;
    }
    for (int64_t i = 0; i < m; i++)
        memcpy((char *)j->y->data + (size_t)assay__panel_at(p, p->n, k + i) * size,
               (char *)got + (size_t)(i * p->width) * size, (size_t)p->width * size);
}

static void panel(void *ctx, const struct assay__panel *p)
{
    const struct job *j = ctx;
    int64_t lane[ASSAY__WIDTH], at[ASSAY__PANEL], stride;
    uint64_t got[ASSAY__PANEL];

    assay__index_lanes(p, j->index, j->x, j->axis, lane, &stride);
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_ints(p, j->index, p->n, k, m, at);
        for (int64_t i = 0; i < m; i++)
            for (int l = 0; l < p->width; l++)
                at[i * p->width + l] = lane[l] + at[i * p->width + l] * stride;
        assay__pick(got, j->x->data, at, m * p->width, assay_dtype_size(j->x->dtype));
        put(j, p, k, m, got);
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .x = &a->in[X].t[0], .index = &a->in[INDEX].t[0], .y = &a->out[0].t[0] };

    (void)err;
    j.axis = assay_axis(j.x, a->attr[DIM].i);
    assay__panels(a, j.index, j.axis, panel, &j);
    return ASSAY_OK;
}

/* Of x at most as many elements in a slice as are picked there, as it has, and as the index can
 * tell apart. No fewer: lines of memory are read whole, and elements that are picked twice are made
 * up for by those around them that are not picked at all. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *x = &a->in[X].t[0], *index = &a->in[INDEX].t[0];
    double reach = assay_dtype_max(index->dtype) + 1;
    int64_t outer, m, inner;
    double each;

    assay_split(index, assay_axis(x, a->attr[DIM].i), &outer, &m, &inner);
    each = fmin(fmin((double)m, (double)extent(a)), reach);
    w->bytes_in -= ((double)assay_numel(x) - (double)(outer * inner) * each) *
                   (double)assay_dtype_size(x->dtype);
}

const struct assay_op assay_op_gather = {
    .name = "gather",
    .tier = 2,
    .formula = "y[.., i, ..] = x[.., index[.., i, ..], ..] along dim",
    .constraints = "dim counts an axis of x, from the end if negative\n"
                   "index has the rank of x, and its extents or smaller ones but along dim\n"
                   "0 <= index < extent of x along dim",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .check_values = check_values,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .source = "CANN Bench level 2, Gather",
};
