/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mhc_sinkhorn: square matrices towards doubly stochastic ones. Step 1: softmax of the rows, plus
 * eps; then columns are divided by their sum + eps. Each further step does so with the rows, then
 * with the columns. The softmax itself has no eps in its divisor.
 *
 * Infinities below zero count as 0; NaN, an infinity above, or a row of nothing but infinities make
 * their row NaN, and the next division of the columns all of the matrix. The official description
 * has at most 16384 matrices; any number will do here.
 */
#include "assay/op.h"

#include "base/clones.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/moments.h"
#include "ops/sample.h"
#include "ops/slice_fill.h"

#include <float.h>
#include <math.h>

enum { ITER_STEP, EPS };
enum { MIN_EDGE = 2, MAX_EDGE = 16, MAX_STEPS = 40 };
#define F32 ASSAY_BIT(ASSAY_F32)
static const struct assay_param in[] = { { "comb", F32, 0, "[b, n, n]", NULL }, { 0 } };
static const struct assay_param out[] = { { "comb_out", F32, 0, "like comb", NULL }, { 0 } };

/* Weighted: 20 is what models take. An eps of 1e-6 is below the tolerance of a single division;
 * larger ones tell where it is added. */
static const double steps[] = { 20, 1, 2, 5, 40, 10 };
static const double epsilons[] = { 1e-6, 1e-7, 1e-8, 1e-3, 1e-2 };
static const struct assay_attr attrs[] = {
    [ITER_STEP] = { "iter_step", ASSAY_ATTR_INT, 0, { .set = true, .i = 20 }, NULL, steps, 6 },
    [EPS] = { "eps", ASSAY_ATTR_FLOAT, 0, { .set = true, .f = 1e-6 }, NULL, epsilons, 5 },
    { 0 },
};

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0];
    char xs[128];

    if (x->rank != 3 || x->shape[1] != x->shape[2] || x->shape[1] < MIN_EDGE ||
        x->shape[1] > MAX_EDGE)
        return assay_fail(err, ASSAY_INVALID,
                          "comb %s, must be a batch of square matrices of %d to %d rows",
                          assay_tensor_text(x, xs, sizeof xs), MIN_EDGE, MAX_EDGE);
    if (a->attr[ITER_STEP].i < 1 || a->attr[ITER_STEP].i > MAX_STEPS)
        return assay_fail(err, ASSAY_INVALID, "iter_step %lld, must be 1 to %d",
                          (long long)a->attr[ITER_STEP].i, MAX_STEPS);
    return assay__check_epsilon(a->attr[EPS].f, err);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { EDGES = 12 };
    static const int64_t edges[EDGES] = { 4, 4, 4, 8, 8, 16, 2, 3, 5, 6, 12, 13 };
    static const int64_t most_work = 80000000; /* element steps: large cases take fewer */
    int64_t n = edges[assay_sample_below(s, EDGES)];

    ASSAY_TRY(assay__sample_room(s, c, 0, 1, err));
    if (c->value_class == ASSAY_CLASS_SMALL) /* nearer to each other they are as good as equal */
        c->in[0].range[0] = (struct assay_range){ -1, 1 };
    while (s->elements * c->attr[ITER_STEP].i > most_work)
        c->attr[ITER_STEP].i /= 2;
    c->in[0].shape[0] = (struct assay_shape){ 3, { s->elements / (n * n) + 1, n, n } };
    return ASSAY_OK;
}

/* Matrices differ in how far their values lie apart: by powers of two, where there is room. */
static void recipe(const void *ctx, struct assay_sampler *s, const struct assay__slice *slice,
                   struct assay__recipe *r)
{
    double most = fmax(-slice->lo, slice->hi);

    (void)ctx;
    if (most > 4)
        r->most[1] = exp2(-(double)assay_sample_below(s, (uint64_t)log2(most)));
}

static void draw_order(struct assay_sampler *s, int n, int order[MAX_EDGE])
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = (int)assay_sample_below(s, (uint64_t)i + 1), t = order[i];

        order[i] = order[k];
        order[k] = t;
    }
}

/* Pulls what lies above the diagonal, after a permutation of rows and columns, down to a sixteenth
 * of its distance from the smallest value. */
static void lower(struct assay_sampler *s, int n, double *v)
{
    int rows[MAX_EDGE] = { 0 }, columns[MAX_EDGE] = { 0 };
    double lo = INFINITY;

    draw_order(s, n, rows);
    draw_order(s, n, columns);
    for (int i = 0; i < n * n; i++)
        lo = isfinite(v[i]) ? fmin(lo, v[i]) : lo;
    for (int i = 0; i < n * n; i++)
        if (rows[i / n] < columns[i % n] && isfinite(v[i]))
            v[i] = lo + (v[i] - lo) / 16;
}

struct filling {
    const struct assay_tensor *x;
    struct assay_key key;
};

static void fill_range(void *ctx, int64_t begin, int64_t end)
{
    const struct filling *f = ctx;
    int n = (int)f->x->shape[1];
    double v[MAX_EDGE * MAX_EDGE];

    for (int64_t i = begin; i < end; i++) {
        struct assay_sampler s = { .key = assay_key_sub(f->key, (uint32_t)i) };

        if (assay_sample_below(&s, 2))
            continue;
        assay_load_n(f->x, i * n * n, (int64_t)n * n, v);
        lower(&s, n, v);
        assay_store_n(f->x, i * n * n, (int64_t)n * n, v);
    }
}

/*
 * Values that are all alike converge in a few steps, so that later ones change nothing. Half of the
 * matrices are nearly triangular: they approach their limit, a permutation, ever more slowly. One
 * special value makes a matrix NaN: about half have none.
 */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    struct filling f = { &a->in[0].t[0], assay_key_sub(key, UINT32_MAX) };
    struct assay_tensor flat = *f.x;

    (void)err;
    flat.rank = 2;
    flat.shape[1] *= flat.shape[2];
    assay__fill_slices(a, &flat, 1, key, recipe, NULL);
    assay_parallel(f.x->shape[0], 256, a->n_threads, fill_range, &f);
    return ASSAY_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

/* Matrices are worked on a few at a time, element by element side by side. */
enum { LANES = 16 };
typedef double lanes[LANES];

struct job {
    const struct assay_args *a;
    double eps;
};

/* What a division or a sum gives: in float32 in the native run. */
static ASSAY__INLINE double rounded(bool native, double v)
{
    return native ? (double)(float)v : v;
}

/* Divides each of n lines by its sum + eps; elements of a line are `step` apart, lines `next`. */
static ASSAY__INLINE void normalise(lanes *m, int n, int step, int next, double eps, bool native)
{
    for (int i = 0; i < n; i++) {
        lanes sum = { 0 };

        for (int k = 0; k < n; k++)
            for (int l = 0; l < LANES; l++)
                sum[l] = rounded(native, sum[l] + m[i * next + k * step][l]);
        for (int l = 0; l < LANES; l++)
            sum[l] = rounded(native, sum[l] + eps);
        for (int k = 0; k < n; k++)
            for (int l = 0; l < LANES; l++)
                m[i * next + k * step][l] = rounded(native, m[i * next + k * step][l] / sum[l]);
    }
}

static ASSAY__INLINE void iterate(lanes *m, int n, int64_t n_steps, double eps, bool native)
{
    normalise(m, n, n, 1, eps, native);
    for (int64_t i = 1; i < n_steps; i++) {
        normalise(m, n, 1, n, eps, native);
        normalise(m, n, n, 1, eps, native);
    }
}

ASSAY__CLONES static void ops_sinkhorn_exact(lanes *m, int n, int64_t n_steps, double eps)
{
    iterate(m, n, n_steps, eps, false);
}

ASSAY__CLONES static void ops_sinkhorn_native(lanes *m, int n, int64_t n_steps, double eps)
{
    iterate(m, n, n_steps, eps, true);
}

/* The softmax of one row, plus eps. A NaN is not the largest, but makes the sum NaN. */
static void soften(const struct assay_args *a, double *v, int n, double eps)
{
    double most = -INFINITY, sum = 0;

    for (int k = 0; k < n; k++)
        most = v[k] > most ? v[k] : most;
    for (int k = 0; k < n; k++) {
        v[k] = assay_round(a, ASSAY_F32, exp(assay_round(a, ASSAY_F32, v[k] - most)));
        sum = assay_round(a, ASSAY_F32, sum + v[k]);
    }
    for (int k = 0; k < n; k++)
        v[k] = assay_round(a, ASSAY_F32, assay_round(a, ASSAY_F32, v[k] / sum) + eps);
}

/* Groups of LANES matrices; the last one may have fewer, and then zeros in their place. */
static void range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const struct assay_tensor *x = &j->a->in[0].t[0], *y = &j->a->out[0].t[0];
    int n = (int)x->shape[1], n2 = n * n;
    double v[MAX_EDGE * MAX_EDGE];
    lanes m[MAX_EDGE * MAX_EDGE];

    for (int64_t g = begin; g < end; g++) {
        int64_t first = g * LANES, left = x->shape[0] - first;
        int used = left < LANES ? (int)left : LANES;

        memset(m, 0, sizeof m);
        for (int l = 0; l < used; l++) {
            assay_load_n(x, (first + l) * n2, n2, v);
            for (int i = 0; i < n2; i++) {
                if (i % n == 0)
                    soften(j->a, v + i, n, j->eps);
                m[i][l] = v[i];
            }
        }
        (j->a->native ? ops_sinkhorn_native : ops_sinkhorn_exact)(m, n, j->a->attr[ITER_STEP].i,
                                                                  j->eps);
        for (int l = 0; l < used; l++) {
            for (int i = 0; i < n2; i++)
                v[i] = m[i][l];
            assay_store_n(y, (first + l) * n2, n2, v);
        }
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { a, assay__scalar(a, EPS) };

    (void)err;
    assay_parallel((a->in[0].t[0].shape[0] + LANES - 1) / LANES, 4, a->n_threads, range, &j);
    return ASSAY_OK;
}

/*
 * A step can be had by two FMAs an element: factors of rows and columns take the place of divided
 * matrices, and their sums are products with a vector. Only two steps are counted: how many more
 * change anything depends on the values, and a kernel may stop when it sees none.
 */
static void work(const struct assay_args *a, struct assay_work *w)
{
    double counted = a->attr[ITER_STEP].i < 2 ? 1 : 2;

    w->amount[ASSAY_UNIT_FMA_F32] += 4 * counted * assay__elements(&a->in[0]);
}

/* Ten operations an element and step, and one. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_vector(w, &a->in[0], (double)(10 * a->attr[ITER_STEP].i + 1));
}

const struct assay_op assay_op_mhc_sinkhorn = {
    .name = "mhc_sinkhorn",
    .tier = 3,
    .formula = "step 1: m = softmax(comb) + eps by row, m = m / (sum + eps) by column; steps 2 to "
               "iter_step: m = m / (sum + eps) by row, then by column",
    .constraints = "comb has rank 3: square matrices of 2 to 16 rows\n"
                   "iter_step is 1 to 40\n"
                   "eps is finite and not negative",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .source = "CANN Bench level 3, MhcSinkhorn",
};
