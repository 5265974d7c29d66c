/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv_2d: y = filter * x + bias over images and channels.
 *
 * Padding is made of zeros that are multiplied like any others: an infinite weight that lies
 * outside of the image gives NaN. The recorded fp64 results have it so, the recorded float32 ones
 * leave those products out.
 */
#include "ops/conv.h"
#include "ops/conv_sample.h"
#include "ops/fit.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/sample.h"

enum { X, FILTER, BIAS };
enum { STRIDES, PADS, DILATIONS };
static const struct assay_param in[] = {
    [X] = { "x", ASSAY_FLOATS, 0, "[n, c, h, w]", NULL },
    [FILTER] = { "filter", ASSAY_FLOATS, 0, "[c_out, c, k_h, k_w]", NULL },
    [BIAS] = { "bias", ASSAY_FLOATS, 0, "[c_out]", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    { "y", ASSAY_FLOATS, 0, "[n, c_out, h_out, w_out]", NULL }, { 0 }
};

static const int64_t ones[] = { 1, 1 };
static const struct assay_attr attrs[] = {
    [STRIDES] = { "strides", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [PADS] = { "pads", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [DILATIONS] = { "dilations",
                    ASSAY_ATTR_INTS,
                    0,
                    { .set = true, .ints = { ones, 2 } },
                    NULL,
                    NULL,
                    0 },
    { 0 },
};

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status geometry(const struct assay_args *a, struct assay__conv *g,
                                  struct assay_err *err)
{
    const struct assay_tensor *f = &a->in[FILTER].t[0];
    const int64_t *stride = a->attr[STRIDES].ints.v, *pad = a->attr[PADS].ints.v;
    const int64_t *dilation = a->attr[DILATIONS].ints.v;

    *g = assay__conv_of(&a->in[X].t[0]);
    for (int i = 0; i < 2; i++)
        ASSAY_TRY(
            assay__conv_axis(g, i, 2, f->shape[2 + i], stride[i], pad[2 * i], dilation[i], err));
    return ASSAY_OK;
}

static enum assay_status check_attrs(const struct assay_args *a, struct assay_err *err)
{
    const int64_t *pad = a->attr[PADS].ints.v;

    ASSAY_TRY(assay__conv_count(&attrs[STRIDES], &a->attr[STRIDES], 2, err));
    ASSAY_TRY(assay__conv_count(&attrs[DILATIONS], &a->attr[DILATIONS], 2, err));
    ASSAY_TRY(assay__conv_count(&attrs[PADS], &a->attr[PADS], 4, err));
    if (pad[0] != pad[1] || pad[2] != pad[3])
        return assay_fail(err, ASSAY_INVALID,
                          "pads [%lld,%lld,%lld,%lld] differ between top and bottom or left and "
                          "right",
                          (long long)pad[0], (long long)pad[1], (long long)pad[2],
                          (long long)pad[3]);
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0], *f = &a->in[FILTER].t[0];
    const struct assay_tensor *b = &a->in[BIAS].t[0];
    struct assay__conv g;

    if (x->rank != 4 || f->rank != 4 || f->shape[1] != x->shape[1] || f->dtype != x->dtype)
        return assay__misfit("filter", f, "x", x, NULL, err);
    if (b->rank != 1 || b->shape[0] != f->shape[0] || b->dtype != x->dtype)
        return assay__misfit("bias", b, "filter", f, NULL, err);
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
                                .shape = { g.images, a->in[FILTER].t[0].shape[0], g.out[1],
                                           g.out[2] } };
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    struct assay__conv g;
    int64_t outputs;

    assay__conv_sample(s, c->in[X].dtype, 2, &g, &outputs);
    for (int i = X; i <= BIAS; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    c->in[X].shape[0] = (struct assay_shape){ 4, { g.images, g.channels, g.in[1], g.in[2] } };
    c->in[FILTER].shape[0] =
        (struct assay_shape){ 4, { outputs, g.channels, g.kernel[1], g.kernel[2] } };
    c->in[BIAS].shape[0] = (struct assay_shape){ 1, { outputs } };
    if (c->value_class != ASSAY_CLASS_SPECIAL)
        c->in[FILTER].range[0] =
            assay__sample_factor(s, assay__range_magnitude(&c->in[X].range[0]),
                                 (double)(g.channels * assay__conv_taps(&g)), c->in[X].dtype);
    c->in[BIAS].range[0] =
        assay__conv_bias(&c->in[X].range[0], &c->in[FILTER].range[0], c->in[X].dtype);
    assay__conv_one_sign(c, BIAS + 1);
    ASSAY_TRY(assay__conv_ints(s, &c->attr[STRIDES], g.stride, 2, 1, err));
    ASSAY_TRY(assay__conv_ints(s, &c->attr[PADS], g.pad, 2, 2, err));
    return assay__conv_ints(s, &c->attr[DILATIONS], g.dilation, 2, 1, err);
}

/* Most sums shall have a value. */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_tensor *f = &a->in[FILTER].t[0];
    double terms = (double)(f->shape[1] * f->shape[2] * f->shape[3]);

    (void)err;
    for (int i = X; i <= FILTER; i++)
        assay__thin_specials(a->in[i].t, terms, assay_key_sub(key, (uint32_t)i), a->n_threads);
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

struct job {
    const struct assay_args *a;
    struct assay__conv_map y;
};

static void finish(const void *ctx, const struct assay__tile *t)
{
    const struct job *j = ctx;

    for (int64_t r = 0; r < t->rows; r++) {
        double bias = assay_load(&j->a->in[BIAS].t[0], t->row + r);

        for (int64_t c = 0; c < t->cols; c++)
            t->v[r * t->ld + c] = assay_round(j->a, ASSAY_F32, t->v[r * t->ld + c] + bias);
    }
    assay__conv_store_map(&j->y, t);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *f = &a->in[FILTER].t[0];
    struct assay__conv g;
    struct assay__conv_columns x = { &g, &a->in[X].t[0] };
    struct job j = { a, { &g, &a->out[0].t[0], f->shape[0] } };
    struct assay__product p = { .batches = 1, .m = f->shape[0], .store = finish, .ctx = &j };
    struct assay__matrix left = { f, 0, 0, 1, 0 };

    ASSAY_TRY(geometry(a, &g, err));
    p.n = g.images * assay__conv_positions(&g);
    p.k = left.row = g.channels * assay__conv_taps(&g);
    p.a = assay__operand_of(&left);
    p.b = (struct assay__operand){ assay__conv_load_columns, &x, false };
    return assay__product(a, &p, err);
}

/* ---- work ------------------------------------------------------------------------------------ */

static double pairs(const struct assay_args *a)
{
    const struct assay_tensor *f = &a->in[FILTER].t[0];

    return (double)f->shape[0] * (double)f->shape[1];
}

static void work(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *x = &a->in[X].t[0];
    double bytes = (double)assay_numel(x) * (double)assay_dtype_size(x->dtype);
    struct assay__conv g;

    if (geometry(a, &g, NULL))
        return;
    w->bytes_in -= bytes * (1 - assay__conv_touched(&g));
    assay__add_products(w, x->dtype, pairs(a) * assay__conv_least_products(&g));
}

static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    struct assay__conv g;

    if (!geometry(a, &g, NULL))
        assay__add_cube(w, a->in[X].t[0].dtype, pairs(a) * assay__conv_products(&g));
}

const struct assay_op assay_op_conv_2d = {
    .name = "conv_2d",
    .tier = 3,
    .formula =
        "y[n, o, p] = sum over c and taps k of filter[o, c, k] * x[n, c, p * strides - pads + "
        "k * dilations] + bias[o]; padding is 0",
    .constraints =
        "x, filter and bias have the same dtype\n"
        "strides and dilations have 2 entries, at least 1 each\n"
        "pads has 4 entries, top and bottom, left and right, which are the same in pairs\n"
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
    .source = "CANN Bench level 3, Conv2D",
};
