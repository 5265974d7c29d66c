/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_plan.c: where activations and their gradients lie. Each has a time from the first write to
 * the last read; two that are never needed at once may share their bytes. The largest are placed
 * first, each at the lowest place that is free throughout its time.
 *
 * Before that, a layer that can work in place takes over the memory of its input, where nobody else
 * needs that input.
 */
#include "qn/net_parts.h"

#include <stdlib.h>

enum { ALIGN = 64 };

struct planner {
    struct qn_net *net;
    bool *locked; /* of buffers of values: the layer that made them reads them in its backward pass;
                     of the layers that read them, one that works in place is the only one */
    int n_layers;
    bool overflow;
};

static int backward_time(const struct planner *p, int layer)
{
    return 2 * p->n_layers - layer;
}

static int add_buffer(struct planner *p, size_t bytes, int begin, int end)
{
    struct qn_net *net = p->net;

    net->buffers[net->n_buffers] =
        (struct qn__buffer){ (bytes + ALIGN - 1) / ALIGN * ALIGN, 0, begin, end };
    return net->n_buffers++;
}

static void extend(struct qn__buffer *b, int time)
{
    b->begin = time < b->begin ? time : b->begin;
    b->end = time > b->end ? time : b->end;
}

static size_t batch_bytes(struct planner *p, const struct qn_shape *s)
{
    size_t bytes = 0;

    if (!assay_mul_size((size_t)qn__size(s), (size_t)p->net->options.max_batch, &bytes) ||
        !assay_mul_size(bytes, sizeof(float), &bytes) || bytes > SIZE_MAX / 2)
        p->overflow = true;
    return p->overflow ? 0 : bytes;
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* The layer's value can lie where its only input's does. */
static bool takes_over(const struct planner *p, int layer)
{
    const struct qn_layer *l = &p->net->graph->layers[layer];
    const struct qn__node *nodes = p->net->nodes;
    unsigned flags = nodes[layer].type->flags;
    int from;

    if (l->n_in != 1 || p->net->graph->layers[l->in[0]].n_users != 1)
        return false;
    from = nodes[l->in[0]].value;
    if (flags & QN_SAME_BYTES)
        return true;
    return (flags & QN_IN_PLACE) && from >= 0 && !p->locked[from];
}

static void plan_value(struct planner *p, int layer)
{
    const struct qn_layer *l = &p->net->graph->layers[layer];
    struct qn__node *node = &p->net->nodes[layer];
    bool train = p->net->options.train;

    if (takes_over(p, layer))
        node->value = p->net->nodes[l->in[0]].value;
    else
        node->value = add_buffer(p, batch_bytes(p, &l->shape), layer, layer);
    if (node->value >= 0) {
        struct qn__buffer *b = &p->net->buffers[node->value];

        extend(b, layer == p->n_layers - 1 ? p->n_layers : layer);
        if (train && (node->type->flags & QN_NEEDS_Y)) {
            extend(b, backward_time(p, layer));
            p->locked[node->value] = true;
        }
    }
    for (int i = 0; i < l->n_in; i++) {
        int from = p->net->nodes[l->in[i]].value;

        if (from < 0)
            continue;
        extend(&p->net->buffers[from], layer);
        if (train && (node->type->flags & QN_NEEDS_X))
            extend(&p->net->buffers[from], backward_time(p, layer));
    }
}

/* From the last layer back: who reads a value writes its gradient, the last reader first. */
static void plan_gradient(struct planner *p, int layer)
{
    const struct qn_layer *l = &p->net->graph->layers[layer];
    struct qn__node *node = &p->net->nodes[layer];
    int now = backward_time(p, layer);

    if (!node->wants)
        return;
    if (node->gradient < 0)
        node->gradient = add_buffer(p, batch_bytes(p, &l->shape), now, now);
    extend(&p->net->buffers[node->gradient], layer == p->n_layers - 1 ? p->n_layers : now);
    for (int i = 0; i < l->n_in; i++) {
        const struct qn_layer *from = &p->net->graph->layers[l->in[i]];
        struct qn__node *to = &p->net->nodes[l->in[i]];

        if (!to->wants)
            continue;
        if (to->gradient < 0 && l->n_in == 1 && from->n_users == 1 &&
            (node->type->flags & (QN_IN_PLACE | QN_SAME_BYTES)))
            to->gradient = node->gradient;
        else if (to->gradient < 0)
            to->gradient = add_buffer(p, batch_bytes(p, &from->shape), now, now);
        extend(&p->net->buffers[to->gradient], now);
    }
}

static void plan_rest(struct planner *p, int layer)
{
    struct qn_net *net = p->net;
    const struct qn_layer *l = &net->graph->layers[layer];
    struct qn__node *node = &net->nodes[layer];
    const struct qn_shape *in[QN_MAX_INPUTS];
    int64_t n = net->options.max_batch;
    int end = net->options.train ? backward_time(p, layer) : layer;
    const struct qn_layer_type *t = node->type;
    size_t scratch, shared = 0;

    qn__inputs(net->graph, layer, in);
    if (t->saved_bytes)
        node->saved = add_buffer(p, t->saved_bytes(l, in, n), layer, end);
    if (node->quant && node->weights.outer)
        node->quantised =
            add_buffer(p, (size_t)net->params[node->first_param].n * sizeof(float), layer, end);
    scratch = t->scratch_bytes ? (t->scratch_bytes(l, in, n) + ALIGN - 1) / ALIGN * ALIGN : 0;
    if (t->shared_bytes && (net->options.train || (t->flags & QN_SHARES_AHEAD)))
        shared = t->shared_bytes(l, in, n);
    net->scratch_bytes = scratch > net->scratch_bytes ? scratch : net->scratch_bytes;
    net->shared_bytes = shared > net->shared_bytes ? shared : net->shared_bytes;
}

/* A gradient is wanted where parameters lie behind it. */
static void find_wanted(struct planner *p)
{
    for (int i = 1; i < p->n_layers && p->net->options.train; i++) {
        struct qn__node *node = &p->net->nodes[i];
        const struct qn_layer *l = &p->net->graph->layers[i];

        node->wants = node->n_params > 0 || node->quant || i == p->n_layers - 1;
        for (int j = 0; j < l->n_in; j++)
            node->wants |= p->net->nodes[l->in[j]].wants;
    }
}

/* Nothing lies beyond the sum of all, which a size must hold. */
static bool sum_fits(const struct qn_net *net)
{
    size_t sum = 0;

    for (int i = 0; i < net->n_buffers; i++)
        if (!assay_add_size(sum, net->buffers[i].bytes, &sum))
            return false;
    return true;
}

/* ---- places ---------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const struct qn__buffer *x = *(struct qn__buffer *const *)a,
                            *y = *(struct qn__buffer *const *)b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x > y) - (x < y);
}

/* The lowest place for b beside those placed before, which are sorted by place. */
static size_t find_place(struct qn__buffer *const *placed, int n, const struct qn__buffer *b)
{
    size_t at = 0;

    for (int i = 0; i < n; i++) {
        const struct qn__buffer *o = placed[i];

        if (o->end < b->begin || b->end < o->begin)
            continue;
        if (o->at >= at + b->bytes)
            break;
        if (o->at + o->bytes > at)
            at = o->at + o->bytes;
    }
    return at;
}

static void place_all(struct qn_net *net, struct qn__buffer **order, struct qn__buffer **placed)
{
    int n = net->n_buffers;

    for (int i = 0; i < n; i++)
        order[i] = &net->buffers[i];
    qsort(order, (size_t)n, sizeof *order, by_size);
    for (int i = 0; i < n; i++) {
        struct qn__buffer *b = order[i];
        int j = i;

        b->at = find_place(placed, i, b);
        for (; j > 0 && placed[j - 1]->at > b->at; j--)
            placed[j] = placed[j - 1];
        placed[j] = b;
        net->unshared_bytes += b->bytes;
        if (b->at + b->bytes > net->block_bytes)
            net->block_bytes = b->at + b->bytes;
    }
}

static enum assay_status place(struct planner *p, struct assay_err *err)
{
    struct qn_net *net = p->net;
    size_t n = (size_t)net->n_buffers, slots = (size_t)qn_pool_slots(net->pool), scratch = 0;
    struct assay_arena arena = { 0 };
    struct qn__buffer **order = assay_arena_array(&arena, 2 * n, sizeof *order);

    if (order)
        place_all(net, order, order + n);
    assay_arena_release(&arena);
    if (order && assay_mul_size(net->scratch_bytes, slots, &scratch)) {
        net->block = assay_arena_alloc(&net->arena, net->block_bytes);
        net->scratch = assay_arena_alloc(&net->arena, scratch);
        net->shared = assay_arena_alloc(&net->arena, net->shared_bytes);
    }
    if (!net->block || !net->scratch || !net->shared)
        return assay_fail(err, ASSAY_NOMEM,
                          "no memory for activations (%zu MiB); take a smaller batch",
                          (net->block_bytes + net->shared_bytes + scratch) >> 20);
    return ASSAY_OK;
}

enum assay_status qn__net_plan(struct qn_net *net, struct assay_err *err)
{
    struct planner p = { .net = net, .n_layers = net->graph->n_layers };
    size_t most = 4 * (size_t)p.n_layers;

    net->buffers = assay_arena_array(&net->arena, most, sizeof *net->buffers);
    p.locked = assay_arena_zero(&net->arena, most * sizeof *p.locked);
    if (!net->buffers || !p.locked)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a plan of %d layers", p.n_layers);
    find_wanted(&p);
    for (int i = 0; i < p.n_layers; i++) {
        struct qn__node *node = &net->nodes[i];

        node->value = node->gradient = node->saved = node->quantised = -1;
        if (i) {
            plan_value(&p, i);
            plan_rest(&p, i);
        }
    }
    for (int i = p.n_layers - 1; i > 0; i--)
        plan_gradient(&p, i);
    if (p.overflow || !sum_fits(net))
        return assay_fail(err, ASSAY_INVALID, "activations of a batch of %lld exceed all memory",
                          (long long)net->options.max_batch);
    return place(&p, err);
}

float *qn__value(const struct qn_net *net, int layer)
{
    int b = net->nodes[layer].value;

    /* the caller's input is only read: nothing that changes its bytes takes them over */
    return b < 0 ? (float *)(uintptr_t)net->x : (float *)(void *)(net->block + net->buffers[b].at);
}

float *qn__gradient(const struct qn_net *net, int layer)
{
    int b = net->nodes[layer].gradient;

    return b < 0 ? NULL : (float *)(void *)(net->block + net->buffers[b].at);
}

/* ---- printing -------------------------------------------------------------------------------- */

struct qn_memory qn_net_memory(const struct qn_net *net)
{
    return (struct qn_memory){
        .parameters = net->n_values * sizeof(float),
        .gradients = net->gradients ? net->n_values * sizeof(float) : 0,
        .state = net->n_state * sizeof(float),
        .activations = net->block_bytes,
        .unshared = net->unshared_bytes,
        .scratch = net->shared_bytes + net->scratch_bytes * (size_t)qn_pool_slots(net->pool),
    };
}

static void add_place(const struct qn_net *net, int buffer, struct assay_text *t)
{
    if (buffer < 0)
        assay_text_add(t, " %10s", "-");
    else
        assay_text_add(t, " %10.2f", (double)net->buffers[buffer].at / (1 << 20));
}

void qn_net_plan_text(const struct qn_net *net, struct assay_text *t)
{
    const struct qn_graph *g = net->graph;
    struct qn_memory m = qn_net_memory(net);
    const double mib = 1 << 20;

    assay_text_add(t, "%-28s %-12s %16s %10s %10s %10s\n", "layer", "kind", "makes", "parameters",
                   "value at", "grad. at");
    for (int i = 0; i < g->n_layers; i++) {
        const struct qn_layer *l = &g->layers[i];
        int64_t n = 0;
        char shape[80];

        for (int j = 0; j < net->nodes[i].n_params; j++)
            n += net->params[net->nodes[i].first_param + j].n;
        snprintf(shape, sizeof shape, "%lldx%lldx%lld", (long long)l->shape.c,
                 (long long)l->shape.h, (long long)l->shape.w);
        assay_text_add(t, "%-28s %-12s %16s %10lld", l->name, l->type->name, shape, (long long)n);
        add_place(net, net->nodes[i].value, t);
        add_place(net, net->nodes[i].gradient, t);
        assay_text_add(t, "\n");
    }
    assay_text_add(t,
                   "batch %lld, MiB: parameters %.2f, gradients %.2f, state %.2f, activations %.2f "
                   "(%.2f without sharing), scratch %.2f\n",
                   (long long)net->options.max_batch, (double)m.parameters / mib,
                   (double)m.gradients / mib, (double)m.state / mib, (double)m.activations / mib,
                   (double)m.unshared / mib, (double)m.scratch / mib);
}
