/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply_adam_w: one step of AdamW. Of what it updates only the variable is put out.
 *
 * weight_decay 0 leaves its term out, so that an infinite variable stays infinite. epsilon 0 gives
 * NaN where gradient and moments are all zero. The 16-bit references compute in float32 and round
 * once, at the end.
 */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/sample.h"

#include <math.h>

enum { VAR, GRAD, M, V, N_IN };
enum { LR, BETA1, BETA2, WEIGHT_DECAY, EPSILON, STEP, MAXIMIZE };
static const struct assay_param in[] = {
    [VAR] = { "var", ASSAY_FLOATS, 0, "[...]", NULL },
    [GRAD] = { "grad", ASSAY_FLOATS, 0, "like var", NULL },
    [M] = { "m", ASSAY_FLOATS, 0, "like var", NULL },
    [V] = { "v", ASSAY_FLOATS, 0, "like var", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", ASSAY_FLOATS, 0, "like var", NULL }, { 0 } };

static const double rates[] = { 0.001, 0.01, 0.1, 0.0003, 0.03 };
static const double betas1[] = { 0.9, 0.95, 0.5, 0, 0.99 };
static const double betas2[] = { 0.999, 0.99, 0.95, 0.9, 0.5 };
static const double decays[] = { 0, 0.01, 0.1, 0.5 };
static const double epsilons[] = { 1e-8, 1e-6, 1e-4, 1e-3 };
static const double steps[] = { 1, 2, 10, 1000, 100000 };
static const struct assay_attr attrs[] = {
    [LR] = { "lr", ASSAY_ATTR_FLOAT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, rates, 5 },
    [BETA1] = { "beta1", ASSAY_ATTR_FLOAT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, betas1, 5 },
    [BETA2] = { "beta2", ASSAY_ATTR_FLOAT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, betas2, 5 },
    [WEIGHT_DECAY] = { "weight_decay",
                       ASSAY_ATTR_FLOAT,
                       ASSAY_ATTR_REQUIRED,
                       { 0 },
                       NULL,
                       decays,
                       4 },
    [EPSILON] = { "epsilon", ASSAY_ATTR_FLOAT, 0, { .set = true, .f = 1e-8 }, NULL, epsilons, 4 },
    [STEP] = { "step", ASSAY_ATTR_INT, 0, { .set = true, .i = 1 }, NULL, steps, 5 },
    [MAXIMIZE] = { "maximize", ASSAY_ATTR_BOOL, 0, { .set = true, .i = 0 }, NULL, NULL, 0 },
    { 0 },
};

static const struct assay_tol tol[] = {
    { ASSAY_F32, 0.005 },
    { ASSAY_F16, 0.01 },
    { ASSAY_BF16, 0.01 },
    { ASSAY_F32, -1 },
};

/* ---- cases ----------------------------------------------------------------------------------- */

/* Special values come with the variable, the gradient, both, or the first moment. */
static void place_specials(struct assay_sampler *s, struct assay_case *c)
{
    static const unsigned sets[] = { 1u << VAR, 1u << GRAD, 1u << VAR | 1u << GRAD, 1u << M };
    unsigned set = sets[assay_sample_below(s, 4)];

    for (int i = VAR; i <= M; i++)
        if (!(set >> i & 1))
            c->in[i].range[0] = (struct assay_range){ -1, 1 };
}

/* The moments that go with gradients of a range: m a tenth of them, v a tenth of their squares.
 * Where variables are all zero, gradients are not. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    double g, m, v;

    for (int i = 0; i < N_IN; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    assay_sample_shape(s, s->elements / N_IN, s->rank, c->in[VAR].dtype, c->in[VAR].shape);
    for (int i = GRAD; i < N_IN; i++)
        c->in[i].shape[0] = c->in[VAR].shape[0];
    if (c->value_class == ASSAY_CLASS_ZEROS)
        c->in[GRAD].range[0] = (struct assay_range){ -1, 1 };
    g = assay__range_magnitude(c->in[GRAD].range);
    m = assay_sample_figure(g / 10);
    if (c->value_class == ASSAY_CLASS_SPECIAL) {
        place_specials(s, c);
        g = 1;
    } else {
        c->in[M].range[0] = (struct assay_range){ -m, m };
    }
    v = fmin(assay_sample_figure(g * g / 10), assay_dtype_max(c->in[V].dtype));
    c->in[V].range[0] = (struct assay_range){ 0, v };
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *var = a->in[VAR].t;
    const struct assay_value *at = a->attr;
    char first[128], other[128];

    for (int i = GRAD; i < N_IN; i++)
        if (!assay_same_shape(a->in[i].t, var) || a->in[i].t->dtype != var->dtype)
            return assay_fail(err, ASSAY_INVALID, "%s is %s, var is %s: they must agree",
                              in[i].name, assay_tensor_text(a->in[i].t, other, sizeof other),
                              assay_tensor_text(var, first, sizeof first));
    for (int i = BETA1; i <= BETA2; i++)
        if (!(at[i].f >= 0 && at[i].f < 1))
            return assay_fail(err, ASSAY_INVALID, "%s is %g, it must be in [0, 1)", attrs[i].name,
                              at[i].f);
    if (!(at[EPSILON].f >= 0))
        return assay_fail(err, ASSAY_INVALID, "epsilon is %g, it must not be negative",
                          at[EPSILON].f);
    if (at[STEP].i < 1)
        return assay_fail(err, ASSAY_INVALID, "step is %lld, the first one is 1",
                          (long long)at[STEP].i);
    return ASSAY_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

struct filling {
    const struct assay_args *a;
    struct assay_key key;
    double near_zero; /* what makes a weight as small as what moves it */
};

/* True for numbers within the range, which may have been drawn narrower than it is. */
static bool may_be(const struct assay_range *r, double x)
{
    return !isfinite(r->lo) || !isfinite(r->hi) ? fabs(x) <= 1 : x >= r->lo && x <= r->hi;
}

/* One weight: bits choose what it is, u in [0, 1) how much it is in use. */
static void weight(const struct filling *f, double x[N_IN], uint32_t bits, double u)
{
    if (bits % 4 == 0)
        x[VAR] *= f->near_zero;
    if (bits / 4 % 16 == 0)
        u = 0; /* fresh */
    if (isfinite(x[M]) && isfinite(x[V])) {
        x[V] *= u * u;
        x[M] *= u;
    }
    if (bits / 64 % 4 != 0 && isfinite(x[GRAD]) && x[M] == x[M]) {
        double g = copysign(x[GRAD], x[M]);

        x[GRAD] = may_be(f->a->range[GRAD], g) ? g : x[GRAD];
    }
}

static void fill_range(void *ctx, int64_t begin, int64_t end)
{
    const struct filling *f = ctx;
    double x[N_IN][ASSAY__BLOCK];
    uint32_t w[2 * ASSAY__BLOCK];

    for (int64_t at = begin; at < end; at += ASSAY__BLOCK) {
        int64_t n = end - at < ASSAY__BLOCK ? end - at : ASSAY__BLOCK;

        for (int i = 0; i < N_IN; i++)
            assay_load_n(f->a->in[i].t, at, n, x[i]);
        assay_rng_fill(f->key, 2 * (uint64_t)at, 2 * (size_t)n, w);
        for (int64_t k = 0; k < n; k++) {
            double one[N_IN];

            for (int i = 0; i < N_IN; i++)
                one[i] = x[i][k];
            weight(f, one, w[2 * k], w[2 * k + 1] * 0x1p-32);
            for (int i = 0; i < N_IN; i++)
                x[i][k] = one[i];
        }
        for (int i = 0; i < N_IN; i++)
            assay_store_n(f->a->in[i].t, at, n, x[i]);
    }
}

/*
 * The state of a training that is under way: most second moments are far below the largest, first
 * moments go with their roots, gradients mostly point where they pointed before, some weights are
 * fresh. A quarter of the weights is small beside a few learning rates, so that the step shows in
 * the result; beside the others it is lost within the tolerance.
 */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    double most = assay__range_magnitude(a->range[VAR]), few = 4 * fabs(a->attr[LR].f);
    struct filling f = { a, key, 1 };

    (void)err;
    most = most > 0 ? most : 1;
    if (few < most && few > 0)
        f.near_zero = few / most;
    assay_parallel(assay_numel(a->in[VAR].t), 16 * ASSAY__BLOCK, a->n_threads, fill_range, &f);
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

struct rule {
    double lr, beta[2], rest[2], unbias[2], decay, epsilon;
};

/* b x + (1 - b) y */
static double mix(const struct assay_args *a, const struct rule *r, int i, double x, double y)
{
    return assay_round(a, ASSAY_F32,
                       assay_round(a, ASSAY_F32, r->beta[i] * x) +
                           assay_round(a, ASSAY_F32, r->rest[i] * y));
}

static double element(const struct assay_args *a, const void *ctx, const double *x)
{
    const struct rule *r = ctx;
    double m = mix(a, r, 0, x[M], x[GRAD]);
    double v = mix(a, r, 1, x[V], assay_round(a, ASSAY_F32, x[GRAD] * x[GRAD]));
    double root = assay_round(a, ASSAY_F32, sqrt(assay_round(a, ASSAY_F32, v / r->unbias[1])));
    double down = assay_round(a, ASSAY_F32, root + r->epsilon);
    double u = assay_round(a, ASSAY_F32, assay_round(a, ASSAY_F32, m / r->unbias[0]) / down);

    if (r->decay != 0)
        u = assay_round(a, ASSAY_F32, u + assay_round(a, ASSAY_F32, r->decay * x[VAR]));
    return x[VAR] - assay_round(a, ASSAY_F32, r->lr * u);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    double sign = a->attr[MAXIMIZE].i ? -1 : 1;
    struct rule r = { .lr = sign * assay__scalar(a, LR),
                      .decay = assay__scalar(a, WEIGHT_DECAY),
                      .epsilon = assay__scalar(a, EPSILON) };

    (void)err;
    for (int i = 0; i < 2; i++) {
        double beta = a->attr[BETA1 + i].f;

        r.beta[i] = assay__scalar(a, BETA1 + i);
        r.rest[i] = assay_round(a, ASSAY_F32, 1 - beta);
        r.unbias[i] = assay_round(a, ASSAY_F32, 1 - pow(beta, (double)a->attr[STEP].i));
    }
    return assay__map(a, N_IN, element, &r);
}

/* ---- work ------------------------------------------------------------------------------------ */

/* The gradient goes into one moment and into the other, and the step into the variable; roots and
 * quotients may be looked up in 16 bits, and factors go into constants. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->out[0], 3);
}

/* In fp32; the moments are written, too. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_vector_f32(w, &a->in[VAR], 18, 0);
    w->amount[ASSAY_UNIT_MTE3] *= 3;
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "output_bf16", "float32 results are judged at a mean relative error of 0.005, rounding to "
                     "bfloat16 stays below 2^-8" },
    { 0 },
};

const struct assay_op assay_op_apply_adam_w = {
    .name = "apply_adam_w",
    .tier = 2,
    .formula = "m' = beta1 m + (1 - beta1) grad, v' = beta2 v + (1 - beta2) grad^2, y = var -+ lr "
               "(m' / (1 - beta1^step) / (sqrt(v' / (1 - beta2^step)) + epsilon) + weight_decay "
               "var), + if maximize",
    .constraints = "all inputs have the same dtype and shape\n"
                   "beta1 and beta2 are in [0, 1), epsilon is not negative, step is 1 or more\n",
    .in = in,
    .out = out,
    .attrs = attrs,
    .tol = tol,
    .n_tol = 3,
    .sample = sample,
    .check = check,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 2, ApplyAdamW",
};
