/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add_rms_norm_dynamic_quant: r = x1 + x2; q = r / sqrt(mean r^2 + epsilon) gamma over the last
 * axis; q as int8 numbers and one scale a row. Three results: the numbers, r, the scales.
 *
 * As recorded: the norm is taken of the sum before it is rounded to the dtype of xOut, so that it
 * is finite where xOut overflows; the scale has the floor of dynamic_quant, and rows whose scale is
 * Inf or NaN are 0 throughout.
 */
#include "assay/op.h"

#include "ops/fit.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/moments.h"
#include "ops/quantise.h"
#include "ops/sample.h"
#include "ops/slice_fill.h"
#include "ops/slices.h"

#include <math.h>

enum { X1, X2, GAMMA };
enum { Y, X_OUT, SCALE };
enum { EPSILON };
#define HALVES (ASSAY_BIT(ASSAY_F16) | ASSAY_BIT(ASSAY_BF16))
static const struct assay_param in[] = {
    [X1] = { "x1", HALVES, 0, "[.., d]", NULL },
    [X2] = { "x2", HALVES, 0, "like x1", NULL },
    [GAMMA] = { "gamma", HALVES, 0, "[d]", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    [Y] = { "y", ASSAY_BIT(ASSAY_I8), 0, "like x1", NULL },
    [X_OUT] = { "xOut", HALVES, 0, "like x1", NULL },
    [SCALE] = { "scaleOut", ASSAY_BIT(ASSAY_F32), 0, "[..], x1 without its last axis", NULL },
    { 0 },
};

static const double epsilons[] = { 1e-6, 1e-5, 1e-3, 1e-8 };
static const struct assay_attr attrs[] = {
    [EPSILON] = { "epsilon", ASSAY_ATTR_FLOAT, 0, { .set = true, .f = 1e-6 }, NULL, epsilons, 4 },
    { 0 },
};

static const struct assay_tol tol[] = { { ASSAY_I8, 1 }, { ASSAY_I8, -1 } };

static const double least_amax = 1e-12;

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x1 = &a->in[X1].t[0], *x2 = &a->in[X2].t[0];
    const struct assay_tensor *gamma = &a->in[GAMMA].t[0];
    char xs[128], ys[128];

    assay_tensor_text(x1, xs, sizeof xs);
    if (x1->rank < 1 || x1->shape[x1->rank - 1] == 0)
        return assay_fail(err, ASSAY_INVALID,
                          "x1 %s has no elements along a last axis, must have some", xs);
    if (!assay_same_shape(x1, x2) || x1->dtype != x2->dtype)
        return assay_fail(err, ASSAY_INVALID, "x2 %s is not like x1 %s, in dtype and shape",
                          assay_tensor_text(x2, ys, sizeof ys), xs);
    if (gamma->rank != 1 || gamma->shape[0] != x1->shape[x1->rank - 1] || gamma->dtype != x1->dtype)
        return assay__misfit("gamma", gamma, "x1", x1,
                             "one value for each element of the last axis, of the same dtype", err);
    return assay__check_epsilon(a->attr[EPSILON].f, err);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    (void)err;
    assay__infer_quantised(&a->in[X1].t[0], &a->out[Y].t[0], &a->out[SCALE].t[0]);
    a->out[X_OUT].t[0] = a->in[X1].t[0];
    a->out[X_OUT].t[0].data = NULL;
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Squares of float32 must not overflow in their sum. Infinities and NaN are in the summands, where
 * they concern one row; in gamma they would concern all. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { MAX_ROW = 65536, GAMMAS = 3 };
    static const struct assay_range gammas[GAMMAS] = { { 0.5, 1.5 }, { -1, 1 }, { -2, 2 } };
    enum assay_dtype d = c->in[X1].dtype;
    bool alone = s->elements <= MAX_ROW && c->value_class != ASSAY_CLASS_SPECIAL;
    int rank = s->rank > 1 || alone ? s->rank : 2;

    for (int i = X1; i <= GAMMA; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    if (c->value_class == ASSAY_CLASS_BOUNDARY && d == ASSAY_BF16)
        c->in[X1].range[0] = c->in[X2].range[0] = (struct assay_range){ -1e15, 1e15 };
    c->in[GAMMA].range[0] = gammas[assay_sample_below(s, GAMMAS)];
    if (c->value_class == ASSAY_CLASS_SPECIAL) /* in one of the summands */
        c->in[assay_sample_below(s, 2) ? X1 : X2].range[0] = (struct assay_range){ -1, 1 };
    assay__sample_rows(s, s->elements / (rank == 1 ? 3 : 2) + 1, rank, d, c->in[X1].shape);
    c->in[X2].shape[0] = c->in[X1].shape[0];
    c->in[GAMMA].shape[0] = (struct assay_shape){ 1, { c->in[X1].shape[0].dim[rank - 1] } };
    return ASSAY_OK;
}

struct rows {
    double eps;
    int64_t n;
};

/* Rows for the mean of squares, but for a few that are all zero, as padding is, and a few so small
 * that the floor of the scale decides (bfloat16). */
static void recipe(const void *ctx, struct assay_sampler *s, const struct assay__slice *slice,
                   struct assay__recipe *r)
{
    enum { ZERO, FLOOR, KINDS = 32 };
    const struct rows *rows = ctx;
    double eps = rows->eps, most = fmax(-slice->lo, slice->hi);
    int kind = rows->n > 1 ? (int)assay_sample_below(s, KINDS) : KINDS;

    if (kind == ZERO)
        r->most[1] = 0;
    else if (kind == FLOOR)
        r->most[1] = least_amax * sqrt(eps) * assay__draw_power(s, -3, 1) / most;
    else
        assay__recipe_squares(&eps, s, slice, r);
}

/* Both summands by the same draws: what outweighs the rest does so in their sum. */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X1].t[0];
    struct rows rows = { a->attr[EPSILON].f, assay_numel(x) / x->shape[x->rank - 1] };

    (void)err;
    for (int i = X1; i <= X2; i++)
        assay__fill_slices(a, a->in[i].t, x->rank - 1, key, recipe, &rows);
    return ASSAY_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

struct job {
    const struct assay_args *a;
    double eps;
};

/* Elements at .. at+m-1 of x1 + x2. */
static void load_sum(const struct assay_args *a, int64_t at, int64_t m, double *r)
{
    double x2[ASSAY__BLOCK];

    assay_load_n(&a->in[X1].t[0], at, m, r);
    assay_load_n(&a->in[X2].t[0], at, m, x2);
    for (int64_t i = 0; i < m; i++)
        r[i] = assay_round(a, ASSAY_F32, r[i] + x2[i]);
}

/* The same of q; k is the place of the first one in its row. */
static void load_normed(const struct assay_args *a, int64_t at, int64_t k, int64_t m, double rstd,
                        double *q)
{
    double gamma[ASSAY__BLOCK];

    load_sum(a, at, m, q);
    assay_load_n(&a->in[GAMMA].t[0], k, m, gamma);
    for (int64_t i = 0; i < m; i++)
        q[i] = assay_round(a, ASSAY_F32, assay_round(a, ASSAY_F32, q[i] * rstd) * gamma[i]);
}

static void row(void *ctx, const struct assay__panel *p)
{
    const struct job *j = ctx;
    const struct assay_args *a = j->a;
    double v[ASSAY__BLOCK], squares = 0, amax = 0, rstd, scale;
    int64_t from = assay__panel_at(p, p->n, 0);

    for (int64_t k = 0, m; k < p->n; k += m) {
        m = p->n - k < ASSAY__BLOCK ? p->n - k : ASSAY__BLOCK;
        load_sum(a, from + k, m, v);
        assay_store_n(&a->out[X_OUT].t[0], from + k, m, v);
        squares = assay__fold_squares(a, squares, v, m);
    }
    rstd = assay__rstd(a, assay_round(a, ASSAY_F32, squares / (double)p->n), j->eps);
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = p->n - k < ASSAY__BLOCK ? p->n - k : ASSAY__BLOCK;
        load_normed(a, from + k, k, m, rstd, v);
        amax = assay__fold_amax(amax, v, m);
    }
    scale = assay__quant_scale(a, amax, least_amax);
    assay_store(&a->out[SCALE].t[0], p->outer, scale);
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = p->n - k < ASSAY__BLOCK ? p->n - k : ASSAY__BLOCK;
        load_normed(a, from + k, k, m, rstd, v);
        assay__quantise(a, &a->out[Y].t[0], from + k, m, scale, v);
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { a, assay__scalar(a, EPSILON) };

    (void)err;
    assay__panels(a, &a->in[X1].t[0], a->in[X1].t[0].rank - 1, row, &j);
    return ASSAY_OK;
}

/* One sum; its square goes into another by a dot product; one product with gamma, the largest of
 * which is found by one operation; one to scale it. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->in[X1], 5);
}

/* Fourteen operations an element and eight a row, in fp32. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    w->amount[ASSAY_UNIT_VEC_32] +=
        14 * assay__elements(&a->in[X1]) + 8 * assay__elements(&a->out[SCALE]);
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "swapped x1 x2", "a sum has no order" },
    { 0 },
};

const struct assay_op assay_op_add_rms_norm_dynamic_quant = {
    .name = "add_rms_norm_dynamic_quant",
    .tier = 3,
    .formula = "xOut = x1 + x2; q = xOut / sqrt(mean(xOut^2) + epsilon) * gamma; "
               "scaleOut = max(max |q|, 1e-12) / 127 by row, y = round(q / scaleOut)",
    .constraints = "x1 has rank 1 at least, and elements along its last axis\n"
                   "x2 has dtype and shape of x1\n"
                   "gamma has rank 1, the extent of the last axis of x1, and its dtype\n"
                   "epsilon is finite and not negative",
    .in = in,
    .out = out,
    .attrs = attrs,
    .tol = tol,
    .n_tol = 1,
    .sample = sample,
    .check = check,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .f32_reference = true,
    .source = "CANN Bench level 3, AddRmsNormDynamicQuant",
};
