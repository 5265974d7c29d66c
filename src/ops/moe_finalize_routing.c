/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moe_finalize_routing: what K experts made of each token, weighted and added up, on top of up to
 * two residuals.
 *
 * out[i] = skip1[i] + skip2[i] + sum over k of scales[i,k] (rows[src(i,k)] + bias[expert(i,k)]), in
 * the order of k. Without scales K is 1 and so is the scale. A row of -1 was dropped: it adds
 * nothing, and neither does its bias. In the native run all is done in fp32 and rounded once.
 */
#include "assay/op.h"

#include "ops/index.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/routing.h"
#include "ops/sample.h"
#include "ops/slice_fill.h"

#include <float.h>
#include <math.h>

enum { ROWS, SRC, SKIP1, SKIP2, BIAS, SCALES, EXPERTS };
enum { MODE };
#define INDICES ASSAY_BIT(ASSAY_I32)
static const struct assay_param in[] = {
    [ROWS] = { "expanded_permuted_rows", ASSAY_FLOATS, 0, "[n K, h] or [e, c, h]", NULL },
    [SRC] = { "expanded_src_to_dst_row", INDICES, 0, "[n K]", NULL },
    [SKIP1] = { "skip1", ASSAY_FLOATS, ASSAY_PARAM_OPTIONAL, "[n, h]", NULL },
    [SKIP2] = { "skip2", ASSAY_FLOATS, ASSAY_PARAM_OPTIONAL, "[n, h]", NULL },
    [BIAS] = { "bias", ASSAY_FLOATS, ASSAY_PARAM_OPTIONAL, "[e, h]", NULL },
    [SCALES] = { "scales", ASSAY_FLOATS, ASSAY_PARAM_OPTIONAL, "[n, K]", NULL },
    [EXPERTS] = { "expert_for_source_row", INDICES, ASSAY_PARAM_OPTIONAL, "[n, K]", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "out", ASSAY_FLOATS, 0, "[n, h]", NULL }, { 0 } };

static const double modes[] = { 0, 1, 2, 3 };
static const struct assay_attr attrs[] = {
    [MODE] = { "drop_pad_mode", ASSAY_ATTR_INT, 0, { .set = true, .i = 0 }, NULL, modes, 4 },
    { 0 },
};

/* ---- what is where --------------------------------------------------------------------------- */

/* Sizes of a call that has passed the check. */
struct sizes {
    int64_t n, k, h;
    int64_t experts, capacity; /* of padded rows; experts also by bias; else 0 */
    int64_t rows;              /* of h elements, that indices point at */
    bool padded, by_row;
};

static struct sizes sizes_of(const struct assay_args *a)
{
    const struct assay_tensor *rows = &a->in[ROWS].t[0];
    struct sizes z = { .k = a->in[SCALES].n > 0 ? a->in[SCALES].t[0].shape[1] : 1 };
    int mode = (int)a->attr[MODE].i;

    z.padded = mode % 2 == 1;
    z.by_row = mode >= 2;
    z.h = rows->shape[rows->rank - 1];
    z.n = a->in[SCALES].n > 0 ? a->in[SCALES].t[0].shape[0] : a->in[SRC].t[0].shape[0];
    z.experts = z.padded ? rows->shape[0] : a->in[BIAS].n > 0 ? a->in[BIAS].t[0].shape[0] : 0;
    z.capacity = z.padded && z.experts > 0 ? rows->shape[1] : 0;
    z.rows = z.padded ? z.experts * z.capacity : rows->shape[0];
    return z;
}

/* Where choice k of token i stands in the list of indices. */
static int64_t slot_of(const struct sizes *z, int64_t i, int64_t k)
{
    return z->by_row ? i * z->k + k : k * z->n + i;
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check_shape(const struct assay_args *a, int i, int64_t rows,
                                     int64_t columns, struct assay_err *err)
{
    const struct assay_tensor *t = a->in[i].t;
    char text[128];

    if (a->in[i].n == 0 || (t->rank == 2 && t->shape[0] == rows && t->shape[1] == columns))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_INVALID, "%s is %s, it should be [%lld,%lld]", in[i].name,
                      assay_tensor_text(t, text, sizeof text), (long long)rows, (long long)columns);
}

static enum assay_status check_presence(const struct assay_args *a, struct assay_err *err)
{
    if (a->in[SKIP2].n > 0 && a->in[SKIP1].n == 0)
        return assay_fail(err, ASSAY_INVALID, "skip2 is there, but not skip1");
    if (a->in[BIAS].n > 0 && a->in[EXPERTS].n == 0)
        return assay_fail(err, ASSAY_INVALID, "bias is there, but not expert_for_source_row");
    return ASSAY_OK;
}

static enum assay_status check_dtypes(const struct assay_args *a, struct assay_err *err)
{
    enum assay_dtype d = a->in[ROWS].t[0].dtype;

    for (int i = SKIP1; i <= SCALES; i++) {
        enum assay_dtype own = a->in[i].n > 0 ? a->in[i].t[0].dtype : d;

        if (own != d && !(i == SCALES && d == ASSAY_BF16 && own == ASSAY_F32))
            return assay_fail(err, ASSAY_INVALID, "%s is %s, expanded_permuted_rows are %s",
                              in[i].name, assay_dtype_name(own), assay_dtype_name(d));
    }
    return ASSAY_OK;
}

static enum assay_status check_main(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *rows = &a->in[ROWS].t[0], *src = &a->in[SRC].t[0];
    int rank = a->attr[MODE].i % 2 == 1 ? 3 : 2;
    char text[128];

    if (a->attr[MODE].i < 0 || a->attr[MODE].i > 3)
        return assay_fail(err, ASSAY_INVALID, "drop_pad_mode is %lld, allowed are 0 to 3",
                          (long long)a->attr[MODE].i);
    if (rows->rank != rank)
        return assay_fail(
            err, ASSAY_INVALID, "expanded_permuted_rows %s, drop_pad_mode %lld takes rank %d",
            assay_tensor_text(rows, text, sizeof text), (long long)a->attr[MODE].i, rank);
    if (src->rank != 1 || src->shape[0] > INT32_MAX)
        return assay_fail(err, ASSAY_INVALID,
                          "expanded_src_to_dst_row %s is not [n K] with n K below 2^31",
                          assay_tensor_text(src, text, sizeof text));
    if (a->in[SCALES].n > 0 && a->in[SCALES].t[0].rank != 2)
        return assay_fail(err, ASSAY_INVALID, "scales %s are not [n, K]",
                          assay_tensor_text(&a->in[SCALES].t[0], text, sizeof text));
    if (a->in[BIAS].n > 0 && a->in[BIAS].t[0].rank != 2)
        return assay_fail(err, ASSAY_INVALID, "bias %s is not [e, h]",
                          assay_tensor_text(&a->in[BIAS].t[0], text, sizeof text));
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    struct sizes z;

    ASSAY_TRY(check_main(a, err));
    ASSAY_TRY(check_presence(a, err));
    ASSAY_TRY(check_dtypes(a, err));
    z = sizes_of(a);
    if (a->in[SRC].t[0].shape[0] != z.n * z.k)
        return assay_fail(err, ASSAY_INVALID,
                          "%lld indices in expanded_src_to_dst_row for scales of %lld tokens with "
                          "%lld experts each",
                          (long long)a->in[SRC].t[0].shape[0], (long long)z.n, (long long)z.k);
    if (!z.padded && z.rows != z.n * z.k)
        return assay_fail(
            err, ASSAY_INVALID,
            "%lld expanded_permuted_rows for %lld indices: drop_pad_mode 0 and 2 want "
            "as many",
            (long long)z.rows, (long long)(z.n * z.k));
    ASSAY_TRY(check_shape(a, SKIP1, z.n, z.h, err));
    ASSAY_TRY(check_shape(a, SKIP2, z.n, z.h, err));
    ASSAY_TRY(check_shape(a, BIAS, z.experts, z.h, err));
    return check_shape(a, EXPERTS, z.n, z.k, err);
}

/* Ids of experts that nothing is looked up by need only be such. */
static enum assay_status check_values(const struct assay_args *a, struct assay_err *err)
{
    struct sizes z = sizes_of(a);
    int64_t experts = a->in[BIAS].n > 0 || z.padded ? z.experts : INT32_MAX;

    if (a->in[EXPERTS].n > 0)
        ASSAY_TRY(
            assay__index_check(&a->in[EXPERTS].t[0], in[EXPERTS].name, experts, a->n_threads, err));
    return assay__index_check_from(&a->in[SRC].t[0], in[SRC].name, z.padded ? -1 : 0, z.rows,
                                   a->n_threads, err);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    struct sizes z = sizes_of(a);

    (void)err;
    *a->out[0].t =
        (struct assay_tensor){ .dtype = a->in[ROWS].t[0].dtype, .rank = 2, .shape = { z.n, z.h } };
    return ASSAY_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Experts that tokens choose among, where the contract does not say how many there are. */
enum { SOME_EXPERTS = 8 };

static struct assay__routing routing_of(const struct sizes *z)
{
    struct assay__routing r = { z->n, z->k, z->experts, z->capacity, z->padded, z->by_row };

    if (r.experts == 0)
        r.experts = r.k > SOME_EXPERTS ? r.k : SOME_EXPERTS;
    return r;
}

/* Of 16 tokens about one has a choice that counts for nothing, and one a choice that counts in
 * full. */
static void edge_scales(const struct assay_args *a, const struct sizes *z, struct assay_key key)
{
    enum { EVERY = 16 };
    const struct assay_tensor *t = &a->in[SCALES].t[0];
    const struct assay_range *r = a->range[SCALES];

    for (int64_t i = 0; i < z->n; i++) {
        uint64_t draw = assay_rng_below(key, (uint64_t)i, (uint64_t)(EVERY * z->k));

        if (draw / (uint64_t)z->k == 0)
            assay_store(t, i * z->k + (int64_t)draw, fmax(0, r->lo));
        else if (draw / (uint64_t)z->k == 1)
            assay_store(t, i * z->k + (int64_t)draw - z->k, fmin(1, r->hi));
    }
}

static void as_it_is(const void *ctx, struct assay_sampler *s, const struct assay__slice *slice,
                     struct assay__recipe *r)
{
    (void)ctx;
    (void)s;
    (void)slice;
    (void)r;
}

struct siding {
    const struct assay_tensor *t;
    struct assay_range range;
    struct assay_key key;
    int64_t h;
};

/* Rows of t: values on the wrong side of 0 take the place on the other one that corresponds. */
static void take_sides(void *ctx, int64_t begin, int64_t end)
{
    const struct siding *s = ctx;
    double lo = s->range.lo, hi = s->range.hi, v[ASSAY__BLOCK];
    uint32_t w[ASSAY__BLOCK];

    for (int64_t c = 0, m; c < s->h; c += m) {
        m = s->h - c < ASSAY__BLOCK ? s->h - c : ASSAY__BLOCK;
        assay_rng_fill(s->key, (uint64_t)c, (size_t)m, w);
        for (int64_t i = begin; i < end; i++) {
            assay_load_n(s->t, i * s->h + c, m, v);
            for (int64_t k = 0; k < m; k++) {
                double side = w[k] * 0x1p-32 * (hi - lo) < hi ? hi : lo;

                if (fabs(v[k]) <= DBL_MAX && side * v[k] < 0)
                    v[k] *= side / (lo + hi - side);
            }
            assay_store_n(s->t, i * s->h + c, m, v);
        }
    }
}

/*
 * Sums of float32 numbers that happen to cancel are no better than chance has it, and a few of them
 * decide over a kernel. So all that is added up in a column has one sign there, either being as
 * likely as it was. In 16 bits the sums have bits to spare.
 */
static void one_sign_a_column(const struct assay_args *a, int i, int64_t h, struct assay_key key)
{
    const struct assay_range *r = a->range[i];
    struct siding s = { a->in[i].t, { 0, 0 }, key, h };

    if (a->in[i].n == 0 || s.t->dtype != ASSAY_F32 || !r || h == 0)
        return;
    s.range = *r;
    if (!(isfinite(r->lo) && isfinite(r->hi)) || (r->lo == 0 && r->hi == 0))
        s.range = (struct assay_range){ -1, 1 }; /* as drawn, or as timed */
    if (s.range.lo < 0 && s.range.hi > 0)
        assay_parallel(assay_numel(s.t) / h, h < 4096 ? 4096 / h : 1, a->n_threads, take_sides, &s);
}

/* Infinities and NaN: few rows are full of them, so that sums of several rows are not, too. */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    static const int floats[] = { ROWS, SKIP1, SKIP2, BIAS };
    struct sizes z = sizes_of(a);
    struct assay__routing routing = routing_of(&z);

    if (z.n * z.k == 0)
        return ASSAY_OK;
    for (int i = 0; i < 4; i++) {
        const struct assay_range *r = a->range[floats[i]];

        if (a->in[floats[i]].n > 0 && r && !(isfinite(r->lo) && isfinite(r->hi)))
            assay__fill_slices(a, a->in[floats[i]].t, a->in[floats[i]].t->rank - 1,
                               assay_key_sub(key, (uint32_t)(2 + i)), as_it_is, NULL);
        one_sign_a_column(a, floats[i], z.h, assay_key_sub(key, 9));
    }
    if (a->in[SCALES].n > 0 && a->range[SCALES])
        edge_scales(a, &z, assay_key_sub(key, 7));
    return assay__draw_routing(&routing, assay_key_sub(key, 8), a->in[SRC].t->data,
                               a->in[EXPERTS].n > 0 ? a->in[EXPERTS].t->data : NULL, err);
}

/* ---- golden ---------------------------------------------------------------------------------- */

struct job {
    const struct assay_args *a;
    struct sizes z;
};

/* Elements of row i of input p, from column c on; zeros where it is absent. */
static void load(const struct job *j, int p, int64_t i, int64_t c, int64_t m, double *v)
{
    if (j->a->in[p].n > 0)
        assay_load_n(&j->a->in[p].t[0], i * j->z.h + c, m, v);
    else
        memset(v, 0, (size_t)m * sizeof *v);
}

typedef void add_fn(double *restrict acc, const double *restrict v, const double *restrict bias,
                    double scale, int64_t m);

static void add(double *restrict acc, const double *restrict v, const double *restrict bias,
                double scale, int64_t m)
{
    for (int64_t c = 0; c < m; c++)
        acc[c] += scale * (v[c] + bias[c]);
}

/* Each step rounded to float32. */
static void add_single(double *restrict acc, const double *restrict v, const double *restrict bias,
                       double scale, int64_t m)
{
    for (int64_t c = 0; c < m; c++) {
        float term = (float)scale * ((float)v[c] + (float)bias[c]);

        acc[c] = (double)((float)acc[c] + term);
    }
}

/* Columns c .. c+m-1 of token i. */
static void sum_block(const struct job *j, int64_t i, int64_t c, int64_t m)
{
    static const double none[ASSAY__BLOCK];
    double acc[ASSAY__BLOCK], v[ASSAY__BLOCK], bias[ASSAY__BLOCK];
    const struct assay_slot *from = j->a->in;
    add_fn *add_to = j->a->native ? add_single : add;

    load(j, SKIP1, i, c, m, acc);
    if (from[SKIP2].n > 0) {
        load(j, SKIP2, i, c, m, v);
        add_to(acc, v, none, 1, m);
    }
    for (int64_t k = 0; k < j->z.k; k++) {
        int64_t row = assay_load_int(&from[SRC].t[0], slot_of(&j->z, i, k));
        double scale = from[SCALES].n > 0 ? assay_load(&from[SCALES].t[0], i * j->z.k + k) : 1;

        if (row < 0)
            continue;
        load(j, ROWS, row, c, m, v);
        if (from[BIAS].n > 0)
            load(j, BIAS, assay_load_int(&from[EXPERTS].t[0], i * j->z.k + k), c, m, bias);
        add_to(acc, v, from[BIAS].n > 0 ? bias : none, scale, m);
    }
    assay_store_n(&j->a->out[0].t[0], i * j->z.h + c, m, acc);
}

static void sum_tokens(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t i = begin; i < end; i++)
        for (int64_t c = 0; c < j->z.h; c += ASSAY__BLOCK)
            sum_block(j, i, c, j->z.h - c < ASSAY__BLOCK ? j->z.h - c : ASSAY__BLOCK);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    enum { GRAIN = 1 << 14 };
    struct job j = { a, sizes_of(a) };
    int64_t cost = (j.z.k + 1) * j.z.h;

    (void)err;
    if (cost > 0)
        assay_parallel(j.z.n, cost < GRAIN ? GRAIN / cost : 1, a->n_threads, sum_tokens, &j);
    return ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Of the rows, those that the inputs, as they are drawn, point at. */
static double share_used(const struct sizes *z)
{
    struct assay__routing r = routing_of(z);

    return z->rows > 0 ? (double)assay__rows_used(&r) / (double)z->rows : 1;
}

/* A multiply-add for each element of those rows, an addition for each of one residual: sums begin
 * with the other one. Biases are left out: those of the experts of a token may be added up for all
 * tokens that have chosen the same. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *rows = &a->in[ROWS].t[0];
    struct sizes z = sizes_of(a);
    double used = share_used(&z);

    w->bytes_in -= (1 - used) * (double)assay_numel(rows) * (double)assay_dtype_size(rows->dtype);
    assay__add_lanes(w, &a->in[ROWS], used);
    assay__add_lanes(w, &a->in[SKIP2], 1);
}

/* In fp32: five operations for each choice, two more for casts, and what there is once a token. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    struct sizes z = sizes_of(a);
    double skips = (a->in[SKIP1].n > 0) + (a->in[SKIP2].n > 0);

    assay__add_vector_f32(w, &a->out[0], 5 * (double)z.k, 2 * (double)z.k);
    assay__add_vector_f32(w, &a->out[0], 1 + skips, 0);
}

/* ---- cases ----------------------------------------------------------------------------------- */

enum { MIN_TOKENS = 16, MIN_LENGTH = 4, MAX_LENGTH = 8192 };

/* Which of the optional inputs there are. */
static void sample_presence(struct assay_sampler *s, struct assay_case *c)
{
    uint64_t skips = assay_sample_below(s, 4), extra = assay_sample_below(s, 6);

    c->in[SKIP1].n = skips > 0;
    c->in[SKIP2].n = skips > 1;
    c->in[BIAS].n = extra > 1;
    c->in[EXPERTS].n = extra > 0;
    c->in[SCALES].n = assay_sample_below(s, 5) > 0;
    if (c->in[ROWS].dtype == ASSAY_BF16 && assay_sample_below(s, 3) == 0)
        c->in[SCALES].dtype = ASSAY_F32;
}

/* Ranges in which results tell: sums that stay finite for the most part, weights that are those of
 * a router, and not NaN everywhere. */
static void sample_ranges(struct assay_case *c)
{
    const struct assay_range *r = c->in[ROWS].range;
    struct assay_range rest =
        isfinite(r->lo) && isfinite(r->hi) ? *r : (struct assay_range){ -1, 1 };

    if (c->value_class == ASSAY_CLASS_BOUNDARY && c->in[ROWS].dtype == ASSAY_F16)
        *c->in[ROWS].range = rest = (struct assay_range){ -20000, 20000 };
    for (int i = SKIP1; i <= BIAS; i++)
        if (c->in[i].n > 0)
            *c->in[i].range = rest;
    if (c->in[SCALES].n > 0)
        *c->in[SCALES].range = (struct assay_range){ 0, 1 };
}

static void set2(struct assay_case_in *to, int64_t rows, int64_t columns)
{
    if (to->n > 0)
        *to->shape = (struct assay_shape){ 2, { rows, columns } };
}

/* n tokens with k choices each among so many experts, rows of h elements. */
static void set_shapes(struct assay_case *c, const struct sizes *z)
{
    double top = (double)z->experts - 1;

    if (z->padded)
        *c->in[ROWS].shape = (struct assay_shape){ 3, { z->experts, z->capacity, z->h } };
    else
        set2(&c->in[ROWS], z->n * z->k, z->h);
    *c->in[SRC].shape = (struct assay_shape){ 1, { z->n * z->k } };
    c->in[SRC].range[0] = z->padded
                              ? (struct assay_range){ -1, (double)(z->experts * z->capacity - 1) }
                              : (struct assay_range){ 0, (double)(z->n * z->k - 1) };
    set2(&c->in[SKIP1], z->n, z->h);
    set2(&c->in[SKIP2], z->n, z->h);
    set2(&c->in[BIAS], z->experts, z->h);
    set2(&c->in[SCALES], z->n, z->k);
    set2(&c->in[EXPERTS], z->n, z->k);
    if (c->in[EXPERTS].n > 0)
        c->in[EXPERTS].range[0] = (struct assay_range){ 0, top };
}

/*
 * A share of the elements is for the rows that tokens need, the rest for what else there is. Padded
 * experts have room for somewhat more than an even share, or for less: some rows are dropped, and
 * some are left over.
 */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { TRIES = 32, N_K = 8, N_E = 8 };
    static const int64_t ks[N_K] = { 1, 2, 2, 4, 4, 6, 8, 8 },
                         es[N_E] = { 4, 8, 8, 12, 16, 16, 32, 64 };
    struct sizes z = { .padded = c->attr[MODE].i % 2 == 1, .by_row = c->attr[MODE].i >= 2 };
    struct assay_shape x = { 0 };
    double room;

    for (int i = 0; i < assay_op_n_in(c->op); i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    sample_presence(s, c);
    sample_ranges(c);
    z.k = c->in[SCALES].n > 0 ? ks[assay_sample_below(s, N_K)] : 1;
    z.experts = es[assay_sample_below(s, N_E)];
    room = z.padded ? assay_sample_between(s, 0.7, 1.6) : 1;
    for (int i = 0; i < TRIES; i++) {
        double rest = (double)(c->in[SKIP1].n + c->in[SKIP2].n) / (double)z.k;

        assay_sample_shape(s, (int64_t)((double)s->elements / (1.06 + rest / room)), 2,
                           c->in[ROWS].dtype, &x);
        if (x.dim[0] >= MIN_TOKENS * z.k && x.dim[1] >= MIN_LENGTH && x.dim[1] <= MAX_LENGTH)
            break;
        if (i % 8 == 7) /* not so many tokens with so many choices */
            z.k = (z.k + 1) / 2;
    }
    z.experts = z.experts < z.k ? z.k : z.experts;
    while (z.experts > z.k && z.experts * 10 > x.dim[0])
        z.experts--;
    z.h = x.dim[1];
    while (z.experts > z.k && z.experts * 10 > x.dim[0])
        z.experts--;
    z.n = (int64_t)((double)x.dim[0] / room) / z.k;
    z.n = z.n < 1 ? 1 : z.n;
    z.capacity = (int64_t)((double)(z.n * z.k) * room / (double)z.experts);
    z.capacity = z.capacity < 1 ? 1 : z.capacity;
    set_shapes(c, &z);
    return ASSAY_OK;
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "swapped skip1 skip2", "a sum has no order" },
    { 0 },
};

const struct assay_op assay_op_moe_finalize_routing = {
    .name = "moe_finalize_routing",
    .tier = 3,
    .formula = "out[i] = skip1[i] + skip2[i] + sum over k of scales[i,k] * "
               "(rows[src(i,k)] + bias[expert(i,k)])",
    .constraints =
        "src(i,k) is expanded_src_to_dst_row at k n + i (drop_pad_mode 0, 1) or i K + k (2, 3)\n"
        "drop_pad_mode 0, 2: expanded_permuted_rows [n K, h], 0 <= src < n K\n"
        "drop_pad_mode 1, 3: expanded_permuted_rows [e, c, h], -1 <= src < e c; -1 adds nothing\n"
        "skip2 only with skip1, bias only with expert_for_source_row\n"
        "without scales K is 1, and the scale is 1\n"
        "0 <= expert_for_source_row < e, the rows of bias\n"
        "all floats have the dtype of expanded_permuted_rows; with bfloat16, scales may be float32",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .check_values = check_values,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 3, MoeFinalizeRouting",
};
