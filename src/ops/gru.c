/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gru: gated recurrent units, in layers, one way or both ways.
 *
 *     r = sigmoid(W_r x + b_ir + U_r h + b_hr)
 *     z = sigmoid(W_z x + b_iz + U_z h + b_hz)
 *     n = tanh(W_n x + b_in + r (U_n h + b_hn))
 *     h' = (h - n) z + n
 *
 * The lists hold the gates in this order: r, z, n. The published formula takes z first and has one
 * bias; the recorded results are as here. Dropout does nothing: it is for training. The native run
 * rounds to the dtype of x after every operation.
 */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/recurrent.h"

#include <math.h>

enum { H0 = ASSAY__RNN_OWN };
static const struct assay_param in[] = {
    [ASSAY__RNN_X] = { "x", ASSAY_FLOATS, 0, "[s, b, inputSize], or [b, s, inputSize]", NULL },
    [ASSAY__RNN_WEIGHT_IH] = { "weight_ih", ASSAY_FLOATS, ASSAY_PARAM_LIST,
                               "for each layer and direction [3 hiddenSize, inputSize], behind the "
                               "first layer [3 hiddenSize, directions hiddenSize]",
                               NULL },
    [ASSAY__RNN_WEIGHT_HH] = { "weight_hh", ASSAY_FLOATS, ASSAY_PARAM_LIST,
                               "each [3 hiddenSize, hiddenSize]", NULL },
    [ASSAY__RNN_BIAS_IH] = { "bias_ih", ASSAY_FLOATS, ASSAY_PARAM_LIST | ASSAY_PARAM_OPTIONAL,
                             "each [3 hiddenSize]", NULL },
    [ASSAY__RNN_BIAS_HH] = { "bias_hh", ASSAY_FLOATS, ASSAY_PARAM_LIST | ASSAY_PARAM_OPTIONAL,
                             "each [3 hiddenSize]", NULL },
    [H0] = { "h0", ASSAY_FLOATS, ASSAY_PARAM_OPTIONAL, "[layers directions, b, hiddenSize]", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    { "y", ASSAY_FLOATS, 0, "[s, b, directions hiddenSize], or [b, s, ..]", NULL },
    { "hn", ASSAY_FLOATS, 0, "[layers directions, b, hiddenSize]", NULL },
    { 0 },
};

static const struct assay_attr attrs[] = {
    ASSAY__RNN_ATTRS,
    { 0 },
};

/* Errors of half types grow from step to step. */
static const struct assay_tol tol[] = {
    { ASSAY_F32, 0.05 }, { ASSAY_F16, 0.05 }, { ASSAY_BF16, 0.05 }, { ASSAY_F32, -1 }
};

static void cell(const struct assay_args *a, struct assay__rnn_cell *c);

static const struct assay__rnn rnn = {
    .in = in, .gates = 3, .h0 = H0, .zero_biases = true, .native_steps = true, .cell = cell
};

/* ---- hooks ----------------------------------------------------------------------------------- */

static void cell(const struct assay_args *a, struct assay__rnn_cell *c)
{
    enum { RESET, UPDATE, NEW };
    enum assay_dtype d = assay__rnn_precision(&rnn, a);

    for (int i = 0; i < c->n; i++) {
        double reset = assay_round(a, d, c->state[RESET][i] + c->in[RESET][i]);
        double update = assay_round(a, d, c->state[UPDATE][i] + c->in[UPDATE][i]);
        double n;

        reset = assay_round(a, d, assay__sigmoid(a, reset));
        update = assay_round(a, d, assay__sigmoid(a, update));
        n = assay_round(a, d, c->in[NEW][i] + assay_round(a, d, c->state[NEW][i] * reset));
        n = assay_round(a, d, tanh(n));
        c->h[i] = assay_round(a, d, assay_round(a, d, c->h[i] - n) * update);
        c->h[i] = assay_round(a, d, c->h[i] + n);
    }
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    return assay__rnn_check(&rnn, a, err);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    return assay__rnn_infer(&rnn, a, err);
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    return assay__rnn_sample(&rnn, s, c, err);
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    (void)err;
    return assay__rnn_fill(&rnn, a, key);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    return assay__rnn_golden(&rnn, a, err);
}

static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__rnn_work(&rnn, a, w);
}

/* All products; 13 vector operations a unit and step and 4 more with biases; a cast of what goes in
 * where it has 16 bits. The first state counts as read even where there is none. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    struct assay__rnn_sizes z = assay__rnn_sizes(&rnn, a);
    enum assay_dtype d = a->in[ASSAY__RNN_X].t[0].dtype;
    double steps = (double)(z.steps * z.batch);
    double ops = (double)z.hidden * (a->attr[ASSAY__RNN_BIAS].i ? 17 : 13);

    assay__add_cube(w, d,
                    steps * (assay__elements(&a->in[ASSAY__RNN_WEIGHT_IH]) +
                             assay__elements(&a->in[ASSAY__RNN_WEIGHT_HH])));
    for (int64_t l = 0; l < z.layers; l++)
        w->amount[ASSAY_UNIT_VEC_32] +=
            steps * (double)z.dirs * (ops + (d == ASSAY_F32 ? 0 : (double)assay__rnn_width(&z, l)));
    if (!a->in[H0].n)
        w->amount[ASSAY_UNIT_MTE2] +=
            (double)(z.layers * z.dirs * z.batch * z.hidden) * (double)assay_dtype_size(d);
}

static const struct assay_spared spared[] = {
    { "output_f16", "all results are judged at 0.05, rounding to float16 stays below 2^-11" },
    { "output_bf16", "all results are judged at 0.05, rounding to bfloat16 stays below 2^-8" },
    { "output_flushed",
      "hardly a state of float16 is subnormal: fewer than may be off among small values" },
    { "fixed_attribute dropout", "dropout drops nothing here: networks are run, not trained" },
    { "other_attribute dropout", "dropout drops nothing here: networks are run, not trained" },
    { "confused bias true for false", "without lists of biases there are none either way" },
    { 0 },
};

const struct assay_op assay_op_gru = {
    .name = "gru",
    .tier = 4,
    .formula = "r, z = sigmoid(W x + b_ih + U h + b_hh); n = tanh(W_n x + b_in + r * (U_n h + "
               "b_hn)); h = (1 - z) * n + z * h; gates in the order r, z, n",
    .constraints =
        "x has rank 3 and ends in inputSize; with batchFirst, y and x have the batch "
        "first, states never\n"
        "all lists have one tensor for each layer and direction, layer by layer\n"
        "bias_ih and bias_hh come together, and only with bias; without, they are zeros\n"
        "all floats have the dtype of x; at least one step\n"
        "numLayers from 1 on, 64 tensors in a list at most; dropout is 0 to 1 and does "
        "nothing",
    .in = in,
    .out = out,
    .attrs = attrs,
    .tol = tol,
    .n_tol = 3,
    .sample = sample,
    .check = check,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 4, GRU",
};
