/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer_batch_norm.c: y = gamma (x - mean) / sqrt(variance + eps) + shift, per channel (Ioffe and
 * Szegedy, arXiv 1502.03167). In training moments are those of the batch, and running ones follow
 * as r = (1 - momentum) r + momentum now, the variance unbiased as in PyTorch. One value alone has
 * no variance: of a batch in which a channel has one, the running variance stays.
 *
 * Backward, with h = (x - mean) / sd and N values per channel:
 *
 *     dshift = sum dy, dgamma = sum dy h, dx = gamma / sd (dy - dshift / N - h dgamma / N)
 *
 * the last as a dy + b x + c with constants of the channel. With running moments they are no
 * functions of x: dx = gamma / sd dy.
 */
#include "base/clones.h"
#include "qn/layer.h"
#include "qn/sums.h"

#include <math.h>

enum { GAMMA, SHIFT, MEAN, VARIANCE };

static const struct qn_attr attrs[] = {
    { "eps", QN_ATTR_NUMBER, offsetof(struct qn_attrs, eps), false, 1e-5, 1e-12, 1 },
    { "momentum", QN_ATTR_NUMBER, offsetof(struct qn_attrs, momentum), false, 0.1, 0, 1 },
    { 0 },
};

static enum assay_status shape(struct qn_layer *l, const struct qn_shape *const *in,
                               struct assay_err *err)
{
    (void)err;
    l->shape = *in[0];
    return ASSAY_OK;
}

static int params(const struct qn_layer *l, const struct qn_shape *const *in, struct qn_decl *out)
{
    int64_t c = in[0]->c;

    (void)l;
    out[GAMMA] = (struct qn_decl){ "weight", QN_GAMMA, 1, { c } };
    out[SHIFT] = (struct qn_decl){ "bias", QN_SHIFT, 1, { c } };
    out[MEAN] = (struct qn_decl){ "running_mean", QN_MEAN, 1, { c } };
    out[VARIANCE] = (struct qn_decl){ "running_var", QN_VARIANCE, 1, { c } };
    return 4;
}

/* What forward leaves to backward, per channel. */
struct moments {
    double mean, inverse; /* 1 / sqrt(variance + eps) */
};

static size_t saved_bytes(const struct qn_layer *l, const struct qn_shape *const *in, int64_t n)
{
    (void)l;
    (void)n;
    return (size_t)in[0]->c * sizeof(struct moments);
}

struct norm {
    const struct qn_layer *l;
    const struct qn_call *c;
    int64_t channels, area;
};

static ASSAY__INLINE int64_t plane(const struct norm *b, int64_t i, int64_t channel)
{
    return (i * b->channels + channel) * b->area;
}

/* ---- forward --------------------------------------------------------------------------------- */

ASSAY__CLONES static void norm_scale(int64_t n, const float *restrict x, float a, float b,
                                     float *restrict y)
{
    for (int64_t j = 0; j < n; j++)
        y[j] = a * x[j] + b;
}

static struct moments batch_moments(const struct norm *b, int64_t channel)
{
    const struct qn_attrs *a = &b->l->attrs;
    const struct qn_call *c = b->c;
    struct qn__rows rows = { c->n, b->area, b->channels * b->area };
    const float *x = c->x[0] + plane(b, 0, channel);
    double n = (double)(c->n * b->area), mean = qn__sum_rows(&rows, x) / n;
    double squares = qn__squares_rows(&rows, x, mean), variance = squares / n;
    float *running[2] = { c->state[MEAN] + channel, c->state[VARIANCE] + channel };

    *running[0] = (float)((1 - a->momentum) * (double)*running[0] + a->momentum * mean);
    if (n > 1)
        *running[1] =
            (float)((1 - a->momentum) * (double)*running[1] + a->momentum * squares / (n - 1));
    return (struct moments){ mean, 1 / sqrt(variance + a->eps) };
}

static struct moments running_moments(const struct norm *b, int64_t channel)
{
    double variance = (double)b->c->v[VARIANCE][channel];

    return (struct moments){ (double)b->c->v[MEAN][channel], 1 / sqrt(variance + b->l->attrs.eps) };
}

static void forward_channels(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct norm *b = ctx;
    const struct qn_call *c = b->c;

    (void)slot;
    for (int64_t k = begin; k < end; k++) {
        struct moments m = c->pass->train ? batch_moments(b, k) : running_moments(b, k);
        double gain = (double)c->v[GAMMA][k] * m.inverse;
        float offset = (float)((double)c->v[SHIFT][k] - m.mean * gain);

        if (c->saved)
            ((struct moments *)c->saved)[k] = m;
        for (int64_t i = 0; i < c->n; i++) {
            int64_t at = plane(b, i, k);

            norm_scale(b->area, c->x[0] + at, (float)gain, offset, c->y + at);
        }
    }
}

static void forward(const struct qn_layer *l, const struct qn_call *c)
{
    struct norm b = { l, c, c->in[0]->c, c->in[0]->h * c->in[0]->w };

    qn_pool_run(c->pool, b.channels, qn__grain(c->n * b.area), forward_channels, &b);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* dx = a dy + b x + c, or added to. */
ASSAY__CLONES static void norm_back(int64_t n, const float *restrict dy, const float *restrict x,
                                    const float *abc, float keep, float *restrict dx)
{
    float a = abc[0], b = abc[1], c = abc[2];

    if (keep != 0)
        for (int64_t j = 0; j < n; j++)
            dx[j] += a * dy[j] + b * x[j] + c;
    else
        for (int64_t j = 0; j < n; j++)
            dx[j] = a * dy[j] + b * x[j] + c;
}

static void backward_channels(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct norm *b = ctx;
    const struct qn_call *c = b->c;
    double n = (double)(c->n * b->area);

    (void)slot;
    for (int64_t k = begin; k < end; k++) {
        struct moments m = ((const struct moments *)c->saved)[k];
        struct qn__rows rows = { c->n, b->area, b->channels * b->area };
        int64_t first = plane(b, 0, k);
        double gain = (double)c->v[GAMMA][k] * m.inverse, slope, sum, product;
        float abc[3] = { (float)gain, 0, 0 };

        product = qn__dot_rows(&rows, c->x[0] + first, (float)m.mean, c->dy + first, &sum);
        product = (product + ((double)(float)m.mean - m.mean) * sum) * m.inverse;
        c->g[GAMMA][k] = (float)product;
        c->g[SHIFT][k] = (float)sum;
        slope = gain * m.inverse * product / n;
        if (c->pass->train) {
            abc[1] = (float)-slope;
            abc[2] = (float)(slope * m.mean - gain * sum / n);
        }
        for (int64_t i = 0; c->dx[0] && i < c->n; i++) {
            int64_t at = plane(b, i, k);

            norm_back(b->area, c->dy + at, c->x[0] + at, abc, c->add[0] ? 1 : 0, c->dx[0] + at);
        }
    }
}

static void backward(const struct qn_layer *l, const struct qn_call *c)
{
    struct norm b = { l, c, c->in[0]->c, c->in[0]->h * c->in[0]->w };

    qn_pool_run(c->pool, b.channels, qn__grain(c->n * b.area), backward_channels, &b);
}

const struct qn_layer_type qn_layer_batch_norm = {
    .name = "batch_norm",
    .min_in = 1,
    .max_in = 1,
    .flags = QN_NEEDS_X,
    .attrs = attrs,
    .shape = shape,
    .params = params,
    .saved_bytes = saved_bytes,
    .forward = forward,
    .backward = backward,
};
