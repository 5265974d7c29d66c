/* SPDX-License-Identifier: Apache-2.0 */
/* net_parts.h: what a network consists of, for the files net*.c. */
#ifndef QN_NET_PARTS_H
#define QN_NET_PARTS_H

#include "qn/layer.h"

/* A piece of memory and the time in which it is needed: layer i's forward pass is at time i, the
 * loss at n_layers, its backward pass at 2 n_layers - i. */
struct qn__buffer {
    size_t bytes, at; /* at: offset in the block */
    int begin, end;   /* both included */
};

struct qn__node {
    const struct qn_layer_type *type; /* a layer "quant" without a quantiser is a "flatten" */
    int first_param, n_params;
    bool wants;             /* a gradient of what it makes is needed */
    struct qn_quant *quant; /* of its weights, or its own */
    bool shared;            /* its scales and thresholds are those of other layers too */
    struct qn_view weights;
    /* buffers; -1: none. value of the input and of what shares its bytes: -1 */
    int value, gradient, saved, quantised;
};

/* Parameters of a quantiser, in this order. */
enum { QN__ALPHA, QN__BETA, QN__ALPHA_START, QN__BETA_START, QN__THRESHOLDS, QN__N_QUANT_PARAMS };

struct qn_net {
    const struct qn_graph *graph;
    struct qn_net_options options;
    struct assay_arena arena;
    struct qn_pool *pool;
    struct qn__node *nodes; /* [n_layers] */
    struct qn_param *params;
    int n_params;
    int shared_param[2]; /* first parameter of what weights, and what activations share; -1: none */
    float *values, *gradients, *state; /* blocks that params are views of */
    size_t n_values, n_state;          /* floats */
    /* plan */
    struct qn__buffer *buffers;
    int n_buffers;
    char *block;
    size_t block_bytes, unshared_bytes;
    char *scratch, *shared;
    size_t scratch_bytes, shared_bytes; /* of one thread; of all */
    /* the last forward pass */
    const float *x;
    int64_t n;
    int last; /* layer computed by it */
};

/* Shapes of a layer's inputs. */
void qn__inputs(const struct qn_graph *g, int layer, const struct qn_shape **in);
/* Sets nodes' parameters and quantisers, and the blocks. ASSAY_INVALID, ASSAY_NOMEM. */
enum assay_status qn__net_params(struct qn_net *net, struct assay_err *err);
static inline bool qn__quantises_activations(const struct qn_net *net, int layer)
{
    return net->nodes[layer].type == &qn_layer_quant;
}
/* Whether the layer has its part in the quantiser that all weights (activations) share. */
static inline bool qn__shares(const struct qn_net *net, int layer, bool activations)
{
    return net->nodes[layer].shared && qn__quantises_activations(net, layer) == activations;
}
/* Adds the gradients of the layers that share up, in the order of the layers. */
void qn__add_shared_gradients(struct qn_net *net, bool activations);
/* Sets buffers, places them, allocates. ASSAY_NOMEM. */
enum assay_status qn__net_plan(struct qn_net *net, struct assay_err *err);
/* The memory of a layer's value, or the caller's input. */
float *qn__value(const struct qn_net *net, int layer);
float *qn__gradient(const struct qn_net *net, int layer);

#endif
