/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer_pool.c: the largest value or the mean of each window of a channel, or of all of it.
 *
 * A maximum that occurs twice counts where it comes first, and NaN is the largest of all. Means
 * divide by the size of the window, or by what of it lies inside with count_pad false.
 */
#include "qn/fours.h"
#include "qn/layer.h"
#include "qn/sums.h"

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

/* Positions begin .. end-1 of a window or of a row of windows that lie inside. */
struct span {
    int64_t begin, end;
};

/* Those k in [0, n) with 0 <= at + k * step < extent. */
static struct span inside(int64_t at, int64_t step, int64_t n, int64_t extent)
{
    struct span s = { 0, n };

    if (at >= 0 && at + (n - 1) * step < extent) /* mostly; divisions take long */
        return s;
    s.begin = at < 0 ? (-at + step - 1) / step : 0;
    s.end = at < extent ? (extent - 1 - at) / step + 1 : 0;
    s.end = s.end < n ? s.end : n;
    s.begin = s.begin < s.end ? s.begin : s.end;
    return s;
}

struct pool {
    const struct qn_layer *l;
    const struct qn_call *c;
    const struct qn_shape *in;
    int64_t in_area, out_area;
    void (*plane)(const struct pool *p, int64_t plane);
};

/* One tap of all windows of a plane: that of output (i, j) lies at first + i * down + j * across of
 * the input, for outputs of the spans. */
struct tap {
    int64_t first, down, across, out_w;
    struct span i, j;
};

static struct tap tap_at(const struct pool *p, int64_t k, int64_t q)
{
    const struct qn_attrs *a = &p->l->attrs;
    int64_t row = k * a->dilation[0] - a->pad[0], column = q * a->dilation[1] - a->pad[1];

    return (struct tap){ .first = row * p->in->w + column,
                         .down = a->stride[0] * p->in->w,
                         .across = a->stride[1],
                         .out_w = p->l->shape.w,
                         .i = inside(row, a->stride[0], p->l->shape.h, p->in->h),
                         .j = inside(column, a->stride[1], p->l->shape.w, p->in->w) };
}

/* ---- maximum --------------------------------------------------------------------------------- */

/* Where the maximum lies in its plane, of each output; -1: the window is empty. */
static size_t saved_bytes(const struct qn_layer *l, const struct qn_shape *const *in, int64_t n)
{
    (void)in;
    return (size_t)n * (size_t)qn__size(&l->shape) * sizeof(int32_t);
}

/* v is the value at `from`, to the right of it those of the next outputs. */
static ASSAY__INLINE void max_4(qn__four v, int32_t from, int32_t across, float *y, int32_t *arg)
{
    qn__four_ints *at = (qn__four_ints *)(void *)arg;
    qn__four old = qn__load_4(y);
    qn__four_ints more = (v > old) | (v != v), where = { 0, across, 2 * across, 3 * across };

    qn__store_4((qn__four)(((qn__four_ints)v & more) | ((qn__four_ints)old & ~more)), y);
    *at = ((from + where) & more) | (*at & ~more);
}

static ASSAY__INLINE void max_1(float v, int32_t from, float *y, int32_t *arg)
{
    if (v > *y || v != v) {
        *y = v;
        *arg = from;
    }
}

static void max_tap(const struct tap *t, const float *x, float *y, int32_t *arg)
{
    int32_t across = (int32_t)t->across;

    for (int64_t i = t->i.begin; i < t->i.end; i++) {
        int64_t j = t->j.begin, end = t->j.end, to = i * t->out_w;
        int32_t from = (int32_t)(t->first + i * t->down);

        for (; across == 1 && j + 4 <= end; j += 4)
            max_4(qn__load_4(x + from + j), from + (int32_t)j, 1, y + to + j, arg + to + j);
        for (; across == 2 && j + 4 <= end; j += 4)
            max_4(qn__load_second(x + from + 2 * j), from + 2 * (int32_t)j, 2, y + to + j,
                  arg + to + j);
        for (; j < end; j++)
            max_1(x[from + j * across], from + (int32_t)j * across, y + to + j, arg + to + j);
    }
}

static void max_plane(const struct pool *p, int64_t plane)
{
    const struct qn_attrs *a = &p->l->attrs;
    const float *x = p->c->x[0] + plane * p->in_area;
    float *y = p->c->y + plane * p->out_area;
    int32_t *arg = (int32_t *)p->c->saved + plane * p->out_area;

    for (int64_t j = 0; j < p->out_area; j++) {
        y[j] = -INFINITY;
        arg[j] = -1;
    }
    for (int64_t k = 0; k < a->kernel[0]; k++)
        for (int64_t q = 0; q < a->kernel[1]; q++) {
            struct tap t = tap_at(p, k, q);

            max_tap(&t, x, y, arg);
        }
    for (int64_t j = 0; j < p->out_area; j++)
        y[j] = arg[j] < 0 ? 0 : y[j];
}

static void max_back_plane(const struct pool *p, int64_t plane)
{
    const int32_t *arg = (const int32_t *)p->c->saved + plane * p->out_area;
    const float *dy = p->c->dy + plane * p->out_area;
    float *dx = p->c->dx[0] + plane * p->in_area;

    for (int64_t j = 0; j < p->out_area; j++)
        if (arg[j] >= 0)
            dx[arg[j]] += dy[j];
}

/* ---- mean ------------------------------------------------------------------------------------ */

/* What the sum of window (i, j) is divided by. */
static float divisor(const struct pool *p, int64_t i, int64_t j)
{
    const struct qn_attrs *a = &p->l->attrs;
    int64_t n = a->kernel[0] * a->kernel[1];

    if (!a->count_pad) {
        struct span h =
            inside(i * a->stride[0] - a->pad[0], a->dilation[0], a->kernel[0], p->in->h);
        struct span w =
            inside(j * a->stride[1] - a->pad[1], a->dilation[1], a->kernel[1], p->in->w);

        n = (h.end - h.begin) * (w.end - w.begin);
    }
    return (float)(n > 0 ? n : 1);
}

static void avg_plane(const struct pool *p, int64_t plane)
{
    const struct qn_attrs *a = &p->l->attrs;
    const float *x = p->c->x[0] + plane * p->in_area;
    int64_t w = p->l->shape.w;
    float *y = p->c->y + plane * p->out_area;

    memset(y, 0, (size_t)p->out_area * sizeof *y);
    for (int64_t k = 0; k < a->kernel[0]; k++)
        for (int64_t q = 0; q < a->kernel[1]; q++) {
            struct tap t = tap_at(p, k, q);

            for (int64_t i = t.i.begin; i < t.i.end; i++)
                for (int64_t j = t.j.begin; j < t.j.end; j++)
                    y[i * w + j] += x[t.first + i * t.down + j * t.across];
        }
    for (int64_t i = 0; i < p->out_area; i++)
        y[i] /= divisor(p, i / w, i % w);
}

static void avg_back_plane(const struct pool *p, int64_t plane)
{
    const struct qn_attrs *a = &p->l->attrs;
    float *dx = p->c->dx[0] + plane * p->in_area;
    int64_t w = p->l->shape.w;
    const float *dy = p->c->dy + plane * p->out_area;

    for (int64_t k = 0; k < a->kernel[0]; k++)
        for (int64_t q = 0; q < a->kernel[1]; q++) {
            struct tap t = tap_at(p, k, q);

            for (int64_t i = t.i.begin; i < t.i.end; i++)
                for (int64_t j = t.j.begin; j < t.j.end; j++)
                    dx[t.first + i * t.down + j * t.across] += dy[i * w + j] / divisor(p, i, j);
        }
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void planes(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct pool *p = ctx;

    (void)slot;
    for (int64_t k = begin; k < end; k++)
        p->plane(p, k);
}

static void back_planes(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct pool *p = ctx;

    (void)slot;
    for (int64_t k = begin; k < end; k++) {
        if (!p->c->add[0])
            memset(p->c->dx[0] + k * p->in_area, 0, (size_t)p->in_area * sizeof(float));
        p->plane(p, k);
    }
}

static void run(const struct qn_layer *l, const struct qn_call *c, qn_range_fn body,
                void (*plane)(const struct pool *p, int64_t plane))
{
    struct pool p = { l, c, c->in[0], c->in[0]->h * c->in[0]->w, l->shape.h * l->shape.w, plane };

    qn_pool_run(c->pool, c->n * c->in[0]->c, qn__grain(p.in_area), body, &p);
}

static void max_forward(const struct qn_layer *l, const struct qn_call *c)
{
    run(l, c, planes, max_plane);
}

static void max_backward(const struct qn_layer *l, const struct qn_call *c)
{
    if (c->dx[0])
        run(l, c, back_planes, max_back_plane);
}

static void avg_forward(const struct qn_layer *l, const struct qn_call *c)
{
    run(l, c, planes, avg_plane);
}

static void avg_backward(const struct qn_layer *l, const struct qn_call *c)
{
    if (c->dx[0])
        run(l, c, back_planes, avg_back_plane);
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

/* ---- all of a channel ------------------------------------------------------------------------ */

static enum assay_status global_shape(struct qn_layer *l, const struct qn_shape *const *in,
                                      struct assay_err *err)
{
    (void)err;
    l->shape = (struct qn_shape){ in[0]->c, 1, 1 };
    return ASSAY_OK;
}

struct global {
    const struct qn_call *c;
    int64_t area;
};

static void global_planes(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct global *g = ctx;

    (void)slot;
    for (int64_t k = begin; k < end; k++)
        g->c->y[k] = (float)(qn__sum(g->area, g->c->x[0] + k * g->area) / (double)g->area);
}

static void global_back_planes(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct global *g = ctx;

    (void)slot;
    for (int64_t k = begin; k < end; k++) {
        float *dx = g->c->dx[0] + k * g->area, share = g->c->dy[k] / (float)g->area;

        for (int64_t j = 0; j < g->area; j++)
            dx[j] = share + (g->c->add[0] ? dx[j] : 0);
    }
}

static void global_run(const struct qn_call *c, qn_range_fn body)
{
    struct global g = { c, c->in[0]->h * c->in[0]->w };

    qn_pool_run(c->pool, c->n * c->in[0]->c, qn__grain(g.area), body, &g);
}

static void global_forward(const struct qn_layer *l, const struct qn_call *c)
{
    (void)l;
    global_run(c, global_planes);
}

static void global_backward(const struct qn_layer *l, const struct qn_call *c)
{
    (void)l;
    if (c->dx[0])
        global_run(c, global_back_planes);
}

const struct qn_layer_type qn_layer_global_pool = {
    .name = "global_pool",
    .min_in = 1,
    .max_in = 1,
    .shape = global_shape,
    .forward = global_forward,
    .backward = global_backward,
};
