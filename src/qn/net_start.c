/* SPDX-License-Identifier: Apache-2.0 */
/* net_start.c: quantisers of a network set up from its weights and from sampled activations. */
#include "qn/net_parts.h"

#include "assay/rng.h"

#include <string.h>

enum { DEFAULT_VALUES = 1 << 18 };

/* ---- weights --------------------------------------------------------------------------------- */

static enum assay_status start_own_weights(struct qn_net *net, int layer, const struct qn_start *s,
                                           struct assay_arena *arena, struct assay_err *err)
{
    struct qn__node *node = &net->nodes[layer];
    enum assay_status st =
        qn_quant_start(node->quant, net->params[node->first_param].v, node->weights, s, arena, err);

    return st ? assay_wrap(err, st, "weights of '%s'", net->graph->layers[layer].name) : ASSAY_OK;
}

/* All weights that share a quantiser, one behind the other: to `to`, unless it is NULL. Returns
 * how many; *layer is one of those that have them. */
static int64_t gather_weights(const struct qn_net *net, float *to, int *layer)
{
    int64_t n = 0;

    for (int i = 1; i < net->graph->n_layers; i++) {
        const struct qn_param *p = &net->params[net->nodes[i].first_param];

        if (!qn__shares(net, i, false))
            continue;
        if (to)
            memcpy(to + n, p->v, (size_t)p->n * sizeof *to);
        n += p->n;
        *layer = i;
    }
    return n;
}

static enum assay_status start_shared_weights(struct qn_net *net, const struct qn_start *s,
                                              struct assay_arena *arena, struct assay_err *err)
{
    int layer = 0;
    int64_t n = gather_weights(net, NULL, &layer);
    float *w = assay_arena_array(arena, (size_t)n, sizeof *w);
    enum assay_status st;

    if (!w)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a copy of %lld weights", (long long)n);
    gather_weights(net, w, &layer);
    st = qn_quant_start(net->nodes[layer].quant, w, (struct qn_view){ 1, 1, n }, s, arena, err);
    return st ? assay_wrap(err, st, "weights of all layers") : ASSAY_OK;
}

enum assay_status qn_net_start_weights(struct qn_net *net, const struct qn_start *s,
                                       struct assay_err *err)
{
    enum assay_status st = ASSAY_OK;
    struct assay_arena arena = { 0 };

    for (int i = 1; !st && i < net->graph->n_layers; i++) {
        if (net->nodes[i].quantised < 0 || net->nodes[i].shared)
            continue;
        st = start_own_weights(net, i, s, &arena, err);
        assay_arena_reset(&arena);
    }
    if (!st && net->shared_param[false] >= 0)
        st = start_shared_weights(net, s, &arena, err);
    assay_arena_release(&arena);
    return st;
}

/* ---- activations ----------------------------------------------------------------------------- */

/* Where they come from. */
struct samples {
    const struct qn_pass *pass;
    const float *x;
    int64_t n, most; /* samples; values of a layer that are enough */
    uint64_t seed;
    struct assay_arena arena;
};

/* Places of values: rows of all channels at drawn positions, so that each channel is seen. */
struct sampler {
    float *v; /* [rows][channels] */
    int64_t channels, area, rows, per_image;
};

static struct sampler plan_sampler(const struct qn_net *net, int layer, const struct samples *from)
{
    const struct qn_shape *shape = &net->graph->layers[layer].shape;
    struct sampler s = { .channels = shape->c, .area = shape->h * shape->w };

    s.per_image = from->most / from->n / s.channels;
    s.per_image = s.per_image < 1 ? 1 : s.per_image;
    return s;
}

static void take(struct sampler *s, struct assay_key key, const float *x, int64_t image)
{
    for (int64_t k = 0; k < s->per_image; k++) {
        int64_t at =
            (int64_t)assay_rng_below(key, (uint64_t)(image * s->per_image + k), (uint64_t)s->area);

        for (int64_t c = 0; c < s->channels; c++)
            s->v[s->rows * s->channels + c] = x[c * s->area + at];
        s->rows++;
    }
}

static enum assay_status collect(struct qn_net *net, const struct samples *from, int layer,
                                 struct sampler *s, struct assay_err *err)
{
    int before = net->graph->layers[layer].in[0];
    int64_t size = qn__size(&net->graph->layers[0].shape), batch = net->options.max_batch;
    struct assay_key key = assay_key(from->seed, "qn_activations", layer, 0, 0);

    for (int64_t at = 0; at < from->n; at += batch) {
        int64_t m = from->n - at < batch ? from->n - at : batch;

        ASSAY_TRY(qn_net_forward_to(net, from->pass, from->x + at * size, m, before, err));
        for (int64_t i = 0; i < m; i++)
            take(s, key, qn__value(net, before) + i * s->channels * s->area, at + i);
    }
    return ASSAY_OK;
}

/* Whether layer i is one of those whose inputs set up the quantiser of `layer`. */
static bool takes_part(const struct qn_net *net, int i, int layer)
{
    return net->nodes[layer].shared ? qn__shares(net, i, true) : i == layer;
}

/* Collects from all layers that take part; the view is that of one layer, or one row of all. */
static enum assay_status collect_all(struct qn_net *net, struct samples *from, int layer,
                                     float **values, struct qn_view *view, struct assay_err *err)
{
    size_t total = 0;
    float *at;

    for (int i = 1; i < net->graph->n_layers; i++) {
        struct sampler s = plan_sampler(net, i, from);
        size_t n;

        if (takes_part(net, i, layer) &&
            (!assay_mul_size((size_t)from->n, (size_t)(s.per_image * s.channels), &n) ||
             !assay_add_size(total, n, &total)))
            total = SIZE_MAX / sizeof *at;
    }
    *values = at = assay_arena_array(&from->arena, total, sizeof *at);
    if (!at)
        return assay_fail(err, ASSAY_NOMEM, "no memory for samples; take fewer");
    for (int i = 1; i < net->graph->n_layers; i++) {
        struct sampler s = plan_sampler(net, i, from);

        if (!takes_part(net, i, layer))
            continue;
        s.v = at;
        ASSAY_TRY(collect(net, from, i, &s, err));
        at += s.rows * s.channels;
        *view = (struct qn_view){ s.rows, s.channels, 1 };
    }
    if (net->nodes[layer].shared)
        *view = (struct qn_view){ 1, 1, (int64_t)total };
    return ASSAY_OK;
}

/* How many layers share with this one; 0 when it is not the first of them. */
static int sharers(const struct qn_net *net, int layer)
{
    int n = 0;

    for (int i = 1; i < net->graph->n_layers; i++) {
        if (!takes_part(net, i, layer))
            continue;
        if (i < layer)
            return 0;
        n++;
    }
    return n;
}

enum assay_status qn_net_start_activations(struct qn_net *net, const struct qn_pass *pass,
                                           int layer, const float *x, int64_t n,
                                           const struct qn_start *s, struct assay_err *err)
{
    const struct qn_layer *l = &net->graph->layers[layer];
    struct qn_pass off = *pass;
    struct samples from = { .pass = pass, .x = x, .n = n, .seed = s->seed };
    struct qn_view view = { 0 };
    enum assay_status st;
    int n_layers;
    float *values;

    if (!qn__quantises_activations(net, layer))
        return assay_fail(err, ASSAY_INVALID, "layer '%s' has no quantiser of activations",
                          l->name);
    if (n < 1)
        return assay_fail(err, ASSAY_INVALID, "no samples to set up layer '%s'", l->name);
    n_layers = sharers(net, layer);
    if (!n_layers)
        return ASSAY_OK;
    from.most = (s->max_samples > 0 ? s->max_samples : DEFAULT_VALUES) / n_layers;
    if (net->nodes[layer].shared) {
        off.activations = QN_OFF;
        from.pass = &off;
    }
    st = collect_all(net, &from, layer, &values, &view, err);
    if (!st)
        st = qn_quant_start(net->nodes[layer].quant, values, view, s, &from.arena, err);
    assay_arena_release(&from.arena);
    return st ? assay_wrap(err, st, "activations of '%s'", l->name) : ASSAY_OK;
}
