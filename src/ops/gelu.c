/* SPDX-License-Identifier: Apache-2.0 */
/* gelu: y = x Phi(x), Phi by erf or by the published tanh approximation; -Inf gives NaN in both. */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/map.h"

#include <math.h>

enum { APPROXIMATE };
enum { NONE, TANH };
static const struct assay_param in[] = { { "x", ASSAY_FLOATS, 0, "[...]", NULL }, { 0 } };
static const struct assay_param out[] = { { "y", ASSAY_FLOATS, 0, "like x", NULL }, { 0 } };
static const char *const forms[] = { [NONE] = "none", [TANH] = "tanh", NULL };
static const struct assay_attr attrs[] = {
    [APPROXIMATE] = { "approximate",
                      ASSAY_ATTR_ENUM,
                      0,
                      { .set = true, .i = NONE },
                      forms,
                      NULL,
                      0 },
    { 0 },
};

static double by_erf(const struct assay_args *a, const void *ctx, const double *v)
{
    double root_half = assay_round(a, ASSAY_F32, 0.70710678118654752440);
    double z = assay_round(a, ASSAY_F32, v[0] * root_half);
    double p = assay_round(a, ASSAY_F32, 1 + assay_round(a, ASSAY_F32, erf(z)));

    (void)ctx;
    return v[0] * 0.5 * p;
}

static double by_tanh(const struct assay_args *a, const void *ctx, const double *v)
{
    double root = assay_round(a, ASSAY_F32, 0.79788456080286535588); /* sqrt(2 / pi) */
    double k = assay_round(a, ASSAY_F32, 0.044715);
    double cube = assay_round(a, ASSAY_F32, assay_round(a, ASSAY_F32, v[0] * v[0]) * v[0]);
    double t = assay_round(a, ASSAY_F32, v[0] + assay_round(a, ASSAY_F32, k * cube));
    double h = assay_round(a, ASSAY_F32, tanh(assay_round(a, ASSAY_F32, root * t)));

    (void)ctx;
    return v[0] * 0.5 * assay_round(a, ASSAY_F32, 1 + h);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    (void)err;
    return assay__map(a, 1, a->attr[APPROXIMATE].i == TANH ? by_tanh : by_erf, NULL);
}

/* One operation a result: x Phi(x) is one function of x, whichever way Phi is written. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->out[0], 1);
}

static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_vector_cast(w, &a->in[0], a->attr[APPROXIMATE].i == TANH ? 10 : 6);
}

const struct assay_op assay_op_gelu = {
    .name = "gelu",
    .tier = 1,
    .formula = "y = x / 2 * (1 + erf(x / sqrt 2)), or tanh(sqrt(2 / pi) * (x + 0.044715 x^3)) in "
               "place of erf",
    .in = in,
    .out = out,
    .attrs = attrs,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .source = "CANN Bench level 1, Gelu",
};
