/* SPDX-License-Identifier: Apache-2.0 */
/* train_phase.c: what a phase means: which values are quantised, which move, where quantisers
 * start, how often levels are taken. */
#include "qn/train_parts.h"

#include <math.h>
#include <string.h>

/* Pictures from which thresholds of activations are set up, as in the paper. */
enum { START_PICTURES = 1000 };

static bool is_float(const struct qn_quantiser *q)
{
    return !strcmp(q->kind, "float");
}

/* ---- passes ---------------------------------------------------------------------------------- */

static enum qn_quant_mode weights_of(enum qn_phase_kind k)
{
    return k == QN_PHASE_FLOAT ? QN_OFF : k == QN_PHASE_ACTIVATIONS ? QN_HARD : QN_SOFT;
}

static enum qn_quant_mode activations_of(enum qn_phase_kind k)
{
    return k == QN_PHASE_ACTIVATIONS || k == QN_PHASE_BOTH ? QN_SOFT : QN_OFF;
}

struct qn_pass qn__train_pass(const struct qn_train *t, enum qn_phase_kind k)
{
    return (struct qn_pass){ .train = true,
                             .weights = weights_of(k),
                             .activations = activations_of(k),
                             .seed = t->recipe.seed };
}

static enum qn_quant_mode harden(enum qn_quant_mode m, bool soft)
{
    return m == QN_SOFT && !soft ? QN_HARD : m;
}

struct qn_pass qn__test_pass(const struct qn_train *t, enum qn_phase_kind k, bool soft)
{
    struct qn_pass p = qn__train_pass(t, k);

    p.train = false;
    p.weights = harden(p.weights, soft);
    p.activations = harden(p.activations, soft);
    return p;
}

/* ---- quantisers ------------------------------------------------------------------------------ */

/* The first pictures of an epoch of their own, as one block. */
static enum assay_status draw(struct qn_train *t, struct assay_arena *arena, float **x, int64_t *n,
                              struct assay_err *err)
{
    const struct qn_shape *s = &t->graph.layers[0].shape;
    size_t size = (size_t)(s->c * s->h * s->w), bytes;
    struct qn_batch b = { 0 };

    *n = 0;
    if (!assay_mul_size(size, (START_PICTURES + (size_t)t->recipe.batch) * sizeof **x, &bytes) ||
        !(*x = assay_arena_alloc(arena, bytes)))
        return assay_fail(err, ASSAY_NOMEM, "no memory for samples of activations");
    qn_feed_start(t->feed, UINT64_MAX, 0);
    while (*n < START_PICTURES) {
        ASSAY_TRY(qn_feed_next(t->feed, &b, err));
        if (b.n == 0)
            break;
        memcpy(*x + (size_t)*n * size, b.x, (size_t)b.n * size * sizeof **x);
        *n += b.n;
    }
    return ASSAY_OK;
}

static enum assay_status start_activations(struct qn_train *t, enum qn_phase_kind k,
                                           struct assay_err *err)
{
    struct qn_pass pass = qn__test_pass(t, k, false);
    struct assay_arena arena = { 0 };
    struct qn_start s;
    enum assay_status st = qn_recipe_start(&t->recipe, true, &s, err);
    float *x = NULL;
    int64_t n;

    if (!st)
        st = draw(t, &arena, &x, &n, err);
    for (int i = 1; !st && i < t->graph.n_layers; i++)
        if (qn_net_is_quant(t->net, i))
            st = qn_net_start_activations(t->net, &pass, i, x, n, &s, err);
    assay_arena_release(&arena);
    return st;
}

static enum assay_status start_quantisers(struct qn_train *t, enum qn_phase_kind k,
                                          struct assay_err *err)
{
    struct qn_start s;

    if (k != QN_PHASE_FLOAT && !t->weights_started) {
        ASSAY_TRY(qn_recipe_start(&t->recipe, false, &s, err));
        ASSAY_TRY(qn_net_start_weights(t->net, &s, err));
        t->weights_started = true;
    }
    if (activations_of(k) != QN_OFF && !t->activations_started) {
        ASSAY_TRY(start_activations(t, k, err));
        t->activations_started = true;
    }
    return ASSAY_OK;
}

/* ---- what moves ------------------------------------------------------------------------------ */

static bool quantises_weights(const struct qn_recipe *r)
{
    return !is_float(&r->weights) || !is_float(&r->first) || !is_float(&r->last);
}

static double scale_of(const struct qn_train *t, enum qn_phase_kind k, const struct qn_param *p)
{
    bool of_quantiser = p->role >= QN_ALPHA;

    if (of_quantiser && p->of_activations)
        return activations_of(k) == QN_SOFT ? t->recipe.phases[k].scales : 0;
    if (of_quantiser)
        return weights_of(k) == QN_SOFT ? t->recipe.phases[k].scales : 0;
    if (p->role == QN_WEIGHT && k == QN_PHASE_ACTIVATIONS && quantises_weights(&t->recipe))
        return 0;
    return 1;
}

enum assay_status qn__train_enter(struct qn_train *t, struct assay_err *err)
{
    int64_t of_phase;
    enum qn_phase_kind k = qn_recipe_at(&t->recipe, t->epoch, &of_phase);

    /* before they start: later layers of activations are sampled through the earlier ones */
    qn_net_temperature(t->net, false, (float)qn_recipe_heat(&t->recipe, false, t->epoch));
    qn_net_temperature(t->net, true, (float)qn_recipe_heat(&t->recipe, true, t->epoch));
    ASSAY_TRY(start_quantisers(t, k, err));
    for (int i = 0; i < qn_net_n_params(t->net); i++)
        t->optim.groups[i].scale = scale_of(t, k, qn_net_param(t->net, i));
    if (of_phase == 0) {
        memset(t->optim.memory, 0, t->optim.n_memory * sizeof *t->optim.memory);
        t->optim.n_steps = 0;
    }
    return ASSAY_OK;
}

/* ---- how often levels are taken -------------------------------------------------------------- */

static enum assay_status count(struct qn_train *t, int layer, const float *x, struct qn_view v,
                               struct assay_arena *arena, struct qn_usage *u, struct assay_err *err)
{
    struct qn_quant *q = qn_net_quant(t->net, layer);
    int64_t n = v.outer * v.channels * v.inner;
    uint8_t *code = assay_arena_alloc(arena, (size_t)n);
    float *level = assay_arena_array(arena, (size_t)q->config.levels.n, sizeof *level);
    float *share = assay_arena_zero(arena, (size_t)q->config.levels.n * sizeof *share);
    int64_t times[QN_MAX_LEVELS] = { 0 };
    double alpha = 0, beta = 0;

    if (!code || !level || !share)
        return assay_fail(err, ASSAY_NOMEM, "no memory to count levels");
    qn_quant_codes(q, x, v, code, qn_net_pool(t->net));
    for (int64_t i = 0; i < n; i++)
        times[code[i]]++;
    for (int i = 0; i < q->config.levels.n; i++) {
        level[i] = q->config.levels.y[i];
        share[i] = (float)((double)times[i] / (double)n);
    }
    for (int64_t i = 0; i < q->n_scales; i++) {
        alpha += (double)qn_quant_alpha(q, i);
        beta += (double)qn_quant_beta(q, i);
    }
    *u = (struct qn_usage){ .n_levels = q->config.levels.n,
                            .alpha = (float)(alpha / (double)q->n_scales),
                            .beta = (float)(beta / (double)q->n_scales),
                            .level = level,
                            .share = share };
    snprintf(u->layer, sizeof u->layer, "%s", t->graph.layers[layer].name);
    return ASSAY_OK;
}

enum assay_status qn__train_usage(struct qn_train *t, enum qn_phase_kind k,
                                  struct assay_arena *arena, struct qn_epoch *e,
                                  struct assay_err *err)
{
    struct qn_usage *all = assay_arena_array(arena, (size_t)t->graph.n_layers, sizeof *all);
    int64_t batch = qn_data_info(t->setup.test)->n % t->recipe.batch;

    if (!all)
        return assay_fail(err, ASSAY_NOMEM, "no memory to count levels");
    batch = batch ? batch : t->recipe.batch; /* the last one of the evaluation */
    for (int i = 1; i < t->graph.n_layers; i++) {
        const struct qn_layer *l = &t->graph.layers[i];
        bool activations = qn_net_is_quant(t->net, i);
        struct qn_view v = { batch, l->shape.c, l->shape.h * l->shape.w };
        float *w;

        if (!qn_net_quant(t->net, i) || (activations ? activations_of(k) : weights_of(k)) == QN_OFF)
            continue;
        if (activations)
            ASSAY_TRY(
                count(t, i, qn_net_output(t->net, l->in[0]), v, arena, &all[e->n_usages], err));
        else if (qn_net_weights(t->net, i, &w, &v))
            ASSAY_TRY(count(t, i, w, v, arena, &all[e->n_usages], err));
        all[e->n_usages++].activations = activations;
    }
    e->usages = all;
    return ASSAY_OK;
}
