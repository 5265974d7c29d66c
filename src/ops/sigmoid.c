/* SPDX-License-Identifier: Apache-2.0 */
/* sigmoid: y = 1 / (1 + e^-x). */
#include "assay/op.h"

#include "ops/lanes.h"
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

/* One operation a result: as a function of x it needs no division. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->out[0], 1);
}

static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_vector_cast(w, &a->in[0], 8);
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "input_flushed",
      "the sigmoid of a subnormal half is that of zero, but for less than a rounding error" },
    { 0 },
};

const struct assay_op assay_op_sigmoid = {
    .name = "sigmoid",
    .tier = 1,
    .formula = "y = 1 / (1 + e^-x)",
    .in = in,
    .out = out,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 1, Sigmoid",
};
