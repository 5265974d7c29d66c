/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moe_gating_top_k_softmax: the k largest of the probabilities that a router gives to each token's
 * experts, and which experts those are.
 *
 * y = the k largest of softmax(x) along the last axis, sorted; a row that holds NaN or +Inf, or
 * nothing but -Inf, is NaN throughout. The expert of a finished token is E, which is none; its
 * values stay. row_idx = k-th column * tokens + token: where the choices of column k begin in a
 * list that is sorted by columns.
 *
 * The published harness compares neither experts nor rows. Here rules "paper" compare both: rows as
 * they are, experts by the probabilities that they have, within the tolerance of y. Where those are
 * equal, or become so when they are rounded, any choice is right.
 */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/moments.h"
#include "ops/sample.h"
#include "ops/slice_fill.h"
#include "ops/slices.h"

#include <math.h>

enum { X, FINISHED };
enum { K };
enum { Y, EXPERT, ROW };
static const struct assay_param in[] = {
    [X] = { "x", ASSAY_FLOATS, 0, "[.., e]", NULL },
    [FINISHED] = { "finished", ASSAY_BIT(ASSAY_BOOL), ASSAY_PARAM_OPTIONAL, "[..]", NULL },
    { 0 },
};

/* The golden's value is that of a probability; one of a larger x stands for a mistake before. */
static double moved(double value, double from, double to)
{
    return to < from ? value * exp(to - from) : value;
}

static const struct assay_index_rule points_at = { .input = X,
                                                   .dim_attr = -1,
                                                   .values_out = Y,
                                                   .distinct = true,
                                                   .moved = moved,
                                                   .mask_in = FINISHED };
static const struct assay_param out[] = {
    [Y] = { "y", ASSAY_FLOATS, 0, "[.., k]", NULL },
    [EXPERT] = { "expert_idx", ASSAY_BIT(ASSAY_I32), ASSAY_PARAM_INDEX | ASSAY_PARAM_UPSTREAM_FREE,
                 "[.., k]", &points_at },
    [ROW] = { "row_idx", ASSAY_BIT(ASSAY_I32), ASSAY_PARAM_UPSTREAM_FREE, "[.., k]", NULL },
    { 0 },
};

static const struct assay_attr attrs[] = {
    [K] = { "k", ASSAY_ATTR_INT, 0, { .set = true, .i = 1 }, NULL, NULL, 0 },
    { 0 },
};

enum { MAX_K = 1024 };

static int64_t experts_of(const struct assay_tensor *x)
{
    return x->shape[x->rank - 1];
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check_finished(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0], *finished = a->in[FINISHED].t;
    struct assay_tensor tokens = *x;
    char s[128], t[128];

    tokens.rank--;
    if (a->in[FINISHED].n == 0 || assay_same_shape(finished, &tokens))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_INVALID, "finished %s is not one for each token of x %s",
                      assay_tensor_text(finished, s, sizeof s), assay_tensor_text(x, t, sizeof t));
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0];
    int64_t k = a->attr[K].i, most;
    char text[128];

    if (x->rank != 2 && x->rank != 3)
        return assay_fail(err, ASSAY_INVALID, "x %s, allowed are ranks 2 and 3",
                          assay_tensor_text(x, text, sizeof text));
    most = experts_of(x) < MAX_K ? experts_of(x) : MAX_K;
    if (k < 1 || k > most)
        return assay_fail(err, ASSAY_INVALID, "k is %lld, allowed are 1 to %lld for x %s",
                          (long long)k, (long long)most, assay_tensor_text(x, text, sizeof text));
    if (experts_of(x) > INT32_MAX || assay_numel(x) / experts_of(x) > INT32_MAX / k)
        return assay_fail(err, ASSAY_INVALID, "x %s: more experts or rows than int32 numbers",
                          assay_tensor_text(x, text, sizeof text));
    return check_finished(a, err);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    (void)err;
    for (int o = 0; o < 3; o++) {
        struct assay_tensor *t = &a->out[o].t[0];

        *t = a->in[X].t[0];
        t->data = NULL;
        t->shape[t->rank - 1] = a->attr[K].i;
        if (o != Y)
            t->dtype = ASSAY_I32;
    }
    return ASSAY_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* As for softmax; in every other row the experts that stand out are the popular ones. */
static void recipe(const void *ctx, struct assay_sampler *s, const struct assay__slice *slice,
                   struct assay__recipe *r)
{
    assay__softmax_recipe(ctx, s, slice, r);
    if (r->n_some == 0 || assay_sample_below(s, 2))
        return;
    for (int i = 0; i < r->n_some; i++) {
        double u = assay_sample_between(s, 0, log((double)slice->n + 1));
        int64_t rank = (int64_t)exp(u) - 1;

        r->at[i] = (rank < slice->n ? rank : slice->n - 1) * 7 % slice->n;
    }
}

struct flags {
    const struct assay_tensor *t;
    struct assay_key key;
};

/* Sequences end, and then they stay so: stretches of tokens that are all finished, or all not;
 * elsewhere few, or as they were drawn. */
static void end_some(void *ctx, int64_t begin, int64_t end)
{
    enum { STRETCH = 32, KINDS = 4 };
    const struct flags *f = ctx;

    for (int64_t i = begin; i < end; i++) {
        uint64_t kind = assay_rng_below(f->key, (uint64_t)(i / STRETCH), KINDS);

        if (kind < 2)
            assay_store_int(f->t, i, (int64_t)kind);
        else if (kind == 2 && i % STRETCH % 8 != 5)
            assay_store_int(f->t, i, 0);
    }
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0];
    struct flags f = { a->in[FINISHED].t, assay_key_sub(key, 1) };

    (void)err;
    assay__fill_slices(a, x, x->rank - 1, key, recipe, NULL);
    if (a->in[FINISHED].n > 0)
        assay_parallel(assay_numel(f.t), 4096, a->n_threads, end_some, &f);
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

struct job {
    const struct assay_args *a;
    const struct assay_tensor *x, *y;
    int32_t *expert, *row;
    int64_t k, rows;
};

/* The best of a row so far, sorted; of equal ones the lower index first. */
struct best {
    int64_t n;
    double v[MAX_K];
    int32_t at[MAX_K];
};

/* A row that holds NaN has no order: it takes the first k. */
static void take(struct best *b, int64_t k, double v, int64_t at)
{
    int64_t lo = 0, hi = b->n, kept;

    if (b->n == k && !(v > b->v[k - 1]))
        return;
    while (lo < hi) {
        int64_t mid = (lo + hi) / 2;

        if (b->v[mid] >= v)
            lo = mid + 1;
        else
            hi = mid;
    }
    kept = b->n < k ? b->n++ : k - 1;
    memmove(b->v + lo + 1, b->v + lo, (size_t)(kept - lo) * sizeof *b->v);
    memmove(b->at + lo + 1, b->at + lo, (size_t)(kept - lo) * sizeof *b->at);
    b->v[lo] = v;
    b->at[lo] = (int32_t)at;
}

static void row(void *ctx, const struct assay__panel *p)
{
    const struct job *j = ctx;
    const struct assay_slot *finished = &j->a->in[FINISHED];
    double v[ASSAY__PANEL], y[MAX_K], top = -INFINITY, sum = 0;
    bool ended = finished->n > 0 && assay_load_int(finished->t, p->outer);
    struct best b = { .n = 0 };

    for (int64_t s = 0, m; s < p->n; s += m) {
        m = assay__panel_steps(p, s);
        assay__panel_load(p, j->x, p->n, s, m, v);
        top = assay__fold_max(top, v, m);
        for (int64_t i = 0; i < m; i++)
            take(&b, j->k, v[i], s + i);
    }
    for (int64_t s = 0, m; s < p->n; s += m) {
        m = assay__panel_steps(p, s);
        assay__panel_load(p, j->x, p->n, s, m, v);
        for (int64_t i = 0; i < m; i++)
            v[i] = assay__power(j->a, v[i], top);
        sum = assay__fold_sum(j->a, sum, v, m);
    }
    for (int64_t i = 0; i < j->k; i++) {
        y[i] = assay__power(j->a, b.v[i], top) / sum;
        j->expert[p->outer * j->k + i] = ended ? (int32_t)p->n : b.at[i];
        j->row[p->outer * j->k + i] = (int32_t)(i * j->rows + p->outer);
    }
    assay_store_n(j->y, p->outer * j->k, j->k, y);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .a = a,
                     .x = &a->in[X].t[0],
                     .y = &a->out[Y].t[0],
                     .expert = a->out[EXPERT].t[0].data,
                     .row = a->out[ROW].t[0].data,
                     .k = a->attr[K].i };

    (void)err;
    j.rows = assay_numel(j.x) / experts_of(j.x);
    assay__panels(a, j.x, j.x->rank - 1, row, &j);
    return ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Two operations an element: its exponential goes into the sum, and it is compared with what has
 * been best so far. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->in[X], 2);
}

/* In fp32: softmax, and a comparison for each level of a tree of k; then what becomes of the k. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    double levels = fmax(1, log2((double)a->attr[K].i));

    assay__add_vector_f32(w, &a->in[X], 9 + levels, 1);
    assay__add_vector_f32(w, &a->out[Y], 1 + (double)(a->in[FINISHED].n > 0), 1);
}

/* ---- cases ----------------------------------------------------------------------------------- */

enum { MAX_TOKENS = 1 << 17 };

/* A number of experts: one of those that routers have, or a prime one. */
static int64_t draw_experts(struct assay_sampler *s, enum assay_dtype d)
{
    enum { N = 10 };
    static const int64_t usual[N] = { 8, 16, 16, 32, 32, 64, 64, 96, 128, 160 };
    static const int64_t primes[N] = { 5, 11, 17, 31, 61, 67, 127, 251, 509, 1021 };
    int64_t line = 512 / (int64_t)assay_dtype_size(d); /* aligned */

    if (!s->unaligned)
        return line * (1 + (int64_t)assay_sample_below(s, 3));
    if (assay_sample_below(s, 2))
        return primes[assay_sample_below(s, N)];
    for (;;) {
        int64_t e = usual[assay_sample_below(s, N)];

        if (e % line != 0)
            return e;
    }
}

/* One, a few, or a good part; seldom all. */
static int64_t draw_k(struct assay_sampler *s, int64_t experts)
{
    enum { N = 10 };
    static const int64_t ks[N] = { 1, 2, 2, 4, 6, 8, 8, 16, 32, 128 };
    int64_t k = ks[assay_sample_below(s, N)];

    if (assay_sample_below(s, 16) == 0 && experts <= 64)
        return experts;
    return 2 * k <= experts ? k : 1 + (int64_t)assay_sample_below(s, (uint64_t)(experts + 1) / 2);
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    int64_t experts, tokens;
    struct assay_shape *x, *finished;

    do {
        experts = draw_experts(s, c->in[X].dtype);
        tokens = s->elements / (experts + 1);
    } while (tokens > MAX_TOKENS);
    ASSAY_TRY(assay__sample_room(s, c, X, 1, err));
    ASSAY_TRY(assay__sample_room(s, c, FINISHED, 1, err));
    assay__sample_spread(s, c);
    x = c->in[X].shape;
    finished = c->in[FINISHED].shape;
    tokens = tokens < 1 ? 1 : tokens;
    *x = (struct assay_shape){ 2, { tokens, experts } };
    if (s->rank > 2) {
        int64_t batch = 1 + (int64_t)assay_sample_below(s, 16);

        *x = (struct assay_shape){ 3, { batch, tokens / batch < 1 ? 1 : tokens / batch, experts } };
    }
    *finished = *x;
    finished->rank--;
    c->in[FINISHED].range[0] = (struct assay_range){ 0, 1 };
    if (assay_sample_below(s, 2))
        c->in[FINISHED].n = 0;
    c->attr[K] = (struct assay_value){ .set = true, .i = draw_k(s, experts) };
    return ASSAY_OK;
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "input_flushed", "the exponential of a subnormal half is that of zero, but for less than a "
                       "rounding error; experts that it decides between are equally right" },
    { 0 },
};

const struct assay_op assay_op_moe_gating_top_k_softmax = {
    .name = "moe_gating_top_k_softmax",
    .tier = 3,
    .formula = "y, expert_idx = top k of softmax(x) along the last axis; row_idx[.., i] = "
               "i tokens + token",
    .constraints =
        "x has rank 2 or 3; finished has its shape without the last axis\n"
        "1 <= k <= e, k <= 1024\n"
        "expert_idx is e where finished; y is not changed by it\n"
        "rows of x that hold NaN or +Inf, or nothing but -Inf: y is NaN, experts are any "
        "k different ones",
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
    .source = "CANN Bench level 3, MoeGatingTopKSoftmax",
};
