/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softmax: y = exp(x - max) / sum exp(x - max) along dim. A slice that holds NaN or +Inf, or
 * nothing but -Inf, becomes NaN throughout; elsewhere -Inf gives 0.
 */
#include "assay/op.h"

#include "ops/axis.h"
#include "ops/lanes.h"
#include "ops/moments.h"
#include "ops/sample.h"
#include "ops/slice_fill.h"
#include "ops/slices.h"

#include <math.h>

enum { DIM };
static const struct assay_param in[] = { { "x", ASSAY_FLOATS, 0, "[...]", NULL }, { 0 } };
static const struct assay_param out[] = { { "y", ASSAY_FLOATS, 0, "like x", NULL }, { 0 } };

static const double dims[] = { -1, 0, 1, -2 };
static const struct assay_attr attrs[] = {
    [DIM] = { "dim", ASSAY_ATTR_INT, 0, { .set = true, .i = -1 }, NULL, dims, 4 },
    { 0 },
};

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    return assay__check_dim(&a->in[0].t[0], a->attr[DIM].i, err);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Longest slice of a drawn case: results of longer ones come near the smallest fp16 numbers. */
enum { MAX_SLICE = 32768, MIN_SLICE = 5, MAX_ALONE = 200000 };

/* Slices are neither so short nor so long that results say nothing; a tensor of one slice is small.
 * The last axis is what softmax is mostly taken along. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { TRIES = 32 };
    enum assay_dtype d = c->in[0].dtype;
    bool alone = s->elements <= MAX_ALONE && c->value_class != ASSAY_CLASS_SPECIAL;
    int rank = s->rank > 1 || alone ? s->rank : 2, axis = 0;
    struct assay_shape *x;

    ASSAY_TRY(assay__sample_room(s, c, 0, 1, err));
    x = c->in[0].shape;
    assay__sample_spread(s, c);
    for (int i = 0; i < TRIES; i++) {
        assay_sample_shape(s, s->elements, rank, d, x);
        axis = assay_sample_below(s, 2) ? rank - 1 : (int)assay_sample_below(s, (uint64_t)rank);
        if (x->dim[axis] >= MIN_SLICE && x->dim[axis] <= MAX_SLICE)
            break;
    }
    c->attr[DIM] =
        (struct assay_value){ .set = true, .i = assay_sample_below(s, 2) ? axis : axis - rank };
    return ASSAY_OK;
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    struct assay_tensor x = assay__as_vector(&a->in[0].t[0]);

    (void)err;
    assay__fill_slices(a, &x, assay__dim(&x, a->attr[DIM].i), key, assay__softmax_recipe, NULL);
    return ASSAY_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

struct job {
    const struct assay_args *a;
    const struct assay_tensor *x, *y;
};

static void body(void *ctx, const struct assay__panel *p)
{
    const struct job *j = ctx;
    double v[ASSAY__PANEL], top[ASSAY__WIDTH], sum[ASSAY__WIDTH] = { 0 };

    assay__panel_max(p, j->x, top);
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, j->x, p->n, k, m, v);
        for (int64_t s = 0; s < m; s++)
            for (int i = 0; i < p->width; i++)
                sum[i] += assay__power(j->a, v[s * p->width + i], top[i]);
        for (int i = 0; i < p->width; i++)
            sum[i] = assay_round(j->a, ASSAY_F32, sum[i]);
    }
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, j->x, p->n, k, m, v);
        for (int64_t s = 0; s < m; s++)
            for (int i = 0; i < p->width; i++) {
                double *at = &v[s * p->width + i];

                *at = assay__power(j->a, *at, top[i]) / sum[i];
            }
        assay__panel_store(p, j->y, p->n, k, m, v);
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct assay_tensor x = assay__as_vector(&a->in[0].t[0]);
    struct job j = { a, &x, &a->out[0].t[0] };

    (void)err;
    assay__panels(a, &x, assay__dim(&x, a->attr[DIM].i), body, &j);
    return ASSAY_OK;
}

/* Two operations an element: its exponential goes into the sum, and is divided by it. That nothing
 * overflows may be seen from one comparison for many elements. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->out[0], 2);
}

/* In fp32: maximum, difference, exponential (2), sum and quotient (2). */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_vector_f32(w, &a->in[0], 7, 2);
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "input_flushed",
      "the exponential of a subnormal half is that of zero, but for less than a rounding error" },
    { 0 },
};

const struct assay_op assay_op_softmax = {
    .name = "softmax",
    .tier = 2,
    .formula = "y = exp(x) / sum exp(x) along dim",
    .constraints = "dim is an axis of x, -rank to rank - 1 (a scalar has rank 1 here)",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 2, Softmax",
};
