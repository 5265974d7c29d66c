/* SPDX-License-Identifier: Apache-2.0 */
/* layer_quant.c: where activations are quantised. The quantiser itself belongs to the network. */
#include "qn/layer.h"
#include "qn/sums.h"

#include <string.h>

static enum assay_status shape(struct qn_layer *l, const struct qn_shape *const *in,
                               struct assay_err *err)
{
    (void)err;
    l->shape = *in[0];
    return ASSAY_OK;
}

static struct qn_view view(const struct qn_layer *l, const struct qn_call *c)
{
    return (struct qn_view){ c->n, l->shape.c, l->shape.h * l->shape.w };
}

static void forward(const struct qn_layer *l, const struct qn_call *c)
{
    qn_quant_forward(c->quant, c->pass->activations, c->x[0], view(l, c), c->y, c->pool);
}

/* Where dx holds something already, the share of this layer is made beside it. */
static void backward(const struct qn_layer *l, const struct qn_call *c)
{
    int64_t n = c->n * qn__size(&l->shape);
    float *to = c->dx[0] && !c->add[0] ? c->dx[0] : (float *)c->shared;

    if (c->pass->activations == QN_OFF) {
        qn_quant_no_gradient(c->quant);
        if (c->dx[0] && c->add[0])
            qn__add(n, c->dy, c->dx[0]);
        else if (c->dx[0])
            memcpy(c->dx[0], c->dy, (size_t)n * sizeof *c->dy);
        return;
    }
    qn_quant_backward(c->quant, c->x[0], view(l, c), c->dy, to, c->pool);
    if (c->dx[0] && c->add[0])
        qn__add(n, to, c->dx[0]);
}

static size_t shared_bytes(const struct qn_layer *l, const struct qn_shape *const *in, int64_t n)
{
    (void)in;
    return (size_t)(n * qn__size(&l->shape)) * sizeof(float);
}

const struct qn_layer_type qn_layer_quant = {
    .name = "quant",
    .min_in = 1,
    .max_in = 1,
    .flags = QN_NEEDS_X,
    .shape = shape,
    .shared_bytes = shared_bytes,
    .forward = forward,
    .backward = backward,
};
