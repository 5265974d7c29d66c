/* SPDX-License-Identifier: Apache-2.0 */
/* net_params.c: parameters and quantisers of a network, as views of one block each. */
#include "qn/net_parts.h"

#include <stdio.h>
#include <string.h>

enum { MAX_QUANT_PARAMS = 5, ALIGN_FLOATS = 16 };

static bool is_state(enum qn_role role, bool learn)
{
    return role == QN_MEAN || role == QN_VARIANCE || role == QN_START ||
           (role == QN_THRESHOLD && !learn);
}

/* Scales and thresholds of a quantiser, in the order in which attach() takes them. */
static int quant_decls(const struct qn_quant *q, struct qn_decl *out)
{
    out[0] = (struct qn_decl){ "alpha", QN_ALPHA, 1, { q->n_scales } };
    out[1] = (struct qn_decl){ "beta", QN_BETA, 1, { q->n_scales } };
    out[2] = (struct qn_decl){ "alpha_start", QN_START, 1, { q->n_scales } };
    out[3] = (struct qn_decl){ "beta_start", QN_START, 1, { q->n_scales } };
    out[4] = (struct qn_decl){ "thresholds", QN_THRESHOLD, 1, { q->config.levels.n - 1 } };
    return MAX_QUANT_PARAMS;
}

static enum assay_status add_param(struct qn_net *net, int layer, const char *prefix,
                                   const struct qn_decl *d, bool learn, struct assay_err *err)
{
    struct qn_param *p = &net->params[net->n_params++];
    int len;

    *p = (struct qn_param){ .role = d->role, .layer = layer, .rank = d->rank, .n = 1 };
    len = snprintf(p->name, sizeof p->name, "%s.%s%s", net->graph->layers[layer].name, prefix,
                   d->suffix);
    if (len < 0 || (size_t)len >= sizeof p->name)
        return assay_fail(err, ASSAY_INVALID, "the name of layer '%s' is too long; shorten it",
                          net->graph->layers[layer].name);
    for (int i = 0; i < d->rank; i++) {
        p->dims[i] = d->dims[i];
        p->n *= d->dims[i];
    }
    /* offsets first, addresses when the blocks are there */
    if (is_state(d->role, learn)) {
        net->n_state += ((size_t)p->n + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
    } else {
        p->trained = true;
        net->n_values += ((size_t)p->n + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
    }
    return ASSAY_OK;
}

/* ---- which layer has which quantiser --------------------------------------------------------- */

static const struct qn_quant_config *config_of(const struct qn_net *net, int layer, int first,
                                               int last)
{
    const struct qn_layer *l = &net->graph->layers[layer];
    const struct qn_net_options *o = &net->options;

    if (l->type == &qn_layer_quant)
        return &o->activations;
    if (!l->attrs.quantise)
        return NULL;
    if (layer == first)
        return &o->first;
    return layer == last ? &o->last : &o->weights;
}

/* The first and the last layer with weights. */
static void find_ends(const struct qn_graph *g, int *first, int *last)
{
    *first = *last = -1;
    for (int i = 0; i < g->n_layers; i++) {
        const struct qn_shape *in[QN_MAX_INPUTS];
        struct qn_decl d[QN_MAX_LAYER_PARAMS];

        qn__inputs(g, i, in);
        if (!g->layers[i].type->params || !g->layers[i].type->params(&g->layers[i], in, d) ||
            d[0].role != QN_WEIGHT)
            continue;
        if (*first < 0)
            *first = i;
        *last = i;
    }
}

static enum assay_status make_quant(struct qn_net *net, int layer, const struct qn_quant_config *c,
                                    int64_t channels, struct assay_err *err)
{
    struct qn__node *node = &net->nodes[layer];

    if (!c || !c->type)
        return ASSAY_OK;
    node->quant = assay_arena_alloc(&net->arena, sizeof *node->quant);
    if (!node->quant)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a quantiser");
    if (qn_quant_init(node->quant, c, channels, &net->arena, err))
        return assay_wrap(err, ASSAY_INVALID, "layer '%s'", net->graph->layers[layer].name);
    return ASSAY_OK;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static enum assay_status add_quant_params(struct qn_net *net, int layer, const char *prefix,
                                          struct assay_err *err)
{
    const struct qn_quant *q = net->nodes[layer].quant;
    struct qn_decl d[MAX_QUANT_PARAMS];
    int n = q ? quant_decls(q, d) : 0;

    for (int i = 0; i < n; i++)
        ASSAY_TRY(add_param(net, layer, prefix, &d[i], q->config.learn_thresholds, err));
    return ASSAY_OK;
}

static enum assay_status add_layer(struct qn_net *net, int layer, int first, int last,
                                   struct assay_err *err)
{
    const struct qn_layer *l = &net->graph->layers[layer];
    struct qn__node *node = &net->nodes[layer];
    const struct qn_shape *in[QN_MAX_INPUTS];
    struct qn_decl d[QN_MAX_LAYER_PARAMS];
    int n;

    qn__inputs(net->graph, layer, in);
    node->type = l->type;
    node->first_param = net->n_params;
    n = l->type->params ? l->type->params(l, in, d) : 0;
    for (int i = 0; i < n; i++)
        ASSAY_TRY(add_param(net, layer, "", &d[i], false, err));
    node->n_params = n;
    if (n && d[0].role == QN_WEIGHT) {
        node->weights =
            (struct qn_view){ 1, d[0].dims[0], net->params[node->first_param].n / d[0].dims[0] };
        ASSAY_TRY(make_quant(net, layer, config_of(net, layer, first, last), d[0].dims[0], err));
        return add_quant_params(net, layer, "weight_quant.", err);
    }
    if (l->type == &qn_layer_quant) {
        ASSAY_TRY(make_quant(net, layer, &net->options.activations, l->shape.c, err));
        if (!node->quant)
            node->type = &qn_layer_flatten;
        return add_quant_params(net, layer, "", err);
    }
    return ASSAY_OK;
}

/* ---- addresses ------------------------------------------------------------------------------- */

static void place_params(struct qn_net *net)
{
    size_t value = 0, state = 0;

    for (int i = 0; i < net->n_params; i++) {
        struct qn_param *p = &net->params[i];
        size_t size = ((size_t)p->n + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;

        if (!p->trained) {
            p->v = net->state + state;
            state += size;
            continue;
        }
        p->v = net->values + value;
        p->g = net->gradients ? net->gradients + value : NULL;
        value += size;
    }
}

/* Points a quantiser at the net's blocks, with the values it has. */
static void attach(struct qn_net *net, int layer)
{
    struct qn__node *node = &net->nodes[layer];
    struct qn_quant *q = node->quant;
    struct qn_param *p = &net->params[node->first_param + node->n_params];

    if (!q)
        return;
    memcpy(p[2].v, q->alpha.start, (size_t)q->n_scales * sizeof *p->v);
    memcpy(p[3].v, q->beta.start, (size_t)q->n_scales * sizeof *p->v);
    memcpy(p[4].v, q->b, (size_t)p[4].n * sizeof *p->v);
    q->alpha = (struct qn_scale){ p[0].v, p[2].v, p[0].g };
    q->beta = (struct qn_scale){ p[1].v, p[3].v, p[1].g };
    q->b = p[4].v;
    if (q->g_b)
        q->g_b = p[4].g;
}

enum assay_status qn__net_params(struct qn_net *net, struct assay_err *err)
{
    const struct qn_graph *g = net->graph;
    size_t most = (size_t)g->n_layers * (QN_MAX_LAYER_PARAMS + MAX_QUANT_PARAMS);
    int first, last;

    find_ends(g, &first, &last);
    net->params = assay_arena_array(&net->arena, most, sizeof *net->params);
    net->nodes = assay_arena_zero(&net->arena, (size_t)g->n_layers * sizeof *net->nodes);
    if (!net->params || !net->nodes)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %d layers", g->n_layers);
    for (int i = 0; i < g->n_layers; i++)
        ASSAY_TRY(add_layer(net, i, first, last, err));
    net->values = assay_arena_zero(&net->arena, net->n_values * sizeof *net->values);
    net->state = assay_arena_zero(&net->arena, net->n_state * sizeof *net->state);
    net->gradients = net->options.train
                         ? assay_arena_zero(&net->arena, net->n_values * sizeof *net->gradients)
                         : NULL;
    if (!net->values || !net->state || (net->options.train && !net->gradients))
        return assay_fail(err, ASSAY_NOMEM, "no memory for %zu parameters", net->n_values);
    place_params(net);
    for (int i = 0; i < g->n_layers; i++)
        attach(net, i);
    return ASSAY_OK;
}
