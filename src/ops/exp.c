/* SPDX-License-Identifier: Apache-2.0 */
/* exp: y = base^(scale x + shift); a base of 0 or less stands for e. */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BASE, SCALE, SHIFT };
static const struct assay_param in[] = { { "x", ASSAY_FLOATS, 0, "[...]", NULL }, { 0 } };
static const struct assay_param out[] = { { "y", ASSAY_FLOATS, 0, "like x", NULL }, { 0 } };

static const double bases[] = { -1, 2, 10, 0.5 };
static const double scales[] = { 1, 0.5, 2, 1.5, -1 };
static const double shifts[] = { 0, 0.5, 1, -2 };
static const struct assay_attr attrs[] = {
    [BASE] = { "base", ASSAY_ATTR_FLOAT, 0, { .set = true, .f = -1 }, NULL, bases, 4 },
    [SCALE] = { "scale", ASSAY_ATTR_FLOAT, 0, { .set = true, .f = 1 }, NULL, scales, 5 },
    [SHIFT] = { "shift", ASSAY_ATTR_FLOAT, 0, { .set = true, .f = 0 }, NULL, shifts, 4 },
    { 0 },
};

/* v with two significant digits, the double that prints so. */
static double two_digits(double v)
{
    char text[32];

    snprintf(text, sizeof text, "%.1e", v);
    return strtod(text, NULL);
}

/* Wide ranges get a scale that spans the exponents of the dtype and a little more, so that most
 * results are finite and some over- and underflow. Base 1 (1, or NaN for an infinite x) is for the
 * special values. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    double widest = c->in[0].dtype == ASSAY_F16 ? 12 : 95; /* ln of the largest value: 11.1, 88.7 */
    double ln_base = c->attr[BASE].f > 0 ? fabs(log(c->attr[BASE].f)) : 1;
    double most = assay__range_magnitude(&c->in[0].range[0]);

    (void)err;
    assay_sample_shape(s, s->elements, s->rank, c->in[0].dtype, c->in[0].shape);
    if (c->value_class == ASSAY_CLASS_SPECIAL && assay_sample_below(s, 2))
        c->attr[BASE].f = 1;
    else if (most * ln_base * fabs(c->attr[SCALE].f) > widest)
        c->attr[SCALE].f = copysign(two_digits(widest / (most * ln_base)), c->attr[SCALE].f);
    return ASSAY_OK;
}

struct exponent {
    double scale, shift, ln_base;
    bool natural;
};

static double element(const struct assay_args *a, const void *ctx, const double *v)
{
    const struct exponent *e = ctx;
    double t = assay_round(a, ASSAY_F32, v[0] * e->scale);

    t = assay_round(a, ASSAY_F32, t + e->shift);
    if (!e->natural)
        t = assay_round(a, ASSAY_F32, t * e->ln_base);
    return exp(t);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct exponent e = { .scale = assay__scalar(a, SCALE), .shift = assay__scalar(a, SHIFT) };

    (void)err;
    e.natural = !(a->attr[BASE].f > 0);
    e.ln_base = e.natural ? 1 : assay_round(a, ASSAY_F32, log(a->attr[BASE].f));
    return assay__map(a, 1, element, &e);
}

/* One operation a result: scale, shift and base change constants of the range reduction only. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->out[0], 1);
}

/* 2 for e^x, 1 for each attribute that does something; 16-bit numbers are computed in fp32. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    int attributes = (a->attr[SCALE].f != 1) + (a->attr[SHIFT].f != 0) + (a->attr[BASE].f > 0);

    assay__add_vector_f32(w, &a->in[0], 2 + attributes, 2);
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "input_flushed",
      "the exponential of a subnormal half is that of zero, but for less than a rounding error" },
    { 0 },
};

const struct assay_op assay_op_exp = {
    .name = "exp",
    .tier = 1,
    .formula = "y = base^(x * scale + shift), base <= 0 means e",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 1, Exp",
};
