/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dynamic_quant: each row of the last axis as int8 numbers and one scale: scale = max(max |x|,
 * 1e-12) / 127, y = x / scale to the nearest even integer.
 *
 * The published formula has no floor of 1e-12; recorded results do. A row that holds NaN has the
 * scale NaN, one that holds an infinity the scale Inf; both are 0 throughout (0 is what becomes of
 * Inf / Inf and of NaN).
 */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/moments.h"
#include "ops/quantise.h"
#include "ops/sample.h"
#include "ops/slice_fill.h"
#include "ops/slices.h"

#include <math.h>

enum { Y, SCALE };
#define HALVES (ASSAY_BIT(ASSAY_F16) | ASSAY_BIT(ASSAY_BF16))
static const struct assay_param in[] = { { "x", HALVES, 0, "[.., d], rank 2 to 8", NULL }, { 0 } };
static const struct assay_param out[] = {
    [Y] = { "y", ASSAY_BIT(ASSAY_I8), 0, "like x", NULL },
    [SCALE] = { "scale", ASSAY_BIT(ASSAY_F32), 0, "[..], x without its last axis", NULL },
    { 0 },
};

static const struct assay_tol tol[] = { { ASSAY_I8, 1 }, { ASSAY_I8, -1 } };

static const double least_amax = 1e-12;

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0];

    if (x->rank < 2)
        return assay_fail(err, ASSAY_INVALID, "x has rank %d, must have 2 or more", x->rank);
    if (x->shape[x->rank - 1] == 0)
        return assay_fail(err, ASSAY_INVALID, "rows of x have no elements to take the maximum of");
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    (void)err;
    assay__infer_quantised(&a->in[0].t[0], &a->out[Y].t[0], &a->out[SCALE].t[0]);
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    ASSAY_TRY(assay__sample_room(s, c, 0, 1, err));
    assay__sample_rows(s, s->elements, s->rank > 2 ? s->rank : 2, c->in[0].dtype, c->in[0].shape);
    return ASSAY_OK;
}

/*
 * Rows differ in magnitude by powers of two. One element, of either sign and anywhere in the row,
 * is well above all others, so that whoever overlooks it has another scale. A few rows are all
 * zero, and in bfloat16 a few are so small that the floor of the scale decides.
 */
static void recipe(const void *ctx, struct assay_sampler *s, const struct assay__slice *slice,
                   struct assay__recipe *r)
{
    enum { ZERO, FLOOR, KINDS = 32 };
    enum assay_dtype d = *(const enum assay_dtype *)ctx;
    double most = fmax(-slice->lo, slice->hi), gain = exp2(-(double)assay_sample_below(s, 10));
    double end = assay_sample_below(s, 2) ? slice->hi : slice->lo;
    int kind = (int)assay_sample_below(s, KINDS);

    if (slice->n < 4)
        return;
    if (kind == FLOOR && d == ASSAY_BF16)
        gain = least_amax * assay__draw_power(s, -4, 1) / most;
    end = end != 0 ? end : slice->lo + slice->hi;
    assay__draw_places(s, slice->n, r);
    r->n_some = 1;
    r->some[0] = end * gain;
    r->some[1] = 0;
    r->most[1] = assay_sample_between(s, 0.3, 0.9) * gain * fabs(end) / most;
    if (kind == ZERO)
        r->some[0] = r->most[1] = 0;
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0];

    (void)err;
    assay__fill_slices(a, x, x->rank - 1, key, recipe, &x->dtype);
    return ASSAY_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

static void row(void *ctx, const struct assay__panel *p)
{
    const struct assay_args *a = ctx;
    const struct assay_tensor *x = &a->in[0].t[0];
    double v[ASSAY__BLOCK];
    int64_t from = assay__panel_at(p, p->n, 0);
    double scale = assay__quant_scale(a, assay__amax(x, from, p->n), least_amax);

    assay_store(&a->out[SCALE].t[0], p->outer, scale);
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = p->n - k < ASSAY__BLOCK ? p->n - k : ASSAY__BLOCK;
        assay_load_n(x, from + k, m, v);
        assay__quantise(a, &a->out[Y].t[0], from + k, m, scale, v);
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct assay_args job = *a; /* the loop's context is not const */

    (void)err;
    assay__panels(a, &a->in[0].t[0], a->in[0].t[0].rank - 1, row, &job);
    return ASSAY_OK;
}

/* Each element goes into the maximum by one operation and is scaled by another. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->in[0], 2);
}

/* Nine operations an element and four a row, in fp32. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    w->amount[ASSAY_UNIT_VEC_32] +=
        9 * assay__elements(&a->in[0]) + 4 * assay__elements(&a->out[SCALE]);
}

const struct assay_op assay_op_dynamic_quant = {
    .name = "dynamic_quant",
    .tier = 2,
    .formula = "scale = max(max |x|, 1e-12) / 127 by row, y = round(x / scale)",
    .constraints = "x has rank 2 at least, and elements along its last axis",
    .in = in,
    .out = out,
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
    .source = "CANN Bench level 2, DynamicQuant",
};
