/* SPDX-License-Identifier: Apache-2.0 */
/* net_start.c: quantisers of a network set up from its weights and from sampled activations. */
#include "qn/net_parts.h"

#include "assay/rng.h"

enum { DEFAULT_VALUES = 1 << 18 };

enum assay_status qn_net_start_weights(struct qn_net *net, const struct qn_start *s,
                                       struct assay_err *err)
{
    enum assay_status st = ASSAY_OK;
    struct assay_arena arena = { 0 };

    for (int i = 1; !st && i < net->graph->n_layers; i++) {
        struct qn__node *node = &net->nodes[i];

        if (node->quantised < 0)
            continue;
        st = qn_quant_start(node->quant, net->params[node->first_param].v, node->weights, s, &arena,
                            err);
        if (st)
            assay_wrap(err, st, "weights of '%s'", net->graph->layers[i].name);
        assay_arena_reset(&arena);
    }
    assay_arena_release(&arena);
    return st;
}

/* Places of values: rows of all channels at drawn positions, so that each channel is seen. */
struct sampler {
    float *v; /* [samples][channels] */
    int64_t channels, area, rows, per_image;
};

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

static enum assay_status collect(struct qn_net *net, const struct qn_pass *pass, int layer,
                                 const float *x, int64_t n, uint64_t seed, struct sampler *s,
                                 struct assay_err *err)
{
    int from = net->graph->layers[layer].in[0];
    int64_t size = qn__size(&net->graph->layers[0].shape), batch = net->options.max_batch;
    struct assay_key key = assay_key(seed, "qn_activations", layer, 0, 0);

    for (int64_t at = 0; at < n; at += batch) {
        int64_t m = n - at < batch ? n - at : batch;

        ASSAY_TRY(qn_net_forward_to(net, pass, x + at * size, m, from, err));
        for (int64_t i = 0; i < m; i++)
            take(s, key, qn__value(net, from) + i * s->channels * s->area, at + i);
    }
    return ASSAY_OK;
}

enum assay_status qn_net_start_activations(struct qn_net *net, const struct qn_pass *pass,
                                           int layer, const float *x, int64_t n,
                                           const struct qn_start *s, struct assay_err *err)
{
    const struct qn_layer *l = &net->graph->layers[layer];
    struct sampler samples = { .channels = l->shape.c, .area = l->shape.h * l->shape.w };
    int64_t most = s->max_samples > 0 ? s->max_samples : DEFAULT_VALUES;
    struct assay_arena arena = { 0 };
    enum assay_status st;

    if (net->nodes[layer].type != &qn_layer_quant)
        return assay_fail(err, ASSAY_INVALID, "layer '%s' has no quantiser of activations",
                          l->name);
    if (n < 1)
        return assay_fail(err, ASSAY_INVALID, "no samples to set up layer '%s'", l->name);
    samples.per_image = most / n / samples.channels;
    samples.per_image = samples.per_image < 1 ? 1 : samples.per_image;
    samples.v = assay_arena_array(&arena, (size_t)(n * samples.per_image * samples.channels),
                                  sizeof *samples.v);
    if (!samples.v)
        return assay_fail(err, ASSAY_NOMEM, "no memory for samples of layer '%s'", l->name);
    st = collect(net, pass, layer, x, n, s->seed, &samples, err);
    if (!st)
        st = qn_quant_start(net->nodes[layer].quant, samples.v,
                            (struct qn_view){ samples.rows, samples.channels, 1 }, s, &arena, err);
    assay_arena_release(&arena);
    return st ? assay_wrap(err, st, "activations of '%s'", l->name) : ASSAY_OK;
}
