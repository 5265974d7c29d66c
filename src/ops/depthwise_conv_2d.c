/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_conv_2d: each channel is convolved with a kernel of its own. Padding is multiplied like
 * zeros, as in conv_2d. The reference does not look at kernelSize; here it has to be that of
 * weight.
 */
#include "ops/conv.h"
#include "ops/conv_sample.h"
#include "ops/fit.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/sample.h"

enum { X, WEIGHT, BIAS };
enum { KERNEL_SIZE, STRIDE, PADDING, DILATION, GROUPS };
static const struct assay_param in[] = {
    [X] = { "x", ASSAY_FLOATS, 0, "[n, c, h, w]", NULL },
    [WEIGHT] = { "weight", ASSAY_FLOATS, 0, "[c, k_h, k_w]", NULL },
    [BIAS] = { "bias", ASSAY_FLOATS, 0, "[c]", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", ASSAY_FLOATS, 0, "[n, c, h_out, w_out]", NULL },
                                          { 0 } };

static const struct assay_attr attrs[] = {
    [KERNEL_SIZE] = { "kernelSize", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [STRIDE] = { "stride", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [PADDING] = { "padding", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [DILATION] = { "dilation", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [GROUPS] = { "groups", ASSAY_ATTR_INT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    { 0 },
};

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status geometry(const struct assay_args *a, struct assay__conv *g,
                                  struct assay_err *err)
{
    const struct assay_tensor *w = &a->in[WEIGHT].t[0];

    *g = assay__conv_of(&a->in[X].t[0]);
    for (int i = 0; i < 2; i++)
        ASSAY_TRY(assay__conv_axis(g, i, 2, w->shape[1 + i], a->attr[STRIDE].ints.v[i],
                                   a->attr[PADDING].ints.v[i], a->attr[DILATION].ints.v[i], err));
    g->groups = g->channels;
    return ASSAY_OK;
}

static enum assay_status check_attrs(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *w = &a->in[WEIGHT].t[0];
    const int64_t *size = a->attr[KERNEL_SIZE].ints.v;

    for (int i = KERNEL_SIZE; i <= DILATION; i++)
        ASSAY_TRY(assay__conv_count(&attrs[i], &a->attr[i], 2, err));
    if (size[0] != w->shape[1] || size[1] != w->shape[2])
        return assay_fail(err, ASSAY_INVALID, "kernelSize is [%lld,%lld], weight's [%lld,%lld]",
                          (long long)size[0], (long long)size[1], (long long)w->shape[1],
                          (long long)w->shape[2]);
    if (a->attr[GROUPS].i != w->shape[0])
        return assay_fail(err, ASSAY_INVALID, "groups is %lld, x has %lld channels",
                          (long long)a->attr[GROUPS].i, (long long)w->shape[0]);
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0], *w = &a->in[WEIGHT].t[0];
    const struct assay_tensor *b = &a->in[BIAS].t[0];
    struct assay__conv g;

    if (x->rank != 4 || w->rank != 3 || w->shape[0] != x->shape[1] || w->dtype != x->dtype)
        return assay__misfit("weight", w, "x", x, NULL, err);
    if (b->rank != 1 || b->shape[0] != x->shape[1] || b->dtype != x->dtype)
        return assay__misfit("bias", b, "x", x, NULL, err);
    ASSAY_TRY(check_attrs(a, err));
    return geometry(a, &g, err);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    struct assay_tensor *y = &a->out[0].t[0];
    struct assay__conv g;

    ASSAY_TRY(geometry(a, &g, err));
    *y = (struct assay_tensor){ .dtype = a->in[X].t[0].dtype,
                                .rank = 4,
                                .shape = { g.images, g.channels, g.out[1], g.out[2] } };
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    struct assay__conv g;

    assay__conv_sample_kernel(s, 2, &g);
    assay__conv_sample_images(s, c->in[X].dtype, 2, &g);
    for (int i = X; i <= BIAS; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    c->in[X].shape[0] = (struct assay_shape){ 4, { g.images, g.channels, g.in[1], g.in[2] } };
    c->in[WEIGHT].shape[0] = (struct assay_shape){ 3, { g.channels, g.kernel[1], g.kernel[2] } };
    c->in[BIAS].shape[0] = (struct assay_shape){ 1, { g.channels } };
    if (c->value_class != ASSAY_CLASS_SPECIAL)
        c->in[WEIGHT].range[0] = assay__sample_factor(s, assay__range_magnitude(&c->in[X].range[0]),
                                                      (double)assay__conv_taps(&g), c->in[X].dtype);
    c->in[BIAS].range[0] =
        assay__conv_bias(&c->in[X].range[0], &c->in[WEIGHT].range[0], c->in[X].dtype);
    assay__conv_one_sign(c, BIAS + 1);
    ASSAY_TRY(assay__conv_ints(s, &c->attr[KERNEL_SIZE], g.kernel, 2, 1, err));
    ASSAY_TRY(assay__conv_ints(s, &c->attr[STRIDE], g.stride, 2, 1, err));
    ASSAY_TRY(assay__conv_ints(s, &c->attr[PADDING], g.pad, 2, 1, err));
    ASSAY_TRY(assay__conv_ints(s, &c->attr[DILATION], g.dilation, 2, 1, err));
    c->attr[GROUPS] = (struct assay_value){ .set = true, .i = g.channels };
    return ASSAY_OK;
}

/* Most sums shall have a value. */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_tensor *w = &a->in[WEIGHT].t[0];
    double terms = (double)(w->shape[1] * w->shape[2]);

    (void)err;
    for (int i = X; i <= WEIGHT; i++)
        assay__thin_specials(a->in[i].t, terms, assay_key_sub(key, (uint32_t)i), a->n_threads);
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

struct job {
    const struct assay_args *a;
    struct assay__conv g;
    struct assay__conv_columns x;
    struct assay__conv_map y;
    int64_t positions, blocks; /* of one channel in all images */
};

/* sum += w v, which the native run rounds. */
static void add_tap(const struct assay_args *a, double w, const double *v, int64_t n, double *sum)
{
    if (a->native)
        for (int64_t k = 0; k < n; k++)
            sum[k] = assay_round_to(ASSAY_F32, sum[k] + w * v[k]);
    else
        for (int64_t k = 0; k < n; k++)
            sum[k] += w * v[k];
}

static void range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    double sum[ASSAY__BLOCK], v[ASSAY__BLOCK];
    int64_t taps = assay__conv_taps(&j->g);

    for (int64_t i = begin; i < end; i++) {
        int64_t channel = i / j->blocks, at = i % j->blocks * ASSAY__BLOCK;
        int64_t n = j->positions - at < ASSAY__BLOCK ? j->positions - at : ASSAY__BLOCK;
        double bias = assay_load(&j->a->in[BIAS].t[0], channel);
        struct assay__tile t = { channel, 0, at, 1, n, n, v };

        for (int64_t k = 0; k < n; k++)
            sum[k] = 0;
        for (; t.row < taps; t.row++) {
            assay__conv_load_columns(&j->x, &t);
            add_tap(j->a, assay_load(&j->a->in[WEIGHT].t[0], channel * taps + t.row), v, n, sum);
        }
        for (int64_t k = 0; k < n; k++)
            sum[k] = assay_round(j->a, ASSAY_F32, sum[k] + bias);
        t.row = 0;
        t.v = sum;
        assay__conv_store_map(&j->y, &t);
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .a = a };

    ASSAY_TRY(geometry(a, &j.g, err));
    j.x = (struct assay__conv_columns){ &j.g, &a->in[X].t[0] };
    j.y = (struct assay__conv_map){ &j.g, &a->out[0].t[0], 1 };
    j.positions = j.g.images * assay__conv_positions(&j.g);
    j.blocks = (j.positions + ASSAY__BLOCK - 1) / ASSAY__BLOCK;
    assay_parallel(j.g.channels * j.blocks, 4, a->n_threads, range, &j);
    return ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

static void work(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *x = &a->in[X].t[0];
    double bytes = (double)assay_numel(x) * (double)assay_dtype_size(x->dtype);
    struct assay__conv g;

    if (geometry(a, &g, NULL))
        return;
    w->bytes_in -= bytes * (1 - assay__conv_touched(&g));
    assay__add_products(w, x->dtype, (double)g.channels * assay__conv_least_products(&g));
}

/* A product and a sum for each tap, and the bias, as a vector program does it. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *k = &a->in[WEIGHT].t[0];

    assay__add_vector(w, &a->out[0], (double)(2 * k->shape[1] * k->shape[2] + 1));
}

const struct assay_op assay_op_depthwise_conv_2d = {
    .name = "depthwise_conv_2d",
    .tier = 3,
    .formula = "y[n, c, p] = sum over taps k of weight[c, k] * x[n, c, p * stride - padding + k * "
               "dilation] + bias[c]; padding is 0",
    .constraints = "x, weight and bias have the same dtype\n"
                   "kernelSize, stride, padding and dilation have 2 entries; kernelSize is that of "
                   "weight, groups the number of channels\n"
                   "the padded image is no smaller than the dilated kernel",
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
    .source = "CANN Bench level 3, DepthwiseConv2D",
};
