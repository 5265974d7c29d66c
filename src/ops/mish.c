/* SPDX-License-Identifier: Apache-2.0 */
/* mish: y = x tanh(log(1 + e^x)); -Inf gives NaN (Inf times 0). */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/map.h"

#include <math.h>

static const struct assay_param in[] = { { "x", ASSAY_FLOATS, 0, "[...]", NULL }, { 0 } };
static const struct assay_param out[] = { { "y", ASSAY_FLOATS, 0, "like x", NULL }, { 0 } };

static double element(const struct assay_args *a, const void *ctx, const double *v)
{
    double e = assay_round(a, ASSAY_F32, exp(v[0]));
    double softplus = assay_round(a, ASSAY_F32, log1p(e));

    (void)ctx;
    return v[0] * assay_round(a, ASSAY_F32, tanh(softplus));
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    (void)err;
    return assay__map(a, 1, element, NULL);
}

/* One operation a result: tanh(log(1 + e^x)) needs neither logarithm nor tanh (it is w / (w + 2)
 * with w = e^x (e^x + 2)), and x times it is one function of x. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->out[0], 1);
}

static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_vector_cast(w, &a->in[0], 7);
}

const struct assay_op assay_op_mish = {
    .name = "mish",
    .tier = 1,
    .formula = "y = x * tanh(log(1 + e^x))",
    .in = in,
    .out = out,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .source = "CANN Bench level 1, Mish",
};
