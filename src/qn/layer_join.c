/* SPDX-License-Identifier: Apache-2.0 */
/* layer_join.c: the sum of inputs of one shape, and inputs one behind the other along channels. */
#include "qn/layer.h"
#include "qn/sums.h"

#include <string.h>

static void copy_or_add(int64_t n, const float *x, bool add, float *y)
{
    if (add)
        qn__add(n, x, y);
    else
        memcpy(y, x, (size_t)n * sizeof *y);
}

struct join {
    const struct qn_layer *l;
    const struct qn_call *c;
};

/* ---- add ------------------------------------------------------------------------------------- */

static enum assay_status add_shape(struct qn_layer *l, const struct qn_shape *const *in,
                                   struct assay_err *err)
{
    l->shape = *in[0];
    for (int i = 1; i < l->n_in; i++)
        if (in[i]->c != in[0]->c || in[i]->h != in[0]->h || in[i]->w != in[0]->w)
            return assay_fail(err, ASSAY_PARSE, "adds %lldx%lldx%lld and %lldx%lldx%lld",
                              (long long)in[0]->c, (long long)in[0]->h, (long long)in[0]->w,
                              (long long)in[i]->c, (long long)in[i]->h, (long long)in[i]->w);
    return ASSAY_OK;
}

static void add_range(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct join *j = ctx;

    (void)slot;
    for (int i = 0; i < j->l->n_in; i++)
        copy_or_add(end - begin, j->c->x[i] + begin, i > 0, j->c->y + begin);
}

static void add_back_range(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct join *j = ctx;

    (void)slot;
    for (int i = 0; i < j->l->n_in; i++)
        if (j->c->dx[i])
            copy_or_add(end - begin, j->c->dy + begin, j->c->add[i], j->c->dx[i] + begin);
}

static void add_forward(const struct qn_layer *l, const struct qn_call *c)
{
    struct join j = { l, c };

    qn_pool_run(c->pool, c->n * qn__size(&l->shape), qn__grain(1), add_range, &j);
}

static void add_backward(const struct qn_layer *l, const struct qn_call *c)
{
    struct join j = { l, c };

    qn_pool_run(c->pool, c->n * qn__size(&l->shape), qn__grain(1), add_back_range, &j);
}

const struct qn_layer_type qn_layer_add = {
    .name = "add",
    .min_in = 2,
    .max_in = QN_MAX_INPUTS,
    .shape = add_shape,
    .forward = add_forward,
    .backward = add_backward,
};

/* ---- concat ---------------------------------------------------------------------------------- */

static enum assay_status concat_shape(struct qn_layer *l, const struct qn_shape *const *in,
                                      struct assay_err *err)
{
    l->shape = *in[0];
    for (int i = 1; i < l->n_in; i++) {
        if (in[i]->h != in[0]->h || in[i]->w != in[0]->w)
            return assay_fail(err, ASSAY_PARSE, "puts %lldx%lld behind %lldx%lld",
                              (long long)in[i]->h, (long long)in[i]->w, (long long)in[0]->h,
                              (long long)in[0]->w);
        l->shape.c += in[i]->c;
    }
    return ASSAY_OK;
}

static void concat_images(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct join *j = ctx;
    int64_t size = qn__size(&j->l->shape);

    (void)slot;
    for (int64_t i = begin; i < end; i++) {
        float *y = j->c->y + i * size;

        for (int k = 0; k < j->l->n_in; k++) {
            int64_t n = qn__size(j->c->in[k]);

            copy_or_add(n, j->c->x[k] + i * n, false, y);
            y += n;
        }
    }
}

static void concat_back_images(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct join *j = ctx;
    int64_t size = qn__size(&j->l->shape);

    (void)slot;
    for (int64_t i = begin; i < end; i++) {
        const float *dy = j->c->dy + i * size;

        for (int k = 0; k < j->l->n_in; k++) {
            int64_t n = qn__size(j->c->in[k]);

            if (j->c->dx[k])
                copy_or_add(n, dy, j->c->add[k], j->c->dx[k] + i * n);
            dy += n;
        }
    }
}

static void concat_forward(const struct qn_layer *l, const struct qn_call *c)
{
    struct join j = { l, c };

    qn_pool_run(c->pool, c->n, qn__grain(qn__size(&l->shape)), concat_images, &j);
}

static void concat_backward(const struct qn_layer *l, const struct qn_call *c)
{
    struct join j = { l, c };

    qn_pool_run(c->pool, c->n, qn__grain(qn__size(&l->shape)), concat_back_images, &j);
}

const struct qn_layer_type qn_layer_concat = {
    .name = "concat",
    .min_in = 2,
    .max_in = QN_MAX_INPUTS,
    .shape = concat_shape,
    .forward = concat_forward,
    .backward = concat_backward,
};
