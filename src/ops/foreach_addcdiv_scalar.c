/* SPDX-License-Identifier: Apache-2.0 */
/* foreach_addcdiv_scalar: y = x1 + x2 / x3 scalar, tensor by tensor of three lists. */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/sample.h"

#include <math.h>

enum { X1, X2, X3 };
enum { SCALAR };
static const struct assay_param in[] = {
    [X1] = { "x1", ASSAY_FLOATS, ASSAY_PARAM_LIST, "list of [...]", NULL },
    [X2] = { "x2", ASSAY_FLOATS, ASSAY_PARAM_LIST, "like x1", NULL },
    [X3] = { "x3", ASSAY_FLOATS, ASSAY_PARAM_LIST, "like x1", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", ASSAY_FLOATS, ASSAY_PARAM_LIST, "like x1", NULL },
                                          { 0 } };

static const double scalars[] = { 1, 0.5, -1, 2, -0.25, 0.1, 3 };
static const struct assay_attr attrs[] = {
    [SCALAR] = { "scalar", ASSAY_ATTR_FLOAT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, scalars, 7 },
    { 0 },
};
/* Division is where a small error of the divisor grows. */
static const struct assay_tol tol[] = {
    { ASSAY_F32, 5e-3 },
    { ASSAY_F16, 1e-2 },
    { ASSAY_BF16, 1e-2 },
    { ASSAY_F64, -1 },
};

/* Divisors stay away from zero, so that quotients have the size of their operands. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    struct assay_range r = { 0.25, 1 };
    double m;

    ASSAY_TRY(assay__sample_lists(s, c, 3, 1, err));
    m = assay__range_magnitude(&c->in[X2].range[0]);
    if (m > 0)
        r = (struct assay_range){ m / 4, m };
    if (c->in[X2].range[0].hi > 0 && isinf(c->in[X2].range[0].hi))
        r.hi = INFINITY;
    for (int64_t k = 0; k < c->in[X3].n; k++)
        c->in[X3].range[k] = r;
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    for (int i = X2; i <= X3; i++) {
        if (a->in[i].n != a->in[X1].n)
            return assay_fail(err, ASSAY_INVALID, "%s has %lld tensors, x1 has %lld", in[i].name,
                              (long long)a->in[i].n, (long long)a->in[X1].n);
        for (int64_t k = 0; k < a->in[X1].n; k++) {
            char x1[128], other[128];

            if (!assay_same_shape(&a->in[X1].t[k], &a->in[i].t[k]) ||
                a->in[X1].t[k].dtype != a->in[i].t[k].dtype)
                return assay_fail(err, ASSAY_INVALID, "%s[%lld] is %s, x1[%lld] is %s", in[i].name,
                                  (long long)k,
                                  assay_tensor_text(&a->in[i].t[k], other, sizeof other),
                                  (long long)k, assay_tensor_text(&a->in[X1].t[k], x1, sizeof x1));
        }
    }
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    return assay__infer_list(a, 0, &a->in[X1], err);
}

static double element(const struct assay_args *a, const void *ctx, const double *v)
{
    const double *scalar = ctx;
    double quotient = assay_round(a, ASSAY_F32, v[X2] / v[X3]);

    return v[X1] + assay_round(a, ASSAY_F32, quotient * *scalar);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    double scalar = assay__scalar(a, SCALAR);

    (void)err;
    return assay__map(a, 3, element, &scalar);
}

/* One operation that takes x3, one that adds x1. The factor costs nothing: the quotient is a
 * division, or steps that approach scalar / x3 as well as 1 / x3. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->out[0], 2);
}

/* Division, product, sum. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_vector_cast(w, &a->in[X1], 3);
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "output_bf16", "float32 results are judged at a mean relative error of 0.005, rounding to "
                     "bfloat16 stays below 2^-8" },
    { 0 },
};

const struct assay_op assay_op_foreach_addcdiv_scalar = {
    .name = "foreach_addcdiv_scalar",
    .tier = 1,
    .formula = "y_i = x1_i + x2_i / x3_i * scalar",
    .in = in,
    .out = out,
    .attrs = attrs,
    .tol = tol,
    .n_tol = 3,
    .sample = sample,
    .check = check,
    .infer = infer,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 1, ForeachAddcdivScalar",
};
