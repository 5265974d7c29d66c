/* SPDX-License-Identifier: Apache-2.0 */
/* net.c: a network's life, and looking things up in it. */
#include "qn/net_parts.h"

#include "assay/rng.h"

#include <math.h>
#include <string.h>

enum { MAX_BATCH = 1 << 20 };

void qn__inputs(const struct qn_graph *g, int layer, const struct qn_shape **in)
{
    for (int j = 0; j < g->layers[layer].n_in; j++)
        in[j] = &g->layers[g->layers[layer].in[j]].shape;
}

static enum assay_status build(struct qn_net *net, struct assay_err *err)
{
    ASSAY_TRY(qn_pool_new(&net->pool, net->options.n_threads, err));
    ASSAY_TRY(qn__net_params(net, err));
    return qn__net_plan(net, err);
}

enum assay_status qn_net_new(struct qn_net **out, const struct qn_graph *g,
                             const struct qn_net_options *o, struct assay_err *err)
{
    struct qn_net *net;
    enum assay_status st;

    if (g->n_layers < 2)
        return assay_fail(err, ASSAY_INVALID, "a network without layers");
    if (o->max_batch < 1 || o->max_batch > MAX_BATCH)
        return assay_fail(err, ASSAY_INVALID, "a batch of %lld, 1 to %d expected",
                          (long long)o->max_batch, MAX_BATCH);
    net = assay_alloc_zero(sizeof *net);
    if (!net)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a network");
    net->graph = g;
    net->options = *o;
    st = build(net, err);
    if (st) {
        qn_net_free(net);
        return assay_wrap(err, st, "network '%s'", g->name);
    }
    *out = net;
    return ASSAY_OK;
}

void qn_net_free(struct qn_net *net)
{
    if (!net)
        return;
    qn_pool_free(net->pool);
    assay_arena_release(&net->arena);
    free(net);
}

/* ---- looking up ------------------------------------------------------------------------------ */

const struct qn_graph *qn_net_graph(const struct qn_net *net)
{
    return net->graph;
}

int qn_net_n_params(const struct qn_net *net)
{
    return net->n_params;
}

struct qn_param *qn_net_param(struct qn_net *net, int i)
{
    return &net->params[i];
}

struct qn_param *qn_net_find_param(struct qn_net *net, const char *name)
{
    for (int i = 0; i < net->n_params; i++)
        if (strcmp(net->params[i].name, name) == 0)
            return &net->params[i];
    return NULL;
}

struct qn_quant *qn_net_quant(struct qn_net *net, int layer)
{
    return net->nodes[layer].quant;
}

bool qn_net_is_quant(const struct qn_net *net, int layer)
{
    return net->graph->layers[layer].type == &qn_layer_quant;
}

bool qn_net_weights(struct qn_net *net, int layer, float **w, struct qn_view *v)
{
    const struct qn__node *node = &net->nodes[layer];

    if (!node->weights.outer)
        return false;
    *w = net->params[node->first_param].v;
    *v = node->weights;
    return true;
}

void qn_net_temperature(struct qn_net *net, bool activations, float t)
{
    for (int i = 0; i < net->graph->n_layers; i++)
        if (net->nodes[i].quant && qn__quantises_activations(net, i) == activations)
            net->nodes[i].quant->t = t;
}

const float *qn_net_output(const struct qn_net *net, int layer)
{
    return qn__value(net, layer);
}

float *qn_net_output_gradient(struct qn_net *net)
{
    return qn__gradient(net, net->graph->n_layers - 1);
}

int64_t qn_net_classes(const struct qn_net *net)
{
    return qn__size(&net->graph->layers[net->graph->n_layers - 1].shape);
}

struct qn_pool *qn_net_pool(struct qn_net *net)
{
    return net->pool;
}

/* ---- random weights -------------------------------------------------------------------------- */

/* Normal, from two uniform numbers (Box and Muller, 1958). */
static double normal(struct assay_key key, uint64_t i)
{
    const double two_pi = 0x1.921fb54442d18p+2;
    double u = 1 - assay_rng_unit(key, 2 * i), v = assay_rng_unit(key, 2 * i + 1);

    return sqrt(-2 * log(u)) * cos(two_pi * v);
}

static void seed_weight(struct qn_param *p, uint64_t seed, double gain)
{
    struct assay_key key = assay_key(seed, "qn_weights", p->layer, 0, 0);
    int64_t fan_in = p->n / p->dims[0];
    double sd = sqrt(gain / (double)fan_in);

    for (int64_t i = 0; i < p->n; i++)
        p->v[i] = (float)(sd * normal(key, (uint64_t)i));
}

void qn_net_seed(struct qn_net *net, uint64_t seed)
{
    int last = 0;

    for (int i = 0; i < net->n_params; i++)
        if (net->params[i].role == QN_WEIGHT)
            last = net->params[i].layer;
    for (int i = 0; i < net->n_params; i++) {
        struct qn_param *p = &net->params[i];
        bool one = p->role == QN_GAMMA || p->role == QN_VARIANCE;

        if (p->role == QN_WEIGHT)
            seed_weight(p, seed, p->layer == last ? 1 : 2);
        else if (p->role <= QN_VARIANCE)
            for (int64_t j = 0; j < p->n; j++)
                p->v[j] = one ? 1 : 0;
    }
}
