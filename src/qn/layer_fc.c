/* SPDX-License-Identifier: Apache-2.0 */
/* layer_fc.c: fully connected: y = x W^T + bias over all values of a sample; W is [out, in]. */
#include "qn/gemm.h"
#include "qn/layer.h"

enum { W = 0, BIAS = 1, TILE_M = 64, TILE_N = 128, TILE_WIDE = 512 };

static const struct qn_attr attrs[] = {
    { "out", QN_ATTR_INT, offsetof(struct qn_attrs, out), true, 0, 1, 1 << 20 },
    { "bias", QN_ATTR_BOOL, offsetof(struct qn_attrs, bias), false, 1, 0, 1 },
    { "quantise", QN_ATTR_BOOL, offsetof(struct qn_attrs, quantise), false, 1, 0, 1 },
    { 0 },
};

static enum assay_status shape(struct qn_layer *l, const struct qn_shape *const *in,
                               struct assay_err *err)
{
    (void)in;
    (void)err;
    l->shape = (struct qn_shape){ l->attrs.out, 1, 1 };
    return ASSAY_OK;
}

static int params(const struct qn_layer *l, const struct qn_shape *const *in, struct qn_decl *out)
{
    out[W] = (struct qn_decl){ "weight", QN_WEIGHT, 2, { l->attrs.out, qn__size(in[0]) } };
    out[BIAS] = (struct qn_decl){ "bias", QN_BIAS, 1, { l->attrs.out } };
    return l->attrs.bias ? 2 : 1;
}

static void forward(const struct qn_layer *l, const struct qn_call *c)
{
    int64_t in = qn__size(c->in[0]), out = l->attrs.out;
    struct qn_gemm g = { .m = c->n, .n = out, .k = in, .a = c->x[0], .lda = in, .b = c->v[W] };

    g.ldb = in;
    g.turn_b = true;
    g.c = c->y;
    g.ldc = out;
    g.add = c->v[BIAS] != NULL;
    for (int64_t i = 0; g.add && i < c->n; i++)
        for (int64_t o = 0; o < out; o++)
            c->y[i * out + o] = c->v[BIAS][o];
    qn__gemm_tiles(&g, TILE_M, TILE_N, c->pool);
}

static void backward(const struct qn_layer *l, const struct qn_call *c)
{
    int64_t in = qn__size(c->in[0]), out = l->attrs.out;
    struct qn_gemm dw = { .m = out, .n = in, .k = c->n, .a = c->dy, .lda = out, .turn_a = true };
    struct qn_gemm dx = { .m = c->n, .n = in, .k = out, .a = c->dy, .lda = out, .b = c->v[W] };

    dw.b = c->x[0];
    dw.ldb = dw.ldc = dx.ldb = dx.ldc = in;
    dw.c = c->g[W];
    qn__gemm_tiles(&dw, TILE_M, TILE_WIDE, c->pool);
    if (c->dx[0]) {
        dx.c = c->dx[0];
        dx.add = c->add[0];
        qn__gemm_tiles(&dx, TILE_M, TILE_WIDE, c->pool);
    }
    for (int64_t o = 0; c->g[BIAS] && o < out; o++) {
        double sum = 0;

        for (int64_t i = 0; i < c->n; i++)
            sum += (double)c->dy[i * out + o];
        c->g[BIAS][o] = (float)sum;
    }
}

const struct qn_layer_type qn_layer_fc = {
    .name = "fc",
    .min_in = 1,
    .max_in = 1,
    .flags = QN_NEEDS_X,
    .attrs = attrs,
    .shape = shape,
    .params = params,
    .forward = forward,
    .backward = backward,
};
