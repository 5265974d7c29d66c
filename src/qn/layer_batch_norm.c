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
 *
 * Sums are made image by image, as they lie in memory, in a number of parts that depends on sizes
 * alone. A part has sums of squares about its own mean, and those of all are put together by Chan,
 * Golub and LeVeque's formula.
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
    int64_t channels, area, parts;
    double *first, *second; /* sums [parts][channels], in the shared block */
    float *constants[3];    /* [channels], in the shared block */
};

/* Parts of at least so many values, that stay in a second-level cache. */
enum { PART = 1 << 16, MAX_PARTS = 64 };

static int64_t parts_of(int64_t n, int64_t size)
{
    int64_t parts = n * size / PART;

    parts = parts > MAX_PARTS ? MAX_PARTS : parts;
    parts = parts > n ? n : parts;
    return parts < 1 ? 1 : parts;
}

static size_t shared_bytes(const struct qn_layer *l, const struct qn_shape *const *in, int64_t n)
{
    (void)l;
    return (size_t)in[0]->c *
           ((size_t)parts_of(n, qn__size(in[0])) * 2 * sizeof(double) + 3 * sizeof(float));
}

static struct norm norm_of(const struct qn_layer *l, const struct qn_call *c)
{
    struct norm b = { .l = l, .c = c, .channels = c->in[0]->c, .first = c->shared };

    b.area = c->in[0]->h * c->in[0]->w;
    b.parts = parts_of(c->n, qn__size(c->in[0]));
    b.second = b.first + b.parts * b.channels;
    b.constants[0] = (float *)(void *)(b.second + b.parts * b.channels);
    b.constants[1] = b.constants[0] + b.channels;
    b.constants[2] = b.constants[1] + b.channels;
    return b;
}

/* Where the values of an image begin. */
static int64_t image_at(const struct norm *b, int64_t i)
{
    return i * b->channels * b->area;
}

/* The first image of a part. */
static int64_t part_at(const struct norm *b, int64_t part)
{
    return b->c->n * part / b->parts;
}

/* With one value per channel, behind fully connected layers, channels go side by side. */
static bool is_flat(const struct norm *b)
{
    return b->area == 1;
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

static void add_image(const struct norm *b, const float *x, double *sum)
{
    if (is_flat(b)) {
        norm_add_each(b->channels, x, sum);
        return;
    }
    for (int64_t k = 0; k < b->channels; k++)
        sum[k] += qn__sum(b->area, x + k * b->area);
}

static void add_squares(const struct norm *b, const float *x, const double *mean, double *sum)
{
    if (is_flat(b)) {
        norm_squares_each(b->channels, x, mean, sum);
        return;
    }
    for (int64_t k = 0; k < b->channels; k++)
        sum[k] += qn__squares(b->area, x + k * b->area, mean[k]);
}

/* Means, and sums of squares about them. */
static void sum_parts(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct norm *b = ctx;
    const float *x = b->c->x[0];
    size_t bytes = (size_t)b->channels * sizeof(double);

    (void)slot;
    for (int64_t p = begin; p < end; p++) {
        double *mean = b->first + p * b->channels, *squares = b->second + p * b->channels;
        int64_t from = part_at(b, p), to = part_at(b, p + 1);

        memset(mean, 0, bytes);
        memset(squares, 0, bytes);
        for (int64_t i = from; i < to; i++)
            add_image(b, x + image_at(b, i), mean);
        for (int64_t k = 0; k < b->channels; k++)
            mean[k] /= (double)((to - from) * b->area);
        for (int64_t i = from; i < to; i++)
            add_squares(b, x + image_at(b, i), mean, squares);
    }
}

static struct moments batch_moments(const struct norm *b, int64_t channel)
{
    const struct qn_attrs *a = &b->l->attrs;
    double n = (double)(b->c->n * b->area), mean = 0, squares = 0;
    float *running[2] = { b->c->state[MEAN] + channel, b->c->state[VARIANCE] + channel };

    for (int64_t p = 0; p < b->parts; p++)
        mean += b->first[p * b->channels + channel] *
                (double)((part_at(b, p + 1) - part_at(b, p)) * b->area);
    mean /= n;
    for (int64_t p = 0; p < b->parts; p++) {
        double off = b->first[p * b->channels + channel] - mean;

        squares += b->second[p * b->channels + channel] +
                   off * off * (double)((part_at(b, p + 1) - part_at(b, p)) * b->area);
    }
    *running[0] = (float)((1 - a->momentum) * (double)*running[0] + a->momentum * mean);
    if (n > 1)
        *running[1] =
            (float)((1 - a->momentum) * (double)*running[1] + a->momentum * squares / (n - 1));
    return (struct moments){ mean, 1 / sqrt(squares / n + a->eps) };
}

static struct moments running_moments(const struct norm *b, int64_t channel)
{
    double variance = (double)b->c->v[VARIANCE][channel];

    return (struct moments){ (double)b->c->v[MEAN][channel], 1 / sqrt(variance + b->l->attrs.eps) };
}

static void scale_images(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct norm *b = ctx;
    float *const *k = b->constants;

    (void)slot;
    for (int64_t i = begin; i < end; i++) {
        const float *x = b->c->x[0] + image_at(b, i);
        float *y = b->c->y + image_at(b, i);

        if (is_flat(b))
            norm_scale_each(b->channels, x, k[0], k[1], y);
        else
            for (int64_t j = 0; j < b->channels; j++)
                norm_scale(b->area, x + j * b->area, k[0][j], k[1][j], y + j * b->area);
    }
}

static void forward(const struct qn_layer *l, const struct qn_call *c)
{
    struct norm b = norm_of(l, c);

    if (c->pass->train)
        qn_pool_run(c->pool, b.parts, 1, sum_parts, &b);
    for (int64_t k = 0; k < b.channels; k++) {
        struct moments m = c->pass->train ? batch_moments(&b, k) : running_moments(&b, k);
        double gain = (double)c->v[GAMMA][k] * m.inverse;

        b.constants[0][k] = (float)gain;
        b.constants[1][k] = (float)((double)c->v[SHIFT][k] - m.mean * gain);
        if (c->saved)
            ((struct moments *)c->saved)[k] = m;
    }
    qn_pool_run(c->pool, c->n, qn__grain(qn__size(c->in[0])), scale_images, &b);
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

ASSAY__CLONES static void norm_back_each(int64_t n, const float *restrict dy,
                                         const float *restrict x, float *const *k, bool add,
                                         float *restrict dx)
{
    const float *restrict a = k[0], *restrict b = k[1], *restrict c = k[2];

    if (add)
        for (int64_t j = 0; j < n; j++)
            dx[j] += a[j] * dy[j] + b[j] * x[j] + c[j];
    else
        for (int64_t j = 0; j < n; j++)
            dx[j] = a[j] * dy[j] + b[j] * x[j] + c[j];
}

ASSAY__CLONES static void norm_products_each(int64_t n, const float *restrict x,
                                             const struct moments *restrict m,
                                             const float *restrict dy, double *restrict sum)
{
    for (int64_t j = 0; j < n; j++)
        sum[j] += ((double)x[j] - m[j].mean) * (double)dy[j];
}

/* Sums of dy, and of (x - mean) dy. */
static void back_parts(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct norm *b = ctx;
    const struct moments *m = b->c->saved;
    size_t bytes = (size_t)b->channels * sizeof(double);

    (void)slot;
    for (int64_t p = begin; p < end; p++) {
        double *sum = b->first + p * b->channels, *product = b->second + p * b->channels;

        memset(sum, 0, bytes);
        memset(product, 0, bytes);
        for (int64_t i = part_at(b, p); i < part_at(b, p + 1); i++) {
            const float *x = b->c->x[0] + image_at(b, i), *dy = b->c->dy + image_at(b, i);

            if (is_flat(b)) {
                norm_add_each(b->channels, dy, sum);
                norm_products_each(b->channels, x, m, dy, product);
                continue;
            }
            for (int64_t k = 0; k < b->channels; k++, x += b->area, dy += b->area) {
                double some, mean = m[k].mean;

                product[k] += qn__dot_sum(b->area, x, (float)mean, dy, &some);
                product[k] += ((double)(float)mean - mean) * some;
                sum[k] += some;
            }
        }
    }
}

static void back_images(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct norm *b = ctx;
    float *const *k = b->constants;
    bool add = b->c->add[0];

    (void)slot;
    for (int64_t i = begin; i < end; i++) {
        const float *x = b->c->x[0] + image_at(b, i), *dy = b->c->dy + image_at(b, i);
        float *dx = b->c->dx[0] + image_at(b, i);

        if (is_flat(b))
            norm_back_each(b->channels, dy, x, k, add, dx);
        else
            for (int64_t j = 0, at = 0; j < b->channels; j++, at += b->area)
                norm_back(b->area, dy + at, x + at, k[0][j], k[1][j], k[2][j], add, dx + at);
    }
}

static void backward(const struct qn_layer *l, const struct qn_call *c)
{
    struct norm b = norm_of(l, c);
    const struct moments *m = c->saved;
    double n = (double)(c->n * b.area);

    qn_pool_run(c->pool, b.parts, 1, back_parts, &b);
    for (int64_t k = 0; k < b.channels; k++) {
        double sum = 0, product = 0, gain = (double)c->v[GAMMA][k] * m[k].inverse, slope;

        for (int64_t p = 0; p < b.parts; p++) {
            sum += b.first[p * b.channels + k];
            product += b.second[p * b.channels + k];
        }
        product *= m[k].inverse;
        slope = gain * m[k].inverse * product / n;
        c->g[GAMMA][k] = (float)product;
        c->g[SHIFT][k] = (float)sum;
        b.constants[0][k] = (float)gain;
        b.constants[1][k] = c->pass->train ? (float)-slope : 0;
        b.constants[2][k] = c->pass->train ? (float)(slope * m[k].mean - gain * sum / n) : 0;
    }
    if (c->dx[0])
        qn_pool_run(c->pool, c->n, qn__grain(qn__size(c->in[0])), back_images, &b);
}

const struct qn_layer_type qn_layer_batch_norm = {
    .name = "batch_norm",
    .min_in = 1,
    .max_in = 1,
    .flags = QN_NEEDS_X | QN_SHARES_AHEAD,
    .attrs = attrs,
    .shape = shape,
    .params = params,
    .saved_bytes = saved_bytes,
    .shared_bytes = shared_bytes,
    .forward = forward,
    .backward = backward,
};
