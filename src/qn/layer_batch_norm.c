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
#include <string.h>

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

/* Behind fully connected layers neighbours in memory are channels: then so many go side by side. */
enum { SIDE = 64 };

static int64_t side_by_side(const struct norm *b, int64_t left)
{
    return b->area > 1 ? 1 : left < SIDE ? left : SIDE;
}

static ASSAY__INLINE int64_t plane(const struct norm *b, int64_t i, int64_t channel)
{
    return (i * b->channels + channel) * b->area;
}

static struct qn__rows rows_of(const struct norm *b)
{
    return (struct qn__rows){ b->c->n, b->area, b->channels * b->area };
}

/* ---- forward --------------------------------------------------------------------------------- */

ASSAY__CLONES static void norm_scale(int64_t n, const float *restrict x, float a, float b,
                                     float *restrict y)
{
    for (int64_t j = 0; j < n; j++)
        y[j] = a * x[j] + b;
}

ASSAY__CLONES static void norm_scale_each(int64_t n, const float *restrict x,
                                          const float *restrict a, const float *restrict b,
                                          float *restrict y)
{
    for (int64_t j = 0; j < n; j++)
        y[j] = a[j] * x[j] + b[j];
}

ASSAY__CLONES static void norm_add_each(int64_t n, const float *restrict x, double *restrict sum)
{
    for (int64_t j = 0; j < n; j++)
        sum[j] += (double)x[j];
}

ASSAY__CLONES static void norm_squares_each(int64_t n, const float *restrict x,
                                            const double *restrict mean, double *restrict sum)
{
    for (int64_t j = 0; j < n; j++)
        sum[j] += ((double)x[j] - mean[j]) * ((double)x[j] - mean[j]);
}

/* Means of n channels, and their sums of squares about those. */
static void sums(const struct norm *b, int64_t first, int64_t n, double *mean, double *squares)
{
    const struct qn_call *c = b->c;
    const float *x = c->x[0] + plane(b, 0, first);
    struct qn__rows rows = rows_of(b);
    double values = (double)(c->n * b->area);

    if (b->area > 1) {
        *mean = qn__sum_rows(&rows, x) / values;
        *squares = qn__squares_rows(&rows, x, *mean);
        return;
    }
    memset(mean, 0, (size_t)n * sizeof *mean);
    memset(squares, 0, (size_t)n * sizeof *squares);
    for (int64_t i = 0; i < c->n; i++)
        norm_add_each(n, x + i * b->channels, mean);
    for (int64_t k = 0; k < n; k++)
        mean[k] /= values;
    for (int64_t i = 0; i < c->n; i++)
        norm_squares_each(n, x + i * b->channels, mean, squares);
}

static void batch_moments(const struct norm *b, int64_t first, int64_t n, struct moments *out)
{
    const struct qn_attrs *a = &b->l->attrs;
    double values = (double)(b->c->n * b->area), mean[SIDE], squares[SIDE];

    sums(b, first, n, mean, squares);
    for (int64_t k = 0; k < n; k++) {
        float *to[2] = { b->c->state[MEAN] + first + k, b->c->state[VARIANCE] + first + k };

        *to[0] = (float)((1 - a->momentum) * (double)*to[0] + a->momentum * mean[k]);
        if (values > 1)
            *to[1] = (float)((1 - a->momentum) * (double)*to[1] +
                             a->momentum * squares[k] / (values - 1));
        out[k] = (struct moments){ mean[k], 1 / sqrt(squares[k] / values + a->eps) };
    }
}

static void running_moments(const struct norm *b, int64_t first, int64_t n, struct moments *out)
{
    for (int64_t k = 0; k < n; k++) {
        double variance = (double)b->c->v[VARIANCE][first + k];

        out[k] = (struct moments){ (double)b->c->v[MEAN][first + k],
                                   1 / sqrt(variance + b->l->attrs.eps) };
    }
}

static void forward_some(const struct norm *b, int64_t first, int64_t n)
{
    const struct qn_call *c = b->c;
    struct moments m[SIDE] = { { 0 } };
    float gain[SIDE], offset[SIDE];

    (c->pass->train ? batch_moments : running_moments)(b, first, n, m);
    for (int64_t k = 0; k < n; k++) {
        double factor = (double)c->v[GAMMA][first + k] * m[k].inverse;

        gain[k] = (float)factor;
        offset[k] = (float)((double)c->v[SHIFT][first + k] - m[k].mean * factor);
    }
    if (c->saved)
        memcpy((struct moments *)c->saved + first, m, (size_t)n * sizeof *m);
    for (int64_t i = 0; i < c->n; i++) {
        int64_t at = plane(b, i, first);

        if (b->area > 1)
            norm_scale(b->area, c->x[0] + at, *gain, *offset, c->y + at);
        else
            norm_scale_each(n, c->x[0] + at, gain, offset, c->y + at);
    }
}

static void forward_channels(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct norm *b = ctx;

    (void)slot;
    for (int64_t k = begin, n; k < end; k += n) {
        n = side_by_side(b, end - k);
        forward_some(b, k, n);
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
                                    float a, float b, float c, bool add, float *restrict dx)
{
    if (add)
        for (int64_t j = 0; j < n; j++)
            dx[j] += a * dy[j] + b * x[j] + c;
    else
        for (int64_t j = 0; j < n; j++)
            dx[j] = a * dy[j] + b * x[j] + c;
}

/* Constants of n channels. */
struct slopes {
    float a[SIDE], b[SIDE], c[SIDE];
};

ASSAY__CLONES static void norm_back_each(int64_t n, const float *restrict dy,
                                         const float *restrict x, const struct slopes *s, bool add,
                                         float *restrict dx)
{
    if (add)
        for (int64_t j = 0; j < n; j++)
            dx[j] += s->a[j] * dy[j] + s->b[j] * x[j] + s->c[j];
    else
        for (int64_t j = 0; j < n; j++)
            dx[j] = s->a[j] * dy[j] + s->b[j] * x[j] + s->c[j];
}

ASSAY__CLONES static void norm_products_each(int64_t n, const float *restrict x,
                                             const double *restrict mean, const float *restrict dy,
                                             double *restrict sum)
{
    for (int64_t j = 0; j < n; j++)
        sum[j] += ((double)x[j] - mean[j]) * (double)dy[j];
}

/* Sums of dy, and of (x - mean) dy. */
static void back_sums(const struct norm *b, int64_t first, int64_t n, const struct moments *m,
                      double *sum, double *product)
{
    const struct qn_call *c = b->c;
    int64_t at = plane(b, 0, first);
    struct qn__rows rows = rows_of(b);
    double mean[SIDE];

    if (b->area > 1) {
        *product = qn__dot_rows(&rows, c->x[0] + at, (float)m->mean, c->dy + at, sum);
        *product += ((double)(float)m->mean - m->mean) * *sum;
        return;
    }
    memset(sum, 0, (size_t)n * sizeof *sum);
    memset(product, 0, (size_t)n * sizeof *product);
    for (int64_t k = 0; k < n; k++)
        mean[k] = m[k].mean;
    for (int64_t i = 0; i < c->n; i++, at += b->channels) {
        norm_add_each(n, c->dy + at, sum);
        norm_products_each(n, c->x[0] + at, mean, c->dy + at, product);
    }
}

static void backward_some(const struct norm *b, int64_t first, int64_t n)
{
    const struct qn_call *c = b->c;
    const struct moments *m = (const struct moments *)c->saved + first;
    double values = (double)(c->n * b->area), sum[SIDE], product[SIDE];
    struct slopes s;

    back_sums(b, first, n, m, sum, product);
    for (int64_t k = 0; k < n; k++) {
        double gain = (double)c->v[GAMMA][first + k] * m[k].inverse;
        double gamma = product[k] * m[k].inverse, slope = gain * m[k].inverse * gamma / values;

        c->g[GAMMA][first + k] = (float)gamma;
        c->g[SHIFT][first + k] = (float)sum[k];
        s.a[k] = (float)gain;
        s.b[k] = c->pass->train ? (float)-slope : 0;
        s.c[k] = c->pass->train ? (float)(slope * m[k].mean - gain * sum[k] / values) : 0;
    }
    for (int64_t i = 0; c->dx[0] && i < c->n; i++) {
        int64_t at = plane(b, i, first);

        if (b->area > 1)
            norm_back(b->area, c->dy + at, c->x[0] + at, *s.a, *s.b, *s.c, c->add[0],
                      c->dx[0] + at);
        else
            norm_back_each(n, c->dy + at, c->x[0] + at, &s, c->add[0], c->dx[0] + at);
    }
}

static void backward_channels(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct norm *b = ctx;

    (void)slot;
    for (int64_t k = begin, n; k < end; k += n) {
        n = side_by_side(b, end - k);
        backward_some(b, k, n);
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
