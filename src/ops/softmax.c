/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softmax: y = exp(x - max) / sum exp(x - max) along dim. A slice that holds NaN or +Inf, or
 * nothing but -Inf, becomes NaN throughout; elsewhere -Inf gives 0.
 */
#include "assay/op.h"

#include "ops/axis.h"
#include "ops/lanes.h"
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
 * The last axis is what softmax is mostly taken along.
 * Where bfloat16 values are all alike, results differ by less than its accuracy. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { TRIES = 32, N_WIDE = 4 };
    static const double wide[N_WIDE] = { 0.3, 0.5, 0.7, 1 };
    enum assay_dtype d = c->in[0].dtype;
    bool alone = s->elements <= MAX_ALONE && c->value_class != ASSAY_CLASS_SPECIAL;
    int rank = s->rank > 1 || alone ? s->rank : 2, axis = 0;
    struct assay_range *r;
    struct assay_shape *x;

    ASSAY_TRY(assay__sample_room(s, c, 0, 1, err));
    x = c->in[0].shape;
    r = c->in[0].range;
    if (c->value_class == ASSAY_CLASS_SMALL && r->hi < wide[0]) {
        double most = wide[assay_sample_below(s, N_WIDE)];

        *r = (struct assay_range){ -most, most };
    }
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

/*
 * A slice spreads over `spread` of the range it was drawn from, and lies anywhere in it: where the
 * range is wide, exponentials overflow or vanish unless the maximum is taken off. Then
 *  - a few elements weigh as much as all others together, as far as the spread allows it; or
 *  - elements are high and low in turns of a drawn length, so that no regular choice among them has
 *    the sum of all; or
 *  - they stay uniform; some slices also keep their whole range, of which one element remains.
 */
static void recipe(const void *ctx, struct assay_sampler *s, const struct assay__slice *slice,
                   struct assay__recipe *r)
{
    enum { FEW, FEW_TOO, WAVE, PLAIN, WHOLE, KINDS };
    double range = slice->hi - slice->lo, spread = fmin(range, assay_sample_between(s, 4, 10));
    double base = slice->lo + (range - spread) * assay_sample_between(s, 0, 1), unit, gap;
    int kind = (int)assay_sample_below(s, KINDS);

    (void)ctx;
    if (slice->n < 4 || kind == WHOLE)
        return;
    unit = spread / range; /* the slope of base + (x - lo) unit */
    r->most[0] = base - slice->lo * unit;
    r->most[1] = unit;
    if (kind == FEW || kind == FEW_TOO) {
        assay__draw_places(s, slice->n, r);
        gap = fmin(spread, log((double)slice->n / r->n_some));
        unit *= (spread - gap) / spread;
        r->most[0] = base - slice->lo * unit;
        r->most[1] = unit;
        r->some[0] = base + spread;
        r->some[1] = 0;
    } else if (kind == WAVE) {
        assay__draw_wave(s, slice->n, r);
        r->most[0] = base - slice->lo * unit / 4;
        r->some[0] = r->most[0] + 0.75 * spread;
        r->most[1] = r->some[1] = unit / 4;
    }
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    struct assay_tensor x = assay__as_vector(&a->in[0].t[0]);

    (void)err;
    assay__fill_slices(a, &x, assay__dim(&x, a->attr[DIM].i), key, recipe, NULL);
    return ASSAY_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

struct job {
    const struct assay_args *a;
    const struct assay_tensor *x, *y;
};

static double power(const struct assay_args *a, double x, double top)
{
    return assay_round(a, ASSAY_F32, exp(assay_round(a, ASSAY_F32, x - top)));
}

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
                sum[i] += power(j->a, v[s * p->width + i], top[i]);
        for (int i = 0; i < p->width; i++)
            sum[i] = assay_round(j->a, ASSAY_F32, sum[i]);
    }
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, j->x, p->n, k, m, v);
        for (int64_t s = 0; s < m; s++)
            for (int i = 0; i < p->width; i++) {
                double *at = &v[s * p->width + i];

                *at = power(j->a, *at, top[i]) / sum[i];
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
    .source = "CANN Bench level 2, Softmax",
};
