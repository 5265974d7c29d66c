/* SPDX-License-Identifier: Apache-2.0 */
/* toy_op.h: an operator that no suite has, with every kind of parameter and attribute, for tests.
 */
#ifndef ASSAY_TOY_OP_H
#define ASSAY_TOY_OP_H

#include "assay/case.h"

enum { TOY_X, TOY_WS, TOY_MASK };
enum { TOY_DIM, TOY_FLAG, TOY_ALPHA, TOY_MODE, TOY_BETA, TOY_PADS, TOY_FACTORS };

static const struct assay_param toy_in[] = {
    { "x", ASSAY_FLOATS, 0, "[...]", NULL },
    { "ws", ASSAY_FLOATS, ASSAY_PARAM_LIST | ASSAY_PARAM_OPTIONAL, "list", NULL },
    { "mask", ASSAY_BIT(ASSAY_I8) | ASSAY_BIT(ASSAY_U8), ASSAY_PARAM_OPTIONAL, "[...]", NULL },
    { 0 },
};
static const struct assay_param toy_out[] = { { "x", ASSAY_FLOATS, 0, "like x", NULL }, { 0 } };
static const char *const toy_modes[] = { "none", "tanh", NULL };
static const struct assay_attr toy_attrs[] = {
    [TOY_DIM] = { "dim", ASSAY_ATTR_INT, 0, { .set = true, .i = -1 }, NULL, NULL, 0 },
    [TOY_FLAG] = { "flag", ASSAY_ATTR_BOOL, 0, { .set = true, .i = 0 }, NULL, NULL, 0 },
    [TOY_ALPHA] = { "alpha", ASSAY_ATTR_FLOAT, 0, { .set = true, .f = 1 }, NULL, NULL, 0 },
    [TOY_MODE] = { "mode", ASSAY_ATTR_ENUM, 0, { .set = true, .i = 0 }, toy_modes, NULL, 0 },
    [TOY_BETA] = { "beta", ASSAY_ATTR_FLOAT, ASSAY_ATTR_NO_DEFAULT, { 0 }, NULL, NULL, 0 },
    [TOY_PADS] = { "pads", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [TOY_FACTORS] = { "factors", ASSAY_ATTR_FLOATS, ASSAY_ATTR_NO_DEFAULT, { 0 }, NULL, NULL, 0 },
    { 0 },
};
static const struct assay_tol toy_tol[] = { { ASSAY_F32, 5e-3 },
                                            { ASSAY_I8, 1 },
                                            { ASSAY_F64, -1 } };

static enum assay_status toy_check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[TOY_X].t[0];
    int64_t dim = a->attr[TOY_DIM].i;

    if (dim < -x->rank || dim >= x->rank)
        return assay_fail(err, ASSAY_INVALID, "dim %lld out of range for rank %d", (long long)dim,
                          x->rank);
    return ASSAY_OK;
}

static void toy_work(const struct assay_args *a, struct assay_work *w)
{
    (void)a;
    w->amount[ASSAY_UNIT_ALU] += 7;
    w->bytes_in -= 1;
}

static const struct assay_op toy = {
    .name = "toy_op",
    .tier = 1,
    .formula = "x = x */ 2",
    .in = toy_in,
    .out = toy_out,
    .attrs = toy_attrs,
    .tol = toy_tol,
    .n_tol = 2,
    .check = toy_check,
    .work = toy_work,
    .source = "made for tests",
};

#endif
