/* SPDX-License-Identifier: Apache-2.0 */
/* net_run.c: forward and backward passes, layer by layer. */
#include "qn/net_parts.h"

#include "base/clones.h"

#include <math.h>
#include <string.h>

/* ---- values that are not finite -------------------------------------------------------------- */

/* The exponent is full in infinities and NaN alone. */
ASSAY__CLONES static uint32_t run_fullest(int64_t n, const float *restrict x)
{
    uint32_t most = 0;

    for (int64_t i = 0; i < n; i++) {
        uint32_t u;

        memcpy(&u, &x[i], sizeof u);
        u &= 0x7f800000u;
        most = u > most ? u : most;
    }
    return most;
}

static bool finite_all(int64_t n, const float *x)
{
    return run_fullest(n, x) != 0x7f800000u;
}

static enum assay_status check_forward(const struct qn_net *net, int layer, struct assay_err *err)
{
    const struct qn_layer *l = &net->graph->layers[layer];

    if (finite_all(net->n * qn__size(&l->shape), qn__value(net, layer)))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_INVALID,
                      "layer '%s' (%s) made a value that is not finite; a lower rate or a clip of "
                      "gradients may help",
                      l->name, l->type->name);
}

static bool scales_finite(const struct qn_quant *q)
{
    return finite_all(q->n_scales, q->alpha.raw) && finite_all(q->n_scales, q->beta.raw) &&
           finite_all(q->config.levels.n - 1, q->b);
}

static bool gradients_finite(const struct qn_quant *q)
{
    return (!q->alpha.g || finite_all(q->n_scales, q->alpha.g)) &&
           (!q->beta.g || finite_all(q->n_scales, q->beta.g)) &&
           (!q->g_b || finite_all(q->config.levels.n - 1, q->g_b));
}

/* Before the layer runs: steps make a level of anything, NaN included, and an infinite variance
 * makes 0 of it. */
static enum assay_status check_params(const struct qn_net *net, int layer, struct assay_err *err)
{
    const struct qn__node *node = &net->nodes[layer];
    const struct qn_layer *l = &net->graph->layers[layer];

    for (int i = 0; i < node->n_params; i++) {
        const struct qn_param *p = &net->params[node->first_param + i];

        if (!finite_all(p->n, p->v))
            return assay_fail(err, ASSAY_INVALID,
                              "layer '%s' (%s): '%s' holds a value that is not finite; a lower "
                              "rate or a clip of gradients may help",
                              l->name, l->type->name, p->name);
    }
    if (node->quant && !scales_finite(node->quant))
        return assay_fail(err, ASSAY_INVALID,
                          "layer '%s' (%s): a scale or threshold of its quantiser is not finite; a "
                          "lower rate or temperature may help",
                          l->name, l->type->name);
    return ASSAY_OK;
}

static enum assay_status check_backward(const struct qn_net *net, int layer, struct assay_err *err)
{
    const struct qn__node *node = &net->nodes[layer];
    const struct qn_layer *l = &net->graph->layers[layer];

    for (int i = 0; i < node->n_params; i++) {
        const struct qn_param *p = &net->params[node->first_param + i];

        if (p->g && !finite_all(p->n, p->g))
            return assay_fail(err, ASSAY_INVALID, "the gradient of '%s' is not finite", p->name);
    }
    if (qn__quantises_activations(net, layer) && !gradients_finite(node->quant))
        return assay_fail(err, ASSAY_INVALID, "a gradient of the quantiser of '%s' is not finite",
                          l->name);
    for (int i = 0; i < l->n_in; i++) {
        const struct qn_layer *from = &net->graph->layers[l->in[i]];
        const float *dx = qn__gradient(net, l->in[i]);

        if (dx && !finite_all(net->n * qn__size(&from->shape), dx))
            return assay_fail(err, ASSAY_INVALID,
                              "layer '%s' (%s) made a gradient that is not finite", l->name,
                              l->type->name);
    }
    return ASSAY_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static struct qn_call call_of(struct qn_net *net, const struct qn_pass *pass, int layer)
{
    const struct qn_layer *l = &net->graph->layers[layer];
    const struct qn__node *node = &net->nodes[layer];
    struct qn_call c = { .pass = pass, .pool = net->pool, .n = net->n, .layer = layer };

    qn__inputs(net->graph, layer, c.in);
    for (int i = 0; i < l->n_in; i++)
        c.x[i] = qn__value(net, l->in[i]);
    c.y = qn__value(net, layer);
    for (int i = 0; i < node->n_params; i++) {
        struct qn_param *p = &net->params[node->first_param + i];

        c.v[i] = c.state[i] = p->v;
        c.g[i] = p->g;
    }
    if (node->quantised >= 0 && pass->weights != QN_OFF)
        c.v[0] = (const float *)(const void *)(net->block + net->buffers[node->quantised].at);
    if (node->saved >= 0)
        c.saved = net->block + net->buffers[node->saved].at;
    c.scratch = net->scratch;
    c.scratch_bytes = net->scratch_bytes;
    c.shared = net->shared;
    c.quant = node->quant;
    return c;
}

enum assay_status qn_net_forward_to(struct qn_net *net, const struct qn_pass *pass, const float *x,
                                    int64_t n, int layer, struct assay_err *err)
{
    if (layer < 0 || layer >= net->graph->n_layers)
        return assay_fail(err, ASSAY_INVALID, "a pass up to layer %d of %d", layer,
                          net->graph->n_layers);
    if (n < 1 || n > net->options.max_batch)
        return assay_fail(err, ASSAY_INVALID, "%lld samples in a batch of at most %lld",
                          (long long)n, (long long)net->options.max_batch);
    net->x = x;
    net->n = n;
    net->last = 0;
    for (int i = 1; i <= layer; i++) {
        struct qn__node *node = &net->nodes[i];
        struct qn_call c = call_of(net, pass, i);

        if (pass->check)
            ASSAY_TRY(check_params(net, i, err));
        if (node->quantised >= 0 && pass->weights != QN_OFF)
            qn_quant_forward(
                node->quant, pass->weights, net->params[node->first_param].v, node->weights,
                (float *)(void *)(net->block + net->buffers[node->quantised].at), net->pool);
        node->type->forward(&net->graph->layers[i], &c);
        if (pass->watch)
            pass->watch(pass->cookie, i, false);
        if (pass->check)
            ASSAY_TRY(check_forward(net, i, err));
        net->last = i;
    }
    return ASSAY_OK;
}

enum assay_status qn_net_forward(struct qn_net *net, const struct qn_pass *pass, const float *x,
                                 int64_t n, struct assay_err *err)
{
    return qn_net_forward_to(net, pass, x, n, net->graph->n_layers - 1, err);
}

static enum assay_status check_computed(const struct qn_net *net, struct assay_err *err)
{
    if (net->n > 0 && net->last == net->graph->n_layers - 1)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_INVALID, "no forward pass of the whole net came before this");
}

/* Layers are called in falling order, so the first reader of a value writes its gradient and those
 * after it add: a later layer reads it too exactly when it comes after this one. */
static bool written_before(const struct qn_net *net, int input, int layer, int place)
{
    const struct qn_graph *g = net->graph;

    for (int j = 0; j < place; j++)
        if (g->layers[layer].in[j] == input)
            return true;
    for (int i = layer + 1; i < g->n_layers && g->layers[input].n_users > 1; i++)
        for (int j = 0; j < g->layers[i].n_in; j++)
            if (g->layers[i].in[j] == input && net->nodes[i].wants)
                return true;
    return false;
}

enum assay_status qn_net_backward(struct qn_net *net, const struct qn_pass *pass,
                                  struct assay_err *err)
{
    if (!net->options.train)
        return assay_fail(err, ASSAY_INVALID, "a backward pass of a net that does not train");
    ASSAY_TRY(check_computed(net, err));
    memset(net->gradients, 0, net->n_values * sizeof *net->gradients);
    for (int i = net->graph->n_layers - 1; i > 0; i--) {
        const struct qn_layer *l = &net->graph->layers[i];
        struct qn_call c = call_of(net, pass, i);

        if (!net->nodes[i].wants)
            continue;
        c.dy = qn__gradient(net, i);
        for (int j = 0; j < l->n_in; j++) {
            c.dx[j] = qn__gradient(net, l->in[j]);
            c.add[j] = written_before(net, l->in[j], i, j);
        }
        net->nodes[i].type->backward(l, &c);
        if (pass->watch)
            pass->watch(pass->cookie, i, true);
        if (pass->check)
            ASSAY_TRY(check_backward(net, i, err));
    }
    qn__add_shared_gradients(net, true);
    return ASSAY_OK;
}

enum assay_status qn_net_backward_weights(struct qn_net *net, const struct qn_pass *pass,
                                          struct assay_err *err)
{
    for (int i = 1; i < net->graph->n_layers; i++) {
        struct qn__node *node = &net->nodes[i];
        struct qn_param *p = &net->params[node->first_param];

        if (node->quantised < 0)
            continue;
        if (pass->weights == QN_OFF)
            qn_quant_no_gradient(node->quant);
        else
            qn_quant_backward(node->quant, p->v, node->weights, p->g, p->g, net->pool);
        if (pass->check && !(finite_all(p->n, p->g) && gradients_finite(node->quant)))
            return assay_fail(err, ASSAY_INVALID,
                              "a gradient behind the weight quantiser of '%s' is not finite; a "
                              "lower rate or temperature may help",
                              net->graph->layers[i].name);
    }
    qn__add_shared_gradients(net, false);
    return ASSAY_OK;
}

/* ---- loss ------------------------------------------------------------------------------------ */

struct softmax {
    const float *x;
    float *dx; /* NULL: not wanted */
    int64_t classes;
    double smoothing, share; /* 1 / n */
};

/* Loss of one sample; the first of the largest values is the answer. */
static double softmax_row(const struct softmax *s, int64_t row, int32_t label, bool *correct)
{
    const float *x = s->x + row * s->classes;
    double sum = 0, total = 0, uniform = s->smoothing / (double)s->classes, log_sum;
    int64_t best = 0;

    for (int64_t k = 1; k < s->classes; k++)
        best = x[k] > x[best] ? k : best;
    for (int64_t k = 0; k < s->classes; k++) {
        sum += k == best ? 0 : exp((double)x[k] - (double)x[best]);
        total += (double)x[k];
    }
    log_sum = (double)x[best] + log1p(sum); /* the best one is exp(0) */
    for (int64_t k = 0; s->dx && k < s->classes; k++) {
        double target = uniform + (k == label ? 1 - s->smoothing : 0);

        s->dx[row * s->classes + k] = (float)(s->share * (exp((double)x[k] - log_sum) - target));
    }
    *correct = best == label && !isnan(x[best]);
    return log_sum - (1 - s->smoothing) * (double)x[label] - uniform * total;
}

enum assay_status qn_net_loss(struct qn_net *net, const int32_t *labels, double smoothing,
                              struct qn_loss *loss, struct assay_err *err)
{
    int last = net->graph->n_layers - 1;
    struct softmax s = { qn__value(net, last), qn__gradient(net, last), qn_net_classes(net),
                         smoothing, 1 / (double)net->n };
    struct qn_loss out = { 0, 0 };

    ASSAY_TRY(check_computed(net, err));
    if (!(smoothing >= 0 && smoothing < 1))
        return assay_fail(err, ASSAY_INVALID, "label smoothing %g; 0 to below 1 expected",
                          smoothing);
    for (int64_t i = 0; i < net->n; i++)
        if (labels[i] < 0 || labels[i] >= s.classes)
            return assay_fail(err, ASSAY_INVALID,
                              "label %d of sample %lld; the net has %lld classes", (int)labels[i],
                              (long long)i, (long long)s.classes);
    for (int64_t i = 0; i < net->n; i++) {
        bool correct;

        out.loss += softmax_row(&s, i, labels[i], &correct);
        out.n_correct += correct;
    }
    out.loss *= s.share;
    *loss = out;
    return ASSAY_OK;
}
