/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mla_prolog: what latent attention makes of hidden states before it looks at any key. A query goes
 * down to hcq elements, is normed, and up again to n heads of d + dr elements; the d elements of a
 * head are multiplied by what would bring the latent keys up (and so stay latent, hckv wide), the
 * dr are rotated. Keys go down to hckv + dr elements, of which the first are normed and the others
 * rotated, for all heads alike.
 *
 * Rotations take elements k and k + dr/2 of a head as a pair; the tables have a value for each
 * element, and so may turn the two by different angles. The 16-bit reference computes in float32
 * throughout and rounds at the end; its fp64 run has norms and rotations in float32.
 */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/moments.h"
#include "ops/product.h"
#include "ops/rotary.h"
#include "ops/sample.h"
#include "ops/slice_fill.h"

#include <math.h>

enum { X, W_DQ, W_UQ_QR, W_UK, W_DKV_KR, GAMMA_CQ, GAMMA_CKV, SIN, COS, N_IN };
enum { QUERY, QUERY_ROPE, C_KV, K_ROPE };
enum { N_HEADS, EPS_CQ, EPS_CKV };
#define BF16 ASSAY_BIT(ASSAY_BF16)
static const struct assay_param in[] = {
    [X] = { "token_x", BF16, 0, "[b, s, he]", NULL },
    [W_DQ] = { "w_dq", BF16, 0, "[he, hcq]", NULL },
    [W_UQ_QR] = { "w_uq_qr", BF16, 0, "[hcq, n (d + dr)]", NULL },
    [W_UK] = { "w_uk", BF16, 0, "[n, d, hckv]", NULL },
    [W_DKV_KR] = { "w_dkv_kr", BF16, 0, "[he, hckv + dr]", NULL },
    [GAMMA_CQ] = { "rmsnorm_gamma_cq", BF16, 0, "[hcq]", NULL },
    [GAMMA_CKV] = { "rmsnorm_gamma_ckv", BF16, 0, "[hckv]", NULL },
    [SIN] = { "rope_sin", BF16, 0, "[b, s, dr]", NULL },
    [COS] = { "rope_cos", BF16, 0, "[b, s, dr]", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    [QUERY] = { "query", BF16, 0, "[b, s, n, hckv]", NULL },
    [QUERY_ROPE] = { "query_rope", BF16, 0, "[b, s, n, dr]", NULL },
    [C_KV] = { "c_kv", BF16, 0, "[b, s, hckv]", NULL },
    [K_ROPE] = { "k_rope", BF16, 0, "[b, s, dr]", NULL },
    { 0 },
};

static const double epsilons[] = { 1e-5, 1e-6, 1e-2, 1 };
static const struct assay_attr attrs[] = {
    [N_HEADS] = { "n_heads", ASSAY_ATTR_INT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [EPS_CQ] = { "rmsnorm_epsilon_cq",
                 ASSAY_ATTR_FLOAT,
                 0,
                 { .set = true, .f = 1e-5 },
                 NULL,
                 epsilons,
                 4 },
    [EPS_CKV] = { "rmsnorm_epsilon_ckv",
                  ASSAY_ATTR_FLOAT,
                  0,
                  { .set = true, .f = 1e-5 },
                  NULL,
                  epsilons,
                  4 },
    { 0 },
};

/* Tokens, widths as the table of inputs names them, and w: d + dr. */
struct extents {
    int64_t b, s, t, he, hcq, n, d, dr, hckv, w;
};

static struct extents extents_of(const struct assay_args *a)
{
    const struct assay_tensor *x = a->in[X].t, *uk = a->in[W_UK].t;
    struct extents e = { .b = x->shape[0],
                         .s = x->shape[1],
                         .t = x->shape[0] * x->shape[1],
                         .he = x->shape[2],
                         .hcq = a->in[W_DQ].t->shape[1],
                         .n = uk->shape[0],
                         .d = uk->shape[1],
                         .dr = a->in[COS].t->shape[2],
                         .hckv = uk->shape[2] };

    e.w = e.d + e.dr;
    return e;
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check_shape(const struct assay_args *a, int i, const int64_t want[3],
                                     struct assay_err *err)
{
    const struct assay_tensor *t = a->in[i].t;
    struct assay_tensor like = *t;
    char text[128], other[128];
    bool fit = true;

    for (int k = 0; k < t->rank; k++) {
        like.shape[k] = want[k];
        fit = fit && t->shape[k] == want[k];
    }
    if (fit)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_INVALID, "%s is %s, must be %s, which is %s", in[i].name,
                      assay_tensor_text(t, text, sizeof text),
                      assay_tensor_text(&like, other, sizeof other), in[i].shape);
}

static enum assay_status check_ranks(const struct assay_args *a, struct assay_err *err)
{
    static const int ranks[N_IN] = { 3, 2, 2, 3, 2, 1, 1, 3, 3 };
    char text[128];

    for (int i = X; i < N_IN; i++)
        if (a->in[i].t->rank != ranks[i])
            return assay_fail(err, ASSAY_INVALID, "%s is %s, must be %s", in[i].name,
                              assay_tensor_text(a->in[i].t, text, sizeof text), in[i].shape);
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    static const int eps[] = { EPS_CQ, EPS_CKV };
    struct extents e;

    for (int i = 0; i < 2; i++) {
        enum assay_status st = assay__check_epsilon(a->attr[eps[i]].f, err);

        if (st)
            return assay_wrap(err, st, "%s", attrs[eps[i]].name);
    }
    ASSAY_TRY(check_ranks(a, err));
    e = extents_of(a);
    if (e.dr % 2 != 0)
        return assay_fail(err, ASSAY_INVALID, "dr = %lld, rotated heads must be even",
                          (long long)e.dr);
    if (e.n != a->attr[N_HEADS].i || e.n < 1)
        return assay_fail(err, ASSAY_INVALID, "n_heads is %lld, w_uk has %lld heads",
                          (long long)a->attr[N_HEADS].i, (long long)e.n);
    if (e.hcq < 1 || e.hckv < 1)
        return assay_fail(err, ASSAY_INVALID, "hcq = %lld, hckv = %lld, must not be 0",
                          (long long)e.hcq, (long long)e.hckv);
    const int64_t want[N_IN][3] = { [X] = { e.b, e.s, e.he },
                                    [W_DQ] = { e.he, e.hcq },
                                    [W_UQ_QR] = { e.hcq, e.n * e.w },
                                    [W_UK] = { e.n, e.d, e.hckv },
                                    [W_DKV_KR] = { e.he, e.hckv + e.dr },
                                    [GAMMA_CQ] = { e.hcq },
                                    [GAMMA_CKV] = { e.hckv },
                                    [SIN] = { e.b, e.s, e.dr },
                                    [COS] = { e.b, e.s, e.dr } };
    for (int i = X; i < N_IN; i++)
        ASSAY_TRY(check_shape(a, i, want[i], err));
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    struct extents e = extents_of(a);
    const struct assay_tensor like = { .dtype = ASSAY_BF16, .rank = 4, .shape = { e.b, e.s } };

    (void)err;
    for (int o = QUERY; o <= K_ROPE; o++) {
        int64_t width = o == QUERY || o == C_KV ? e.hckv : e.dr;
        struct assay_tensor *y = a->out[o].t;

        *y = like;
        y->rank = o <= QUERY_ROPE ? 4 : 3;
        y->shape[2] = o <= QUERY_ROPE ? e.n : width;
        y->shape[3] = o <= QUERY_ROPE ? width : 0;
    }
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static int64_t weights_of(const struct extents *e)
{
    return e->he * (e->hcq + e->hckv + e->dr) + e->hcq * e->n * e->w + e->n * e->d * e->hckv;
}

/* Widths in the proportions that they have in models, more or less, for about that many weights. */
static void draw_widths(struct assay_sampler *s, double weights, struct extents *e)
{
    double root = sqrt(weights);
    int64_t each, left, most = (int64_t)fmax(2, fmin(128, root / 8));

    e->he = assay__sample_extent(s, root * assay_sample_between(s, 0.4, 0.9), ASSAY_BF16);
    e->hcq = assay__sample_ratio(s, fmax(8, (double)e->he / 8), fmax(12, (double)e->he / 2));
    e->hckv = assay__sample_ratio(s, fmax(8, (double)e->he / 16), fmax(12, (double)e->he / 4));
    e->dr = 2 * assay__sample_ratio(s, fmax(1, root / 80), fmax(2, fmin(32, root / 20)));
    e->d = assay__sample_ratio(s, fmax(6, (double)e->dr), fmax(12, (double)e->dr * 3));
    e->w = e->d + e->dr;
    each = e->hcq * e->w + e->d * e->hckv;
    left = (int64_t)weights - e->he * (e->hcq + e->hckv + e->dr);
    e->n = left / each < 1 ? 1 : left / each > most ? most : left / each;
}

/* Few tokens, as while decoding, or as many as weights and products leave room for: with special
 * values, of which a token has but one, many. */
static struct extents draw_extents(struct assay_sampler *s, bool special)
{
    enum { TRIES = 64 };
    struct extents e = { 0 };
    double elements = (double)s->elements, most = 0;

    for (int i = 0; i < TRIES && most < 1; i++) {
        draw_widths(s, elements * (special ? 0.3 : assay_sample_between(s, 0.5, 0.95)), &e);
        most = (elements - (double)weights_of(&e)) / (double)(e.he + 2 * e.dr);
        most = fmin(most, ASSAY__MOST_PRODUCTS / (double)weights_of(&e));
    }
    e.t = assay__sample_ratio(s, 1, fmax(1, most));
    if (special || assay_sample_below(s, 2))
        e.t = (int64_t)fmax(1, most);
    e.s = assay__sample_ratio(s, 1, (double)e.t);
    if (assay_sample_below(s, 3) == 0)
        e.s = 1;
    e.b = e.t / e.s;
    return e;
}

/* Sums of both signs near 1; the class is that of token_x alone. What is squared is limited as in
 * float32, which the reference computes in. */
static void set_ranges(struct assay_sampler *s, struct assay_case *c, const struct extents *e)
{
    static const struct assay_range gammas[] = { { 0.5, 1.5 }, { -1, 1 }, { -2, 2 } };
    double most = assay__range_magnitude(c->in[X].range), normed = 1.7;

    c->in[W_DQ].range[0] = assay__sample_factor(s, most, (double)e->he, ASSAY_F32);
    c->in[W_DKV_KR].range[0] = assay__sample_factor(s, most, (double)e->he, ASSAY_F32);
    c->in[W_UQ_QR].range[0] = assay__sample_factor(s, normed, (double)e->hcq, ASSAY_F32);
    c->in[W_UK].range[0] = assay__sample_factor(s, 3, (double)e->d, ASSAY_F32);
    for (int i = GAMMA_CQ; i <= GAMMA_CKV; i++)
        c->in[i].range[0] = gammas[assay_sample_below(s, 3)];
    c->in[SIN].range[0] = c->in[COS].range[0] = (struct assay_range){ -1, 1 };
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    struct extents e = draw_extents(s, c->value_class == ASSAY_CLASS_SPECIAL);
    const struct assay_shape shapes[N_IN] = {
        [X] = { 3, { e.b, e.s, e.he } },
        [W_DQ] = { 2, { e.he, e.hcq } },
        [W_UQ_QR] = { 2, { e.hcq, e.n * e.w } },
        [W_UK] = { 3, { e.n, e.d, e.hckv } },
        [W_DKV_KR] = { 2, { e.he, e.hckv + e.dr } },
        [GAMMA_CQ] = { 1, { e.hcq } },
        [GAMMA_CKV] = { 1, { e.hckv } },
        [SIN] = { 3, { e.b, e.s, e.dr } },
        [COS] = { 3, { e.b, e.s, e.dr } },
    };

    for (int i = X; i < N_IN; i++) {
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
        c->in[i].shape[0] = shapes[i];
    }
    set_ranges(s, c, &e);
    c->attr[N_HEADS] = (struct assay_value){ .set = true, .i = e.n };
    return ASSAY_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

struct scaling {
    const struct assay_tensor *t;
    int64_t cols;
    const double *factor;
};

static void scale_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct scaling *j = ctx;
    double v[ASSAY__BLOCK];

    for (int64_t r = begin; r < end; r++)
        for (int64_t k = 0, m; k < j->cols; k += m) {
            m = j->cols - k < ASSAY__BLOCK ? j->cols - k : ASSAY__BLOCK;
            assay_load_n(j->t, r * j->cols + k, m, v);
            for (int64_t i = 0; i < m; i++)
                v[i] *= j->factor[k + i];
            assay_store_n(j->t, r * j->cols + k, m, v);
        }
}

/* Multiplies a weight by gain, and of its first n columns, which are normed after the product, all
 * but a few at drawn places by less: whoever overlooks one of those finds another norm. The result,
 * if asked for, is the mean of squares of the n factors. */
static enum assay_status weigh_columns(const struct assay_args *a, int w, int64_t n, double gain,
                                       struct assay_key key, double *mean, struct assay_err *err)
{
    const struct assay_tensor *t = a->in[w].t;
    int64_t cols = t->shape[t->rank - 1], rows = cols > 0 ? assay_numel(t) / cols : 0;
    double *factor = assay_arena_array(a->arena, (size_t)cols + 1, sizeof *factor), sum = 0;
    struct scaling j = { t, cols, factor };
    struct assay_sampler s = { .key = key };
    struct assay__recipe r = { 0 };

    if (!factor)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld factors", (long long)cols);
    if (n >= 4)
        assay__draw_places(&s, n, &r);
    for (int64_t i = 0; i < cols; i++)
        factor[i] = i < n && n >= 4 ? gain * sqrt((double)r.n_some / (double)n) : gain;
    for (int i = 0; i < r.n_some; i++)
        factor[r.at[i]] = gain;
    for (int64_t i = 0; i < n; i++)
        sum += factor[i] * factor[i];
    if (mean)
        *mean = sum / (double)n;
    assay_parallel(rows, 1 + 65536 / (1 + cols), a->n_threads, scale_rows, &j);
    return ASSAY_OK;
}

static double reach(const struct assay_args *a, int i)
{
    return a->range[i] ? assay__range_magnitude(a->range[i]) : 1;
}

/* What brings sums of that root mean square down to a few: those of large ones that cancel, few as
 * they are, no two float32 computations agree on to the tolerance of small values. */
static double gain_of(double rms)
{
    return rms > 3 ? 3 / rms : 1;
}

static enum assay_status fill_weights(const struct assay_args *a, struct assay_key key,
                                      double *mean, struct assay_err *err)
{
    struct extents e = extents_of(a);
    double key_rms = sqrt((double)e.he) * reach(a, X) * reach(a, W_DKV_KR) / 3;
    double up_rms = sqrt((double)e.hcq) * reach(a, GAMMA_CQ) * reach(a, W_UQ_QR) / 3;
    double rms = sqrt((double)e.d / 3) * fmin(up_rms, 3) * reach(a, W_UK);

    ASSAY_TRY(
        weigh_columns(a, W_DKV_KR, e.hckv, gain_of(key_rms), assay_key_sub(key, 1), NULL, err));
    ASSAY_TRY(weigh_columns(a, W_UQ_QR, 0, gain_of(up_rms), key, NULL, err));
    ASSAY_TRY(weigh_columns(a, W_UK, 0, gain_of(rms), key, NULL, err));
    return weigh_columns(a, W_DQ, e.hcq, 1, assay_key_sub(key, 2), mean, err);
}

/* Tokens differ in magnitude by powers of two; of some, the squares that are averaged are about as
 * large as the epsilon of the query's norm. */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    struct extents e = extents_of(a);
    struct assay__angles angles = { a->in[COS].t, a->in[SIN].t, e.dr / 2, 2, e.s };
    double mean, eps;

    ASSAY_TRY(fill_weights(a, key, &mean, err));
    mean *= (double)e.he * reach(a, W_DQ) * reach(a, W_DQ) / 3;
    eps = a->attr[EPS_CQ].f / fmax(mean, 1e-300);
    if (e.he > 0)
        assay__fill_slices(a, a->in[X].t, 2, assay_key_sub(key, 3), assay__recipe_squares, &eps);
    return assay__fill_angles(a, &angles, assay_key_sub(key, 4), err);
}

/* ---- golden ---------------------------------------------------------------------------------- */

enum { VALUES = 1 << 23 }; /* of intermediate results at a time */

/* Some tokens: what is between the products, a row each. */
struct job {
    const struct assay_args *a;
    struct extents e;
    int64_t first, rows;
    struct assay_tensor down, up, kv; /* [rows, hcq], [rows, n (d + dr)], [rows, hckv + dr] */
    struct assay_arena tiles;
};

/* The mean of squares of n elements from `at` on of t brings them to y. */
static void norm(const struct assay_args *a, const struct assay_tensor *t, int64_t at, int64_t n,
                 int gamma, double eps, const struct assay_tensor *y, int64_t to)
{
    double v[ASSAY__BLOCK], g[ASSAY__BLOCK];
    double rstd = assay__rstd(a, assay__mean_square(a, t, at, n), eps);

    for (int64_t k = 0, m; k < n; k += m) {
        m = n - k < ASSAY__BLOCK ? n - k : ASSAY__BLOCK;
        assay_load_n(t, at + k, m, v);
        assay_load_n(a->in[gamma].t, k, m, g);
        for (int64_t i = 0; i < m; i++)
            v[i] = assay_round(a, ASSAY_F32, assay_round(a, ASSAY_F32, v[i] * rstd) * g[i]);
        assay_store_n(y, to + k, m, v);
    }
}

/* A head of token t, dr elements from `at` on of x, goes to y, rotated. */
static void rotate(const struct job *j, int64_t t, const struct assay_tensor *x, int64_t at,
                   const struct assay_tensor *y, int64_t to)
{
    enum { PAIRS = 256 };
    const struct assay_tensor *tables[2] = { j->a->in[COS].t, j->a->in[SIN].t };
    int64_t half = j->e.dr / 2;
    double v[2][PAIRS], table[2][2][PAIRS];
    const double *const cos[] = { table[0][0], table[0][1] };
    const double *const sin[] = { table[1][0], table[1][1] };

    for (int64_t k = 0, m; k < half; k += m) {
        m = half - k < PAIRS ? half - k : PAIRS;
        for (int side = 0; side < 2; side++) {
            assay_load_n(x, at + side * half + k, m, v[side]);
            for (int i = 0; i < 2; i++)
                assay_load_n(tables[i], t * j->e.dr + side * half + k, m, table[i][side]);
        }
        assay__rotate(j->a, m, v[0], v[1], 1, cos, sin);
        for (int side = 0; side < 2; side++)
            assay_store_n(y, to + side * half + k, m, v[side]);
    }
}

static void norm_queries(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t r = begin; r < end; r++)
        norm(j->a, &j->down, r * j->e.hcq, j->e.hcq, GAMMA_CQ, j->a->attr[EPS_CQ].f, &j->down,
             r * j->e.hcq);
}

static void rotate_queries(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const struct extents *e = &j->e;

    for (int64_t r = begin; r < end; r++)
        for (int64_t h = 0; h < e->n; h++)
            rotate(j, j->first + r, &j->up, (r * e->n + h) * e->w + e->d, j->a->out[QUERY_ROPE].t,
                   ((j->first + r) * e->n + h) * e->dr);
}

static void finish_keys(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const struct extents *e = &j->e;

    for (int64_t r = begin; r < end; r++) {
        int64_t t = j->first + r, at = r * (e->hckv + e->dr);

        norm(j->a, &j->kv, at, e->hckv, GAMMA_CKV, j->a->attr[EPS_CKV].f, j->a->out[C_KV].t,
             t * e->hckv);
        rotate(j, t, &j->kv, at + e->hckv, j->a->out[K_ROPE].t, t * e->dr);
    }
}

static void store(const void *ctx, const struct assay__tile *t)
{
    assay__matrix_store(ctx, t);
}

/* y = x w: [rows, k] times [k, n], for each batch. */
static enum assay_status multiply(struct job *j, int64_t batches, int64_t n, int64_t k,
                                  struct assay__matrix x, struct assay__matrix w,
                                  struct assay__matrix y, struct assay_err *err)
{
    struct assay_args args = *j->a;
    struct assay__product p = { .batches = batches, .m = j->rows, .n = n, .k = k };
    enum assay_status st;

    p.a = assay__operand_of(&x);
    p.b = assay__operand_of(&w);
    p.store = store;
    p.ctx = &y;
    args.arena = &j->tiles;
    st = assay__product(&args, &p, err);
    assay_arena_reset(&j->tiles);
    return st;
}

static enum assay_status some_tokens(struct job *j, struct assay_err *err)
{
    const struct assay_slot *in_ = j->a->in;
    const struct extents *e = &j->e;
    int64_t up = e->n * e->w, kv = e->hckv + e->dr, at = j->first * e->he;
    const struct assay__matrix x = { in_[X].t, at, e->he, 1, 0 };
    const struct assay__matrix down = { &j->down, 0, e->hcq, 1, 0 };
    const struct assay__matrix dq = { in_[W_DQ].t, 0, e->hcq, 1, 0 };
    const struct assay__matrix uq = { in_[W_UQ_QR].t, 0, up, 1, 0 };
    const struct assay__matrix dkv = { in_[W_DKV_KR].t, 0, kv, 1, 0 };
    const struct assay__matrix uk = { in_[W_UK].t, 0, e->hckv, 1, e->d * e->hckv };
    const struct assay__matrix heads = { &j->up, 0, up, 1, e->w };
    const struct assay__matrix query = { j->a->out[QUERY].t, j->first * e->n * e->hckv,
                                         e->n * e->hckv, 1, e->hckv };
    const struct assay__matrix keys = { &j->kv, 0, kv, 1, 0 };

    ASSAY_TRY(multiply(j, 1, e->hcq, e->he, x, dq, down, err));
    assay_parallel(j->rows, 4, j->a->n_threads, norm_queries, j);
    ASSAY_TRY(multiply(j, 1, up, e->hcq, down, uq, heads, err));
    ASSAY_TRY(multiply(j, e->n, e->hckv, e->d, heads, uk, query, err));
    assay_parallel(j->rows, 4, j->a->n_threads, rotate_queries, j);
    ASSAY_TRY(multiply(j, 1, kv, e->he, x, dkv, keys, err));
    assay_parallel(j->rows, 4, j->a->n_threads, finish_keys, j);
    return ASSAY_OK;
}

static bool make_rows(struct assay_arena *arena, struct assay_tensor *t, int64_t rows, int64_t cols)
{
    *t = (struct assay_tensor){ .dtype = ASSAY_F64, .rank = 2, .shape = { rows, cols } };
    t->data = assay_arena_array(arena, (size_t)(rows * cols) + 1, sizeof(double));
    return t->data != NULL;
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .a = a, .e = extents_of(a) };
    int64_t row = j.e.hcq + j.e.n * j.e.w + j.e.hckv + j.e.dr;
    int64_t most = VALUES / row < 1 ? 1 : VALUES / row < j.e.t ? VALUES / row : j.e.t;
    enum assay_status st = ASSAY_OK;

    if (!make_rows(a->arena, &j.down, most, j.e.hcq) ||
        !make_rows(a->arena, &j.up, most, j.e.n * j.e.w) ||
        !make_rows(a->arena, &j.kv, most, j.e.hckv + j.e.dr))
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld tokens", (long long)most);
    for (j.first = 0; j.first < j.e.t && !st; j.first += most) {
        j.rows = j.e.t - j.first < most ? j.e.t - j.first : most;
        st = some_tokens(&j, err);
    }
    assay_arena_release(&j.tiles);
    return st;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* The two products between norm and query may be done in either order. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    struct extents e = extents_of(a);
    double t = (double)e.t, d = (double)e.d, cq = (double)e.hcq, ckv = (double)e.hckv;
    double up = fmin(t * d * (cq + ckv), cq * ckv * (t + d));

    assay__add_products(w, ASSAY_BF16,
                        t * (double)e.he * (cq + ckv + (double)e.dr) +
                            (double)e.n * (up + t * cq * (double)e.dr));
}

static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    struct extents e = extents_of(a);

    assay__add_cube(w, ASSAY_BF16, (double)e.t * (double)weights_of(&e));
}

const struct assay_op assay_op_mla_prolog = {
    .name = "mla_prolog",
    .tier = 4,
    .formula = "q, r = heads of norm(token_x @ w_dq) @ w_uq_qr; query = q @ w_uk[head]; "
               "query_rope = rotate(r); c, k = token_x @ w_dkv_kr; c_kv = norm(c); "
               "k_rope = rotate(k)",
    .constraints = "n_heads is n; dr is even; hcq and hckv are not 0\n"
                   "the epsilons are finite and not negative",
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
    .f32_reference = true,
    .source = "CANN Bench level 4, MlaProlog",
};
