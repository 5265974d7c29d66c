/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouped_matmul_swiglu_quant: the rows of x come in groups, and each group is multiplied by a
 * matrix of its own; the exact sums are brought to real numbers by a factor for each row and one
 * for each column, the left half of a row gates the right one, and the result is quantised again:
 * scale = max(max |v|, 2^-126) / 127 by row, y = v / scale to the nearest even integer.
 *
 * In the reference, rows behind the last group are whatever memory held. Here there are none. It
 * adds up in float32, which is exact up to 2^24, and computes what follows in float32, too; ours is
 * in fp64 throughout.
 */
#include "assay/op.h"

#include "ops/gate.h"
#include "ops/groups.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/moments.h"
#include "ops/product.h"
#include "ops/quantise.h"
#include "ops/sample.h"

#include <math.h>

enum { X, WEIGHT, WEIGHT_SCALE, X_SCALE };
enum { Y, SCALE };
enum { GROUP_LIST };
#define I8 ASSAY_BIT(ASSAY_I8)
#define F32 ASSAY_BIT(ASSAY_F32)
static const struct assay_param in[] = {
    [X] = { "x", I8, 0, "[m, k]", NULL },
    [WEIGHT] = { "weight", I8, 0, "[e, k, n]", NULL },
    [WEIGHT_SCALE] = { "weight_scale", F32, 0, "[e, n]", NULL },
    [X_SCALE] = { "x_scale", F32, 0, "[m]", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    [Y] = { "y", I8, 0, "[m, n/2]", NULL },
    [SCALE] = { "y_scale", F32, 0, "[m]", NULL },
    { 0 },
};

static const struct assay_attr attrs[] = {
    [GROUP_LIST] = { "group_list", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    { 0 },
};

static const struct assay_tol tol[] = {
    { ASSAY_I8, 1 },
    { ASSAY_F32, 0.001 },
    { ASSAY_I8, -1 },
};

enum { MOST_K = 131071 }; /* so that sums fit into 32 bits */

static const double least = 0x1p-126;

struct extents {
    int64_t m, k, n, groups;
    const struct assay_ints *ends;
};

static struct extents extents_of(const struct assay_args *a)
{
    const struct assay_tensor *x = &a->in[X].t[0], *w = &a->in[WEIGHT].t[0];

    return (struct extents){ x->shape[0], x->shape[1], w->shape[2], w->shape[0],
                             &a->attr[GROUP_LIST].ints };
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status misfit(const struct assay_args *a, int i, int of, struct assay_err *err)
{
    char text[128], other[128];

    return assay_fail(err, ASSAY_INVALID, "%s %s does not fit %s %s: must be %s", in[i].name,
                      assay_tensor_text(a->in[i].t, text, sizeof text), in[of].name,
                      assay_tensor_text(a->in[of].t, other, sizeof other), in[i].shape);
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0], *w = &a->in[WEIGHT].t[0];
    const struct assay_tensor *columns = &a->in[WEIGHT_SCALE].t[0], *rows = &a->in[X_SCALE].t[0];
    struct extents e;

    if (x->rank != 2 || w->rank != 3 || x->shape[1] != w->shape[1])
        return misfit(a, WEIGHT, X, err);
    e = extents_of(a);
    if (e.n == 0 || e.n % 2 != 0)
        return assay_fail(err, ASSAY_INVALID, "weight has %lld columns, must be two halves",
                          (long long)e.n);
    if (e.k > MOST_K)
        return assay_fail(err, ASSAY_INVALID, "k = %lld, at most %d are allowed", (long long)e.k,
                          MOST_K);
    if (columns->rank != 2 || columns->shape[0] != e.groups || columns->shape[1] != e.n)
        return misfit(a, WEIGHT_SCALE, WEIGHT, err);
    if (rows->rank != 1 || rows->shape[0] != e.m)
        return misfit(a, X_SCALE, X, err);
    return assay__check_groups(e.ends, e.groups, e.m, err);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    (void)err;
    assay__infer_quantised(&a->in[X].t[0], &a->out[Y].t[0], &a->out[SCALE].t[0]);
    a->out[Y].t[0].shape[1] = extents_of(a).n / 2;
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* The class is that of x, but infinities and NaN, which integers lack, are in the scales of the
 * columns or of the rows. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { LEAST_N = 18 };
    static const struct assay_range wide = { -20, 20 }, all = { -128, 127 };
    bool special = c->value_class == ASSAY_CLASS_SPECIAL;
    int64_t groups = 1 + (int64_t)assay_sample_below(s, 8), m, n, k;
    int where = assay_sample_below(s, 2) ? X_SCALE : WEIGHT_SCALE;
    struct assay_range had = c->in[WEIGHT_SCALE].range[0];
    double most;

    assay__sample_product(s, 1, ASSAY_I8, &m, &n, &k);
    if (m * groups * 20 < n)
        m *= groups;
    while (groups > 1 && n / groups < LEAST_N)
        groups--;
    n = n / groups < LEAST_N ? LEAST_N : n / groups / 2 * 2;
    ASSAY_TRY(assay__draw_groups(s, m, groups, &c->attr[GROUP_LIST], err));
    for (int i = X; i <= X_SCALE; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    c->in[X].shape[0] = (struct assay_shape){ 2, { m, k } };
    c->in[WEIGHT].shape[0] = (struct assay_shape){ 3, { groups, k, n } };
    c->in[WEIGHT_SCALE].shape[0] = (struct assay_shape){ 2, { groups, n } };
    c->in[X_SCALE].shape[0] = (struct assay_shape){ 1, { m } };
    if (special)
        c->in[X].range[0] = wide;
    if (c->value_class != ASSAY_CLASS_SMALL || assay_sample_below(s, 2))
        c->in[WEIGHT].range[0] = all;
    /* sums are seldom larger than twice their root mean square */
    most = 2.0 / 3 * sqrt((double)k) * assay__range_magnitude(c->in[X].range) *
           assay__range_magnitude(c->in[WEIGHT].range);
    assay__gate_sample_scales(s, most, c->in[WEIGHT_SCALE].range, c->in[X_SCALE].range);
    if (special) { /* ordinary values beside special ones are up to 1 */
        double other = assay_sample_figure(6 / most);

        c->in[WEIGHT_SCALE].range[0] = c->in[X_SCALE].range[0] =
            (struct assay_range){ -other, other };
        c->in[where].range[0] = had;
    }
    return ASSAY_OK;
}

/* Most rows shall have neither an infinity nor a NaN in their scales. */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_tensor *columns = &a->in[WEIGHT_SCALE].t[0], *rows = &a->in[X_SCALE].t[0];

    (void)err;
    assay__thin_specials(columns, 2 * (double)extents_of(a).n, assay_key_sub(key, 1), a->n_threads);
    assay__thin_specials(rows, 8, assay_key_sub(key, 2), a->n_threads);
    assay__gate_spread_scales(columns, rows, assay_key_sub(key, 3), 0, 0);
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

enum { SUMS = 1 << 22 }; /* sums at a time */

/* Rows of one group. */
struct job {
    const struct assay_args *a;
    struct assay_tensor sums; /* exact */
    struct assay__matrix to;  /* the same, as a matrix */
    int64_t first, n;         /* row of x that sums begin with; columns */
    int64_t group;
};

/* Real values of columns k .. k+m-1 of row i of the sums. */
static void load_row(const struct job *j, int64_t i, int64_t k, int64_t m, double *v)
{
    const struct assay_args *a = j->a;
    double column[ASSAY__BLOCK], row = assay_load(&a->in[X_SCALE].t[0], j->first + i);

    assay_load_n(&j->sums, i * j->n + k, m, v);
    assay_load_n(&a->in[WEIGHT_SCALE].t[0], j->group * j->n + k, m, column);
    for (int64_t c = 0; c < m; c++) {
        double sum = assay_round(a, ASSAY_F32, v[c]);

        v[c] = assay_round(a, ASSAY_F32, assay_round(a, ASSAY_F32, sum * row) * column[c]);
    }
}

static void load_gated(const struct job *j, int64_t i, int64_t k, int64_t m, double *v)
{
    double gate[ASSAY__BLOCK];

    load_row(j, i, k, m, gate);
    load_row(j, i, j->n / 2 + k, m, v);
    assay__gate(j->a, m, gate, v);
}

static void rows(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    double v[ASSAY__BLOCK];
    int64_t half = j->n / 2;

    for (int64_t i = begin; i < end; i++) {
        double amax = 0, scale;

        for (int64_t k = 0, m; k < half; k += m) {
            m = half - k < ASSAY__BLOCK ? half - k : ASSAY__BLOCK;
            load_gated(j, i, k, m, v);
            amax = assay__fold_amax(amax, v, m);
        }
        scale = assay__quant_scale(j->a, amax, least);
        assay_store(&j->a->out[SCALE].t[0], j->first + i, scale);
        for (int64_t k = 0, m; k < half; k += m) {
            m = half - k < ASSAY__BLOCK ? half - k : ASSAY__BLOCK;
            load_gated(j, i, k, m, v);
            assay__quantise(j->a, &j->a->out[Y].t[0], (j->first + i) * half + k, m, scale, v);
        }
    }
}

static void store(const void *ctx, const struct assay__tile *t)
{
    const struct job *j = ctx;

    assay__matrix_store(&j->to, t);
}

/* n rows from j->first on: sums, then what is made of them. */
static enum assay_status some_rows(struct job *j, int64_t n, struct assay_arena *arena,
                                   struct assay_err *err)
{
    struct extents e = extents_of(j->a);
    struct assay_args args = *j->a;
    struct assay__matrix x = { &args.in[X].t[0], j->first * e.k, e.k, 1, 0 };
    struct assay__matrix w = { &args.in[WEIGHT].t[0], j->group * e.k * e.n, e.n, 1, 0 };
    struct assay__product p = { .batches = 1, .m = n, .n = e.n, .k = e.k, .int8 = true };

    j->to = (struct assay__matrix){ &j->sums, 0, e.n, 1, 0 };
    p.a = assay__operand_of(&x);
    p.b = assay__operand_of(&w);
    p.store = store;
    p.ctx = j;
    args.arena = arena;
    ASSAY_TRY(assay__product(&args, &p, err));
    assay_parallel(n, 1 + 16384 / e.n, args.n_threads, rows, j);
    return ASSAY_OK;
}

static int64_t rows_at_a_time(const struct extents *e)
{
    int64_t n = SUMS / e->n;

    n = n < e->m ? n : e->m;
    return n < 1 ? 1 : n;
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct extents e = extents_of(a);
    struct assay_arena tiles = { 0 };
    int64_t most = rows_at_a_time(&e);
    enum assay_status st = ASSAY_OK;
    struct job j = { .a = a, .n = e.n };

    j.sums = (struct assay_tensor){ .dtype = ASSAY_I32, .rank = 2, .shape = { most, e.n } };
    j.sums.data = assay_arena_array(a->arena, (size_t)(most * e.n), sizeof(int32_t));
    if (!j.sums.data)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld rows of sums", (long long)most);
    for (j.group = 0; j.group < e.groups && !st; j.group++) {
        int64_t n = assay__group_rows(e.ends, j.group);

        for (int64_t i = 0; i < n && !st; i += most) {
            j.first = assay__group_begin(e.ends, j.group) + i;
            st = some_rows(&j, n - i < most ? n - i : most, &tiles, err);
            assay_arena_reset(&tiles);
        }
    }
    assay_arena_release(&tiles);
    return st;
}

/* ---- work ------------------------------------------------------------------------------------ */

static double products(const struct assay_args *a)
{
    struct extents e = extents_of(a);

    return (double)e.m * (double)e.k * (double)e.n;
}

/* What follows the sums is once for each result. What empty groups have need not be read. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    struct extents e = extents_of(a);

    for (int64_t g = 0; g < e.groups; g++)
        if (assay__group_rows(e.ends, g) == 0)
            w->bytes_in -= (double)e.n * ((double)e.k + sizeof(float));
    assay__add_products(w, ASSAY_I8, products(a));
}

static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_cube(w, ASSAY_I8, products(a));
}

const struct assay_op assay_op_grouped_matmul_swiglu_quant = {
    .name = "grouped_matmul_swiglu_quant",
    .tier = 4,
    .formula = "A, B = halves of the rows of x[rows of group g] @ weight[g] * x_scale[row] * "
               "weight_scale[g]; v = silu(A) * B; y_scale = max(max |v|, 2^-126) / 127 by row, "
               "y = round(v / y_scale)",
    .constraints = "group_list holds one end for each matrix of weight, ascending, the last one m\n"
                   "n is even and not 0; k is at most 131071",
    .in = in,
    .out = out,
    .attrs = attrs,
    .tol = tol,
    .n_tol = 2,
    .sample = sample,
    .check = check,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .f32_reference = true,
    .source = "CANN Bench level 4, GroupedMatmulSwigluQuant",
};
