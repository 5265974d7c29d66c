/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dequant_swiglu_quant: rows of two halves A, B, dequantised where x is int32, then gated, scaled,
 * and quantised: v = silu(B) A, or silu(A) B with activate_left; scale = max(max |v| / 127, 1e-12)
 * by row, y = v / scale to the nearest even integer.
 *
 * The floor applies after the division by 127, other than in dynamic_quant. The official reference
 * is in float32 where x is int32; ours is in fp64 throughout.
 */
#include "assay/op.h"

#include "ops/gate.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/moments.h"
#include "ops/quantise.h"
#include "ops/sample.h"
#include "ops/slice_fill.h"
#include "ops/slices.h"

#include <math.h>

enum { X, WEIGHT_SCALE, ACTIVATION_SCALE, QUANT_SCALE };
enum { Y, SCALE };
enum { ACTIVATE_LEFT };
#define F32 ASSAY_BIT(ASSAY_F32)
#define OPTIONAL ASSAY_PARAM_OPTIONAL
static const struct assay_param in[] = {
    [X] = { "x", ASSAY_BIT(ASSAY_I32) | ASSAY_BIT(ASSAY_F16) | ASSAY_BIT(ASSAY_BF16), 0, "[t, 2 h]",
            NULL },
    [WEIGHT_SCALE] = { "weight_scale", F32, OPTIONAL, "[1, 2 h], with x int32", NULL },
    [ACTIVATION_SCALE] = { "activation_scale", F32, OPTIONAL, "[t], with x int32", NULL },
    [QUANT_SCALE] = { "quant_scale", F32, OPTIONAL, "[1, h]", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    [Y] = { "y", ASSAY_BIT(ASSAY_I8), 0, "[t, h]", NULL },
    [SCALE] = { "scale", F32, 0, "[t]", NULL },
    { 0 },
};

static const struct assay_attr attrs[] = {
    [ACTIVATE_LEFT] = { "activate_left", ASSAY_ATTR_BOOL, 0, { .set = true }, NULL, NULL, 0 },
    { 0 },
};

static const struct assay_tol tol[] = { { ASSAY_I8, 1 }, { ASSAY_I8, -1 } };

static const double least_scale = 1e-12;

static bool present(const struct assay_args *a, int i)
{
    return a->in[i].n > 0;
}

static bool is_quantised(const struct assay_args *a)
{
    return a->in[X].t[0].dtype == ASSAY_I32;
}

/* ---- contract -------------------------------------------------------------------------------- */

/* An input of the shape given, or absent. */
static enum assay_status check_scale(const struct assay_args *a, int i, int rank, int64_t n,
                                     struct assay_err *err)
{
    const struct assay_tensor *t = a->in[i].t;
    char xs[128], ts[128];

    if (!present(a, i) ||
        (t->rank == rank && t->shape[rank - 1] == n && (rank == 1 || t->shape[0] == 1)))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_INVALID, "%s %s does not fit x %s: must be [%s%lld]", in[i].name,
                      assay_tensor_text(t, ts, sizeof ts),
                      assay_tensor_text(&a->in[X].t[0], xs, sizeof xs), rank == 2 ? "1," : "",
                      (long long)n);
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0];

    if (x->rank != 2)
        return assay_fail(err, ASSAY_INVALID, "x has rank %d, must have 2", x->rank);
    if (x->shape[1] == 0 || x->shape[1] % 2 != 0)
        return assay_fail(err, ASSAY_INVALID, "rows of x have %lld elements, must be two halves",
                          (long long)x->shape[1]);
    for (int i = WEIGHT_SCALE; i <= ACTIVATION_SCALE; i++)
        if (present(a, i) != is_quantised(a))
            return assay_fail(err, ASSAY_INVALID, "%s is %s, must be %s where x is %s", in[i].name,
                              present(a, i) ? "present" : "absent",
                              present(a, i) ? "absent" : "present", assay_dtype_name(x->dtype));
    ASSAY_TRY(check_scale(a, WEIGHT_SCALE, 2, x->shape[1], err));
    ASSAY_TRY(check_scale(a, ACTIVATION_SCALE, 1, x->shape[0], err));
    return check_scale(a, QUANT_SCALE, 2, x->shape[1] / 2, err);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    (void)err;
    assay__infer_quantised(&a->in[X].t[0], &a->out[Y].t[0], &a->out[SCALE].t[0]);
    a->out[Y].t[0].shape[1] /= 2;
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Large int32 values are what products of int8 matrices add up to. */
static void draw_scales(struct assay_sampler *s, struct assay_case *c)
{
    struct assay_range *x = c->in[X].range;

    if (c->value_class == ASSAY_CLASS_LARGE)
        *x = (struct assay_range){ x->lo * 1000, x->hi * 1000 };
    assay__gate_sample_scales(s, assay__range_magnitude(x), c->in[WEIGHT_SCALE].range,
                              c->in[ACTIVATION_SCALE].range);
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { RANGES = 3 };
    static const struct assay_range smooth[RANGES] = { { 0.5, 1.5 }, { -1, 1 }, { -2, 2 } };
    enum assay_dtype d = c->in[X].dtype;
    struct assay_shape *x;

    for (int i = X; i <= QUANT_SCALE; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    x = c->in[X].shape;
    assay__sample_rows(s, s->elements / 2, 2, d, x);
    x->dim[1] *= 2;
    /* doubling may have aligned it; two elements less and it is not */
    if (s->unaligned && x->dim[1] > 2 && x->dim[1] * (int64_t)assay_dtype_size(d) % 512 == 0)
        x->dim[1] -= 2;
    c->in[WEIGHT_SCALE].shape[0] = (struct assay_shape){ 2, { 1, x->dim[1] } };
    c->in[ACTIVATION_SCALE].shape[0] = (struct assay_shape){ 1, { x->dim[0] } };
    c->in[QUANT_SCALE].shape[0] = (struct assay_shape){ 2, { 1, x->dim[1] / 2 } };
    c->in[QUANT_SCALE].range[0] = smooth[assay_sample_below(s, RANGES)];
    c->in[QUANT_SCALE].n = (int64_t)assay_sample_below(s, 2);
    if (d == ASSAY_I32)
        draw_scales(s, c);
    else
        c->in[WEIGHT_SCALE].n = c->in[ACTIVATION_SCALE].n = 0;
    return ASSAY_OK;
}

/*
 * Rows differ in magnitude by powers of two. In half of them one pair of A and B is well above all
 * others, so that whoever overlooks it has another scale. A few rows are all zero, in a few the
 * floor of the scale decides.
 */
static void recipe(const void *ctx, struct assay_sampler *s, const struct assay__slice *slice,
                   struct assay__recipe *r)
{
    enum { ZERO, FLOOR, KINDS = 32 };
    double most = fmax(-slice->lo, slice->hi), gain = exp2(-(double)assay_sample_below(s, 7));
    int kind = (int)assay_sample_below(s, KINDS);

    (void)ctx;
    if (slice->n < 8)
        return;
    if (kind == ZERO || kind == FLOOR)
        gain = kind == ZERO ? 0 : assay__gate_floor(s, least_scale, most);
    r->most[1] = gain;
    if (kind % 2 == 0 || slice->hi <= 0)
        return;
    assay__draw_places(s, slice->n / 2, r);
    r->n_some = 2;
    r->at[1] = r->at[0] + slice->n / 2;
    r->some[0] = gain * slice->hi;
    r->some[1] = 0;
    r->most[1] = assay_sample_between(s, 0.3, 0.9) * gain * fmin(1, slice->hi / most);
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    (void)err;
    if (is_quantised(a))
        assay__gate_spread_scales(
            &a->in[WEIGHT_SCALE].t[0], &a->in[ACTIVATION_SCALE].t[0], key, least_scale,
            assay__range_magnitude(a->range[X]) * assay__range_magnitude(a->range[WEIGHT_SCALE]));
    else
        assay__fill_slices(a, &a->in[X].t[0], 1, key, recipe, NULL);
    return ASSAY_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

/* Elements k .. k+m-1 of row t, dequantised. */
static void load_row(const struct assay_args *a, int64_t t, int64_t k, int64_t m, double *v)
{
    const struct assay_tensor *x = &a->in[X].t[0];
    double weight[ASSAY__BLOCK], token;

    assay_load_n(x, t * x->shape[1] + k, m, v);
    if (!is_quantised(a))
        return;
    token = assay_load(&a->in[ACTIVATION_SCALE].t[0], t);
    assay_load_n(&a->in[WEIGHT_SCALE].t[0], k, m, weight);
    for (int64_t i = 0; i < m; i++) {
        double f = assay_round(a, ASSAY_F32, v[i]);

        v[i] = assay_round(a, ASSAY_F32, assay_round(a, ASSAY_F32, f * weight[i]) * token);
    }
}

/* The same of what is quantised. */
static void load_gated(const struct assay_args *a, int64_t t, int64_t k, int64_t m, double *v)
{
    int64_t h = a->in[X].t[0].shape[1] / 2;
    bool left = a->attr[ACTIVATE_LEFT].i != 0;
    double gate[ASSAY__BLOCK];

    load_row(a, t, left ? k : h + k, m, gate);
    load_row(a, t, left ? h + k : k, m, v);
    assay__gate(a, m, gate, v);
    if (!present(a, QUANT_SCALE))
        return;
    assay_load_n(&a->in[QUANT_SCALE].t[0], k, m, gate);
    for (int64_t i = 0; i < m; i++)
        v[i] = assay_round(a, ASSAY_F32, v[i] * gate[i]);
}

static void row(void *ctx, const struct assay__panel *p)
{
    const struct assay_args *a = ctx;
    double v[ASSAY__BLOCK], amax = 0, scale;

    for (int64_t k = 0, m; k < p->n; k += m) {
        m = p->n - k < ASSAY__BLOCK ? p->n - k : ASSAY__BLOCK;
        load_gated(a, p->outer, k, m, v);
        amax = assay__fold_amax(amax, v, m);
    }
    scale = assay__quant_scale(a, amax, 127 * least_scale);
    assay_store(&a->out[SCALE].t[0], p->outer, scale);
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = p->n - k < ASSAY__BLOCK ? p->n - k : ASSAY__BLOCK;
        load_gated(a, p->outer, k, m, v);
        assay__quantise(a, &a->out[Y].t[0], p->outer * p->n + k, m, scale, v);
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct assay_args job = *a; /* the loop's context is not const */

    (void)err;
    assay__panels(a, &a->out[Y].t[0], 1, row, &job);
    return ASSAY_OK;
}

/* A result takes a function of the gate, the product with the other half and with quant_scale, one
 * operation to find the largest, and one to scale it; int32 values take one product each. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    double a_result = present(a, QUANT_SCALE) ? 5 : 4;

    assay__add_lanes(w, &a->in[X], a_result / 2 + (is_quantised(a) ? 1 : 0));
}

/* Sixteen operations a result, one more for quant_scale, and four a row, in fp32. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    w->amount[ASSAY_UNIT_VEC_32] +=
        (present(a, QUANT_SCALE) ? 17 : 16) * assay__elements(&a->out[Y]) +
        4 * assay__elements(&a->out[SCALE]);
}

const struct assay_op assay_op_dequant_swiglu_quant = {
    .name = "dequant_swiglu_quant",
    .tier = 3,
    .formula = "A, B = halves of the rows of x (int32: x * weight_scale * activation_scale); "
               "v = silu(B) * A (activate_left: silu(A) * B) * quant_scale; "
               "scale = max(max |v| / 127, 1e-12) by row, y = round(v / scale)",
    .constraints = "x has rank 2 and rows of an even number of elements, not 0\n"
                   "weight_scale [1, 2 h] and activation_scale [t] are present where x is int32, "
                   "and only there\n"
                   "quant_scale, where present, is [1, h]",
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
    .f32_reference = true,
    .source = "CANN Bench level 3, DequantSwigluQuant",
};
