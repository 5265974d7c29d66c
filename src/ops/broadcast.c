/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast.c: tensors that repeat along the axes that another one has. */
#include "ops/broadcast.h"

#include "ops/sample.h"

#include <string.h>

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Extent of t along an axis of a shape of the given rank. */
static int64_t extent(const struct assay_tensor *t, int axis, int rank)
{
    int own = axis - (rank - t->rank);

    return own < 0 ? 1 : t->shape[own];
}

bool assay__broadcast_shape(struct assay_tensor *out, const struct assay_slot *in, int n_in)
{
    out->rank = 0;
    for (int i = 0; i < n_in; i++)
        out->rank = in[i].t->rank > out->rank ? in[i].t->rank : out->rank;
    for (int d = 0; d < out->rank; d++) {
        out->shape[d] = 1;
        for (int i = 0; i < n_in; i++) {
            int64_t n = extent(in[i].t, d, out->rank);

            if (n != 1 && out->shape[d] != 1 && n != out->shape[d])
                return false;
            out->shape[d] = n != 1 ? n : out->shape[d];
        }
    }
    return true;
}

enum assay_status assay__broadcast_check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x1 = a->in[0].t, *x2 = a->in[1].t;
    struct assay_tensor y;
    char first[128], second[128];

    if (x1->dtype != x2->dtype)
        return assay_fail(err, ASSAY_INVALID, "x2 is %s, x1 is %s: they must have one dtype",
                          assay_tensor_text(x2, second, sizeof second),
                          assay_tensor_text(x1, first, sizeof first));
    if (!assay__broadcast_shape(&y, a->in, 2))
        return assay_fail(err, ASSAY_INVALID,
                          "x2 is %s, x1 is %s: extents must be equal, or one of them 1",
                          assay_tensor_text(x2, second, sizeof second),
                          assay_tensor_text(x1, first, sizeof first));
    return ASSAY_OK;
}

enum assay_status assay__broadcast_infer(struct assay_args *a, struct assay_err *err)
{
    (void)err;
    *a->out[0].t = (struct assay_tensor){ .dtype = a->in[0].t->dtype };
    assay__broadcast_shape(a->out[0].t, a->in, 2);
    return ASSAY_OK;
}

/* ---- walks ----------------------------------------------------------------------------------- */

void assay__broadcast_begin(struct assay__broadcast *b, const struct assay_tensor *out,
                            const struct assay_tensor *in)
{
    int64_t stride = 1;
    int to = ASSAY_MAX_RANK; /* axes are written from the back, then moved to the front */

    *b = (struct assay__broadcast){ .t = in };
    for (int d = out->rank - 1; d >= 0; d--) {
        int64_t own = extent(in, d, out->rank);
        int64_t step = own == 1 ? 0 : stride;

        stride *= own;
        if (out->shape[d] == 1)
            continue;
        if (to < ASSAY_MAX_RANK && step == b->n[to] * b->step[to]) {
            b->n[to] *= out->shape[d];
            continue;
        }
        b->n[--to] = out->shape[d];
        b->step[to] = step;
    }
    if (to == ASSAY_MAX_RANK)
        b->n[--to] = 1;
    b->rank = ASSAY_MAX_RANK - to;
    memmove(b->n, b->n + to, (size_t)b->rank * sizeof *b->n);
    memmove(b->step, b->step + to, (size_t)b->rank * sizeof *b->step);
}

/* Where element `at` of the output comes from, and in *run how many more stand in its row. */
static int64_t locate(const struct assay__broadcast *b, int64_t at, int64_t *run)
{
    int last = b->rank - 1;
    int64_t from = at % b->n[last] * b->step[last];

    *run = b->n[last] - at % b->n[last];
    at /= b->n[last];
    for (int d = last - 1; d >= 0; d--) {
        from += at % b->n[d] * b->step[d];
        at /= b->n[d];
    }
    return from;
}

void assay__broadcast_load(const struct assay__broadcast *b, int64_t at, int64_t n, double *v)
{
    for (int64_t k = 0, run; k < n; k += run) {
        int64_t from = locate(b, at + k, &run);

        run = run < n - k ? run : n - k;
        if (b->step[b->rank - 1]) {
            assay_load_n(b->t, from, run, v + k);
            continue;
        }
        v[k] = assay_load(b->t, from);
        for (int64_t i = 1; i < run; i++)
            v[k + i] = v[k];
    }
}

void assay__broadcast_load_longs(const struct assay__broadcast *b, int64_t at, int64_t n,
                                 int64_t *v)
{
    for (int64_t k = 0, run; k < n; k += run) {
        int64_t from = locate(b, at + k, &run);

        run = run < n - k ? run : n - k;
        if (b->step[b->rank - 1]) {
            assay_load_int_n(b->t, from, run, v + k);
            continue;
        }
        v[k] = assay_load_int(b->t, from);
        for (int64_t i = 1; i < run; i++)
            v[k + i] = v[k];
    }
}

/* ---- shapes of cases ------------------------------------------------------------------------- */

bool assay__is_one(const struct assay_shape *x)
{
    bool one = true;

    for (int d = 0; d < x->rank; d++)
        one = one && x->dim[d] == 1;
    return one;
}

/* How x1 and x2 lie to each other. */
enum pattern {
    EQUAL,
    ROW,    /* x2 lacks axes in front */
    COLUMN, /* x2 has extent 1 innermost, and perhaps elsewhere */
    ONE,    /* x2 is one element */
    FIRST,  /* x1 has extents of 1, x2 is whole */
    BOTH,   /* x1 repeats along one axis, x2 along another */
};

static enum pattern draw_pattern(struct assay_sampler *s, bool zeros)
{
    static const enum pattern weighed[] = { EQUAL,  EQUAL,  EQUAL, ROW,   ROW,
                                            COLUMN, COLUMN, ONE,   FIRST, BOTH };
    enum pattern p = weighed[assay_sample_below(s, sizeof weighed / sizeof *weighed)];

    if (s->rank < 2 && p != EQUAL)
        p = assay_sample_below(s, 2) ? EQUAL : ONE;
    if (zeros && p == ONE) /* one number against zeros is one result throughout */
        return EQUAL;
    /* what both leave open is many times as large as what they hold */
    return p == BOTH && (s->rank < 3 || s->elements > 4000000) ? COLUMN : p;
}

/* Sets drawn extents in front of axis `end` to 1, at least one unless there are none. */
static void drop_axes(struct assay_sampler *s, struct assay_shape *x, int end)
{
    int sure = end > 0 ? (int)assay_sample_below(s, (uint64_t)end) : 0;

    for (int d = 0; d < end; d++)
        if (d == sure || assay_sample_below(s, 2))
            x->dim[d] = 1;
}

static void drop_front(struct assay_shape *x, int n)
{
    x->rank -= n;
    memmove(x->dim, x->dim + n, (size_t)x->rank * sizeof *x->dim);
}

static void insert_axis(struct assay_shape *x, int axis, int64_t n)
{
    memmove(x->dim + axis + 1, x->dim + axis, (size_t)(x->rank - axis) * sizeof *x->dim);
    x->dim[axis] = n;
    x->rank++;
}

/* A shape of rank r - 2 and two short axes in front of its last, which are 1 in one input each. */
static void sample_both(struct assay_sampler *s, enum assay_dtype d, struct assay_shape *x1,
                        struct assay_shape *x2)
{
    int64_t a = 2 + (int64_t)assay_sample_below(s, 4), b = 2 + (int64_t)assay_sample_below(s, 4);
    int at[2];

    assay_sample_shape(s, s->elements / (a + b), s->rank - 2, d, x1);
    at[0] = (int)assay_sample_below(s, (uint64_t)x1->rank);
    at[1] = at[0] + 1 + (int)assay_sample_below(s, (uint64_t)(x1->rank - at[0]));
    insert_axis(x1, at[0], 1);
    insert_axis(x1, at[1], b);
    *x2 = *x1;
    x2->dim[at[0]] = a;
    x2->dim[at[1]] = 1;
}

/* Shapes of x1 and x2 from about `elements` elements of the larger one. */
static void sample_pair(struct assay_sampler *s, enum pattern p, int64_t elements,
                        enum assay_dtype d, struct assay_shape *x1, struct assay_shape *x2)
{
    int last = s->rank - 1;

    assay_sample_shape(s, elements, s->rank, d, x1);
    *x2 = *x1;
    if (p == ROW)
        drop_front(x2, 1 + (int)assay_sample_below(s, (uint64_t)last));
    if (p == FIRST)
        drop_axes(s, x1, last);
    if (p == COLUMN) {
        x2->dim[last] = 1;
        if (assay_sample_below(s, 2))
            drop_axes(s, x2, last);
    }
    if (p == ONE)
        *x2 = (struct assay_shape){ .rank = (int)assay_sample_below(s, 2), .dim = { 1 } };
}

static int64_t elements_of(const struct assay_shape *x)
{
    int64_t n = 1;

    for (int d = 0; d < x->rank; d++)
        n *= x->dim[d];
    return n;
}

enum assay_status assay__sample_broadcast(struct assay_sampler *s, struct assay_case *c,
                                          struct assay_err *err)
{
    enum pattern p = draw_pattern(s, c->value_class == ASSAY_CLASS_ZEROS);
    int64_t elements = p == EQUAL ? s->elements / 2 : s->elements / 8 * 7;
    enum assay_dtype d = c->in[0].dtype;
    struct assay_shape *x1, *x2;

    for (int i = 0; i < 2; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    x1 = c->in[0].shape;
    x2 = c->in[1].shape;
    if (p == BOTH) {
        sample_both(s, d, x1, x2);
        return ASSAY_OK;
    }
    /* How much the one that repeats adds is known only then. */
    do {
        sample_pair(s, p, elements, d, x1, x2);
        elements = elements / 8 * 7;
    } while (elements_of(x1) + elements_of(x2) > s->elements / 10 * 11 && elements > 0);
    return ASSAY_OK;
}
