/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouped_matmul: the rows of x come in groups, and each group is multiplied by a matrix of its
 * own. group_list holds where each group ends; groups may be empty.
 */
#include "assay/op.h"

#include "ops/fit.h"
#include "ops/groups.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/product.h"
#include "ops/sample.h"

enum { X, WEIGHT, BIAS };
enum { GROUP_LIST, SPLIT_ITEM, TRANSPOSE_WEIGHT };
static const struct assay_param in[] = {
    [X] = { "x", ASSAY_FLOATS, 0, "[m, k]", NULL },
    [WEIGHT] = { "weight", ASSAY_FLOATS, 0, "[e, k, n], or [e, n, k] when transposed", NULL },
    [BIAS] = { "bias", ASSAY_FLOATS, ASSAY_PARAM_OPTIONAL, "[e, n]", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    { "y", ASSAY_FLOATS, ASSAY_PARAM_LIST,
      "split_item 0, 1: e of [rows of the group, n]; else one "
      "of [m, n]",
      NULL },
    { 0 }
};

static const double splits[] = { 0, 1, 2, 3 };
static const struct assay_attr attrs[] = {
    [GROUP_LIST] = { "group_list", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [SPLIT_ITEM] = { "split_item", ASSAY_ATTR_INT, 0, { .set = true }, NULL, splits, 4 },
    [TRANSPOSE_WEIGHT] = { "transpose_weight", ASSAY_ATTR_BOOL, 0, { .set = true }, NULL, NULL, 0 },
    { 0 },
};

/* The extents that a call is made of. */
struct extents {
    int64_t m, k, n, groups;
    const struct assay_ints *ends;
    bool turned, split;
};

static struct extents extents_of(const struct assay_args *a)
{
    const struct assay_tensor *x = &a->in[X].t[0], *w = &a->in[WEIGHT].t[0];
    bool turned = a->attr[TRANSPOSE_WEIGHT].i;

    return (struct extents){ .m = x->shape[0],
                             .k = x->shape[1],
                             .n = w->shape[turned ? 1 : 2],
                             .groups = w->shape[0],
                             .ends = &a->attr[GROUP_LIST].ints,
                             .turned = turned,
                             .split = a->attr[SPLIT_ITEM].i < 2 };
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check_dtypes(const struct assay_args *a, struct assay_err *err)
{
    enum assay_dtype x = a->in[X].t[0].dtype, w = a->in[WEIGHT].t[0].dtype;

    if (w != x)
        return assay_fail(err, ASSAY_INVALID, "weight is %s, x is %s", assay_dtype_name(w),
                          assay_dtype_name(x));
    if (a->in[BIAS].n) {
        enum assay_dtype b = a->in[BIAS].t[0].dtype;

        if (b != x && !(b == ASSAY_F32 && x == ASSAY_BF16))
            return assay_fail(err, ASSAY_INVALID, "bias is %s, x is %s", assay_dtype_name(b),
                              assay_dtype_name(x));
    }
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0], *w = &a->in[WEIGHT].t[0];
    int64_t split = a->attr[SPLIT_ITEM].i;
    struct extents e;

    ASSAY_TRY(check_dtypes(a, err));
    if (split < 0 || split > 3)
        return assay_fail(err, ASSAY_INVALID, "split_item is %lld, 0 to 3 are allowed",
                          (long long)split);
    if (x->rank != 2 || w->rank != 3 ||
        x->shape[1] != w->shape[a->attr[TRANSPOSE_WEIGHT].i ? 2 : 1])
        return assay__misfit("weight", w, "x", x, NULL, err);
    e = extents_of(a);
    if (a->in[BIAS].n) {
        const struct assay_tensor *b = &a->in[BIAS].t[0];

        if (b->rank != 2 || b->shape[0] != e.groups || b->shape[1] != e.n)
            return assay__misfit("bias", b, "weight", w, NULL, err);
    }
    if (e.split && e.groups > ASSAY_MAX_LIST)
        return assay_fail(err, ASSAY_INVALID, "%lld outputs, at most %d are allowed",
                          (long long)e.groups, ASSAY_MAX_LIST);
    return assay__check_groups(e.ends, e.groups, e.m, err);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    struct extents e = extents_of(a);
    struct assay_slot *y = &a->out[0];

    y->n = e.split ? e.groups : 1;
    y->t = assay_arena_array(a->arena, (size_t)y->n, sizeof *y->t);
    if (!y->t)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld outputs", (long long)y->n);
    for (int64_t g = 0; g < y->n; g++) {
        int64_t rows = e.split ? assay__group_rows(e.ends, g) : e.m;

        y->t[g] = (struct assay_tensor){ .dtype = a->in[X].t[0].dtype,
                                         .rank = 2,
                                         .shape = { rows, e.n } };
    }
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Weights of both signs whose sums stay inside the dtype. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum assay_dtype d = c->in[X].dtype;
    double most = assay__range_magnitude(&c->in[X].range[0]);
    bool special = c->value_class == ASSAY_CLASS_SPECIAL;
    int64_t groups = 1 + (int64_t)assay_sample_below(s, 8), m, n, k;
    struct assay_range w = c->in[X].range[0];

    assay__sample_product(s, 1, d, &m, &n, &k);
    /* each row meets the columns of one group only, so that there may be more of them */
    if (m * groups * 20 < n)
        m *= groups;
    n = n / groups > 0 ? n / groups : 1;
    if (!special)
        w = assay__sample_factor(s, most, (double)k, d);
    ASSAY_TRY(assay__draw_groups(s, m, groups, &c->attr[GROUP_LIST], err));
    for (int i = X; i <= BIAS; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    c->in[X].shape[0] = (struct assay_shape){ 2, { m, k } };
    c->in[WEIGHT].shape[0] = (struct assay_shape){ 3, { groups, k, n } };
    if (c->attr[TRANSPOSE_WEIGHT].i)
        c->in[WEIGHT].shape[0] = (struct assay_shape){ 3, { groups, n, k } };
    c->in[WEIGHT].range[0] = w;
    c->in[BIAS].shape[0] = (struct assay_shape){ 2, { groups, n } };
    c->in[BIAS].range[0] = (struct assay_range){ -1, 1 };
    if (d == ASSAY_BF16 && assay_sample_below(s, 2))
        c->in[BIAS].dtype = ASSAY_F32;
    assay__sample_absent(s, c, BIAS, 0.6);
    return ASSAY_OK;
}

/* A sum with an infinity or a NaN in it tells nothing of its other terms: most sums shall have
 * neither. */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    (void)err;
    for (int i = X; i <= WEIGHT; i++)
        assay__thin_specials(a->in[i].t, (double)a->in[X].t[0].shape[1],
                             assay_key_sub(key, (uint32_t)i), a->n_threads);
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

struct job {
    const struct assay_args *a;
    struct assay__matrix y;
    const double *bias; /* of this group, or NULL */
};

static void finish(const void *ctx, const struct assay__tile *t)
{
    const struct job *j = ctx;

    for (int64_t r = 0; j->bias && r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++)
            t->v[r * t->ld + c] =
                assay_round(j->a, ASSAY_F32, t->v[r * t->ld + c] + j->bias[t->col + c]);
    assay__matrix_store(&j->y, t);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct extents e = extents_of(a);
    struct assay__matrix x = { &a->in[X].t[0], 0, e.k, 1, 0 };
    struct assay__matrix w = { &a->in[WEIGHT].t[0], 0, e.turned ? 1 : e.n, e.turned ? e.k : 1, 0 };
    double *bias = assay_arena_array(a->arena, (size_t)e.n + 1, sizeof *bias);

    if (!bias)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the bias");
    for (int64_t g = 0; g < e.groups; g++) {
        int64_t begin = assay__group_begin(e.ends, g);
        struct job j = { a,
                         { &a->out[0].t[e.split ? g : 0], e.split ? 0 : begin * e.n, e.n, 1, 0 },
                         NULL };
        struct assay__product p = {
            .batches = 1, .m = assay__group_rows(e.ends, g), .n = e.n, .k = e.k
        };

        if (a->in[BIAS].n) {
            assay_load_n(&a->in[BIAS].t[0], g * e.n, e.n, bias);
            j.bias = bias;
        }
        x.at = begin * e.k;
        w.at = g * e.k * e.n;
        p.a = assay__operand_of(&x);
        p.b = assay__operand_of(&w);
        p.store = finish;
        p.ctx = &j;
        ASSAY_TRY(assay__product(a, &p, err));
    }
    return ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

static double products(const struct assay_args *a)
{
    struct extents e = extents_of(a);

    return (double)e.m * (double)e.k * (double)e.n;
}

/* Weights of empty groups need not be read. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    struct extents e = extents_of(a);
    double each = (double)(e.k * e.n) * (double)assay_dtype_size(a->in[WEIGHT].t[0].dtype);

    if (a->in[BIAS].n)
        each += (double)e.n * (double)assay_dtype_size(a->in[BIAS].t[0].dtype);
    for (int64_t g = 0; g < e.groups; g++)
        if (assay__group_rows(e.ends, g) == 0)
            w->bytes_in -= each;
    assay__add_products(w, a->in[X].t[0].dtype, products(a));
}

static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_cube(w, a->in[X].t[0].dtype, products(a));
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "fixed_attribute split_item",
      "the outputs are given, one or several; their rows are the same, one after the other" },
    { "other_attribute split_item",
      "the outputs are given, one or several; their rows are the same, one after the other" },
    { 0 },
};

const struct assay_op assay_op_grouped_matmul = {
    .name = "grouped_matmul",
    .tier = 3,
    .formula = "y[rows of group g] = x[rows of group g] @ weight[g] + bias[g]",
    .constraints = "x and weight have the same dtype; bias, too, or float32 beside bfloat16\n"
                   "group_list holds one end for each matrix of weight, ascending, the last one m\n"
                   "split_item is 0 to 3",
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
    .spared = spared,
    .source = "CANN Bench level 3, GroupedMatmul",
};
