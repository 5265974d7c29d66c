/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer_conv.c: convolution, y[o] = sum_c sum_ij w[o,c,i,j] x[c, ...] (+ bias), in groups.
 *
 * Windows are read in place: direct.h. Where that does not serve they are copied into columns, a
 * block of output rows that fits the second-level cache at a time, and multiplied by the BLAS; with
 * 1x1 windows the columns are the image. The gradient of the input is made from columns where there
 * is a stride, or much padding would be multiplied. Forward runs over the images in parallel. So
 * does backward, in a number of parts that depends on sizes alone: each part adds up its own
 * gradient of the weights, and the parts are added in order.
 */
#include "qn/direct.h"
#include "qn/gemm.h"
#include "qn/im2col.h"
#include "qn/layer.h"
#include "qn/sums.h"

#include <string.h>

enum {
    BLOCK_FLOATS = 1 << 16,
    PARTS_FLOATS = 4 << 20,
    MAX_PARTS = 16,
    MIN_CHANNELS = 4,
    W = 0,
    BIAS = 1
};

static const struct qn_attr attrs[] = {
    { "out", QN_ATTR_INT, offsetof(struct qn_attrs, out), true, 0, 1, 1 << 20 },
    { "kernel", QN_ATTR_PAIR, offsetof(struct qn_attrs, kernel), true, 0, 1, 1024 },
    { "stride", QN_ATTR_PAIR, offsetof(struct qn_attrs, stride), false, 1, 1, 1024 },
    { "pad", QN_ATTR_PAD, offsetof(struct qn_attrs, pad), false, 0, 0, 1024 },
    { "dilation", QN_ATTR_PAIR, offsetof(struct qn_attrs, dilation), false, 1, 1, 1024 },
    { "groups", QN_ATTR_INT, offsetof(struct qn_attrs, groups), false, 1, 1, 1 << 20 },
    { "bias", QN_ATTR_BOOL, offsetof(struct qn_attrs, bias), false, 0, 0, 1 },
    { "quantise", QN_ATTR_BOOL, offsetof(struct qn_attrs, quantise), false, 1, 0, 1 },
    { 0 },
};

static enum assay_status shape(struct qn_layer *l, const struct qn_shape *const *in,
                               struct assay_err *err)
{
    const struct qn_attrs *a = &l->attrs;

    if (in[0]->c % a->groups || a->out % a->groups)
        return assay_fail(err, ASSAY_PARSE, "%lld groups do not divide %lld and %lld channels",
                          (long long)a->groups, (long long)in[0]->c, (long long)a->out);
    return qn__window_shape(l, in[0], a->out, err);
}

static int params(const struct qn_layer *l, const struct qn_shape *const *in, struct qn_decl *out)
{
    const struct qn_attrs *a = &l->attrs;

    out[W] = (struct qn_decl){
        "weight", QN_WEIGHT, 4, { a->out, in[0]->c / a->groups, a->kernel[0], a->kernel[1] }
    };
    out[BIAS] = (struct qn_decl){ "bias", QN_BIAS, 1, { a->out } };
    return a->bias ? 2 : 1;
}

/* ---- geometry -------------------------------------------------------------------------------- */

struct conv {
    const struct qn_call *c;
    struct qn_windows win;     /* of one group */
    int64_t groups, out, k;    /* channels made and window size of one group */
    int64_t area;              /* out_h * out_w */
    int64_t in_size, out_size; /* of an image */
    int64_t rows;              /* of a block */
    bool whole;                /* the columns are the input itself */
    bool direct;               /* direct.h: ahead makes y from x */
    bool turned; /* back makes dx from dy; else the columns that dx is added up from */
    struct qn_direct ahead, back;
    int64_t parts, part; /* floats of one */
};

/* So many more positions of the input than of the output that columns are less work for its
 * gradient. */
static const double most_waste = 1.3;

/* Whether windows are read in place, and how. Few channels would leave most of a tile empty; a
 * padding wider than the window has no transposed counterpart, nor has a stride. */
static void plan_direct(struct conv *g, const struct qn_layer *l, const struct qn_shape *in)
{
    const struct qn_attrs *a = &l->attrs;
    int64_t reach[2] = { (a->kernel[0] - 1) * a->dilation[0], (a->kernel[1] - 1) * a->dilation[1] };

    g->direct = !g->whole && g->out >= MIN_CHANNELS;
    if (!g->direct)
        return;
    g->ahead = (struct qn_direct){
        .channels = g->win.channels,
        .h = in->h,
        .w = in->w,
        .out = g->out,
        .out_h = l->shape.h,
        .out_w = l->shape.w,
        .kernel = { a->kernel[0], a->kernel[1] },
        .dilation = { a->dilation[0], a->dilation[1] },
        .stride = { a->stride[0], a->stride[1] },
        .top = a->pad[0],
        .left = a->pad[1],
    };
    g->back = (struct qn_direct){ .channels = g->out,
                                  .h = l->shape.h,
                                  .w = l->shape.w,
                                  .out = g->k,
                                  .out_h = l->shape.h,
                                  .out_w = l->shape.w,
                                  .kernel = { 1, 1 },
                                  .dilation = { 1, 1 },
                                  .stride = { 1, 1 } };
    g->turned = a->stride[0] == 1 && a->stride[1] == 1 && g->win.channels >= MIN_CHANNELS &&
                (double)(in->h * in->w) < most_waste * (double)g->area;
    for (int i = 0; i < 4; i++)
        g->turned = g->turned && a->pad[i] <= reach[i % 2];
    if (g->turned) {
        g->back.out = g->win.channels;
        g->back.out_h = in->h;
        g->back.out_w = in->w;
        for (int i = 0; i < 2; i++) {
            g->back.kernel[i] = a->kernel[i];
            g->back.dilation[i] = a->dilation[i];
        }
        g->back.top = reach[0] - a->pad[0];
        g->back.left = reach[1] - a->pad[1];
    }
    qn__direct_plan(&g->ahead);
    qn__direct_plan(&g->back);
}

static struct conv geometry(const struct qn_layer *l, const struct qn_shape *in, int64_t n)
{
    const struct qn_attrs *a = &l->attrs;
    struct conv g = { .groups = a->groups, .out = a->out / a->groups };
    int64_t row_floats, weights;

    g.win = (struct qn_windows){
        .channels = in->c / a->groups,
        .h = in->h,
        .w = in->w,
        .out_h = l->shape.h,
        .out_w = l->shape.w,
        .kernel = { a->kernel[0], a->kernel[1] },
        .stride = { a->stride[0], a->stride[1] },
        .dilation = { a->dilation[0], a->dilation[1] },
        .top = a->pad[0],
        .left = a->pad[1],
    };
    g.k = g.win.channels * a->kernel[0] * a->kernel[1];
    g.area = l->shape.h * l->shape.w;
    g.in_size = qn__size(in);
    g.out_size = qn__size(&l->shape);
    g.whole = a->kernel[0] * a->kernel[1] == 1 && a->stride[0] * a->stride[1] == 1 &&
              !(a->pad[0] | a->pad[1] | a->pad[2] | a->pad[3]);
    row_floats = g.k * l->shape.w;
    g.rows = row_floats < BLOCK_FLOATS ? BLOCK_FLOATS / row_floats : 1;
    g.rows = g.rows < l->shape.h && !g.whole ? g.rows : l->shape.h;
    plan_direct(&g, l, in);
    weights = a->out * g.k;
    g.part = g.direct ? g.groups * (int64_t)qn__direct_sums_floats(&g.ahead) : weights;
    g.parts = weights < PARTS_FLOATS ? PARTS_FLOATS / weights : 1;
    g.parts = g.parts < 2 ? 2 : g.parts > MAX_PARTS ? MAX_PARTS : g.parts;
    g.parts = g.parts < n ? g.parts : n;
    return g;
}

static size_t scratch_bytes(const struct qn_layer *l, const struct qn_shape *const *in, int64_t n)
{
    struct conv g = geometry(l, in[0], n);
    size_t ahead, back;

    if (!g.direct)
        return g.whole ? 0 : (size_t)(g.k * g.rows * g.win.out_w) * sizeof(float);
    ahead = qn__direct_scratch_bytes(&g.ahead);
    back = qn__direct_scratch_bytes(&g.back);
    return back > ahead ? back : ahead;
}

/* Packed weights of all groups, ahead and back, and the parts behind them. */
static size_t packed_floats(const struct conv *g, const struct qn_direct *d)
{
    return g->direct ? (size_t)g->groups * qn__direct_packed_floats(d) : 0;
}

static float *parts_at(const struct conv *g)
{
    return (float *)g->c->shared + packed_floats(g, &g->ahead) + packed_floats(g, &g->back);
}

static size_t shared_bytes(const struct qn_layer *l, const struct qn_shape *const *in, int64_t n)
{
    struct conv g = geometry(l, in[0], n);

    return (packed_floats(&g, &g.ahead) + packed_floats(&g, &g.back) +
            (size_t)g.parts * (size_t)g.part) *
           sizeof(float);
}

/* ---- forward --------------------------------------------------------------------------------- */

/* Calls body for each block of rows of each group of an image. */
struct block {
    const struct conv *g;
    int64_t group, image, row, cols; /* first row; columns of the product */
    float *col;                      /* scratch */
};

static void each_block(const struct conv *g, int64_t image, float *scratch,
                       void (*body)(const struct block *b, void *ctx), void *ctx)
{
    for (int64_t group = 0; group < g->groups; group++)
        for (int64_t row = 0; row < g->win.out_h; row += g->rows) {
            int64_t rows = g->win.out_h - row < g->rows ? g->win.out_h - row : g->rows;
            struct block b = { g, group, image, row, rows * g->win.out_w, scratch };

            body(&b, ctx);
        }
}

static const float *group_x(const struct block *b)
{
    const struct conv *g = b->g;

    return g->c->x[0] + b->image * g->in_size + b->group * g->win.channels * g->win.h * g->win.w;
}

/* Where the block begins in y or dy, of which a row is g->area long. */
static int64_t group_y(const struct block *b)
{
    const struct conv *g = b->g;

    return b->image * g->out_size + b->group * g->out * g->area + b->row * g->win.out_w;
}

/* The columns of a block. */
static const float *columns(const struct block *b)
{
    const struct conv *g = b->g;

    if (g->whole)
        return group_x(b);
    qn__im2col(&g->win, group_x(b), b->row, b->cols / g->win.out_w, b->col);
    return b->col;
}

static void forward_block(const struct block *b, void *ctx)
{
    const struct conv *g = b->g;
    struct qn_gemm p = { .m = g->out, .n = b->cols, .k = g->k, .lda = g->k, .ldc = g->area };

    (void)ctx;
    p.a = g->c->v[W] + b->group * g->out * g->k;
    p.b = columns(b);
    p.ldb = b->cols;
    p.c = g->c->y + group_y(b);
    qn__gemm(&p);
}

/* Packing of the weights of all groups for one direction. */
struct packing {
    const struct conv *g;
    const struct qn_direct *d;
    struct qn_direct_weights w; /* of the first group */
    float *to;
};

static void pack_tiles(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct packing *p = ctx;
    int64_t tiles = qn__direct_tiles(p->d);

    (void)slot;
    for (int64_t i = begin; i < end; i++) {
        int64_t group = i / tiles;
        struct qn_direct_weights w = p->w;

        w.v += group * p->g->out * p->g->k;
        qn__direct_pack(p->d, &w, i % tiles,
                        p->to + (size_t)group * qn__direct_packed_floats(p->d));
    }
}

/* From [out, channels, taps]: ahead as they are; back as [channels, out, taps], turned round, or
 * for columns as [channels * taps, out]. */
static void pack(const struct conv *g, bool back)
{
    int64_t taps = g->win.kernel[0] * g->win.kernel[1];
    struct packing p = {
        g, back ? &g->back : &g->ahead, { g->c->v[W], g->k, taps, false }, g->c->shared
    };

    if (back) {
        p.w = (struct qn_direct_weights){ g->c->v[W], g->turned ? taps : 1, g->k, g->turned };
        p.to += packed_floats(g, &g->ahead);
    }
    qn_pool_run(g->c->pool, g->groups * qn__direct_tiles(p.d), qn__grain(8 * p.d->k), pack_tiles,
                &p);
}

static void add_bias(const struct conv *g, int64_t image)
{
    const float *bias = g->c->v[BIAS];

    for (int64_t o = 0; bias && o < g->groups * g->out; o++) {
        float *y = g->c->y + image * g->out_size + o * g->area;

        for (int64_t j = 0; j < g->area; j++)
            y[j] += bias[o];
    }
}

static void forward_direct(const struct conv *g, int64_t image, void *scratch)
{
    const struct qn_direct *d = &g->ahead;

    for (int64_t i = 0; i < g->groups; i++)
        qn__direct_run(d, (const float *)g->c->shared + (size_t)i * qn__direct_packed_floats(d),
                       g->c->x[0] + image * g->in_size + i * d->channels * d->h * d->w, false,
                       g->c->y + image * g->out_size + i * g->out * g->area, scratch);
}

static void forward_images(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct conv *g = ctx;
    void *scratch = qn__scratch(g->c, slot);

    for (int64_t i = begin; i < end; i++) {
        if (g->direct)
            forward_direct(g, i, scratch);
        else
            each_block(g, i, scratch, forward_block, NULL);
        add_bias(g, i);
    }
}

static void forward(const struct qn_layer *l, const struct qn_call *c)
{
    struct conv g = geometry(l, c->in[0], c->n);

    g.c = c;
    if (g.direct)
        pack(&g, false);
    qn_pool_run(c->pool, c->n, 1, forward_images, &g);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* dw += dy columns^T */
static void weights_block(const struct block *b, void *ctx)
{
    const struct conv *g = b->g;
    float *dw = ctx;
    struct qn_gemm p = { .m = g->out, .n = g->k, .k = b->cols, .lda = g->area, .add = true };

    p.a = g->c->dy + group_y(b);
    p.b = columns(b);
    p.ldb = b->cols;
    p.turn_b = true;
    p.c = dw + b->group * g->out * g->k;
    p.ldc = g->k;
    qn__gemm(&p);
}

/* dx += w^T dy, added back from columns */
static void input_block(const struct block *b, void *ctx)
{
    const struct conv *g = b->g;
    float *dx = (float *)ctx + b->group * g->win.channels * g->win.h * g->win.w;
    struct qn_gemm p = { .m = g->k, .n = b->cols, .k = g->out, .turn_a = true, .lda = g->k };

    p.a = g->c->v[W] + b->group * g->out * g->k;
    p.b = g->c->dy + group_y(b);
    p.ldb = g->area;
    p.c = g->whole ? dx : b->col;
    p.ldc = b->cols;
    p.add = g->whole && g->c->add[0];
    qn__gemm(&p);
    if (!g->whole)
        qn__col2im(&g->win, b->col, b->row, b->cols / g->win.out_w, dx);
}

static void columns_dx(const struct conv *g, int64_t image, float *scratch)
{
    float *dx = g->c->dx[0] + image * g->in_size;

    if (!g->c->add[0] && !g->whole)
        memset(dx, 0, (size_t)g->in_size * sizeof *dx);
    each_block(g, image, scratch, input_block, dx);
}

/* Columns of up to eight taps, added back. */
struct adding {
    const struct conv *g;
    float *dx;
};

static void add_piece(void *ctx, const struct qn_direct_piece *p)
{
    const struct adding *a = ctx;

    qn__col2im_taps(&a->g->win, p->y, p->ld, p->channel, p->channels, p->row, p->rows, a->dx);
}

static void direct_dx(const struct conv *g, int64_t image, float *scratch)
{
    const struct qn_direct *b = &g->back;
    const float *packed = (const float *)g->c->shared + packed_floats(g, &g->ahead);
    int64_t size = g->in_size / g->groups;

    for (int64_t i = 0; i < g->groups; i++, packed += qn__direct_packed_floats(b)) {
        const float *dy = g->c->dy + image * g->out_size + i * g->out * g->area;
        struct adding a = { g, g->c->dx[0] + image * g->in_size + i * size };

        if (g->turned) {
            qn__direct_run(b, packed, dy, g->c->add[0], a.dx, scratch);
            continue;
        }
        if (!g->c->add[0])
            memset(a.dx, 0, (size_t)size * sizeof *a.dx);
        qn__direct_pieces(b, packed, dy, add_piece, &a, scratch);
    }
}

static void direct_dw(const struct conv *g, int64_t image, float *dw, float *scratch)
{
    const struct qn_direct *a = &g->ahead;

    for (int64_t i = 0; i < g->groups; i++)
        qn__direct_weights(a, g->c->x[0] + image * g->in_size + i * a->channels * a->h * a->w,
                           g->c->dy + image * g->out_size + i * g->out * g->area,
                           dw + (size_t)i * qn__direct_sums_floats(a), scratch);
}

/* The images of parts begin .. end-1. */
static void backward_parts(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct conv *g = ctx;
    float *scratch = qn__scratch(g->c, slot);

    for (int64_t part = begin; part < end; part++) {
        float *dw = parts_at(g) + part * g->part;

        memset(dw, 0, (size_t)g->part * sizeof *dw);
        for (int64_t i = g->c->n * part / g->parts; i < g->c->n * (part + 1) / g->parts; i++) {
            if (g->direct)
                direct_dw(g, i, dw, scratch);
            else
                each_block(g, i, scratch, weights_block, dw);
            if (g->c->dx[0] && g->direct)
                direct_dx(g, i, scratch);
            else if (g->c->dx[0])
                columns_dx(g, i, scratch);
        }
    }
}

/* The gradient from all parts: values begin .. end-1, or as sums of direct.h have them, sixteen
 * output channels of a group at a time. */
static void add_values(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct conv *g = ctx;
    const float *parts = parts_at(g);
    float *dw = g->c->g[W];

    (void)slot;
    memcpy(dw + begin, parts + begin, (size_t)(end - begin) * sizeof *dw);
    for (int64_t p = 1; p < g->parts; p++)
        qn__add(end - begin, parts + p * g->part + begin, dw + begin);
}

static void add_sums(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct conv *g = ctx;
    int64_t columns = qn__direct_columns(&g->ahead), sums = g->part / g->groups;

    (void)slot;
    for (int64_t i = begin; i < end; i++) {
        int64_t group = i / columns;

        qn__direct_add(&g->ahead, parts_at(g) + group * sums, g->parts, g->part, i % columns,
                       g->c->g[W] + group * g->out * g->k);
    }
}

static void bias_channels(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct conv *g = ctx;

    (void)slot;
    for (int64_t o = begin; o < end; o++) {
        double sum = 0;

        for (int64_t i = 0; i < g->c->n; i++)
            sum += qn__sum(g->area, g->c->dy + i * g->out_size + o * g->area);
        g->c->g[BIAS][o] = (float)sum;
    }
}

static void backward(const struct qn_layer *l, const struct qn_call *c)
{
    struct conv g = geometry(l, c->in[0], c->n);

    g.c = c;
    if (c->dx[0] && g.direct)
        pack(&g, true);
    qn_pool_run(c->pool, g.parts, 1, backward_parts, &g);
    if (g.direct)
        qn_pool_run(c->pool, g.groups * qn__direct_columns(&g.ahead), qn__grain(16 * g.k * g.parts),
                    add_sums, &g);
    else
        qn_pool_run(c->pool, g.part, qn__grain(g.parts), add_values, &g);
    if (c->g[BIAS])
        qn_pool_run(c->pool, l->attrs.out, qn__grain(c->n * g.area), bias_channels, &g);
}

const struct qn_layer_type qn_layer_conv = {
    .name = "conv",
    .min_in = 1,
    .max_in = 1,
    .flags = QN_NEEDS_X | QN_SHARES_AHEAD,
    .attrs = attrs,
    .shape = shape,
    .params = params,
    .scratch_bytes = scratch_bytes,
    .shared_bytes = shared_bytes,
    .forward = forward,
    .backward = backward,
};
