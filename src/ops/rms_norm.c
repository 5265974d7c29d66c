/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rms_norm: y = x / sqrt(mean x^2 + epsilon) gamma over the last axis. A row that holds an infinity
 * becomes 0, and NaN where the infinity was.
 */
#include "assay/op.h"

#include "ops/fit.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/moments.h"
#include "ops/sample.h"
#include "ops/slice_fill.h"
#include "ops/slices.h"

enum { X, GAMMA };
enum { EPSILON };
static const struct assay_param in[] = {
    [X] = { "x", ASSAY_FLOATS, 0, "[.., d]", NULL },
    [GAMMA] = { "gamma", ASSAY_FLOATS, 0, "[d]", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", ASSAY_FLOATS, 0, "like x", NULL }, { 0 } };

static const double epsilons[] = { 1e-6, 1e-5, 1e-8, 1e-4, 1e-3, 1e-12 };
static const struct assay_attr attrs[] = {
    [EPSILON] = { "epsilon", ASSAY_ATTR_FLOAT, 0, { .set = true, .f = 1e-6 }, NULL, epsilons, 6 },
    { 0 },
};

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0], *gamma = &a->in[GAMMA].t[0];

    if (x->rank < 1)
        return assay_fail(err, ASSAY_INVALID, "x is a scalar, must have rank 1 or more");
    if (gamma->rank != 1 || gamma->shape[0] != x->shape[x->rank - 1] || gamma->dtype != x->dtype)
        return assay__misfit("gamma", gamma, "x", x,
                             "one value for each element of the last axis, of the same dtype", err);
    return assay__check_epsilon(a->attr[EPSILON].f, err);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Squares of float32 must not overflow in their sum. Gamma is what models have: near 1, or of both
 * signs. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { MAX_ROW = 65536, GAMMAS = 3 };
    static const struct assay_range gammas[GAMMAS] = { { 0.5, 1.5 }, { -1, 1 }, { -2, 2 } };
    enum assay_dtype d = c->in[X].dtype;
    bool alone = s->elements <= MAX_ROW && c->value_class != ASSAY_CLASS_SPECIAL;
    int rank = s->rank > 1 || alone ? s->rank : 2;
    struct assay_shape *x;

    ASSAY_TRY(assay__sample_room(s, c, X, 1, err));
    ASSAY_TRY(assay__sample_room(s, c, GAMMA, 1, err));
    if (c->value_class == ASSAY_CLASS_BOUNDARY && d != ASSAY_F16)
        c->in[X].range[0] = (struct assay_range){ -1e15, 1e15 };
    c->in[GAMMA].range[0] = gammas[assay_sample_below(s, GAMMAS)];
    if (c->value_class == ASSAY_CLASS_BOUNDARY)
        c->in[GAMMA].range[0] = gammas[0];
    x = c->in[X].shape;
    assay__sample_rows(s, rank == 1 ? s->elements / 2 + 1 : s->elements, rank, d, x);
    c->in[GAMMA].shape[0] = (struct assay_shape){ 1, { x->dim[rank - 1] } };
    return ASSAY_OK;
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0];

    (void)err;
    assay__fill_slices(a, x, x->rank - 1, key, assay__recipe_squares, &a->attr[EPSILON].f);
    return ASSAY_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

struct job {
    const struct assay_args *a;
    const struct assay_tensor *x, *gamma, *y;
    double eps;
};

static void row(void *ctx, const struct assay__panel *p)
{
    const struct job *j = ctx;
    double v[ASSAY__BLOCK], gamma[ASSAY__BLOCK];
    int64_t from = assay__panel_at(p, p->n, 0);
    double rstd = assay__rstd(j->a, assay__mean_square(j->a, j->x, from, p->n), j->eps);

    for (int64_t k = 0, m; k < p->n; k += m) {
        m = p->n - k < ASSAY__BLOCK ? p->n - k : ASSAY__BLOCK;
        assay_load_n(j->x, from + k, m, v);
        assay_load_n(j->gamma, k, m, gamma);
        for (int64_t i = 0; i < m; i++)
            v[i] = assay_round(j->a, ASSAY_F32, v[i] * rstd) * gamma[i];
        assay_store_n(j->y, from + k, m, v);
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { a, &a->in[X].t[0], &a->in[GAMMA].t[0], &a->out[0].t[0],
                     assay__scalar(a, EPSILON) };

    (void)err;
    assay__panels(a, j.x, j.x->rank - 1, row, &j);
    return ASSAY_OK;
}

/* The square of each element goes into a sum, by an FMA in fp32 and a dot product in 16 bits; two
 * products make a result. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    bool f32 = a->in[X].t[0].dtype == ASSAY_F32;

    if (f32)
        w->amount[ASSAY_UNIT_FMA_F32] += 2 * assay__elements(&a->in[X]);
    assay__add_lanes(w, &a->in[X], f32 ? 2 : 3);
}

/* Four operations an element and two a row, in fp32. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *x = &a->in[X].t[0];
    double n = (double)assay_numel(x), d = (double)x->shape[x->rank - 1];

    assay__add_vector_f32(w, &a->in[X], 4, 2);
    w->amount[ASSAY_UNIT_VEC_32] += d > 0 ? 2 * n / d : 0;
}

const struct assay_op assay_op_rms_norm = {
    .name = "rms_norm",
    .tier = 2,
    .formula = "y = x / sqrt(mean(x^2) + epsilon) * gamma, the mean over the last axis",
    .constraints = "x has rank 1 at least\n"
                   "gamma has rank 1, the extent of the last axis of x, and the dtype of x\n"
                   "epsilon is finite and not negative",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .source = "CANN Bench level 2, RmsNorm",
};
