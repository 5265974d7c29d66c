/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moe_re_routing: tokens that came rank by rank, and expert by expert within each, are put in the
 * order of experts, and rank by rank within each.
 *
 * A copy: floats have the tolerance of their dtype all the same, as in the published harness.
 * expert_token_num is int64 whatever the counts are: so are the recorded outputs, though the
 * published contract speaks of the dtype of the counts. Without scales there are scales of 0.
 */
#include "assay/op.h"

#include "ops/index.h"
#include "ops/lanes.h"
#include "ops/routing.h"
#include "ops/sample.h"

#include <math.h>

enum { TOKENS, COUNTS, SCALES };
enum { NUM_TYPE, IDX_TYPE };
enum { Y, Y_SCALES, Y_IDX, Y_NUM };
#define VALUES (ASSAY_BIT(ASSAY_F16) | ASSAY_BIT(ASSAY_BF16) | ASSAY_BIT(ASSAY_I8))
static const struct assay_param in[] = {
    [TOKENS] = { "tokens", VALUES, 0, "[a, h]", NULL },
    [COUNTS] = { "expert_token_num_per_rank", ASSAY_BIT(ASSAY_I32) | ASSAY_BIT(ASSAY_I64), 0,
                 "[n, e]", NULL },
    [SCALES] = { "per_token_scales", ASSAY_BIT(ASSAY_F32), ASSAY_PARAM_OPTIONAL, "[a]", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    [Y] = { "permute_tokens", VALUES, 0, "[a, h]", NULL },
    [Y_SCALES] = { "permute_per_token_scales", ASSAY_BIT(ASSAY_F32), 0, "[a]", NULL },
    [Y_IDX] = { "permute_token_idx", ASSAY_BIT(ASSAY_I32), 0, "[a]", NULL },
    [Y_NUM] = { "expert_token_num", ASSAY_BIT(ASSAY_I64), 0, "[e]", NULL },
    { 0 },
};
static const struct assay_attr attrs[] = {
    [NUM_TYPE] = { "expert_token_num_type",
                   ASSAY_ATTR_INT,
                   0,
                   { .set = true, .i = 1 },
                   NULL,
                   NULL,
                   0 },
    [IDX_TYPE] = { "idx_type", ASSAY_ATTR_INT, 0, { .set = true, .i = 0 }, NULL, NULL, 0 },
    { 0 },
};

/* ---- cases ----------------------------------------------------------------------------------- */

enum { MIN_TOKENS = 24, MIN_LENGTH = 4, MAX_LENGTH = 8192 };

/* Many tokens of some length, from a few ranks, for a few experts: each pair has two at least on
 * average. Now and then there is one rank, or one expert. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { TRIES = 32, N_SIZES = 10 };
    static const int64_t sizes[N_SIZES] = { 1, 2, 3, 4, 8, 8, 16, 16, 32, 64 };
    int64_t ranks = sizes[assay_sample_below(s, N_SIZES)];
    int64_t experts = sizes[assay_sample_below(s, N_SIZES)], tokens;
    struct assay_shape *x;

    for (int i = 0; i < 3; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    x = c->in[TOKENS].shape;
    for (int i = 0; i < TRIES; i++) {
        assay_sample_shape(s, s->elements - s->elements / 32, 2, c->in[TOKENS].dtype, x);
        if (x->dim[0] >= MIN_TOKENS && x->dim[1] >= MIN_LENGTH && x->dim[1] <= MAX_LENGTH)
            break;
    }
    tokens = x->dim[0];
    while (2 * ranks * experts > tokens && ranks * experts > 1) {
        int64_t *larger = ranks > experts ? &ranks : &experts;

        *larger = *larger / 2;
    }
    *c->in[COUNTS].shape = (struct assay_shape){ 2, { ranks, experts } };
    c->in[COUNTS].range[0] = (struct assay_range){ 1, (double)(tokens - ranks * experts + 1) };
    *c->in[SCALES].shape = (struct assay_shape){ 1, { tokens } };
    if (assay_sample_below(s, 3) == 0)
        c->in[SCALES].n = 0;
    return ASSAY_OK;
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check_attrs(const struct assay_args *a, struct assay_err *err)
{
    if (a->attr[NUM_TYPE].i != 1)
        return assay_fail(err, ASSAY_INVALID,
                          "expert_token_num_type is %lld, only 1 (counts) is supported",
                          (long long)a->attr[NUM_TYPE].i);
    if (a->attr[IDX_TYPE].i != 0)
        return assay_fail(err, ASSAY_INVALID, "idx_type is %lld, only 0 (gather) is supported",
                          (long long)a->attr[IDX_TYPE].i);
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *tokens = &a->in[TOKENS].t[0], *counts = &a->in[COUNTS].t[0];
    char x[128], y[128];

    ASSAY_TRY(check_attrs(a, err));
    if (tokens->rank != 2 || tokens->shape[0] > INT32_MAX)
        return assay_fail(err, ASSAY_INVALID, "tokens %s are not [a, h] with a below 2^31",
                          assay_tensor_text(tokens, x, sizeof x));
    if (counts->rank != 2)
        return assay_fail(err, ASSAY_INVALID, "expert_token_num_per_rank %s is not [n, e]",
                          assay_tensor_text(counts, x, sizeof x));
    if (assay_numel(counts) > tokens->shape[0])
        return assay_fail(
            err, ASSAY_INVALID, "expert_token_num_per_rank %s, each 1 or more, for tokens %s",
            assay_tensor_text(counts, x, sizeof x), assay_tensor_text(tokens, y, sizeof y));
    if (a->in[SCALES].n > 0 &&
        (a->in[SCALES].t[0].rank != 1 || a->in[SCALES].t[0].shape[0] != tokens->shape[0]))
        return assay_fail(err, ASSAY_INVALID,
                          "per_token_scales %s are not one for each of tokens %s",
                          assay_tensor_text(&a->in[SCALES].t[0], x, sizeof x),
                          assay_tensor_text(tokens, y, sizeof y));
    return ASSAY_OK;
}

static enum assay_status check_values(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *counts = &a->in[COUNTS].t[0];
    int64_t tokens = a->in[TOKENS].t[0].shape[0], left = tokens, n = assay_numel(counts);

    for (int64_t i = 0; i < n; i++) {
        int64_t v = assay_load_int(counts, i);

        if (v < 1 || v > left)
            return assay_fail(
                err, ASSAY_INVALID,
                "expert_token_num_per_rank[%lld,%lld] is %lld, allowed are 1 to %lld, "
                "the tokens that are left",
                (long long)(i / counts->shape[1]), (long long)(i % counts->shape[1]), (long long)v,
                (long long)left);
        left -= v;
    }
    if (left > 0)
        return assay_fail(err, ASSAY_INVALID,
                          "expert_token_num_per_rank adds up to %lld, but there are %lld tokens",
                          (long long)(tokens - left), (long long)tokens);
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *tokens = &a->in[TOKENS].t[0];
    struct assay_tensor one = { .rank = 1, .shape = { tokens->shape[0] } };

    (void)err;
    *a->out[Y].t = *tokens;
    a->out[Y].t->data = NULL;
    one.dtype = ASSAY_F32;
    *a->out[Y_SCALES].t = one;
    one.dtype = ASSAY_I32;
    *a->out[Y_IDX].t = one;
    one.dtype = ASSAY_I64;
    one.shape[0] = a->in[COUNTS].t[0].shape[1];
    *a->out[Y_NUM].t = one;
    return ASSAY_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* What a pair of rank and expert weighs: experts have loads of their own, ranks send more or less,
 * and each pair differs. */
static double weight(const struct assay_tensor *counts, struct assay_key key, int64_t i)
{
    enum { ALL = 1 << 20 };
    int64_t experts = counts->shape[1], rank = i / experts, n = assay_numel(counts);
    double load = (double)assay__expert_load(ALL, experts, ALL, i % experts) / ALL;

    return load * (0.5 + assay_rng_unit(key, (uint64_t)(n + rank))) *
           (0.1 + 1.8 * assay_rng_unit(key, (uint64_t)i));
}

/* Counts that add up: one for each pair, and what is left by weight. */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_tensor *counts = &a->in[COUNTS].t[0];
    int64_t n = assay_numel(counts), left = a->in[TOKENS].t[0].shape[0] - n, given = 0;
    double all = 0, sum = 0;

    (void)err;
    for (int64_t i = 0; i < n; i++)
        all += weight(counts, key, i);
    for (int64_t i = 0; i < n; i++) {
        int64_t up_to;

        sum += weight(counts, key, i);
        up_to = i == n - 1 ? left : (int64_t)((double)left * fmin(sum / all, 1));
        assay_store_int(counts, i, 1 + up_to - given);
        given = up_to;
    }
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

/* Where each token comes from, and how many there are for each expert. */
static enum assay_status route(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *counts = &a->in[COUNTS].t[0], *num = &a->out[Y_NUM].t[0];
    int32_t *idx = a->out[Y_IDX].t[0].data;
    int64_t ranks = counts->shape[0], experts = counts->shape[1], n = assay_numel(counts);
    int64_t *count = assay_arena_array(a->arena, (size_t)n + 1, sizeof *count);
    int64_t *first = assay_arena_array(a->arena, (size_t)n + 1, sizeof *first);
    int64_t to = 0;

    if (!count || !first)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld counts", (long long)n);
    assay_load_int_n(counts, 0, n, count);
    first[0] = 0;
    for (int64_t i = 0; i < n; i++)
        first[i + 1] = first[i] + count[i];
    for (int64_t e = 0; e < experts; e++) {
        int64_t begin = to;

        for (int64_t r = 0; r < ranks; r++)
            for (int64_t k = 0; k < count[r * experts + e]; k++)
                idx[to++] = (int32_t)(first[r * experts + e] + k);
        assay_store_int(num, e, to - begin);
    }
    return ASSAY_OK;
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *idx = &a->out[Y_IDX].t[0], *scales = &a->out[Y_SCALES].t[0];

    ASSAY_TRY(route(a, err));
    assay__pick_rows(a, &a->in[TOKENS].t[0], idx, &a->out[Y].t[0]);
    if (a->in[SCALES].n > 0)
        assay__pick_rows(a, &a->in[SCALES].t[0], idx, scales);
    else if (assay_numel(scales) > 0)
        memset(scales->data, 0, (size_t)assay_numel(scales) * assay_dtype_size(scales->dtype));
    return ASSAY_OK;
}

/* Nothing but copies; indices are counted up. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->out[Y_IDX], 1);
}

/* Published limits have expert_token_num in the dtype of the counts. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *num = &a->out[Y_NUM].t[0];
    size_t more = assay_dtype_size(num->dtype) - assay_dtype_size(a->in[COUNTS].t[0].dtype);

    w->amount[ASSAY_UNIT_MTE3] -= (double)assay_numel(num) * (double)more;
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "fixed_attribute expert_token_num_type", "the contract has one value only" },
    { "fixed_attribute idx_type", "the contract has one value only" },
    { 0 },
};

const struct assay_op assay_op_moe_re_routing = {
    .name = "moe_re_routing",
    .tier = 3,
    .formula = "permute_tokens[i] = tokens[permute_token_idx[i]]: from the order (rank, expert) to "
               "(expert, rank)",
    .constraints = "expert_token_num_type is 1 (counts), idx_type is 0 (gather)\n"
                   "expert_token_num_per_rank[r, j]: tokens of rank r for expert j, 1 or more; "
                   "they add up to a\n"
                   "permute_per_token_scales is 0 where there are no per_token_scales\n"
                   "expert_token_num is int64, whatever the counts are",
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
    .source = "CANN Bench level 3, MoeReRouting",
};
