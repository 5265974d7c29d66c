/* SPDX-License-Identifier: Apache-2.0 */
/* layer_flatten.c: the same values as one row; and the input, which is no layer of a description.
 */
#include "qn/layer.h"
#include "qn/sums.h"

#include <string.h>

static enum assay_status shape(struct qn_layer *l, const struct qn_shape *const *in,
                               struct assay_err *err)
{
    (void)err;
    l->shape = (struct qn_shape){ qn__size(in[0]), 1, 1 };
    return ASSAY_OK;
}

/* Mostly x is y and dx is dy: then there is nothing to do. */
static void forward(const struct qn_layer *l, const struct qn_call *c)
{
    if (c->x[0] != c->y)
        memcpy(c->y, c->x[0], (size_t)(c->n * qn__size(&l->shape)) * sizeof *c->y);
}

static void backward(const struct qn_layer *l, const struct qn_call *c)
{
    int64_t n = c->n * qn__size(&l->shape);

    if (!c->dx[0] || c->dx[0] == c->dy)
        return;
    if (c->add[0])
        qn__add(n, c->dy, c->dx[0]);
    else
        memcpy(c->dx[0], c->dy, (size_t)n * sizeof *c->dy);
}

const struct qn_layer_type qn_layer_flatten = {
    .name = "flatten",
    .min_in = 1,
    .max_in = 1,
    .flags = QN_SAME_BYTES,
    .shape = shape,
    .forward = forward,
    .backward = backward,
};

const struct qn_layer_type qn_layer_input = { .name = "input" };
