/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weight_quant_batch_matmul: y = x @ ((weight + offset) * scale) + bias, with int8 weights.
 *
 * The native reference rounds the weights to the dtype of x after each of the two steps and adds
 * up in float32; the truth does not round. So the two differ by far more than the last bits, where
 * sums are small.
 */
#include "assay/op.h"

#include "ops/fit.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/product.h"
#include "ops/sample.h"

enum { X, WEIGHT, SCALE, OFFSET, BIAS };
#define HALVES (ASSAY_BIT(ASSAY_F16) | ASSAY_BIT(ASSAY_BF16))
static const struct assay_param in[] = {
    [X] = { "x", HALVES, 0, "[m, k]", NULL },
    [WEIGHT] = { "weight", ASSAY_BIT(ASSAY_I8), 0, "[k, n]", NULL },
    [SCALE] = { "antiquantScale", HALVES, 0, "[n] or [1, n]", NULL },
    [OFFSET] = { "antiquantOffset", HALVES, ASSAY_PARAM_OPTIONAL, "like antiquantScale", NULL },
    [BIAS] = { "bias", ASSAY_BIT(ASSAY_F16) | ASSAY_BIT(ASSAY_F32), ASSAY_PARAM_OPTIONAL,
               "[n] or [1, n]", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", HALVES, 0, "[m, n]", NULL }, { 0 } };

/* ---- contract -------------------------------------------------------------------------------- */

static bool is_row(const struct assay_tensor *t, int64_t n)
{
    return (t->rank == 1 && t->shape[0] == n) ||
           (t->rank == 2 && t->shape[0] == 1 && t->shape[1] == n);
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0], *w = &a->in[WEIGHT].t[0];
    char text[128], other[128];

    if (x->rank != 2 || w->rank != 2 || x->shape[1] != w->shape[0])
        return assay__misfit("weight", w, "x", x, NULL, err);
    for (int i = SCALE; i <= BIAS; i++) {
        const struct assay_tensor *t = a->in[i].t;
        enum assay_dtype want = x->dtype;

        if (!a->in[i].n)
            continue;
        if (i == BIAS && x->dtype == ASSAY_BF16)
            want = ASSAY_F32;
        if (!is_row(t, w->shape[1]) || (i == OFFSET && !assay_same_shape(t, a->in[SCALE].t)))
            return assay_fail(err, ASSAY_INVALID, "%s is %s, %s is wanted for weight %s",
                              in[i].name, assay_tensor_text(t, text, sizeof text), in[i].shape,
                              assay_tensor_text(w, other, sizeof other));
        if (t->dtype != want)
            return assay_fail(err, ASSAY_INVALID, "%s is %s, for x of %s it has to be %s",
                              in[i].name, assay_dtype_name(t->dtype), assay_dtype_name(x->dtype),
                              assay_dtype_name(want));
    }
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    struct assay_tensor *y = &a->out[0].t[0];

    (void)err;
    *y = a->in[X].t[0];
    y->data = NULL;
    y->shape[1] = a->in[WEIGHT].t[0].shape[1];
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Scales that bring sums of k products with weights up to 128 inside the dtype. With the largest
 * values of float16 they would be so small that they have few bits themselves. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum assay_dtype d = c->in[X].dtype;
    int64_t m, n, k;
    int rank = assay_sample_below(s, 3) ? 1 : 2;
    double most, top;

    if (c->value_class == ASSAY_CLASS_BOUNDARY && d == ASSAY_F16)
        c->in[X].range[0] = (struct assay_range){ -1000, 1000 };
    most = assay__range_magnitude(&c->in[X].range[0]);
    assay__sample_product(s, 1, d, &m, &n, &k);
    top = assay__sample_factor(s, 128 * most, (double)k, d).hi;
    for (int i = X; i <= BIAS; i++) {
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
        c->in[i].shape[0] = (struct assay_shape){ rank, { rank == 2 ? 1 : n, n } };
    }
    c->in[X].shape[0] = (struct assay_shape){ 2, { m, k } };
    c->in[WEIGHT].shape[0] = (struct assay_shape){ 2, { k, n } };
    c->in[WEIGHT].range[0] = (struct assay_range){ -128, 127 };
    c->in[SCALE].dtype = c->in[OFFSET].dtype = d;
    c->in[SCALE].range[0] = (struct assay_range){ assay_sample_figure(top / 10), top };
    c->in[OFFSET].range[0] = (struct assay_range){ -20, 20 };
    c->in[BIAS].dtype = d == ASSAY_F16 ? ASSAY_F16 : ASSAY_F32;
    c->in[BIAS].range[0] = (struct assay_range){ -1, 1 };
    if (!assay__sample_absent(s, c, BIAS, 0.6) && assay_sample_below(s, 4) == 0)
        c->in[BIAS].shape[0] = (struct assay_shape){ 2, { 1, n } };
    assay__sample_absent(s, c, OFFSET, 0.6);
    return ASSAY_OK;
}

/* Most sums shall have a value. */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    (void)err;
    assay__thin_specials(&a->in[X].t[0], (double)a->in[X].t[0].shape[1], key, a->n_threads);
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

struct job {
    const struct assay_args *a;
    const double *scale, *offset, *bias; /* [n]; NULL: absent */
};

/* A tile of the weights as they are multiplied. */
static void load_weights(const void *ctx, const struct assay__tile *t)
{
    const struct job *j = ctx;
    const struct assay_tensor *w = &j->a->in[WEIGHT].t[0];
    enum assay_dtype d = j->a->in[X].t[0].dtype;

    for (int64_t r = 0; r < t->rows; r++) {
        double *v = t->v + r * t->ld;

        assay_load_n(w, (t->row + r) * w->shape[1] + t->col, t->cols, v);
        if (j->offset)
            for (int64_t c = 0; c < t->cols; c++)
                v[c] = v[c] + j->offset[t->col + c];
        if (j->offset && j->a->native)
            for (int64_t c = 0; c < t->cols; c++)
                v[c] = assay_round_to(d, v[c]);
        for (int64_t c = 0; c < t->cols; c++)
            v[c] *= j->scale[t->col + c];
        if (j->a->native)
            for (int64_t c = 0; c < t->cols; c++)
                v[c] = assay_round_to(d, v[c]);
    }
}

static void finish(const void *ctx, const struct assay__tile *t)
{
    const struct job *j = ctx;
    struct assay__matrix y = { &j->a->out[0].t[0], 0, j->a->out[0].t[0].shape[1], 1, 0 };

    for (int64_t r = 0; j->bias && r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++)
            t->v[r * t->ld + c] =
                assay_round(j->a, ASSAY_F32, t->v[r * t->ld + c] + j->bias[t->col + c]);
    assay__matrix_store(&y, t);
}

static enum assay_status vector(const struct assay_args *a, int i, const double **to,
                                struct assay_err *err)
{
    int64_t n = a->in[WEIGHT].t[0].shape[1];
    double *v;

    *to = NULL;
    if (!a->in[i].n)
        return ASSAY_OK;
    v = assay_arena_array(a->arena, (size_t)n + 1, sizeof *v);
    if (!v)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %s", in[i].name);
    assay_load_n(a->in[i].t, 0, n, v);
    *to = v;
    return ASSAY_OK;
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0];
    struct assay__matrix left = { x, 0, x->shape[1], 1, 0 };
    struct job j = { .a = a };
    struct assay__product p = { .batches = 1, .m = x->shape[0], .k = x->shape[1] };

    ASSAY_TRY(vector(a, SCALE, &j.scale, err));
    ASSAY_TRY(vector(a, OFFSET, &j.offset, err));
    ASSAY_TRY(vector(a, BIAS, &j.bias, err));
    p.n = a->in[WEIGHT].t[0].shape[1];
    p.a = assay__operand_of(&left);
    p.b = (struct assay__operand){ load_weights, &j, false };
    p.store = finish;
    p.ctx = &j;
    return assay__product(a, &p, err);
}

/* ---- work ------------------------------------------------------------------------------------ */

static double weights(const struct assay_args *a)
{
    return (double)assay_numel(&a->in[WEIGHT].t[0]);
}

/* Offset and scale may be taken to the sums, once for each result; an int8 is a bfloat16. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *x = &a->in[X].t[0];

    assay__add_products(w, x->dtype, (double)x->shape[0] * weights(a));
}

/* The weights are cast, shifted and scaled in fp32 first. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *x = &a->in[X].t[0];

    assay__add_cube(w, x->dtype, (double)x->shape[0] * weights(a));
    w->amount[ASSAY_UNIT_VEC_32] += (a->in[OFFSET].n ? 3 : 2) * weights(a);
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "input_f16",
      "only bias is float32, beside x in bfloat16: its rounding is finer than that of the result" },
    { "input_bf16", "only bias is float32, beside x in bfloat16: it is rounded as the result is" },
    { 0 },
};

const struct assay_op assay_op_weight_quant_batch_matmul = {
    .name = "weight_quant_batch_matmul",
    .tier = 3,
    .formula = "y = x @ ((weight + antiquantOffset) * antiquantScale) + bias",
    .constraints = "antiquantScale and antiquantOffset have the dtype of x, and one shape\n"
                   "bias is float16 beside x of float16, float32 beside x of bfloat16",
    .in = in,
    .out = out,
    .sample = sample,
    .check = check,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 3, WeightQuantBatchMatmul",
};
