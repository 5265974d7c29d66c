/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv_3d_backprop_filter: the gradient of a three-dimensional convolution by its filter. Each
 * weight takes up, over all positions of all images, what its tap met there times the gradient.
 * Padding is multiplied like zeros.
 */
#include "ops/conv.h"
#include "ops/conv_sample.h"
#include "ops/fit.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/sample.h"

#include <math.h>

enum { X, GRAD };
enum { STRIDES, PADS, DILATIONS, GROUPS, FILTER_SIZE };
#define HALVES (ASSAY_BIT(ASSAY_F16) | ASSAY_BIT(ASSAY_BF16))
static const struct assay_param in[] = {
    [X] = { "x", HALVES, 0, "[n, c, d, h, w]", NULL },
    [GRAD] = { "grad", HALVES, 0, "[n, c_out, d_out, h_out, w_out]", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", HALVES, 0, "filter_size", NULL }, { 0 } };

static const struct assay_attr attrs[] = {
    [STRIDES] = { "strides", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [PADS] = { "pads", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [DILATIONS] = { "dilations", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [GROUPS] = { "groups", ASSAY_ATTR_INT, 0, { .set = true, .i = 1 }, NULL, NULL, 0 },
    [FILTER_SIZE] = { "filter_size", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    { 0 },
};

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status geometry(const struct assay_args *a, struct assay__conv *g,
                                  struct assay_err *err)
{
    const int64_t *size = a->attr[FILTER_SIZE].ints.v;

    *g = assay__conv_of(&a->in[X].t[0]);
    for (int i = 0; i < 3; i++)
        ASSAY_TRY(assay__conv_axis(g, i, 3, size[2 + i], a->attr[STRIDES].ints.v[i],
                                   a->attr[PADS].ints.v[2 * i], a->attr[DILATIONS].ints.v[i], err));
    g->groups = a->attr[GROUPS].i;
    return ASSAY_OK;
}

static enum assay_status check_attrs(const struct assay_args *a, struct assay_err *err)
{
    static const int counts[] = { 3, 6, 3, 0, 5 };
    const int64_t *pad;

    for (int i = STRIDES; i <= FILTER_SIZE; i++)
        if (i != GROUPS)
            ASSAY_TRY(assay__conv_count(&attrs[i], &a->attr[i], counts[i], err));
    pad = a->attr[PADS].ints.v;
    for (int i = 0; i < 3; i++)
        if (pad[2 * i] != pad[2 * i + 1])
            return assay_fail(err, ASSAY_INVALID,
                              "pads: %lld before axis %d and %lld behind it, they have to be alike",
                              (long long)pad[2 * i], i, (long long)pad[2 * i + 1]);
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0], *y = &a->in[GRAD].t[0];
    int64_t groups = a->attr[GROUPS].i;
    const int64_t *size;
    struct assay__conv g;

    if (x->rank != 5 || y->rank != 5 || x->shape[0] != y->shape[0] || x->dtype != y->dtype)
        return assay__misfit("grad", y, "x", x, NULL, err);
    ASSAY_TRY(check_attrs(a, err));
    if (groups < 1 || x->shape[1] % groups != 0 || y->shape[1] % groups != 0)
        return assay_fail(err, ASSAY_INVALID, "groups is %lld, x has %lld channels and grad %lld",
                          (long long)groups, (long long)x->shape[1], (long long)y->shape[1]);
    size = a->attr[FILTER_SIZE].ints.v;
    if (size[0] != y->shape[1] || size[1] != x->shape[1] / groups)
        return assay_fail(err, ASSAY_INVALID, "filter_size begins [%lld,%lld], [%lld,%lld] fits",
                          (long long)size[0], (long long)size[1], (long long)y->shape[1],
                          (long long)(x->shape[1] / groups));
    ASSAY_TRY(geometry(a, &g, err));
    for (int i = 0; i < 3; i++)
        if (g.out[i] != y->shape[2 + i])
            return assay_fail(err, ASSAY_INVALID, "axis %d of grad is %lld, %lld follows from x", i,
                              (long long)y->shape[2 + i], (long long)g.out[i]);
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    struct assay_tensor *y = &a->out[0].t[0];

    (void)err;
    *y = (struct assay_tensor){ .dtype = a->in[X].t[0].dtype, .rank = 5 };
    for (int i = 0; i < 5; i++)
        y->shape[i] = a->attr[FILTER_SIZE].ints.v[i];
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Channels of x and grad in 1, 2 or as many groups as there are: as many as the multiplications
 * allow, for each element of both takes part in `each` of them and as many again for each channel
 * of the other. */
static int64_t draw_channels(struct assay_sampler *s, struct assay__conv *g, double each)
{
    double most = fmin(64, 2 * ASSAY__MOST_PRODUCTS / ((double)s->elements * each));
    int64_t outputs = assay__sample_ratio(s, 2, most);
    uint64_t kind = assay_sample_below(s, 4);

    g->channels = assay__sample_ratio(s, 2, most);
    if (kind == 1) {
        g->groups = 2;
        g->channels += g->channels % 2;
        outputs += outputs % 2;
    } else if (kind == 2) {
        g->groups = g->channels;
        outputs = g->channels * (1 + (int64_t)assay_sample_below(s, 2));
    }
    return outputs;
}

static void draw_extents(struct assay_sampler *s, enum assay_dtype d, struct assay__conv *g,
                         int64_t *outputs)
{
    double stride, left, even;

    assay__conv_sample_kernel(s, 3, g);
    stride = (double)(g->stride[0] * g->stride[1] * g->stride[2]);
    *outputs = draw_channels(s, g, (double)assay__conv_taps(g) / stride);
    left = (double)s->elements / ((double)g->channels + (double)*outputs / stride);
    g->images = assay__sample_ratio(s, 1, fmin(8, pow(left, 0.3)));
    left /= (double)g->images;
    even = cbrt(left);
    g->in[2] = assay__sample_extent(s, (double)assay__sample_ratio(s, even / 2, even * 3), d);
    left /= (double)g->in[2];
    g->in[1] = assay__sample_ratio(s, sqrt(left), sqrt(left) * 2);
    g->in[0] = (int64_t)fmax(1, left / (double)g->in[1]);
    assay__conv_sample_fit(g, 3);
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum assay_dtype d = c->in[X].dtype;
    struct assay__conv g;
    int64_t outputs, *size = assay_arena_array(s->arena, 5, sizeof *size);

    if (!size)
        return assay_fail(err, ASSAY_NOMEM, "no memory for filter_size");
    draw_extents(s, d, &g, &outputs);
    ASSAY_TRY(assay__sample_room(s, c, X, 1, err));
    ASSAY_TRY(assay__sample_room(s, c, GRAD, 1, err));
    c->in[X].shape[0] =
        (struct assay_shape){ 5, { g.images, g.channels, g.in[0], g.in[1], g.in[2] } };
    c->in[GRAD].shape[0] =
        (struct assay_shape){ 5, { g.images, outputs, g.out[0], g.out[1], g.out[2] } };
    /* beside the largest float16 the gradient would have to be so small that it has few bits */
    if (c->value_class == ASSAY_CLASS_BOUNDARY && d == ASSAY_F16)
        c->in[X].range[0] = (struct assay_range){ -1000, 1000 };
    if (c->value_class != ASSAY_CLASS_SPECIAL)
        c->in[GRAD].range[0] =
            assay__sample_factor(s, assay__range_magnitude(&c->in[X].range[0]),
                                 (double)(g.images * assay__conv_positions(&g)), d);
    ASSAY_TRY(assay__conv_ints(s, &c->attr[STRIDES], g.stride, 3, 1, err));
    ASSAY_TRY(assay__conv_ints(s, &c->attr[PADS], g.pad, 3, 2, err));
    ASSAY_TRY(assay__conv_ints(s, &c->attr[DILATIONS], g.dilation, 3, 1, err));
    c->attr[GROUPS] = (struct assay_value){ .set = true, .i = g.groups };
    size[0] = outputs;
    size[1] = g.channels / g.groups;
    for (int i = 0; i < 3; i++)
        size[2 + i] = g.kernel[i];
    c->attr[FILTER_SIZE] = (struct assay_value){ .set = true, .ints = { size, 5 } };
    return ASSAY_OK;
}

/* Some sums shall have a value. */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_tensor *y = &a->in[GRAD].t[0];
    double terms = (double)assay_numel(y) / (double)(y->shape[1] > 0 ? y->shape[1] : 1);

    (void)err;
    for (int i = X; i <= GRAD; i++)
        assay__thin_specials(a->in[i].t, fmax(1, terms), assay_key_sub(key, (uint32_t)i),
                             a->n_threads);
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

static void finish(const void *ctx, const struct assay__tile *t)
{
    assay__matrix_store(ctx, t);
}

/* By groups: grad [outputs, positions] times what the taps meet, [positions, taps]. */
static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct assay__conv g;
    struct assay__conv_columns x = { &g, &a->in[X].t[0] };
    struct assay__conv_map grad = { &g, &a->in[GRAD].t[0], 0 };
    struct assay__matrix y = { &a->out[0].t[0], 0, 0, 1, 0 };
    struct assay__product p = { .store = finish, .ctx = &y };

    ASSAY_TRY(geometry(a, &g, err));
    p.batches = g.groups;
    p.m = grad.channels = a->in[GRAD].t[0].shape[1] / g.groups;
    p.n = y.row = g.channels / g.groups * assay__conv_taps(&g);
    p.k = g.images * assay__conv_positions(&g);
    y.batch = p.m * p.n;
    p.a = (struct assay__operand){ assay__conv_load_map, &grad, false };
    p.b = (struct assay__operand){ assay__conv_load_columns, &x, true };
    return assay__product(a, &p, err);
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Of an input and an output channel. */
static double pairs(const struct assay_args *a, const struct assay__conv *g)
{
    int64_t from = g->channels / g->groups, to = a->in[GRAD].t[0].shape[1];

    return (double)from * (double)to;
}

/* The gradient's part in minimal filtering is that of the filter, and the other way round. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *x = &a->in[X].t[0];
    double bytes = (double)assay_numel(x) * (double)assay_dtype_size(x->dtype);
    struct assay__conv g;

    if (geometry(a, &g, NULL))
        return;
    w->bytes_in -= bytes * (1 - assay__conv_touched(&g));
    assay__add_products(w, x->dtype, pairs(a, &g) * assay__conv_least_products(&g));
}

static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    struct assay__conv g;

    if (!geometry(a, &g, NULL))
        assay__add_cube(w, a->in[X].t[0].dtype, pairs(a, &g) * assay__conv_products(&g));
}

const struct assay_op assay_op_conv_3d_backprop_filter = {
    .name = "conv_3d_backprop_filter",
    .tier = 3,
    .formula = "y[o, c, k] = sum over n and positions p of grad[n, o, p] * x[n, c, p * strides - "
               "pads + k * dilations]; padding is 0",
    .constraints = "x and grad have the same dtype and number of images\n"
                   "strides and dilations have 3 entries; pads has 6, alike before and behind each "
                   "axis\n"
                   "groups divides the channels of x and of grad\n"
                   "filter_size is [c_out, c / groups, k_d, k_h, k_w]\n"
                   "grad has the extents that the convolution of x has",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .source = "CANN Bench level 3, Conv3DBackpropFilter",
};
