/* SPDX-License-Identifier: Apache-2.0 */
/* layer_relu.c: y = max(x, 0), and y = min(max(x, 0), 6). NaN stays NaN. The derivative at a corner
 * is 0. */
#include "base/clones.h"
#include "qn/layer.h"

#include <math.h>
#include <string.h>

struct relu {
    const struct qn_call *c;
    float top;
};

static enum assay_status shape(struct qn_layer *l, const struct qn_shape *const *in,
                               struct assay_err *err)
{
    (void)err;
    l->shape = *in[0];
    return ASSAY_OK;
}

ASSAY__CLONES static void relu_clip(int64_t n, float top, float *y)
{
    for (int64_t j = 0; j < n; j++) {
        float v = y[j];

        v = v < 0 ? 0 : v;
        y[j] = v > top ? top : v;
    }
}

ASSAY__CLONES static void relu_mask(int64_t n, const float *restrict y, float top,
                                    float *restrict dx)
{
    for (int64_t j = 0; j < n; j++)
        dx[j] = y[j] > 0 && y[j] < top ? dx[j] : 0;
}

ASSAY__CLONES static void relu_add(int64_t n, const float *restrict y, const float *restrict dy,
                                   float top, float *restrict dx)
{
    for (int64_t j = 0; j < n; j++)
        dx[j] += y[j] > 0 && y[j] < top ? dy[j] : 0;
}

/* Pieces are small enough that a copy in front costs little; mostly x is y. */
static void forward_range(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct relu *r = ctx;
    const float *x = r->c->x[0] + begin;
    float *y = r->c->y + begin;

    (void)slot;
    if (x != y)
        memcpy(y, x, (size_t)(end - begin) * sizeof *y);
    relu_clip(end - begin, r->top, y);
}

static void backward_range(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct relu *r = ctx;
    const float *y = r->c->y + begin, *dy = r->c->dy + begin;
    float *dx = r->c->dx[0] + begin;

    (void)slot;
    if (r->c->add[0]) {
        relu_add(end - begin, y, dy, r->top, dx);
        return;
    }
    if (dx != dy)
        memcpy(dx, dy, (size_t)(end - begin) * sizeof *dx);
    relu_mask(end - begin, y, r->top, dx);
}

static void run(const struct qn_layer *l, const struct qn_call *c, qn_range_fn body)
{
    struct relu r = { c, l->type == &qn_layer_relu6 ? 6 : INFINITY };

    qn_pool_run(c->pool, c->n * qn__size(c->in[0]), qn__grain(1), body, &r);
}

static void forward(const struct qn_layer *l, const struct qn_call *c)
{
    run(l, c, forward_range);
}

static void backward(const struct qn_layer *l, const struct qn_call *c)
{
    if (c->dx[0])
        run(l, c, backward_range);
}

const struct qn_layer_type qn_layer_relu = {
    .name = "relu",
    .min_in = 1,
    .max_in = 1,
    .flags = QN_NEEDS_Y | QN_IN_PLACE,
    .shape = shape,
    .forward = forward,
    .backward = backward,
};

const struct qn_layer_type qn_layer_relu6 = {
    .name = "relu6",
    .min_in = 1,
    .max_in = 1,
    .flags = QN_NEEDS_Y | QN_IN_PLACE,
    .shape = shape,
    .forward = forward,
    .backward = backward,
};
