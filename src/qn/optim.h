/* SPDX-License-Identifier: Apache-2.0 */
/*
 * optim.h: steps of parameters along their gradients: SGD with momentum, Adam.
 *
 *     struct qn_optim o = { 0 };
 *     qn_optim_init(&o, &qn_optim_sgd, net, &arena, err);
 *     o.rule.momentum = 0.9; o.rule.decay = 1e-4;
 *     qn_optim_step(&o, 0.01, pool);                          after a backward pass
 *
 * What it remembers lies in o.memory, with o.n_steps all of its state: saved and loaded together
 * with the parameters, training goes on with the same bytes.
 */
#ifndef QN_OPTIM_H
#define QN_OPTIM_H

#include "qn/net.h"

struct qn_optim_rule {
    double momentum, nesterov;  /* SGD: 0 to below 1; nesterov not 0: look ahead */
    double beta_1, beta_2, eps; /* Adam */
    double decay;               /* of weights (role QN_WEIGHT), per step times the rate */
    double decay_rest;          /* of biases and batch norms */
    double decay_scales;        /* of scales of quantisers, towards where they started: the released
                                 * code decays those of activations. Thresholds do not decay. */
    bool decoupled;             /* Adam: w -= rate * decay * w beside the step (AdamW) */
};

/* What one parameter gets: its rate is rate * scale; 0: it stays as it is. */
struct qn_group {
    double scale, decay;
};

struct qn_optim_type;

struct qn_optim {
    const struct qn_optim_type *type;
    struct qn_optim_rule rule;
    struct qn_net *net;
    struct qn_group *groups; /* [qn_net_n_params], scale 1 and the rule's decay at first */
    float *memory;           /* [n_memory], 0 at first; in the order of the parameters */
    size_t n_memory;
    int64_t n_steps;
};

struct qn_optim_type {
    const char *name;
    int n_memory; /* floats per value */
    struct qn_optim_rule start;
    /* n values v with gradient g; m: n_memory arrays of n, one behind the other */
    void (*step)(const struct qn_optim *o, const struct qn_group *group, double rate, int64_t n,
                 float *v, const float *g, float *const *m);
};

/* v -= rate * m with m = momentum * m + g + decay * v, as in PyTorch. */
extern const struct qn_optim_type qn_optim_sgd;
/* Kingma and Ba, arXiv 1412.6980, algorithm 1; decay as part of g unless decoupled. */
extern const struct qn_optim_type qn_optim_adam;

/* For the trained parameters of a net; arena owns what it needs. ASSAY_NOMEM; ASSAY_INVALID for a
 * net that does not train. */
enum assay_status qn_optim_init(struct qn_optim *o, const struct qn_optim_type *type,
                                struct qn_net *net, struct assay_arena *arena,
                                struct assay_err *err);
/* Gives each parameter the rule's decay by its role: after a change of the rule. */
void qn_optim_set_decay(struct qn_optim *o);
/* One step of all parameters, after which thresholds are put in order. rate >= 0. The same bytes
 * for any number of threads. */
void qn_optim_step(struct qn_optim *o, double rate, struct qn_pool *pool);
/* Length of the gradients of all that moves (groups with scale > 0) together; and these times
 * max / length where that is longer (one that is not finite changes nothing). Both return it. */
double qn_grad_norm(const struct qn_optim *o);
double qn_grad_clip(const struct qn_optim *o, double max);

#endif
