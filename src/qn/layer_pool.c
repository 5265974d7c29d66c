/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer_pool.c: the largest value or the mean of each window of a channel, or of all of it.
 *
 * A maximum that occurs twice counts where it comes first, and NaN is the largest of all. Means
 * divide by the size of the window, or by what of it lies inside with count_pad false.
 */
#include "qn/layer.h"

#include <math.h>
#include <string.h>

/* Without a stride windows lie side by side. */
static const struct qn_attr attrs[] = {
    { "kernel", QN_ATTR_PAIR, offsetof(struct qn_attrs, kernel), true, 0, 1, 1024 },
    { "stride", QN_ATTR_PAIR, offsetof(struct qn_attrs, stride), false, 0, 1, 1024 },
    { "pad", QN_ATTR_PAD, offsetof(struct qn_attrs, pad), false, 0, 0, 1024 },
    { "dilation", QN_ATTR_PAIR, offsetof(struct qn_attrs, dilation), false, 1, 1, 1024 },
    { "ceil", QN_ATTR_BOOL, offsetof(struct qn_attrs, ceil), false, 0, 0, 1 },
    { "count_pad", QN_ATTR_BOOL, offsetof(struct qn_attrs, count_pad), false, 1, 0, 1 },
    { 0 },
};

static enum assay_status shape(struct qn_layer *l, const struct qn_shape *const *in,
                               struct assay_err *err)
{
    const struct qn_attrs *a = &l->attrs;

    for (int i = 0; i < 4; i++)
        if (a->pad[i] > (a->kernel[i % 2] - 1) * a->dilation[i % 2])
            return assay_fail(err, ASSAY_PARSE,
                              "a padding of %lld with a window of %lldx%lld: some windows would "
                              "see nothing",
                              (long long)a->pad[i], (long long)a->kernel[0],
                              (long long)a->kernel[1]);
    return qn__window_shape(l, in[0], in[0]->c, err);
}

/* Taps begin .. end-1 of a window that starts at `at` lie inside. */
struct taps {
    int64_t begin, end;
};

static struct taps inside(int64_t at, int64_t kernel, int64_t dilation, int64_t extent)
{
    struct taps t = { at < 0 ? (-at + dilation - 1) / dilation : 0,
                      at < extent ? (extent - 1 - at) / dilation + 1 : 0 };

    t.end = t.end < kernel ? t.end : kernel;
    return t;
}

struct pool {
    const struct qn_layer *l;
    const struct qn_call *c;
    const struct qn_shape *in;
    int64_t in_area, out_area;
    /* one window of one plane; dx NULL in the forward pass */
    void (*window)(const struct pool *p, int64_t plane, int64_t i, int64_t j);
};

/* Of the window at output row i, column j: top left corner and taps inside. */
struct window {
    int64_t row, col;
    struct taps rows, cols;
};

static struct window window_at(const struct pool *p, int64_t i, int64_t j)
{
    const struct qn_attrs *a = &p->l->attrs;
    struct window w = {
        i * a->stride[0] - a->pad[0], j * a->stride[1] - a->pad[1], { 0, 0 }, { 0, 0 }
    };

    w.rows = inside(w.row, a->kernel[0], a->dilation[0], p->in->h);
    w.cols = inside(w.col, a->kernel[1], a->dilation[1], p->in->w);
    return w;
}

static int64_t tap(const struct pool *p, const struct window *w, int64_t i, int64_t j)
{
    const struct qn_attrs *a = &p->l->attrs;

    return (w->row + i * a->dilation[0]) * p->in->w + w->col + j * a->dilation[1];
}

/* ---- maximum --------------------------------------------------------------------------------- */

/* Where the maximum lies in its plane, of each output; -1: the window is empty. */
static size_t saved_bytes(const struct qn_layer *l, const struct qn_shape *const *in, int64_t n)
{
    (void)in;
    return (size_t)n * (size_t)qn__size(&l->shape) * sizeof(int32_t);
}

static void max_window(const struct pool *p, int64_t plane, int64_t i, int64_t j)
{
    const float *x = p->c->x[0] + plane * p->in_area;
    struct window w = window_at(p, i, j);
    int64_t to = plane * p->out_area + i * p->l->shape.w + j, best = -1;
    float most = 0;

    for (int64_t r = w.rows.begin; r < w.rows.end; r++)
        for (int64_t s = w.cols.begin; s < w.cols.end; s++) {
            int64_t at = tap(p, &w, r, s);

            if (best < 0 || x[at] > most || (isnan(x[at]) && !isnan(most))) {
                best = at;
                most = x[at];
            }
        }
    p->c->y[to] = most;
    if (p->c->saved)
        ((int32_t *)p->c->saved)[to] = (int32_t)best;
}

static void max_back(const struct pool *p, int64_t plane, int64_t i, int64_t j)
{
    int64_t to = plane * p->out_area + i * p->l->shape.w + j;
    int32_t at = ((const int32_t *)p->c->saved)[to];

    if (at >= 0)
        p->c->dx[0][plane * p->in_area + at] += p->c->dy[to];
}

/* ---- mean ------------------------------------------------------------------------------------ */

static float divisor(const struct pool *p, const struct window *w)
{
    const struct qn_attrs *a = &p->l->attrs;
    int64_t n = a->count_pad ? a->kernel[0] * a->kernel[1]
                             : (w->rows.end - w->rows.begin) * (w->cols.end - w->cols.begin);

    return (float)(n > 0 ? n : 1);
}

static void avg_window(const struct pool *p, int64_t plane, int64_t i, int64_t j)
{
    const float *x = p->c->x[0] + plane * p->in_area;
    struct window w = window_at(p, i, j);
    float sum = 0;

    for (int64_t r = w.rows.begin; r < w.rows.end; r++)
        for (int64_t s = w.cols.begin; s < w.cols.end; s++)
            sum += x[tap(p, &w, r, s)];
    p->c->y[plane * p->out_area + i * p->l->shape.w + j] = sum / divisor(p, &w);
}

static void avg_back(const struct pool *p, int64_t plane, int64_t i, int64_t j)
{
    float *dx = p->c->dx[0] + plane * p->in_area;
    struct window w = window_at(p, i, j);
    float share = p->c->dy[plane * p->out_area + i * p->l->shape.w + j] / divisor(p, &w);

    for (int64_t r = w.rows.begin; r < w.rows.end; r++)
        for (int64_t s = w.cols.begin; s < w.cols.end; s++)
            dx[tap(p, &w, r, s)] += share;
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void planes(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct pool *p = ctx;

    (void)slot;
    for (int64_t k = begin; k < end; k++) {
        if (p->c->dx[0] && !p->c->add[0])
            memset(p->c->dx[0] + k * p->in_area, 0, (size_t)p->in_area * sizeof(float));
        for (int64_t i = 0; i < p->l->shape.h; i++)
            for (int64_t j = 0; j < p->l->shape.w; j++)
                p->window(p, k, i, j);
    }
}

static void run(const struct qn_layer *l, const struct qn_call *c,
                void (*window)(const struct pool *p, int64_t plane, int64_t i, int64_t j))
{
    struct pool p = { l, c, c->in[0], c->in[0]->h * c->in[0]->w, l->shape.h * l->shape.w, window };

    qn_pool_run(c->pool, c->n * c->in[0]->c, qn__grain(p.in_area), planes, &p);
}

static void max_forward(const struct qn_layer *l, const struct qn_call *c)
{
    run(l, c, max_window);
}

static void max_backward(const struct qn_layer *l, const struct qn_call *c)
{
    if (c->dx[0])
        run(l, c, max_back);
}

static void avg_forward(const struct qn_layer *l, const struct qn_call *c)
{
    run(l, c, avg_window);
}

static void avg_backward(const struct qn_layer *l, const struct qn_call *c)
{
    if (c->dx[0])
        run(l, c, avg_back);
}

const struct qn_layer_type qn_layer_max_pool = {
    .name = "max_pool",
    .min_in = 1,
    .max_in = 1,
    .attrs = attrs,
    .shape = shape,
    .saved_bytes = saved_bytes,
    .forward = max_forward,
    .backward = max_backward,
};

const struct qn_layer_type qn_layer_avg_pool = {
    .name = "avg_pool",
    .min_in = 1,
    .max_in = 1,
    .attrs = attrs,
    .shape = shape,
    .forward = avg_forward,
    .backward = avg_backward,
};

/* ---- all of a channel: a window as large as the input -----------------------------------------
 */

static enum assay_status global_shape(struct qn_layer *l, const struct qn_shape *const *in,
                                      struct assay_err *err)
{
    (void)err;
    l->attrs.kernel[0] = l->attrs.stride[0] = in[0]->h;
    l->attrs.kernel[1] = l->attrs.stride[1] = in[0]->w;
    l->shape = (struct qn_shape){ in[0]->c, 1, 1 };
    return ASSAY_OK;
}

const struct qn_layer_type qn_layer_global_pool = {
    .name = "global_pool",
    .min_in = 1,
    .max_in = 1,
    .shape = global_shape,
    .forward = avg_forward,
    .backward = avg_backward,
};
