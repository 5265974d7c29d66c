/* SPDX-License-Identifier: Apache-2.0 */
/* masked_scale: y = x mask scale; the mask holds numbers of any value, not only 0 and 1. */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/sample.h"

enum { X, MASK };
enum { SCALE };
#define MASKS (ASSAY_FLOATS | ASSAY_BIT(ASSAY_I8) | ASSAY_BIT(ASSAY_U8))
static const struct assay_param in[] = {
    [X] = { "x", ASSAY_FLOATS, 0, "[...]", NULL },
    [MASK] = { "mask", MASKS, 0, "like x", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", ASSAY_FLOATS, 0, "like x", NULL }, { 0 } };

static const double scales[] = { 1, 0.5, 2, -1, -0.5, 10, 1.5, 3 };
static const struct assay_attr attrs[] = {
    [SCALE] = { "scale", ASSAY_ATTR_FLOAT, 0, { .set = true, .f = 1 }, NULL, scales, 8 },
    { 0 },
};

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    static const struct assay_range ranges[] = { { 0, 1 }, { 0, 1 }, { 0, 3 }, { -2, 2 } };
    enum assay_dtype d = c->in[MASK].dtype;
    uint64_t choices = d == ASSAY_I8 ? 4 : d == ASSAY_U8 ? 3 : 2;

    /* x mask scale must not overflow on the way to a finite result */
    if (c->value_class == ASSAY_CLASS_BOUNDARY)
        choices = 1;
    ASSAY_TRY(assay__sample_room(s, c, X, 1, err));
    ASSAY_TRY(assay__sample_room(s, c, MASK, 1, err));
    assay_sample_shape(s, s->elements / 2 > 0 ? s->elements / 2 : 1, s->rank, c->in[X].dtype,
                       c->in[X].shape);
    c->in[MASK].shape[0] = c->in[X].shape[0];
    c->in[MASK].range[0] = ranges[assay_sample_below(s, choices)];
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    char x[128], mask[128];

    if (!assay_same_shape(&a->in[X].t[0], &a->in[MASK].t[0]))
        return assay_fail(err, ASSAY_INVALID, "mask %s does not have the shape of x %s",
                          assay_tensor_text(&a->in[MASK].t[0], mask, sizeof mask),
                          assay_tensor_text(&a->in[X].t[0], x, sizeof x));
    return ASSAY_OK;
}

/* The dtype that products are rounded to in the native run: that of x when the mask is an integer
 * or of the same dtype, else the first one that holds both. */
static enum assay_dtype product_dtype(const struct assay_args *a)
{
    enum assay_dtype x = a->in[X].t[0].dtype, mask = a->in[MASK].t[0].dtype;

    return !assay_dtype_is_float(mask) || mask == x ? x : ASSAY_F32;
}

struct product {
    double scale;
    enum assay_dtype dtype;
};

static double element(const struct assay_args *a, const void *ctx, const double *v)
{
    const struct product *p = ctx;

    return assay_round(a, p->dtype, assay_round(a, p->dtype, v[X] * v[MASK]) * p->scale);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct product p = { assay__scalar(a, SCALE), product_dtype(a) };

    (void)err;
    return assay__map(a, 2, element, &p);
}

/* One product a result. The scale may be 1, or go into a table of the mask's few values. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->out[0], 1);
}

/* The cast of the mask and two products. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_vector(w, &a->in[X], 3);
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "swapped x mask", "a product has no order" },
    { 0 },
};

const struct assay_op assay_op_masked_scale = {
    .name = "masked_scale",
    .tier = 1,
    .formula = "y = x * mask * scale",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 1, MaskedScale",
};
