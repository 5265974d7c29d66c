/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mla: attention whose queries and keys are two tensors each, one behind the other: [nope, rope].
 *
 * The source says that v is what k_nope is. It is an input of its own all the same, its cases have
 * other values there, and so has this one's. See gqa for what is masked and for infinities.
 */
#include "ops/fit.h"
#include "ops/heads.h"
#include "ops/qkv.h"
#include "ops/sample.h"

#include <math.h>

enum { Q_NOPE, Q_ROPE, K_NOPE, K_ROPE, V, N_IN };
enum { KV_HEADS, SCALE, LAYOUT, CAUSAL };
enum { BSND, BNSD };
static const struct assay_param in[] = {
    [Q_NOPE] = { "q_nope", ASSAY__HALVES, 0, "[b, s, n, d_nope], BNSD: [b, n, s, d_nope]", NULL },
    [Q_ROPE] = { "q_rope", ASSAY__HALVES, 0, "like q_nope, but d_rope", NULL },
    [K_NOPE] = { "k_nope", ASSAY__HALVES, 0,
                 "[b, s_kv, n_kv, d_nope], BNSD: [b, n_kv, s_kv, d_nope]", NULL },
    [K_ROPE] = { "k_rope", ASSAY__HALVES, 0, "like k_nope, but d_rope", NULL },
    [V] = { "v", ASSAY__HALVES, 0, "like k_nope", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", ASSAY__HALVES, 0, "like q_nope", NULL }, { 0 } };

static const char *const layouts[] = { "BSND", "BNSD", NULL };
static const double kv_heads[] = { 1, 1, 2, 4 };
static const struct assay_attr attrs[] = {
    [KV_HEADS] = { "numKVHeads", ASSAY_ATTR_INT, 0, { .set = true, .i = 1 }, NULL, kv_heads, 4 },
    [SCALE] = { "scaleValue",
                ASSAY_ATTR_FLOAT,
                0,
                { .set = true, .f = -1 },
                NULL,
                assay__scales,
                ASSAY__N_SCALES },
    [LAYOUT] = { "inputLayout", ASSAY_ATTR_ENUM, 0, { .set = true }, layouts, NULL, 0 },
    [CAUSAL] = { "is_causal", ASSAY_ATTR_BOOL, 0, { .set = true }, NULL, NULL, 0 },
    { 0 },
};

/* Where heads and places stand in a shape. */
static int heads_axis(const struct assay_args *a)
{
    return a->attr[LAYOUT].i == BNSD ? 1 : 2;
}

static int places_axis(const struct assay_args *a)
{
    return 3 - heads_axis(a);
}

static struct assay__attend attend_of(const struct assay_args *a)
{
    const struct assay_tensor *q = a->in[Q_NOPE].t, *k = a->in[K_NOPE].t;
    bool first = a->attr[LAYOUT].i == BNSD;
    int64_t width = q->shape[3] + a->in[Q_ROPE].t->shape[3];

    return (struct assay__attend){
        .batches = q->shape[0],
        .heads = q->shape[heads_axis(a)],
        .kv_heads = k->shape[heads_axis(a)],
        .places = q->shape[places_axis(a)],
        .keys = k->shape[places_axis(a)],
        .query = { assay__heads_of(q, first), assay__heads_of(a->in[Q_ROPE].t, first) },
        .key = { assay__heads_of(k, first), assay__heads_of(a->in[K_ROPE].t, first) },
        .value = assay__heads_of(a->in[V].t, first),
        .y = assay__heads_of(a->out[0].t, first),
        .causal = a->attr[CAUSAL].i,
        .scale = assay__attend_scale(a, SCALE, width),
    };
}

/* ---- contract -------------------------------------------------------------------------------- */

/* Input i has the shape of `like`, but that its width is its own where it may be. */
static enum assay_status fits(const struct assay_args *a, int i, int like, bool width,
                              struct assay_err *err)
{
    const struct assay_tensor *t = a->in[i].t, *to = a->in[like].t;
    bool ok = t->rank == 4 && t->dtype == to->dtype;

    for (int k = 0; k < (width ? 4 : 3); k++)
        ok = ok && t->shape[k] == to->shape[k];
    if (!ok)
        return assay__misfit(in[i].name, t, in[like].name, to, NULL, err);
    return ASSAY_OK;
}

static enum assay_status check_heads(const struct assay_args *a, struct assay_err *err)
{
    int64_t heads = a->in[Q_NOPE].t->shape[heads_axis(a)];
    int64_t kv = a->in[K_NOPE].t->shape[heads_axis(a)];

    if (a->attr[KV_HEADS].i != kv)
        return assay_fail(err, ASSAY_INVALID, "numKVHeads is %lld, k_nope has %lld heads",
                          (long long)a->attr[KV_HEADS].i, (long long)kv);
    if (kv < 1 || heads % kv != 0)
        return assay_fail(err, ASSAY_INVALID,
                          "%lld heads of queries, must be a multiple of the %lld of keys",
                          (long long)heads, (long long)kv);
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *q = a->in[Q_NOPE].t, *k = a->in[K_NOPE].t;
    char text[128];

    if (q->rank != 4)
        return assay_fail(err, ASSAY_INVALID, "q_nope %s, must have rank 4",
                          assay_tensor_text(q, text, sizeof text));
    if (k->rank != 4 || k->dtype != q->dtype || k->shape[0] != q->shape[0] ||
        k->shape[3] != q->shape[3])
        return assay__misfit("k_nope", k, "q_nope", q, "the same batch, width and dtype", err);
    ASSAY_TRY(fits(a, Q_ROPE, Q_NOPE, false, err));
    ASSAY_TRY(fits(a, K_ROPE, K_NOPE, false, err));
    ASSAY_TRY(fits(a, V, K_NOPE, true, err));
    if (a->in[Q_ROPE].t->shape[3] != a->in[K_ROPE].t->shape[3])
        return assay_fail(err, ASSAY_INVALID, "q_rope has width %lld, k_rope %lld",
                          (long long)a->in[Q_ROPE].t->shape[3],
                          (long long)a->in[K_ROPE].t->shape[3]);
    ASSAY_TRY(check_heads(a, err));
    return assay__check_scale(a, SCALE, err);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void set_shape(struct assay_case *c, int i, bool heads_first, int64_t batches,
                      int64_t places, int64_t heads, int64_t width)
{
    c->in[i].shape[0] = (struct assay_shape){
        4, { batches, heads_first ? heads : places, heads_first ? places : heads, width }
    };
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { N_ROPE = 4, N_GROUPS = 8 };
    static const int64_t groups[N_GROUPS] = { 8, 16, 32, 64, 128, 6, 20, 12 };
    static const int64_t ropes[N_ROPE] = { 64, 32, 16, 8 };
    enum assay_dtype d = c->in[Q_NOPE].dtype;
    bool first = c->attr[LAYOUT].i == BNSD;
    int64_t most = (int64_t)fmax(32, sqrt((double)s->elements) / 2), nope, rope;
    struct assay__attend_extents e = { .kv_heads = c->attr[KV_HEADS].i };
    struct assay_range keys;

    for (int i = 0; i < N_IN; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    nope = assay__attend_sample_width(s, d, most);
    if (!s->unaligned && most >= 1000)
        nope = 512;
    rope = ropes[assay_sample_below(s, N_ROPE)];
    while (rope > nope)
        rope /= 2;
    e.width = nope + rope;
    e.value_width = nope;
    assay__attend_sample(s, groups, N_GROUPS, c->attr[CAUSAL].i, &e);
    c->attr[KV_HEADS].i = e.kv_heads;
    set_shape(c, Q_NOPE, first, e.batches, e.places, e.heads, nope);
    set_shape(c, Q_ROPE, first, e.batches, e.places, e.heads, rope);
    set_shape(c, K_NOPE, first, e.batches, e.keys, e.kv_heads, nope);
    set_shape(c, K_ROPE, first, e.batches, e.keys, e.kv_heads, rope);
    set_shape(c, V, first, e.batches, e.keys, e.kv_heads, nope);
    c->in[V].range[0] = assay__sample_values(s, c);
    if (c->value_class == ASSAY_CLASS_SPECIAL)
        return ASSAY_OK;
    keys = assay__attend_sample_keys(s, c->in[Q_NOPE].range, d, e.width, &c->attr[SCALE].f);
    c->in[K_NOPE].range[0] = c->in[K_ROPE].range[0] = keys;
    return ASSAY_OK;
}

/* ---- hooks ----------------------------------------------------------------------------------- */

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    struct assay__attend h = attend_of(a);

    return assay__attend_fill(a, &h, key, err);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct assay__attend h = attend_of(a);

    return assay__attend_golden(a, &h, err);
}

static void work(const struct assay_args *a, struct assay_work *w)
{
    struct assay__attend h = attend_of(a);

    assay__attend_work(&h, w);
}

/* There, v is not read beside k_nope. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    struct assay__attend h = attend_of(a);

    w->amount[ASSAY_UNIT_MTE2] -=
        (double)assay_numel(a->in[V].t) * (double)assay_dtype_size(a->in[V].t->dtype);
    assay__attend_work_npu(&h, w);
}

const struct assay_op assay_op_mla = {
    .name = "mla",
    .tier = 4,
    .formula = "y = softmax([q_nope, q_rope] [k_nope, k_rope]^T scaleValue) v in each head",
    .constraints = "all inputs have one dtype and rank 4\n"
                   "n is a multiple of n_kv, which is numKVHeads\n"
                   "v has the shape of k_nope; it is an input of its own, with other values\n"
                   "a scaleValue of 0 or less stands for 1 / sqrt(d_nope + d_rope)\n"
                   "is_causal: query i sees keys j <= i + s_kv - s; one that sees none gives 0",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .source = "CANN Bench level 4, MLA",
};
