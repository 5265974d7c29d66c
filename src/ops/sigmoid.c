/* SPDX-License-Identifier: Apache-2.0 */
/* sigmoid: y = 1 / (1 + e^-x). */
#include "assay/op.h"

#include "ops/map.h"

static const struct assay_param in[] = { { "x", ASSAY_FLOATS, 0, "[...]", NULL }, { 0 } };
static const struct assay_param out[] = { { "y", ASSAY_FLOATS, 0, "like x", NULL }, { 0 } };

static double element(const struct assay_args *a, const void *ctx, const double *v)
{
    (void)ctx;
    return assay__sigmoid(a, v[0]);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    (void)err;
    return assay__map(a, 1, element, NULL);
}

static void work(const struct assay_args *a, struct assay_work *w)
{
    double n = assay__elements(&a->in[0]);

    w->amount[ASSAY_UNIT_TRANS] += n;
    w->amount[ASSAY_UNIT_ALU] += 2 * n; /* add, divide */
}

const struct assay_op assay_op_sigmoid = {
    .name = "sigmoid",
    .tier = 1,
    .formula = "y = 1 / (1 + e^-x)",
    .in = in,
    .out = out,
    .golden = golden,
    .work = work,
    .source = "CANN Bench level 1, Sigmoid",
};
