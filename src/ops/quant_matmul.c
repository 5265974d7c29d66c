/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quant_matmul: the exact product of two int8 matrices, brought to float16 or bfloat16 by factors
 * and offsets along its columns and rows. The reference does all of it in fp64 and rounds once, in
 * both of its runs, so the native run differs in that rounding only.
 */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/product.h"
#include "ops/sample.h"

enum { X1, X2, SCALE, OFFSET, PERTOKEN, BIAS };
enum { OUTPUT_DTYPE };
static const struct assay_param in[] = {
    [X1] = { "x1", ASSAY_BIT(ASSAY_I8), 0, "[.., m, k]", NULL },
    [X2] = { "x2", ASSAY_BIT(ASSAY_I8), 0, "[.., k, n]", NULL },
    [SCALE] = { "scale", ASSAY_BIT(ASSAY_F32) | ASSAY_BIT(ASSAY_BF16), 0, "[n] or [1]", NULL },
    [OFFSET] = { "offset", ASSAY_BIT(ASSAY_F32), ASSAY_PARAM_OPTIONAL, "[n] or [1]", NULL },
    [PERTOKEN] = { "pertoken_scale", ASSAY_BIT(ASSAY_F32), ASSAY_PARAM_OPTIONAL, "[m]", NULL },
    [BIAS] = { "bias", ASSAY_FLOATS | ASSAY_BIT(ASSAY_I32), ASSAY_PARAM_OPTIONAL,
               "[n], [1, n] or, for x1 of rank 3, [batch, 1, n]", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    { "out", ASSAY_BIT(ASSAY_F16) | ASSAY_BIT(ASSAY_BF16), 0, "[.., m, n]", NULL }, { 0 }
};

static const char *const dtypes[] = { "float16", "bfloat16", NULL };
static const struct assay_attr attrs[] = {
    [OUTPUT_DTYPE] = { "output_dtype", ASSAY_ATTR_ENUM, 0, { .set = true }, dtypes, NULL, 0 },
    { 0 },
};

enum { MIN_RANK = 2, MAX_RANK = 6, MAX_N = 65535 };

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status wrong_shape(const struct assay_args *a, int i, const char *want,
                                     struct assay_err *err)
{
    char text[128], x[128];

    return assay_fail(err, ASSAY_INVALID, "%s is %s, %s is wanted for x2 %s", in[i].name,
                      assay_tensor_text(a->in[i].t, text, sizeof text), want,
                      assay_tensor_text(&a->in[X2].t[0], x, sizeof x));
}

static bool has_extents(const struct assay_tensor *t, int rank, int64_t d0, int64_t d1, int64_t d2)
{
    const int64_t want[] = { d0, d1, d2 };

    if (t->rank != rank)
        return false;
    for (int i = 0; i < rank; i++)
        if (t->shape[i] != want[i])
            return false;
    return true;
}

static bool bias_fits(const struct assay_tensor *b, const struct assay_tensor *x, int64_t n)
{
    return has_extents(b, 1, n, 0, 0) || has_extents(b, 2, 1, n, 0) ||
           (x->rank == 3 && has_extents(b, 3, x->shape[0], 1, n));
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X1].t[0], *w = &a->in[X2].t[0];
    int rank = x->rank;
    bool fit = rank >= MIN_RANK && rank <= MAX_RANK && w->rank == rank &&
               x->shape[rank - 1] == w->shape[rank - 2];
    int64_t n;

    for (int i = 0; fit && i < rank - 2; i++)
        fit = x->shape[i] == w->shape[i];
    if (!fit)
        return wrong_shape(a, X1, "[.., m, k] of rank 2 to 6", err);
    n = w->shape[rank - 1];
    if (n > MAX_N)
        return assay_fail(err, ASSAY_INVALID, "n = %lld, at most %d columns are allowed",
                          (long long)n, MAX_N);
    for (int i = SCALE; i <= OFFSET; i++)
        if (a->in[i].n && !has_extents(a->in[i].t, 1, n, 0, 0) &&
            !has_extents(a->in[i].t, 1, 1, 0, 0))
            return wrong_shape(a, i, "[n] or [1]", err);
    if (a->in[PERTOKEN].n && !has_extents(a->in[PERTOKEN].t, 1, x->shape[rank - 2], 0, 0))
        return assay_fail(err, ASSAY_INVALID, "pertoken_scale has %lld elements, x1 %lld rows",
                          (long long)assay_numel(a->in[PERTOKEN].t), (long long)x->shape[rank - 2]);
    if (a->in[BIAS].n && !bias_fits(a->in[BIAS].t, x, n))
        return wrong_shape(a, BIAS, in[BIAS].shape, err);
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    struct assay_tensor *y = &a->out[0].t[0];

    (void)err;
    *y = a->in[X1].t[0];
    y->data = NULL;
    y->dtype = a->attr[OUTPUT_DTYPE].i ? ASSAY_BF16 : ASSAY_F16;
    y->shape[y->rank - 1] = a->in[X2].t[0].shape[y->rank - 1];
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static enum assay_status set_shape(struct assay_sampler *s, struct assay_case *c, int i,
                                   struct assay_shape shape, struct assay_range range,
                                   struct assay_err *err)
{
    ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    c->in[i].shape[0] = shape;
    c->in[i].range[0] = range;
    return ASSAY_OK;
}

/* Factors for sums of about the root of k. The class is that of x1, but infinities and NaN, which
 * integers lack, are in the scale. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    static const struct assay_range small = { 0.001, 0.01 }, pre = { -1000, 1000 };
    static const struct assay_range post = { -2, 2 }, wide = { -20, 20 }, all = { -128, 127 };
    int rank = s->rank < MIN_RANK ? MIN_RANK : s->rank;
    struct assay_shape x = { .rank = rank }, w, bias = { .rank = 1 };
    bool special = c->value_class == ASSAY_CLASS_SPECIAL;
    bool per_tensor = assay_sample_below(s, 4) == 0;
    int64_t m, n, k, batches = 1;

    for (int i = 0; i < rank - 2; i++)
        batches *= x.dim[i] = 1 + (int64_t)assay_sample_below(s, rank > 3 ? 3 : 6);
    assay__sample_product(s, batches, ASSAY_I8, &m, &n, &k);
    if (n > MAX_N)
        n = MAX_N;
    w = x;
    x.dim[rank - 2] = m;
    x.dim[rank - 1] = w.dim[rank - 2] = k;
    w.dim[rank - 1] = n;
    ASSAY_TRY(set_shape(s, c, X1, x, special ? wide : c->in[X1].range[0], err));
    ASSAY_TRY(set_shape(s, c, X2, w, all, err));
    ASSAY_TRY(set_shape(s, c, SCALE, (struct assay_shape){ 1, { per_tensor && !special ? 1 : n } },
                        special ? c->in[SCALE].range[0] : small, err));
    if (!assay__sample_absent(s, c, OFFSET, 0.3))
        ASSAY_TRY(
            set_shape(s, c, OFFSET, (struct assay_shape){ 1, { per_tensor ? 1 : n } }, post, err));
    if (!assay__sample_absent(s, c, PERTOKEN, 0.4))
        ASSAY_TRY(set_shape(s, c, PERTOKEN, (struct assay_shape){ 1, { m } },
                            (struct assay_range){ 0.1, 2 }, err));
    bias.rank = 1 + (int)assay_sample_below(s, rank == 3 ? 3 : 2);
    for (int i = 0; i < bias.rank; i++)
        bias.dim[i] = i == bias.rank - 1 ? n : bias.rank == 3 && i == 0 ? batches : 1;
    if (!assay__sample_absent(s, c, BIAS, 0.7))
        ASSAY_TRY(set_shape(s, c, BIAS, bias, c->in[BIAS].dtype == ASSAY_I32 ? pre : post, err));
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

/* What the sums are brought to the output by; vectors as doubles, NULL where absent. */
struct job {
    struct assay__matrix y;
    const double *scale, *offset, *row_scale, *bias;
    bool bias_first;
    int64_t bias_batch; /* elements of bias from one batch to the next */
};

static enum assay_status vector(const struct assay_args *a, int i, int64_t n, const double **to,
                                struct assay_err *err)
{
    const struct assay_tensor *t = a->in[i].t;
    int64_t numel = a->in[i].n ? assay_numel(t) : 0;
    double *v;

    *to = NULL;
    if (!a->in[i].n)
        return ASSAY_OK;
    v = assay_arena_array(a->arena, (size_t)(n > numel ? n : numel) + 1, sizeof *v);
    if (!v)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %s", in[i].name);
    assay_load_n(t, 0, numel, v);
    for (int64_t k = 1; numel == 1 && k < n; k++)
        v[k] = v[0];
    *to = v;
    return ASSAY_OK;
}

static void finish(const void *ctx, const struct assay__tile *t)
{
    const struct job *j = ctx;
    const double *bias = j->bias ? j->bias + t->batch * j->bias_batch + t->col : NULL;

    for (int64_t r = 0; r < t->rows; r++) {
        double *v = t->v + r * t->ld;
        double factor = j->row_scale ? j->row_scale[t->row + r] : 1;

        for (int64_t c = 0; c < t->cols; c++) {
            double sum = bias && j->bias_first ? v[c] + bias[c] : v[c];

            sum *= j->scale[t->col + c];
            if (j->offset)
                sum += j->offset[t->col + c];
            sum *= factor;
            v[c] = bias && !j->bias_first ? sum + bias[c] : sum;
        }
    }
    assay__matrix_store(&j->y, t);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X1].t[0], *w = &a->in[X2].t[0];
    int64_t m = x->shape[x->rank - 2], k = x->shape[x->rank - 1], n = w->shape[w->rank - 1];
    struct assay__matrix left = { x, 0, k, 1, m * k }, right = { w, 0, n, 1, k * n };
    struct job j = { .y = { &a->out[0].t[0], 0, n, 1, m * n } };
    struct assay__product p = { .batches = 1, .m = m, .n = n, .k = k, .int8 = true };

    for (int i = 0; i < x->rank - 2; i++)
        p.batches *= x->shape[i];
    ASSAY_TRY(vector(a, SCALE, n, &j.scale, err));
    ASSAY_TRY(vector(a, OFFSET, n, &j.offset, err));
    ASSAY_TRY(vector(a, PERTOKEN, m, &j.row_scale, err));
    ASSAY_TRY(vector(a, BIAS, n, &j.bias, err));
    if (a->in[BIAS].n) {
        j.bias_first = a->in[BIAS].t->dtype == ASSAY_I32;
        j.bias_batch = a->in[BIAS].t->rank == 3 ? n : 0;
    }
    p.a = assay__operand_of(&left);
    p.b = assay__operand_of(&right);
    p.store = finish;
    p.ctx = &j;
    return assay__product(a, &p, err);
}

/* ---- work ------------------------------------------------------------------------------------ */

static double products(const struct assay_args *a)
{
    const struct assay_tensor *x = &a->in[X1].t[0];

    return (double)assay_numel(&a->out[0].t[0]) * (double)x->shape[x->rank - 1];
}

/* What follows the sums is once for each result. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_products(w, ASSAY_I8, products(a));
}

static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_cube(w, ASSAY_I8, products(a));
}

const struct assay_op assay_op_quant_matmul = {
    .name = "quant_matmul",
    .tier = 3,
    .formula = "out = ((x1 @ x2 + int32 bias) * scale + offset) * pertoken_scale + float bias; "
               "absent terms are left out",
    .constraints = "x1 and x2 have the same rank, from 2 to 6, and the same extents but the last "
                   "two\n"
                   "n is at most 65535\n"
                   "a bias of int32 is added before the scale, one of floats at the end",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .infer = infer,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .source = "CANN Bench level 3, QuantMatmul",
};
