/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer_dropout.c: in training each value is 0 with probability `rate`, and what is left is divided
 * by 1 - rate. Which ones is a function of seed, step, layer and place (Philox), so that backward
 * draws the same again and nothing is kept.
 */
#include "assay/rng.h"
#include "qn/layer.h"

enum { CHUNK = 1024, GRAIN = 16 * CHUNK };

static const struct qn_attr attrs[] = {
    { "rate", QN_ATTR_NUMBER, offsetof(struct qn_attrs, rate), false, 0.5, 0, 0.99 },
    { 0 },
};

struct dropout {
    const struct qn_call *c;
    const float *from;
    float *to;
    bool active, add;
    struct assay_key key;
    uint32_t below; /* words that mean 0 */
    float factor;
};

static enum assay_status shape(struct qn_layer *l, const struct qn_shape *const *in,
                               struct assay_err *err)
{
    (void)err;
    l->shape = *in[0];
    return ASSAY_OK;
}

static void range(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct dropout *d = ctx;
    uint32_t word[CHUNK];

    (void)slot;
    for (int64_t at = begin; at < end; at += CHUNK) {
        int64_t n = end - at < CHUNK ? end - at : CHUNK;

        if (d->active)
            assay_rng_fill(d->key, (uint64_t)at, (size_t)n, word);
        for (int64_t j = 0; j < n; j++) {
            float f = !d->active ? 1 : word[j] < d->below ? 0 : d->factor;

            d->to[at + j] = d->from[at + j] * f + (d->add ? d->to[at + j] : 0);
        }
    }
}

static void run(const struct qn_layer *l, const struct qn_call *c, const float *from, float *to,
                bool add)
{
    struct dropout d = { .c = c, .from = from, .to = to, .add = add };

    d.active = c->pass->train && l->attrs.rate > 0;
    if (!d.active && from == to)
        return;
    d.key = assay_key(c->pass->seed, "qn_dropout", c->layer, 0, c->pass->step);
    d.below = (uint32_t)(l->attrs.rate * 0x1p32);
    d.factor = (float)(1 / (1 - l->attrs.rate));
    qn_pool_run(c->pool, c->n * qn__size(&l->shape), GRAIN, range, &d);
}

static void forward(const struct qn_layer *l, const struct qn_call *c)
{
    run(l, c, c->x[0], c->y, false);
}

static void backward(const struct qn_layer *l, const struct qn_call *c)
{
    if (c->dx[0])
        run(l, c, c->dy, c->dx[0], c->add[0]);
}

const struct qn_layer_type qn_layer_dropout = {
    .name = "dropout",
    .min_in = 1,
    .max_in = 1,
    .flags = QN_IN_PLACE,
    .attrs = attrs,
    .shape = shape,
    .forward = forward,
    .backward = backward,
};
