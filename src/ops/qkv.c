/* SPDX-License-Identifier: Apache-2.0 */
/* qkv.c: what gqa and mha share. */
#include "ops/qkv.h"
#include "ops/fit.h"

#include "ops/heads.h"
#include "ops/sample.h"

#include <math.h>

/* Not above 0: the root of the width. */
const double assay__scales[ASSAY__N_SCALES] = { -1, 0.08838, 0, 0.5 };

const struct assay_attr assay__qkv_attrs[] = {
    [ASSAY__SCALE] = { "scaleValue",
                       ASSAY_ATTR_FLOAT,
                       0,
                       { .set = true, .f = -1 },
                       NULL,
                       assay__scales,
                       ASSAY__N_SCALES },
    [ASSAY__CAUSAL] = { "is_causal", ASSAY_ATTR_BOOL, 0, { .set = true }, NULL, NULL, 0 },
    { 0 },
};

static struct assay__attend attend_of(const struct assay_args *a)
{
    const struct assay_tensor *q = a->in[ASSAY__QUERY].t, *k = a->in[ASSAY__KEY].t;

    return (struct assay__attend){ .batches = q->shape[0],
                                   .heads = q->shape[2],
                                   .kv_heads = k->shape[2],
                                   .places = q->shape[1],
                                   .keys = k->shape[1],
                                   .query = { assay__heads_of(q, false) },
                                   .key = { assay__heads_of(k, false) },
                                   .value = assay__heads_of(a->in[ASSAY__VALUE].t, false),
                                   .y = assay__heads_of(a->out[0].t, false),
                                   .causal = a->attr[ASSAY__CAUSAL].i,
                                   .scale = assay__attend_scale(a, ASSAY__SCALE, q->shape[3]) };
}

/* ---- contract -------------------------------------------------------------------------------- */

enum assay_status assay__check_scale(const struct assay_args *a, int attr, struct assay_err *err)
{
    if (!isfinite(a->attr[attr].f))
        return assay_fail(err, ASSAY_INVALID, "scaleValue is %g, must be finite", a->attr[attr].f);
    return ASSAY_OK;
}

static bool same_shape(const struct assay_tensor *x, const struct assay_tensor *y)
{
    bool same = x->rank == y->rank;

    for (int i = 0; i < x->rank; i++)
        same = same && x->shape[i] == y->shape[i];
    return same;
}

enum assay_status assay__qkv_check(const struct assay_args *a, bool equal_heads,
                                   struct assay_err *err)
{
    const struct assay_tensor *q = a->in[ASSAY__QUERY].t, *k = a->in[ASSAY__KEY].t;
    const struct assay_tensor *v = a->in[ASSAY__VALUE].t;
    char text[128];
    int64_t heads, kv_heads;

    if (q->rank != 4)
        return assay_fail(err, ASSAY_INVALID, "query %s, must be [b, s, n, d]",
                          assay_tensor_text(q, text, sizeof text));
    if (k->rank != 4 || k->dtype != q->dtype || k->shape[0] != q->shape[0] ||
        k->shape[3] != q->shape[3])
        return assay__misfit("key", k, "query", q, "the same batch, width and dtype", err);
    if (!same_shape(k, v) || v->dtype != k->dtype)
        return assay__misfit("value", v, "key", k, "both must be alike", err);
    heads = q->shape[2];
    kv_heads = k->shape[2];
    if (equal_heads && heads != kv_heads)
        return assay_fail(err, ASSAY_INVALID, "%lld heads of queries, %lld of keys: must be equal",
                          (long long)heads, (long long)kv_heads);
    if (kv_heads < 1 || heads % kv_heads != 0)
        return assay_fail(err, ASSAY_INVALID,
                          "%lld heads of queries, must be a multiple of the %lld of keys",
                          (long long)heads, (long long)kv_heads);
    return assay__check_scale(a, ASSAY__SCALE, err);
}

/* ---- cases ----------------------------------------------------------------------------------- */

struct assay_range assay__sample_values(struct assay_sampler *s, const struct assay_case *c)
{
    const struct assay_range *q = c->in[0].range;
    double most;

    switch (c->value_class) {
    case ASSAY_CLASS_SPECIAL:
        return *q;
    case ASSAY_CLASS_BOUNDARY: /* of one sign: means that happen to cancel are not small there */
        return (struct assay_range){ 0, q->hi };
    case ASSAY_CLASS_LARGE:
        most = assay_sample_figure(assay_sample_between(s, 30, 1000));
        break;
    case ASSAY_CLASS_SMALL: /* subnormal, too */
        if (c->in[0].dtype == ASSAY_F16 && assay_sample_below(s, 2)) {
            most = assay_sample_figure(assay_sample_between(s, 1e-4, 2e-4));
            break;
        } /* fall through */
    default:
        most = assay_sample_figure(assay_sample_between(s, 0.5, 10));
        break;
    }
    if (c->value_class == ASSAY_CLASS_ASYM)
        return (struct assay_range){ -most, assay_sample_figure(2 * most) };
    return (struct assay_range){ -most, most };
}

enum assay_status assay__qkv_sample(struct assay_sampler *s, struct assay_case *c, bool equal_heads,
                                    struct assay_err *err)
{
    enum { N_GROUPS = 8 };
    static const int64_t groups[N_GROUPS] = { 1, 4, 8, 2, 3, 4, 6, 12 };
    enum assay_dtype d = c->in[ASSAY__QUERY].dtype;
    struct assay__attend_extents e = { 0 };
    struct assay_value *scale = &c->attr[ASSAY__SCALE];

    for (int i = ASSAY__QUERY; i <= ASSAY__VALUE; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    e.width = assay__attend_sample_width(s, d, (int64_t)fmax(32, sqrt((double)s->elements) / 2));
    e.value_width = e.width;
    assay__attend_sample(s, groups, equal_heads ? 1 : N_GROUPS, c->attr[ASSAY__CAUSAL].i, &e);
    c->in[ASSAY__QUERY].shape[0] =
        (struct assay_shape){ 4, { e.batches, e.places, e.heads, e.width } };
    c->in[ASSAY__KEY].shape[0] = c->in[ASSAY__VALUE].shape[0] =
        (struct assay_shape){ 4, { e.batches, e.keys, e.kv_heads, e.width } };
    c->in[ASSAY__VALUE].range[0] = assay__sample_values(s, c);
    if (c->value_class != ASSAY_CLASS_SPECIAL)
        c->in[ASSAY__KEY].range[0] =
            assay__attend_sample_keys(s, c->in[ASSAY__QUERY].range, d, e.width, &scale->f);
    return ASSAY_OK;
}

/* ---- hooks ----------------------------------------------------------------------------------- */

enum assay_status assay__qkv_fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    struct assay__attend h = attend_of(a);

    return assay__attend_fill(a, &h, key, err);
}

enum assay_status assay__qkv_golden(const struct assay_args *a, struct assay_err *err)
{
    struct assay__attend h = attend_of(a);

    return assay__attend_golden(a, &h, err);
}

void assay__qkv_work(const struct assay_args *a, struct assay_work *w)
{
    struct assay__attend h = attend_of(a);

    assay__attend_work(&h, w);
}

void assay__qkv_work_npu(const struct assay_args *a, struct assay_work *w)
{
    struct assay__attend h = attend_of(a);

    assay__attend_work_npu(&h, w);
}
