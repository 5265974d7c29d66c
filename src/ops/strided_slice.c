/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strided_slice: y = x[begin : end : strides] along each axis; an exact copy.
 *
 * begin, end and strides have one entry for each thing that is said of the axes of x, in order, and
 * bit k of a mask speaks of entry k: it takes a range of the next axis, or one place of it
 * (shrink_axis_mask), or stands for all axes that no other entry takes (ellipsis_mask), or for a
 * new axis of one place (new_axis_mask), whatever its numbers are. Axes that are left over at the
 * end are kept whole.
 *
 * Negative numbers count from the end, once: end -1 leaves the last place out. What lies behind the
 * end is cut off, so that a range may be empty. begin_mask and end_mask open a side of a range and
 * do not change where one place is taken. Negative strides stand in the description of the source,
 * but its reference takes none; neither does this contract.
 *
 * The source judges by the thresholds of the dtypes, which let float32 pass that went through
 * float16. Here every bit counts.
 */
#include "assay/op.h"

#include "ops/layout.h"
#include "ops/sample.h"

#include <string.h>

enum { BEGIN, END, STRIDES, BEGIN_MASK, END_MASK, ELLIPSIS_MASK, SHRINK_MASK, NEW_MASK };
#define DTYPES                                                                         \
    (ASSAY_FLOATS | ASSAY_BIT(ASSAY_I8) | ASSAY_BIT(ASSAY_U8) | ASSAY_BIT(ASSAY_I32) | \
     ASSAY_BIT(ASSAY_I64))
static const struct assay_param in[] = { { "x", DTYPES, 0, "[...]", NULL }, { 0 } };
static const struct assay_param out[] = { { "y", DTYPES, 0, "the part of x", NULL }, { 0 } };
#define LIST(name)                                                       \
    {                                                                    \
        name, ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 \
    }
#define MASK(name)                                              \
    {                                                           \
        name, ASSAY_ATTR_INT, 0, { .set = true }, NULL, NULL, 0 \
    }
static const struct assay_attr attrs[] = {
    [BEGIN] = LIST("begin"),
    [END] = LIST("end"),
    [STRIDES] = LIST("strides"),
    [BEGIN_MASK] = MASK("begin_mask"),
    [END_MASK] = MASK("end_mask"),
    [ELLIPSIS_MASK] = MASK("ellipsis_mask"),
    [SHRINK_MASK] = MASK("shrink_axis_mask"),
    [NEW_MASK] = MASK("new_axis_mask"),
    { 0 },
};

enum { MAX_ENTRIES = 2 * ASSAY_MAX_RANK };

/* ---- entries --------------------------------------------------------------------------------- */

static bool bit(const struct assay_args *a, int mask, int64_t k)
{
    return a->attr[mask].i >> k & 1;
}

/* Entries that take an axis of x. */
static int64_t n_axes(const struct assay_args *a)
{
    int64_t n = 0;

    for (int64_t k = 0; k < a->attr[BEGIN].ints.n; k++)
        n += !bit(a, ELLIPSIS_MASK, k) && !bit(a, NEW_MASK, k);
    return n;
}

static int64_t from_end(int64_t v, int64_t n)
{
    v += v < 0 ? n : 0;
    return v < n ? v : n;
}

/* The part of x as the output has it; its rank may be too large for a tensor. */
struct part {
    int rank; /* of the output */
    int64_t shape[2 * ASSAY_MAX_RANK], step[2 * ASSAY_MAX_RANK];
    int64_t start;
};

static void add_axis(struct part *p, int64_t n, int64_t step)
{
    p->shape[p->rank] = n;
    p->step[p->rank++] = step;
}

/* Entry k takes an axis of x: of that extent, with neighbours that lie `step` apart. */
static void take_axis(struct part *p, const struct assay_args *a, int64_t k, int64_t extent,
                      int64_t step)
{
    int64_t begin = from_end(a->attr[BEGIN].ints.v[k], extent);
    int64_t end = from_end(a->attr[END].ints.v[k], extent), stride = a->attr[STRIDES].ints.v[k];

    if (bit(a, SHRINK_MASK, k)) {
        p->start += begin * step;
        return;
    }
    begin = bit(a, BEGIN_MASK, k) ? 0 : begin;
    end = bit(a, END_MASK, k) ? extent : end;
    p->start += begin * step;
    /* a stride beyond the extent takes one place */
    stride = stride < extent ? stride : extent > 0 ? extent : 1;
    add_axis(p, end > begin ? (end - begin - 1) / stride + 1 : 0, stride * step);
}

static void part_of(struct part *p, const struct assay_args *a)
{
    const struct assay_tensor *x = &a->in[0].t[0];
    int64_t left = x->rank - n_axes(a), step[ASSAY_MAX_RANK + 1] = { 0 };
    int axis = 0;

    *p = (struct part){ 0 };
    step[x->rank] = 1;
    for (int d = x->rank; d-- > 0;)
        step[d] = step[d + 1] * x->shape[d];
    for (int64_t k = 0; k < a->attr[BEGIN].ints.n; k++) {
        if (bit(a, NEW_MASK, k)) {
            add_axis(p, 1, 0);
        } else if (bit(a, ELLIPSIS_MASK, k)) {
            for (; left > 0; left--, axis++)
                add_axis(p, x->shape[axis], step[axis + 1]);
        } else {
            take_axis(p, a, k, x->shape[axis], step[axis + 1]);
            axis++;
        }
    }
    for (; axis < x->rank; axis++)
        add_axis(p, x->shape[axis], step[axis + 1]);
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check_masks(const struct assay_args *a, int64_t n, struct assay_err *err)
{
    int64_t ellipsis = a->attr[ELLIPSIS_MASK].i, shrink = a->attr[SHRINK_MASK].i;
    int64_t new = a->attr[NEW_MASK].i;

    for (int m = BEGIN_MASK; m <= NEW_MASK; m++)
        if (a->attr[m].i < 0 || a->attr[m].i >> n != 0)
            return assay_fail(err, ASSAY_INVALID, "%s %lld has bits beyond the %lld entries",
                              attrs[m].name, (long long)a->attr[m].i, (long long)n);
    if ((ellipsis & (ellipsis - 1)) != 0)
        return assay_fail(err, ASSAY_INVALID, "ellipsis_mask %lld has more than one bit",
                          (long long)ellipsis);
    if ((ellipsis & shrink) || (ellipsis & new) || (shrink & new))
        return assay_fail(err, ASSAY_INVALID,
                          "an entry is more than one of ellipsis, new axis and single place");
    return ASSAY_OK;
}

/* Entry k on an axis of that extent. */
static enum assay_status check_entry(const struct assay_args *a, int64_t k, int64_t extent,
                                     struct assay_err *err)
{
    int64_t begin = a->attr[BEGIN].ints.v[k], end = a->attr[END].ints.v[k];

    if (a->attr[STRIDES].ints.v[k] < 1)
        return assay_fail(err, ASSAY_INVALID, "strides[%lld] is %lld, must be 1 or more",
                          (long long)k, (long long)a->attr[STRIDES].ints.v[k]);
    if (bit(a, SHRINK_MASK, k))
        return begin >= -extent && begin < extent
                   ? ASSAY_OK
                   : assay_fail(err, ASSAY_INVALID,
                                "begin[%lld] is %lld, no place of an axis of %lld", (long long)k,
                                (long long)begin, (long long)extent);
    if (begin < -extent && !bit(a, BEGIN_MASK, k))
        return assay_fail(err, ASSAY_INVALID, "begin[%lld] is %lld, below -%lld", (long long)k,
                          (long long)begin, (long long)extent);
    if (end < -extent && !bit(a, END_MASK, k))
        return assay_fail(err, ASSAY_INVALID, "end[%lld] is %lld, below -%lld", (long long)k,
                          (long long)end, (long long)extent);
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0];
    int64_t n = a->attr[BEGIN].ints.n, left;
    struct part p;
    int axis = 0;

    if (n > MAX_ENTRIES || a->attr[END].ints.n != n || a->attr[STRIDES].ints.n != n)
        return assay_fail(err, ASSAY_INVALID,
                          "begin, end and strides have %lld, %lld and %lld entries, must be as "
                          "many and at most %d",
                          (long long)n, (long long)a->attr[END].ints.n,
                          (long long)a->attr[STRIDES].ints.n, MAX_ENTRIES);
    ASSAY_TRY(check_masks(a, n, err));
    left = x->rank - n_axes(a);
    if (left < 0)
        return assay_fail(err, ASSAY_INVALID, "entries for %lld axes, x has %d",
                          (long long)n_axes(a), x->rank);
    for (int64_t k = 0; k < n; k++) {
        if (bit(a, NEW_MASK, k))
            continue;
        if (bit(a, ELLIPSIS_MASK, k)) {
            axis += (int)left;
            continue;
        }
        ASSAY_TRY(check_entry(a, k, x->shape[axis], err));
        axis++;
    }
    part_of(&p, a);
    return p.rank <= ASSAY_MAX_RANK
               ? ASSAY_OK
               : assay_fail(err, ASSAY_INVALID, "y has %d axes, at most %d are supported", p.rank,
                            ASSAY_MAX_RANK);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    struct assay_tensor *y = &a->out[0].t[0];
    struct part p;

    (void)err;
    part_of(&p, a);
    *y = (struct assay_tensor){ .dtype = a->in[0].t[0].dtype, .rank = p.rank };
    memcpy(y->shape, p.shape, (size_t)p.rank * sizeof *p.shape);
    return ASSAY_OK;
}

/* ---- references ------------------------------------------------------------------------------ */

/* Of a case that check() has passed. */
static void layout_of(struct assay__layout *l, const struct assay_args *a)
{
    struct part p;

    part_of(&p, a);
    *l = (struct assay__layout){ .rank = p.rank, .start = p.start };
    memcpy(l->n, p.shape, (size_t)p.rank * sizeof *p.shape);
    memcpy(l->step, p.step, (size_t)p.rank * sizeof *p.step);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct assay__layout l;

    (void)err;
    layout_of(&l, a);
    assay__layout_copy(a, &a->in[0].t[0], &l, &a->out[0].t[0]);
    return ASSAY_OK;
}

/* Only what is copied is read. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    w->bytes_in = w->bytes_out;
    (void)a;
}

static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    w->amount[ASSAY_UNIT_MTE2] = w->bytes_out;
    (void)a;
}

/* ---- cases ----------------------------------------------------------------------------------- */

struct lists {
    int64_t n, begin[MAX_ENTRIES], end[MAX_ENTRIES], stride[MAX_ENTRIES];
    int64_t mask[NEW_MASK + 1];
};

/* A range of an axis that keeps at least a share of it, in one of the ways to say so. */
static void draw_range(struct assay_sampler *s, struct lists *l, int64_t extent)
{
    int64_t k = l->n++, most = extent / 4;
    int64_t begin = extent > 3 ? (int64_t)assay_sample_below(s, (uint64_t)most + 1) : 0;
    int64_t end = extent > 3 ? extent - (int64_t)assay_sample_below(s, (uint64_t)most + 1) : extent;

    l->begin[k] = begin > 0 && assay_sample_below(s, 4) == 0 ? begin - extent : begin;
    l->end[k] = end < extent && assay_sample_below(s, 2) ? end - extent : end;
    if (assay_sample_below(s, 8) == 0)
        l->end[k] = 2 * extent; /* cut */
    if (assay_sample_below(s, 6) == 0)
        l->mask[BEGIN_MASK] |= (int64_t)1 << k;
    if (assay_sample_below(s, 6) == 0)
        l->mask[END_MASK] |= (int64_t)1 << k;
}

/* A stride for the last axis or another, so that some of the output is left. */
static void draw_stride(struct assay_sampler *s, struct lists *l, int64_t k, int64_t extent)
{
    static const int64_t strides[] = { 2, 2, 2, 3, 4, 5, 7 };

    if (extent >= 4)
        l->stride[k] = strides[assay_sample_below(s, sizeof strides / sizeof *strides)];
}

/* An axis of the case that something special is done to, -1 in the other part of the cases. */
static int some_axis(struct assay_sampler *s, int rank, uint64_t part)
{
    return assay_sample_below(s, part) ? -1 : (int)assay_sample_below(s, (uint64_t)rank);
}

static void draw_entries(struct assay_sampler *s, struct lists *l, const struct assay_shape *x)
{
    int dots = some_axis(s, x->rank, 4), fresh = some_axis(s, x->rank, 4);
    int single = some_axis(s, x->rank, 2), end = some_axis(s, x->rank, 6);

    for (int d = 0; d < x->rank && (d != end || d == 0); d++) {
        if (d == fresh) {
            l->mask[NEW_MASK] |= (int64_t)1 << l->n;
            l->end[l->n++] = 1;
        }
        if (d == dots) { /* for some axes, or for none at all */
            l->mask[ELLIPSIS_MASK] |= (int64_t)1 << l->n++;
            d += (int)assay_sample_below(s, (uint64_t)(x->rank - d) + 1);
            if (d == x->rank)
                break;
        }
        /* what is taken singly must leave enough of x */
        if (d == single && x->rank > 1 && x->dim[d] <= 16) {
            l->mask[SHRINK_MASK] |= (int64_t)1 << l->n;
            l->begin[l->n] = (int64_t)assay_sample_below(s, (uint64_t)x->dim[d]) -
                             (assay_sample_below(s, 2) ? x->dim[d] : 0);
            l->end[l->n] = l->begin[l->n] + 1;
            l->n++;
            continue;
        }
        draw_range(s, l, x->dim[d]);
        if (assay_sample_below(s, 3) == 0)
            draw_stride(s, l, l->n - 1, x->dim[d]);
    }
}

/* Whether the case tells something: enough of x is copied, and not just what it begins with. */
static bool tells(const struct assay_case *c)
{
    struct assay_tensor x = { .dtype = c->in[0].dtype, .rank = c->in[0].shape[0].rank };
    struct assay_args a = { .in = { { &x, 1 } } };
    struct assay__layout l;
    int64_t n = 1;

    memcpy(x.shape, c->in[0].shape[0].dim, sizeof x.shape);
    memcpy(a.attr, c->attr, sizeof a.attr);
    if (check(&a, NULL))
        return false;
    layout_of(&l, &a);
    for (int d = 0; d < l.rank; d++)
        n *= l.n[d];
    assay__layout_simplify(&l);
    return n >= assay_numel(&x) / 24 && (l.rank > 1 || l.step[0] > 1 || l.start > 0);
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    struct lists *l = assay_arena_alloc(s->arena, sizeof *l);

    if (!l)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the entries of a case");
    ASSAY_TRY(assay__sample_room(s, c, 0, 1, err));
    assay_sample_shape(s, s->elements, s->rank > 0 ? s->rank : 1, c->in[0].dtype, c->in[0].shape);
    for (int tries = 0; tries < 32; tries++) {
        *l = (struct lists){ .n = 0 };
        for (int k = 0; k < MAX_ENTRIES; k++)
            l->stride[k] = 1;
        draw_entries(s, l, c->in[0].shape);
        c->attr[BEGIN] = (struct assay_value){ .set = true, .ints = { l->begin, l->n } };
        c->attr[END] = (struct assay_value){ .set = true, .ints = { l->end, l->n } };
        c->attr[STRIDES] = (struct assay_value){ .set = true, .ints = { l->stride, l->n } };
        for (int m = BEGIN_MASK; m <= NEW_MASK; m++)
            c->attr[m] = (struct assay_value){ .set = true, .i = l->mask[m] };
        if (tells(c))
            return ASSAY_OK;
    }
    return assay_fail(err, ASSAY_INVALID, "a part that tells nothing");
}

const struct assay_op assay_op_strided_slice = {
    .name = "strided_slice",
    .tier = 3,
    .formula = "y = x[begin_0:end_0:strides_0, begin_1:end_1:strides_1, ..]",
    .constraints =
        "begin, end and strides have the same number of entries; entry k takes an axis of x, in "
        "order\n"
        "bits of the masks: entry k has no begin; no end; stands for all axes that are not named; "
        "takes the one place begin and drops the axis; is a new axis of extent 1\n"
        "strides are 1 or more; begin and end count from the end when negative, and lie at most "
        "that far before it; beyond the end they are cut\n"
        "axes that are left over are kept whole\n",
    .in = in,
    .out = out,
    .attrs = attrs,
    .tol = assay__exact,
    .n_tol = ASSAY__N_EXACT,
    .sample = sample,
    .check = check,
    .infer = infer,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .source = "CANN Bench level 3, StridedSlice",
};
