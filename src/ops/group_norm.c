/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_norm: y = (x - mean) / sqrt(var + epsilon) gamma + beta; mean and biased variance over each
 * group of channels of each n, gamma and beta by channel.
 *
 * Results are scale x + (beta - scale mean) with scale = gamma / sqrt(var + epsilon), which matters
 * where gamma or beta are infinite: recorded results are NaN for a channel whose gamma is, though
 * (x - mean) gamma would be infinite. A group that holds an infinity or NaN becomes NaN throughout.
 */
#include "assay/op.h"

#include "ops/fit.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/moments.h"
#include "ops/sample.h"
#include "ops/slice_fill.h"
#include "ops/slices.h"

#include <math.h>

enum { X, GAMMA, BETA };
enum { NUM_GROUPS, EPSILON };
static const struct assay_param in[] = {
    [X] = { "x", ASSAY_FLOATS, 0, "[n, c, ..]", NULL },
    [GAMMA] = { "gamma", ASSAY_FLOATS, 0, "[c]", NULL },
    [BETA] = { "beta", ASSAY_FLOATS, 0, "[c]", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", ASSAY_FLOATS, 0, "like x", NULL }, { 0 } };

static const double groups[] = { 1, 8, 4, 2, 16, 32, 3, 6 };
static const double epsilons[] = { 1e-5, 1e-6, 1e-4, 1e-3, 1e-8 };
static const struct assay_attr attrs[] = {
    [NUM_GROUPS] = { "num_groups", ASSAY_ATTR_INT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, groups, 8 },
    [EPSILON] = { "epsilon", ASSAY_ATTR_FLOAT, 0, { .set = true, .f = 1e-5 }, NULL, epsilons, 5 },
    { 0 },
};

static const struct assay_tol tol[] = {
    { ASSAY_F16, 0.005 },
    { ASSAY_F32, 0.005 },
    { ASSAY_BF16, 0.01 },
    { ASSAY_F32, -1 },
};

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check_affine(const struct assay_args *a, int i, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0], *t = a->in[i].t;

    if (t->rank == 1 && t->shape[0] == x->shape[1] && t->dtype == x->dtype)
        return ASSAY_OK;
    return assay__misfit(in[i].name, t, "x", x, "one value for each channel, of the same dtype",
                         err);
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0];
    int64_t g = a->attr[NUM_GROUPS].i;

    if (x->rank < 2)
        return assay_fail(err, ASSAY_INVALID, "x has rank %d, must have 2 or more", x->rank);
    if (g < 1 || x->shape[1] % g != 0)
        return assay_fail(err, ASSAY_INVALID,
                          "num_groups %lld, must be positive and divide the %lld channels",
                          (long long)g, (long long)x->shape[1]);
    ASSAY_TRY(check_affine(a, GAMMA, err));
    ASSAY_TRY(check_affine(a, BETA, err));
    return assay__check_epsilon(a->attr[EPSILON].f, err);
}

/* Groups are runs of consecutive elements: x as [n groups, elements of a group]. */
static struct assay_tensor by_group(const struct assay_args *a, const struct assay_tensor *x)
{
    struct assay_tensor t = { .data = x->data, .dtype = x->dtype, .rank = 2 };

    t.shape[0] = x->shape[0] * a->attr[NUM_GROUPS].i;
    t.shape[1] = x->shape[1] / a->attr[NUM_GROUPS].i;
    for (int i = 2; i < x->rank; i++)
        t.shape[1] *= x->shape[i];
    return t;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Channels: `least` a group or more, about `most` in all at most, such that an innermost axis of
 * them is no multiple of 512 bytes where that is asked for. */
static int64_t draw_channels(struct assay_sampler *s, int64_t n_groups, int64_t least, int64_t most,
                             enum assay_dtype d)
{
    int64_t each = most / n_groups > least ? most / n_groups : least + 1;
    int64_t k = (int64_t)exp(assay_sample_between(s, log((double)least), log((double)each)));

    while (s->unaligned && n_groups * k * (int64_t)assay_dtype_size(d) % 512 == 0)
        k++;
    return n_groups * k;
}

static void draw_shape(struct assay_sampler *s, struct assay_case *c)
{
    struct assay_shape *x = &c->in[X].shape[0], rest;
    enum assay_dtype d = c->in[X].dtype;
    int rank = s->rank > 2 ? s->rank : 2;
    int64_t channels =
        draw_channels(s, c->attr[NUM_GROUPS].i, rank == 2 ? 32 : 2, rank == 2 ? 2048 : 256, d);

    *x = (struct assay_shape){ 2, { 1, channels } };
    if (rank == 2) {
        x->dim[0] = s->elements / channels > 0 ? s->elements / channels : 1;
        return;
    }
    assay_sample_shape(s, s->elements / channels, rank - 1, d, &rest);
    x->rank = rank;
    x->dim[0] = rest.dim[0];
    for (int i = 2; i < rank; i++)
        x->dim[i] = rest.dim[i - 1];
}

/* Groups have some elements, and there are some groups. */
static bool shape_tells(const struct assay_case *c)
{
    const struct assay_shape *x = &c->in[X].shape[0];
    int64_t n = 1, n_groups = c->attr[NUM_GROUPS].i;

    for (int i = 1; i < x->rank; i++)
        n *= x->dim[i];
    return n / n_groups >= 32 && x->dim[0] * n_groups >= 4;
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { TRIES = 32, RANGES = 3 };
    static const struct assay_range gammas[RANGES] = { { 0.5, 1.5 }, { -1, 1 }, { -2, 2 } };
    static const struct assay_range betas[RANGES] = { { -1, 1 }, { -0.5, 0.5 }, { -3, 3 } };

    for (int i = 0; i < 3; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    if (c->value_class == ASSAY_CLASS_BOUNDARY && c->in[X].dtype != ASSAY_F16)
        c->in[X].range[0] = (struct assay_range){ -1e15, 1e15 };
    c->in[GAMMA].range[0] = gammas[assay_sample_below(s, RANGES)];
    c->in[BETA].range[0] = betas[assay_sample_below(s, RANGES)];
    for (int i = 0; i < TRIES; i++) {
        draw_shape(s, c);
        if (shape_tells(c))
            break;
    }
    c->in[GAMMA].shape[0] = c->in[BETA].shape[0] =
        (struct assay_shape){ 1, { c->in[X].shape[0].dim[1] } };
    return ASSAY_OK;
}

struct about {
    double eps;
    double far; /* largest distance of a mean from 0, in standard deviations */
};

/*
 * Groups differ in mean and spread. Means far from 0, in terms of the standard deviation, show
 * variances that are differences of large numbers; they are no farther than float32 sums of one
 * pass or two can bear. In some groups a few elements hold most of the variance; in some, it is
 * about as large as epsilon.
 */
static void recipe(const void *ctx, struct assay_sampler *s, const struct assay__slice *slice,
                   struct assay__recipe *r)
{
    enum { PLAIN, FAR, FEW, TINY, KINDS };
    const struct about *about = ctx;
    double range = slice->hi - slice->lo, middle = slice->lo + range / 2, end, centre, std;
    double gain = exp2(-(double)assay_sample_below(s, 4)), shrink = 1;
    int kind = (int)assay_sample_below(s, KINDS);

    if (slice->n < 8)
        return;
    end = assay_sample_below(s, 2) ? slice->hi : slice->lo;
    std = range * 0.2887; /* of values uniform over the range */
    if (kind == FAR)
        gain = fmin(gain, fabs(end) / (std * assay__draw_power(s, 1, log2(about->far))));
    else if (kind == TINY && about->eps > 0)
        gain = fmin(gain, sqrt(about->eps) * assay__draw_power(s, -1.5, 1.5) / std);
    else if (kind == FEW) {
        assay__draw_places(s, slice->n, r);
        shrink = sqrt((double)r->n_some / (double)slice->n);
    }
    std *= gain * shrink;
    centre = assay_sample_between(s, -1, 1) * std * about->far / 4;
    if (kind == FAR)
        centre = end;
    /* all of it within the range */
    centre = fmin(fmax(centre, slice->lo + gain * range / 2), slice->hi - gain * range / 2);
    r->most[1] = gain * shrink;
    r->most[0] = centre - middle * r->most[1];
    r->some[0] = centre + (end > middle ? 0.5 : -0.5) * gain * range;
    r->some[1] = 0;
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    struct assay_tensor x = by_group(a, &a->in[X].t[0]);
    struct about about = { a->attr[EPSILON].f, x.dtype == ASSAY_BF16  ? 10
                                               : x.dtype == ASSAY_F16 ? 16
                                                                      : 20 };

    (void)err;
    assay__fill_slices(a, &x, 1, key, recipe, &about);
    return ASSAY_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

struct job {
    const struct assay_args *a;
    struct assay_tensor x, y;
    int64_t n_groups, channels, area; /* of a group: channels; of a channel: elements */
    double eps;
};

/* Elements of one channel that begin at `at`. */
static void channel(const struct job *j, int64_t at, double scale, double shift)
{
    double v[ASSAY__BLOCK];

    for (int64_t k = 0, m; k < j->area; k += m) {
        m = j->area - k < ASSAY__BLOCK ? j->area - k : ASSAY__BLOCK;
        assay_load_n(&j->x, at + k, m, v);
        for (int64_t i = 0; i < m; i++)
            v[i] = assay_round(j->a, ASSAY_F32, v[i] * scale) + shift;
        assay_store_n(&j->y, at + k, m, v);
    }
}

static void group(void *ctx, const struct assay__panel *p)
{
    const struct job *j = ctx;
    int64_t at = assay__panel_at(p, p->n, 0);
    struct assay__moments of = assay__moments(j->a, &j->x, at, p->n);
    double rstd = assay__rstd(j->a, of.var, j->eps);

    for (int64_t c = 0; c < j->channels; c++) {
        int64_t i = p->outer % j->n_groups * j->channels + c;
        double gamma = assay_load(&j->a->in[GAMMA].t[0], i);
        double beta = assay_load(&j->a->in[BETA].t[0], i);
        double scale = assay_round(j->a, ASSAY_F32, rstd * gamma);
        double taken = assay_round(j->a, ASSAY_F32, scale * of.mean);

        channel(j, at + c * j->area, scale, assay_round(j->a, ASSAY_F32, beta - taken));
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .a = a, .n_groups = a->attr[NUM_GROUPS].i, .eps = assay__scalar(a, EPSILON) };

    (void)err;
    j.x = by_group(a, &a->in[X].t[0]);
    j.y = by_group(a, &a->out[0].t[0]);
    if (assay_numel(&j.x) == 0)
        return ASSAY_OK;
    j.channels = a->in[X].t[0].shape[1] / j.n_groups;
    j.area = j.x.shape[1] / j.channels;
    assay__panels(a, &j.x, 1, group, &j);
    return ASSAY_OK;
}

/* Each element goes into a sum and into a sum of squares, and becomes a result by one multiply-add.
 */
static void work(const struct assay_args *a, struct assay_work *w)
{
    bool f32 = a->in[X].t[0].dtype == ASSAY_F32;

    if (f32)
        w->amount[ASSAY_UNIT_FMA_F32] += 4 * assay__elements(&a->in[X]);
    assay__add_lanes(w, &a->in[X], f32 ? 1 : 3);
}

/* In fp32; six operations a group. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_vector_f32(w, &a->in[X], 7, 2);
    w->amount[ASSAY_UNIT_VEC_32] +=
        6 * (double)a->in[X].t[0].shape[0] * (double)a->attr[NUM_GROUPS].i;
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "output_f16", "float32 results are judged at a mean relative error of 0.005, rounding to "
                    "float16 stays below 2^-11" },
    { "output_bf16", "float32 results are judged at a mean relative error of 0.005, rounding to "
                     "bfloat16 stays below 2^-8" },
    { 0 },
};

const struct assay_op assay_op_group_norm = {
    .name = "group_norm",
    .tier = 2,
    .formula = "y = (x - mean) / sqrt(var + epsilon) * gamma + beta, by groups of channels",
    .constraints = "x has rank 2 at least; axis 1 are the channels\n"
                   "num_groups is positive and divides the number of channels\n"
                   "gamma and beta have one value a channel and the dtype of x\n"
                   "epsilon is finite and not negative",
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
    .source = "CANN Bench level 2, GroupNorm",
};
