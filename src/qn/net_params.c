/* SPDX-License-Identifier: Apache-2.0 */
/* net_params.c: parameters and quantisers of a network, as views of one block each. */
#include "qn/net_parts.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN_FLOATS = 16 };

static const char *const shared_names[2] = { "weight_quant", "activation_quant" };

/* Scales and thresholds of a quantiser. */
static void quant_decls(const struct qn_quant *q, struct qn_decl *out)
{
    int64_t n = q->n_scales;

    out[QN__ALPHA] = (struct qn_decl){ "alpha", QN_ALPHA, 1, { n } };
    out[QN__BETA] = (struct qn_decl){ "beta", QN_BETA, 1, { n } };
    out[QN__ALPHA_START] = (struct qn_decl){ "alpha_start", QN_START, 1, { n } };
    out[QN__BETA_START] = (struct qn_decl){ "beta_start", QN_START, 1, { n } };
    out[QN__THRESHOLDS] =
        (struct qn_decl){ "thresholds", QN_THRESHOLD, 1, { q->config.levels.n - 1 } };
}

/* Whose parameters are added. */
struct owner {
    int layer;
    const char *name, *prefix; /* "conv2" and "weight_quant." */
    const struct qn_quant *quant;
    bool of_activations;
};

static bool is_trained(const struct owner *o, enum qn_role role)
{
    assert(o->quant || role < QN_ALPHA);
    switch (role) {
    case QN_MEAN:
    case QN_VARIANCE:
    case QN_START:
        return false;
    case QN_ALPHA:
        return o->quant->type->trains_alpha;
    case QN_BETA:
        return o->quant->type->trains_beta;
    case QN_THRESHOLD:
        return o->quant->config.learn_thresholds;
    default:
        return true;
    }
}

static size_t padded(int64_t n)
{
    return ((size_t)n + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
}

static enum assay_status add_param(struct qn_net *net, const struct owner *o,
                                   const struct qn_decl *d, struct assay_err *err)
{
    struct qn_param *p = &net->params[net->n_params++];
    int len;

    *p = (struct qn_param){ .role = d->role,
                            .layer = o->layer,
                            .rank = d->rank,
                            .n = 1,
                            .of_activations = o->of_activations };
    len = snprintf(p->name, sizeof p->name, "%s.%s%s", o->name, o->prefix, d->suffix);
    if (len < 0 || (size_t)len >= sizeof p->name)
        return assay_fail(err, ASSAY_INVALID, "the name of layer '%s' is too long; shorten it",
                          o->name);
    for (int i = 0; i < d->rank; i++) {
        p->dims[i] = d->dims[i];
        p->n *= d->dims[i];
    }
    p->trained = is_trained(o, d->role);
    /* offsets first, addresses when the blocks are there */
    if (p->trained)
        net->n_values += padded(p->n);
    else
        net->n_state += padded(p->n);
    return ASSAY_OK;
}

static enum assay_status add_quant_params(struct qn_net *net, const struct owner *o,
                                          struct assay_err *err)
{
    struct qn_decl d[QN__N_QUANT_PARAMS];

    quant_decls(o->quant, d);
    for (int i = 0; i < QN__N_QUANT_PARAMS; i++)
        ASSAY_TRY(add_param(net, o, &d[i], err));
    return ASSAY_OK;
}

/* ---- which layer has which quantiser --------------------------------------------------------- */

/* The first and the last layer with weights. */
struct ends {
    int first, last;
};

static struct ends find_ends(const struct qn_graph *g)
{
    struct ends e = { -1, -1 };

    for (int i = 0; i < g->n_layers; i++) {
        const struct qn_shape *in[QN_MAX_INPUTS];
        struct qn_decl d[QN_MAX_LAYER_PARAMS];

        qn__inputs(g, i, in);
        if (!g->layers[i].type->params || !g->layers[i].type->params(&g->layers[i], in, d) ||
            d[0].role != QN_WEIGHT)
            continue;
        if (e.first < 0)
            e.first = i;
        e.last = i;
    }
    return e;
}

/* Of a layer that has weights or is a "quant"; NULL: as they are. */
static const struct qn_quant_config *config_of(const struct qn_net *net, int layer,
                                               const struct ends *e)
{
    const struct qn_layer *l = &net->graph->layers[layer];
    const struct qn_net_options *o = &net->options;
    const struct qn_quant_config *c = &o->weights;

    if (l->type == &qn_layer_quant)
        c = &o->activations;
    else if (!l->attrs.quantise)
        return NULL;
    else if (layer == e->first)
        c = &o->first;
    else if (layer == e->last)
        c = &o->last;
    return c->type ? c : NULL;
}

static enum assay_status check_quant(const struct qn_quant_config *c, bool activations, bool shared,
                                     struct assay_err *err)
{
    bool from_values = c->type->from_values && c->type->from_values(c);

    if (activations && from_values)
        return assay_fail(err, ASSAY_INVALID,
                          "quantiser %s with these levels is one of weights: its scales would "
                          "change with each batch of activations",
                          c->type->name);
    if (shared && from_values)
        return assay_fail(err, ASSAY_INVALID,
                          "quantiser %s takes its scales from each layer's weights; it cannot be "
                          "shared",
                          c->type->name);
    if (shared && c->per_channel)
        return assay_fail(err, ASSAY_INVALID,
                          "a quantiser that layers share cannot have scales per channel");
    return ASSAY_OK;
}

/* The quantiser of the node's weights, or of a layer "quant" itself. */
static enum assay_status make_quant(struct qn_net *net, int layer, const struct qn_quant_config *c,
                                    int64_t channels, struct assay_err *err)
{
    const struct qn_net_options *o = &net->options;
    struct qn__node *node = &net->nodes[layer];
    enum assay_status st;

    node->shared =
        (c == &o->weights && o->share_weights) || (c == &o->activations && o->share_activations);
    node->quant = assay_arena_alloc(&net->arena, sizeof *node->quant);
    if (!node->quant)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a quantiser");
    st = qn_quant_init(node->quant, c, channels, &net->arena, err);
    if (!st)
        st = check_quant(c, c == &o->activations, node->shared, err);
    return st ? assay_wrap(err, st, "layer '%s'", net->graph->layers[layer].name) : ASSAY_OK;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static enum assay_status add_layer(struct qn_net *net, int layer, const struct ends *e,
                                   struct assay_err *err)
{
    const struct qn_layer *l = &net->graph->layers[layer];
    struct qn__node *node = &net->nodes[layer];
    bool activations = l->type == &qn_layer_quant;
    struct owner o = { layer, l->name, "", NULL, false };
    const struct qn_quant_config *c = NULL;
    const struct qn_shape *in[QN_MAX_INPUTS];
    struct qn_decl d[QN_MAX_LAYER_PARAMS];
    int n;

    qn__inputs(net->graph, layer, in);
    node->type = l->type;
    node->first_param = net->n_params;
    n = l->type->params ? l->type->params(l, in, d) : 0;
    for (int i = 0; i < n; i++)
        ASSAY_TRY(add_param(net, &o, &d[i], err));
    node->n_params = n;
    if (n && d[0].role == QN_WEIGHT)
        node->weights =
            (struct qn_view){ 1, d[0].dims[0], net->params[node->first_param].n / d[0].dims[0] };
    if (activations || node->weights.outer)
        c = config_of(net, layer, e);
    if (activations && !c)
        node->type = &qn_layer_flatten;
    if (!c)
        return ASSAY_OK;
    ASSAY_TRY(make_quant(net, layer, c, activations ? l->shape.c : node->weights.channels, err));
    o.prefix = activations ? "" : "weight_quant.";
    o.quant = node->quant;
    o.of_activations = activations;
    return node->shared ? ASSAY_OK : add_quant_params(net, &o, err);
}

/* What layers share, behind all that they have. */
static enum assay_status add_shared(struct qn_net *net, bool activations, struct assay_err *err)
{
    net->shared_param[activations] = -1;
    for (int i = 0; i < net->graph->n_layers; i++) {
        struct owner o = { 0, shared_names[activations], "", net->nodes[i].quant, activations };

        if (!qn__shares(net, i, activations))
            continue;
        net->shared_param[activations] = net->n_params;
        return add_quant_params(net, &o, err);
    }
    return ASSAY_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Layers "a" and "a.weight_quant" would both have a parameter "a.weight_quant.alpha". */
static enum assay_status check_names(const struct qn_net *net, struct assay_err *err)
{
    struct assay_arena arena = { 0 };
    const char **names = assay_arena_array(&arena, (size_t)net->n_params + 1, sizeof *names);
    enum assay_status st = ASSAY_OK;

    if (!names)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %d names", net->n_params);
    for (int i = 0; i < net->n_params; i++)
        names[i] = net->params[i].name;
    qsort(names, (size_t)net->n_params, sizeof *names, by_name);
    for (int i = 1; !st && i < net->n_params; i++)
        if (strcmp(names[i], names[i - 1]) == 0)
            st = assay_fail(err, ASSAY_INVALID,
                            "two parameters would be called '%s'; rename one of the layers",
                            names[i]);
    assay_arena_release(&arena);
    return st;
}

/* ---- addresses ------------------------------------------------------------------------------- */

static void place_params(struct qn_net *net)
{
    size_t value = 0, state = 0;

    for (int i = 0; i < net->n_params; i++) {
        struct qn_param *p = &net->params[i];

        if (!p->trained) {
            p->v = net->state + state;
            state += padded(p->n);
            continue;
        }
        p->v = net->values + value;
        p->g = net->gradients ? net->gradients + value : NULL;
        value += padded(p->n);
    }
}

/* Points a quantiser at the net's blocks, with the values it has. Of one that is shared the
 * gradients stay its own: they are added up after a pass. */
static void attach(struct qn_net *net, int layer)
{
    struct qn__node *node = &net->nodes[layer];
    int own = node->first_param + node->n_params;
    int shared = net->shared_param[qn__quantises_activations(net, layer)];
    struct qn_param *p = &net->params[node->shared ? shared : own];
    struct qn_quant *q = node->quant;
    float *g[QN__N_QUANT_PARAMS] = { NULL };

    if (!q)
        return;
    if (node->shared) {
        g[QN__ALPHA] = p[QN__ALPHA].g ? q->alpha.g : NULL;
        g[QN__BETA] = p[QN__BETA].g ? q->beta.g : NULL;
        g[QN__THRESHOLDS] = p[QN__THRESHOLDS].g ? q->g_b : NULL;
    } else {
        for (int i = 0; i < QN__N_QUANT_PARAMS; i++)
            g[i] = p[i].g;
    }
    memcpy(p[QN__ALPHA_START].v, q->alpha.start, (size_t)q->n_scales * sizeof(float));
    memcpy(p[QN__BETA_START].v, q->beta.start, (size_t)q->n_scales * sizeof(float));
    memcpy(p[QN__THRESHOLDS].v, q->b, (size_t)p[QN__THRESHOLDS].n * sizeof(float));
    q->alpha = (struct qn_scale){ p[QN__ALPHA].v, p[QN__ALPHA_START].v, g[QN__ALPHA] };
    q->beta = (struct qn_scale){ p[QN__BETA].v, p[QN__BETA_START].v, g[QN__BETA] };
    q->b = p[QN__THRESHOLDS].v;
    q->g_b = g[QN__THRESHOLDS];
}

/* ---- all ------------------------------------------------------------------------------------- */

static enum assay_status list_params(struct qn_net *net, struct assay_err *err)
{
    struct ends e = find_ends(net->graph);

    for (int i = 0; i < net->graph->n_layers; i++)
        ASSAY_TRY(add_layer(net, i, &e, err));
    ASSAY_TRY(add_shared(net, false, err));
    ASSAY_TRY(add_shared(net, true, err));
    return check_names(net, err);
}

enum assay_status qn__net_params(struct qn_net *net, struct assay_err *err)
{
    size_t n = (size_t)net->graph->n_layers;
    size_t most = n * QN_MAX_LAYER_PARAMS + (n + 2) * QN__N_QUANT_PARAMS;

    net->params = assay_arena_array(&net->arena, most, sizeof *net->params);
    net->nodes = assay_arena_zero(&net->arena, n * sizeof *net->nodes);
    if (!net->params || !net->nodes)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %zu layers", n);
    ASSAY_TRY(list_params(net, err));
    net->values = assay_arena_zero(&net->arena, net->n_values * sizeof *net->values);
    net->state = assay_arena_zero(&net->arena, net->n_state * sizeof *net->state);
    net->gradients = net->options.train
                         ? assay_arena_zero(&net->arena, net->n_values * sizeof *net->gradients)
                         : NULL;
    if (!net->values || !net->state || (net->options.train && !net->gradients))
        return assay_fail(err, ASSAY_NOMEM, "no memory for %zu parameters", net->n_values);
    place_params(net);
    for (int i = 0; i < net->graph->n_layers; i++)
        attach(net, i);
    return ASSAY_OK;
}

/* ---- gradients of what is shared ------------------------------------------------------------- */

static const float *gradient_of(const struct qn_quant *q, int which)
{
    return which == QN__ALPHA ? q->alpha.g : which == QN__BETA ? q->beta.g : q->g_b;
}

static void add_gradient(struct qn_net *net, bool activations, int which)
{
    struct qn_param *p = &net->params[net->shared_param[activations] + which];

    for (int64_t j = 0; p->g && j < p->n; j++) {
        double sum = 0;

        for (int i = 0; i < net->graph->n_layers; i++)
            if (qn__shares(net, i, activations))
                sum += (double)gradient_of(net->nodes[i].quant, which)[j];
        p->g[j] = (float)sum;
    }
}

void qn__add_shared_gradients(struct qn_net *net, bool activations)
{
    if (net->shared_param[activations] < 0)
        return;
    add_gradient(net, activations, QN__ALPHA);
    add_gradient(net, activations, QN__BETA);
    add_gradient(net, activations, QN__THRESHOLDS);
}
