/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lstm: long short-term memory, in layers, one way or both ways; with projSize the state is
 * projected.
 *
 *     i, f, o = sigmoid(W x + b_ih + U h + b_hh), g = tanh(the same)
 *     c' = f c + i g
 *     h' = o tanh(c'), or V (o tanh(c'))
 *
 * The lists hold the gates in the order i, f, g, o. Dropout does nothing: it is for training.
 *
 * The published reference computes in fp32 whatever the dtype, and so does the native run. Where
 * that reference would go on with the random values of a new module, a call is refused: bias
 * without lists of biases, projSize without weight_hr.
 */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/recurrent.h"

#include <math.h>

enum { WEIGHT_HR = ASSAY__RNN_OWN, H0, C0 };
enum { PROJ = ASSAY__RNN_OWN_ATTR };
static const struct assay_param in[] = {
    [ASSAY__RNN_X] = { "x", ASSAY_FLOATS, 0, "[s, b, inputSize], or [b, s, inputSize]", NULL },
    [ASSAY__RNN_WEIGHT_IH] = { "weight_ih", ASSAY_FLOATS, ASSAY_PARAM_LIST,
                               "for each layer and direction [4 hiddenSize, inputSize], behind the "
                               "first layer [4 hiddenSize, directions out]",
                               NULL },
    [ASSAY__RNN_WEIGHT_HH] = { "weight_hh", ASSAY_FLOATS, ASSAY_PARAM_LIST,
                               "each [4 hiddenSize, out]; out: projSize, or hiddenSize", NULL },
    [ASSAY__RNN_BIAS_IH] = { "bias_ih", ASSAY_FLOATS, ASSAY_PARAM_LIST | ASSAY_PARAM_OPTIONAL,
                             "each [4 hiddenSize]", NULL },
    [ASSAY__RNN_BIAS_HH] = { "bias_hh", ASSAY_FLOATS, ASSAY_PARAM_LIST | ASSAY_PARAM_OPTIONAL,
                             "each [4 hiddenSize]", NULL },
    [WEIGHT_HR] = { "weight_hr", ASSAY_FLOATS, ASSAY_PARAM_LIST | ASSAY_PARAM_OPTIONAL,
                    "each [projSize, hiddenSize]", NULL },
    [H0] = { "h0", ASSAY_FLOATS, ASSAY_PARAM_OPTIONAL, "[layers directions, b, out]", NULL },
    [C0] = { "c0", ASSAY_FLOATS, ASSAY_PARAM_OPTIONAL, "[layers directions, b, hiddenSize]", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    { "y", ASSAY_FLOATS, 0, "[s, b, directions out], or [b, s, ..]", NULL },
    { "hn", ASSAY_FLOATS, 0, "[layers directions, b, out]", NULL },
    { "cn", ASSAY_FLOATS, 0, "[layers directions, b, hiddenSize]", NULL },
    { 0 },
};

/* Any but 0 becomes a part of hiddenSize. */
static const double projections[] = { 0, 1, 0 };
static const struct assay_attr attrs[] = {
    ASSAY__RNN_ATTRS,
    [PROJ] = { "projSize", ASSAY_ATTR_INT, 0, { .set = true }, NULL, projections, 3 },
    { 0 },
};

static const struct assay_tol tol[] = {
    { ASSAY_F32, 0.05 }, { ASSAY_F16, 0.05 }, { ASSAY_BF16, 0.05 }, { ASSAY_F32, -1 }
};

static void cell(const struct assay_args *a, struct assay__rnn_cell *c);

static const struct assay__rnn rnn = { .in = in,
                                       .gates = 4,
                                       .weight_hr = WEIGHT_HR,
                                       .h0 = H0,
                                       .c0 = C0,
                                       .proj_attr = PROJ,
                                       .cell = cell };

/* ---- hooks ----------------------------------------------------------------------------------- */

static double f32(const struct assay_args *a, double v)
{
    return assay_round(a, ASSAY_F32, v);
}

static void cell(const struct assay_args *a, struct assay__rnn_cell *c)
{
    enum { INPUT, FORGET, CELL, OUTPUT, GATES };

    for (int i = 0; i < c->n; i++) {
        double v[GATES];

        for (int g = 0; g < GATES; g++) {
            v[g] = f32(a, c->in[g][i] + c->state[g][i]);
            v[g] = f32(a, g == CELL ? tanh(v[g]) : assay__sigmoid(a, v[g]));
        }
        c->c[i] = f32(a, f32(a, v[FORGET] * c->c[i]) + f32(a, v[INPUT] * v[CELL]));
        c->h[i] = f32(a, v[OUTPUT] * f32(a, tanh(c->c[i])));
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

/*
 * 41 vector operations a unit and step (43 with casts), 5 more with biases, and a cast of what goes
 * in. Layers behind the first are taken to read one direction only, in bytes and products too. The
 * first states count as read even where there are none.
 */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    struct assay__rnn_sizes z = assay__rnn_sizes(&rnn, a);
    enum assay_dtype d = a->in[ASSAY__RNN_X].t[0].dtype;
    double size = (double)assay_dtype_size(d), rows = (double)(z.gates * z.hidden);
    double steps = (double)(z.steps * z.batch), dirs = (double)z.dirs;
    double ops =
        (double)z.hidden * ((d == ASSAY_F32 ? 41 : 43) + (a->attr[ASSAY__RNN_BIAS].i ? 5 : 0));

    for (int64_t l = 0; l < z.layers; l++) {
        double width = (double)(l == 0 ? z.input : z.out);

        assay__add_cube(w, d, steps * dirs * rows * (width + (double)z.out));
        w->amount[ASSAY_UNIT_VEC_32] += steps * dirs *
                                        (ops + (d == ASSAY_F32 ? 0
                                                : l == 0       ? width
                                                               : (double)z.hidden));
        w->amount[ASSAY_UNIT_MTE2] -=
            dirs * rows * ((double)assay__rnn_width(&z, l) - width) * size;
    }
    if (z.projected)
        assay__add_cube(w, d, steps * assay__elements(&a->in[WEIGHT_HR]));
    if (!a->in[H0].n)
        w->amount[ASSAY_UNIT_MTE2] +=
            (double)(z.layers * z.dirs * z.batch * (z.out + z.hidden)) * size;
}

static const struct assay_spared spared[] = {
    { "output_f16", "all results are judged at 0.05, rounding to float16 stays below 2^-11" },
    { "output_bf16", "all results are judged at 0.05, rounding to bfloat16 stays below 2^-8" },
    { "fixed_attribute dropout", "dropout drops nothing here: networks are run, not trained" },
    { "other_attribute dropout", "dropout drops nothing here: networks are run, not trained" },
    { "swapped bias_ih bias_hh", "their sum is all that counts" },
    { 0 },
};

const struct assay_op assay_op_lstm = {
    .name = "lstm",
    .tier = 4,
    .formula = "i, f, o = sigmoid(W x + b_ih + U h + b_hh), g = tanh(..); c = f * c + i * g; h = o "
               "* tanh(c), or V (o * tanh(c)); gates in the order i, f, g, o",
    .constraints = "x has rank 3 and ends in inputSize; with batchFirst, y and x have the batch "
                   "first, states never\n"
                   "all lists have one tensor for each layer and direction, layer by layer\n"
                   "bias_ih and bias_hh are there with bias, and only then\n"
                   "weight_hr is there with a projSize above 0, and only then; projSize is below "
                   "hiddenSize\n"
                   "h0 and c0 come together; without, they are zeros\n"
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
    .f32_reference = true,
    .spared = spared,
    .source = "CANN Bench level 4, LSTM",
};
