/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recurrent.h: what recurrent networks share: layers, directions, lists of weights, states.
 *
 * A layer reads a sequence [steps, batch, width] and makes one [steps, batch, directions out]; the
 * second direction runs from the last step to the first. Tensor l * directions + d of a list
 * belongs to layer l, direction d. The operator says how many gates a cell has, and what it makes
 * of them.
 */
#ifndef ASSAY_OPS_RECURRENT_H
#define ASSAY_OPS_RECURRENT_H

#include "assay/op.h"

/* Inputs and attributes that all of them begin with, in this order. */
enum {
    ASSAY__RNN_X,
    ASSAY__RNN_WEIGHT_IH,
    ASSAY__RNN_WEIGHT_HH,
    ASSAY__RNN_BIAS_IH,
    ASSAY__RNN_BIAS_HH,
    ASSAY__RNN_OWN /* the first input of the operator's own */
};
enum {
    ASSAY__RNN_INPUT,
    ASSAY__RNN_HIDDEN,
    ASSAY__RNN_LAYERS,
    ASSAY__RNN_BIAS,
    ASSAY__RNN_BATCH_FIRST,
    ASSAY__RNN_DROPOUT,
    ASSAY__RNN_BIDIRECTIONAL,
    ASSAY__RNN_OWN_ATTR
};
enum { ASSAY__RNN_MAX_GATES = 4, ASSAY__RNN_LANES = 16 };

/* Values that attributes of generated cases are drawn from. */
extern const double assay__rnn_layers[4], assay__rnn_yes[4], assay__rnn_dropouts[3];

/* Attributes that both have, for the beginning of a table. */
/* clang-format off */
#define ASSAY__RNN_ATTRS                                                                           \
    [ASSAY__RNN_INPUT] = { "inputSize", ASSAY_ATTR_INT, ASSAY_ATTR_REQUIRED, { 0 },                \
                           NULL, NULL, 0 },                                                        \
    [ASSAY__RNN_HIDDEN] = { "hiddenSize", ASSAY_ATTR_INT, ASSAY_ATTR_REQUIRED, { 0 },              \
                            NULL, NULL, 0 },                                                       \
    [ASSAY__RNN_LAYERS] = { "numLayers", ASSAY_ATTR_INT, 0, { .set = true, .i = 1 },               \
                            NULL, assay__rnn_layers, 4 },                                          \
    [ASSAY__RNN_BIAS] = { "bias", ASSAY_ATTR_BOOL, 0, { .set = true, .i = 1 },                     \
                          NULL, assay__rnn_yes, 4 },                                               \
    [ASSAY__RNN_BATCH_FIRST] = { "batchFirst", ASSAY_ATTR_BOOL, 0, { .set = true },                \
                                 NULL, NULL, 0 },                                                  \
    [ASSAY__RNN_DROPOUT] = { "dropout", ASSAY_ATTR_FLOAT, 0, { .set = true },                      \
                             NULL, assay__rnn_dropouts, 3 },                                       \
    [ASSAY__RNN_BIDIRECTIONAL] = { "bidirectional", ASSAY_ATTR_BOOL, 0, { .set = true },           \
                                   NULL, NULL, 0 }
/* clang-format on */

/* Some neighbouring units of one sequence at one step: sums of the gates from the input and from
 * the state, biases included. h and c are those of the step before, and become the new ones; of a
 * projected state, h is what is to be projected. */
struct assay__rnn_cell {
    int n;
    double in[ASSAY__RNN_MAX_GATES][ASSAY__RNN_LANES];
    double state[ASSAY__RNN_MAX_GATES][ASSAY__RNN_LANES];
    double h[ASSAY__RNN_LANES], c[ASSAY__RNN_LANES];
};
typedef void (*assay__rnn_cell_fn)(const struct assay_args *a, struct assay__rnn_cell *cell);

struct assay__rnn {
    const struct assay_param *in; /* for names */
    int gates;
    int weight_hr, h0, c0; /* inputs; 0: it has none */
    int proj_attr;         /* attribute; 0: it has none */
    bool zero_biases;      /* lists that are missing are zeros; else an error */
    bool native_steps;     /* the native run rounds each step to the dtype of x; else to fp32 */
    assay__rnn_cell_fn cell;
};

/* What the native run rounds to after each operation. */
enum assay_dtype assay__rnn_precision(const struct assay__rnn *r, const struct assay_args *a);

/* Sizes of a call that has passed the check. */
struct assay__rnn_sizes {
    int64_t steps, batch, input, hidden, out; /* out: of the state h, hidden where not projected */
    int64_t layers, dirs, gates;
    bool batch_first, projected;
};
struct assay__rnn_sizes assay__rnn_sizes(const struct assay__rnn *r, const struct assay_args *a);

/* Width of what layer l reads. */
int64_t assay__rnn_width(const struct assay__rnn_sizes *z, int64_t l);

/* The hooks. Outputs are y, hn and, with c0, cn. */
enum assay_status assay__rnn_check(const struct assay__rnn *r, const struct assay_args *a,
                                   struct assay_err *err);
enum assay_status assay__rnn_infer(const struct assay__rnn *r, struct assay_args *a,
                                   struct assay_err *err);
enum assay_status assay__rnn_sample(const struct assay__rnn *r, struct assay_sampler *s,
                                    struct assay_case *c, struct assay_err *err);
enum assay_status assay__rnn_fill(const struct assay__rnn *r, const struct assay_args *a,
                                  struct assay_key key);
enum assay_status assay__rnn_golden(const struct assay__rnn *r, const struct assay_args *a,
                                    struct assay_err *err);
void assay__rnn_work(const struct assay__rnn *r, const struct assay_args *a, struct assay_work *w);

#endif
