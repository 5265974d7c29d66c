/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net.h: networks: a graph of layers read from a description, its parameters, its memory, forward
 * and backward passes in fp32.
 *
 *     struct qn_graph g = { 0 };
 *     struct qn_net *net;
 *     qn_graph_read(&g, "data/nets/lenet-s.json", NULL, err);
 *     qn_net_new(&net, &g, &options, err);
 *     qn_net_seed(net, 1);                                     random weights
 *     qn_net_plan_text(net, &text);                            what the memory is for
 *     qn_net_forward(net, &pass, x, n, err);                   x: f32 [n, c, h, w]
 *     qn_net_loss(net, labels, 0, &loss, err);                 and its gradient
 *     qn_net_backward(net, &pass, err);                        gradients of all parameters
 *     qn_net_backward_weights(net, &pass, err);                ... through weight quantisers
 *     qn_net_free(net); qn_graph_release(&g);
 *
 * Activations are f32 [n, c, h, w], row-major; what fully connected layers make has h = w = 1. The
 * same seed, description, batches and BLAS give the same bytes for any number of threads.
 */
#ifndef QN_NET_H
#define QN_NET_H

#include "assay/memory.h"
#include "qn/pool.h"
#include "qn/quant.h"
#include "qn/quant_init.h"

#include <stdbool.h>
#include <stdint.h>

enum { QN_MAX_INPUTS = 16, QN_MAX_LAYERS = 4096, QN_MAX_LAYER_PARAMS = 4, QN_MAX_NAME = 80 };

/* Of one sample. */
struct qn_shape {
    int64_t c, h, w;
};

/* ---- graphs ---------------------------------------------------------------------------------- */

/* What a description may say about a layer; which of it counts depends on the kind. */
struct qn_attrs {
    int64_t out;                  /* channels or features made */
    int64_t kernel[2], stride[2]; /* height, width */
    int64_t pad[4];               /* top, left, bottom, right */
    int64_t dilation[2], groups;
    bool bias, count_pad, ceil, quantise; /* quantise false: this layer stays as it is */
    double eps, momentum, rate;
};

struct qn_layer_type;

struct qn_layer {
    char name[QN_MAX_NAME];
    const struct qn_layer_type *type;
    struct qn_attrs attrs;
    int n_in, in[QN_MAX_INPUTS]; /* indices of layers that come before */
    struct qn_shape shape;       /* made */
    int n_users;                 /* layers that read it */
};

/* Layers in an order in which each comes after those that it reads; 0 is the input, the last one
 * makes the result. Zero-initialise. */
struct qn_graph {
    struct assay_arena arena;
    char name[QN_MAX_NAME];
    int n_layers;
    struct qn_layer *layers;
};

/* What a caller may ask for in the place of what the description says; 0: as it says. */
struct qn_graph_size {
    struct qn_shape input;
    int64_t classes;
};

/*
 * Reads a description: docs/qnet-nets.md. ASSAY_PARSE with what is wrong and where: no JSON,
 * unknown layers or keys, values out of range, names that lead nowhere, cycles, shapes that do not
 * fit, sizes past 2^31. size may be NULL. The graph is empty after a failure.
 */
enum assay_status qn_graph_parse(struct qn_graph *g, const char *text, size_t len,
                                 const struct qn_graph_size *size, struct assay_err *err);
enum assay_status qn_graph_read(struct qn_graph *g, const char *path,
                                const struct qn_graph_size *size, struct assay_err *err);
void qn_graph_release(struct qn_graph *g);
/* The kind of a layer, "conv". */
const char *qn_layer_kind(const struct qn_layer *l);
/* Index of a layer, or -1. */
int qn_graph_find(const struct qn_graph *g, const char *name);

/* ---- parameters ------------------------------------------------------------------------------ */

enum qn_role {
    QN_WEIGHT, /* of convolutions and products: decays, may be quantised */
    QN_BIAS,
    QN_GAMMA, /* factor and shift of batch norm */
    QN_SHIFT,
    QN_MEAN, /* running moments: state, no gradient */
    QN_VARIANCE,
    QN_ALPHA, /* raw scales and thresholds of quantisers: quant.h */
    QN_BETA,
    QN_THRESHOLD,
    QN_START /* what raw scales start from: state */
};

struct qn_param {
    char name[QN_MAX_NAME + 16]; /* "layer1.0.conv1.weight", "conv2.weight_quant.alpha" */
    enum qn_role role;
    int layer;           /* 0, the input: of a quantiser that layers share */
    bool of_activations; /* of a quantiser of activations */
    int rank;
    int64_t dims[4], n; /* n: their product */
    bool trained;
    float *v; /* values, borrowed from the net */
    float *g; /* gradient, written by the backward passes; NULL for what is not trained */
};

/* ---- networks -------------------------------------------------------------------------------- */

struct qn_net_options {
    int64_t max_batch; /* > 0 */
    bool train;        /* false: no gradients, memory of activations used again */
    int n_threads;     /* 0: all cores */
    /* type NULL: as they are, and then layers "quant" are left out of the graph */
    struct qn_quant_config weights, activations;
    /* The same for the weights of the first and of the last layer that has some. */
    struct qn_quant_config first, last;
    /* One quantiser for all layers that `weights` is for (`activations`): alpha, beta and
     * thresholds are there once, as parameters "weight_quant.alpha" ("activation_quant.alpha") and
     * so on. Their gradients are sums over the layers. Not with scales per channel, nor with kinds
     * that derive them from the values. */
    bool share_weights, share_activations;
};

/* Called after each layer of a pass, for times and for looks at what it made. */
typedef void (*qn_watch_fn)(void *cookie, int layer, bool backward);

/* How a pass is to be made. */
struct qn_pass {
    bool train; /* batch statistics, dropout; remembers what backward needs */
    enum qn_quant_mode weights, activations;
    uint64_t seed, step; /* of dropout */
    bool check;          /* name the first layer that has, or makes, a value which is not finite */
    qn_watch_fn watch;   /* or NULL */
    void *cookie;
};

struct qn_net;

/* Builds the net; the graph must outlive it. Parameters are 0 until seeded or loaded.
 * ASSAY_INVALID: options; kinds of quantisers that do not fit; layers whose parameters would have
 * the same name; ASSAY_NOMEM. */
enum assay_status qn_net_new(struct qn_net **out, const struct qn_graph *g,
                             const struct qn_net_options *o, struct assay_err *err);
void qn_net_free(struct qn_net *net);

/* Weights normal with variance 2 / fan_in (He et al., arXiv 1502.01852, equation 10), those of the
 * last layer 1 / fan_in; biases and shifts 0, gammas and variances 1. */
void qn_net_seed(struct qn_net *net, uint64_t seed);

const struct qn_graph *qn_net_graph(const struct qn_net *net);
int qn_net_n_params(const struct qn_net *net);
struct qn_param *qn_net_param(struct qn_net *net, int i);
/* NULL when there is none. */
struct qn_param *qn_net_find_param(struct qn_net *net, const char *name);

/* The quantiser of a layer's weights, or of a layer "quant"; NULL: none. Those of layers that share
 * have the same scales and thresholds. */
struct qn_quant *qn_net_quant(struct qn_net *net, int layer);
/* Is that a layer "quant"? */
bool qn_net_is_quant(const struct qn_net *net, int layer);
/* Of a layer's weights: the view, and the values. False for layers without. */
bool qn_net_weights(struct qn_net *net, int layer, float **w, struct qn_view *v);
/* Sets the temperature of all weight (or activation) quantisers; t > 0, finite. */
void qn_net_temperature(struct qn_net *net, bool activations, float t);

/* x: f32 [n, c, h, w], borrowed until the backward pass is over; 0 < n <= max_batch. ASSAY_INVALID:
 * n, or with pass->check a value that is not finite, with its layer. */
enum assay_status qn_net_forward(struct qn_net *net, const struct qn_pass *pass, const float *x,
                                 int64_t n, struct assay_err *err);
/* The same up to a layer, which is the last one computed. */
enum assay_status qn_net_forward_to(struct qn_net *net, const struct qn_pass *pass, const float *x,
                                    int64_t n, int layer, struct assay_err *err);
/* What a layer made: f32 [n, c, h, w], valid until the next pass where the plan keeps it (all that
 * the backward pass needs, and the last layer computed). */
const float *qn_net_output(const struct qn_net *net, int layer);
int64_t qn_net_classes(const struct qn_net *net);
/* The threads of the net, for other loops between passes; borrowed. */
struct qn_pool *qn_net_pool(struct qn_net *net);

struct qn_loss {
    double loss; /* mean over the batch, natural logarithm */
    int64_t n_correct;
};

/* Softmax cross-entropy of the last forward pass against labels [n] in 0 .. classes-1; smoothing in
 * [0, 1) moves so much of each target to all classes alike. In a net that trains, the gradient of
 * the mean loss is left for the backward pass. ASSAY_INVALID: a label, smoothing, no forward pass
 * of the whole net before. A loss that is not finite is returned as such. */
enum assay_status qn_net_loss(struct qn_net *net, const int32_t *labels, double smoothing,
                              struct qn_loss *loss, struct assay_err *err);
/* The gradient of the result, f32 [n, classes], for other losses: write it before backward. */
float *qn_net_output_gradient(struct qn_net *net);

/* Gradients of all parameters, overwritten; 0 of what the pass does not use. Those of quantised
 * weights with respect to what the quantiser made, so that a caller can clip before the quantisers'
 * derivatives, as released; of weight quantisers 0 until then. pass as in the forward pass.
 * Activations that are hard have the derivative of training. ASSAY_INVALID: no forward pass of the
 * whole net came before; with pass->check a gradient that is not finite, with its layer. */
enum assay_status qn_net_backward(struct qn_net *net, const struct qn_pass *pass,
                                  struct assay_err *err);
/* Then those of the float weights, and of the scales and thresholds of weight quantisers.
 * ASSAY_INVALID: with pass->check, one that is not finite, with its layer. */
enum assay_status qn_net_backward_weights(struct qn_net *net, const struct qn_pass *pass,
                                          struct assay_err *err);

/* Sets up one quantiser of activations from values drawn out of n samples x (any n): the layer's
 * input, with everything before as `pass` says (with pass->train running moments move). Call it
 * layer by layer in order. Where all share one, the call for the first layer sets it up from the
 * inputs of all, with none quantised, and the others do nothing. */
enum assay_status qn_net_start_activations(struct qn_net *net, const struct qn_pass *pass,
                                           int layer, const float *x, int64_t n,
                                           const struct qn_start *s, struct assay_err *err);
/* All quantisers of weights, from the weights; a shared one from all that share it together. */
enum assay_status qn_net_start_weights(struct qn_net *net, const struct qn_start *s,
                                       struct assay_err *err);

/* ---- memory ---------------------------------------------------------------------------------- */

struct qn_memory {
    size_t parameters, gradients, state; /* of parameters */
    size_t activations;                  /* as placed, activation gradients among them */
    size_t unshared;                     /* the same if each had a place of its own */
    size_t scratch;                      /* of all threads */
};
struct qn_memory qn_net_memory(const struct qn_net *net);
/* A table of the layers with shapes, parameters and places, and the totals. */
void qn_net_plan_text(const struct qn_net *net, struct assay_text *t);

#endif
