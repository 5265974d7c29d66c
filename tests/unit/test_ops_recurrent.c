/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_recurrent.c: gru and lstm. */
#include "op_call.h"

#include <stdlib.h>

enum { X, WEIGHT_IH, WEIGHT_HH, BIAS_IH, BIAS_HH, GRU_H0, WEIGHT_HR = 5, LSTM_H0, LSTM_C0 };

/* ---- calls ----------------------------------------------------------------------------------- */

/* What a call is made of; proj, states and bias as the test asks for them. */
struct net {
    const char *op;
    int64_t steps, batch, input, hidden, layers, proj;
    bool both, batch_first, bias, states;
    enum assay_dtype dtype;
};

static bool is_gru(const struct net *n)
{
    return n->op[0] == 'g';
}

static int64_t out_of(const struct net *n)
{
    return n->proj ? n->proj : n->hidden;
}

static struct call *begin_net(const struct net *n)
{
    struct call *k = begin(n->op);

    attr(k, "inputSize")->i = n->input;
    attr(k, "hiddenSize")->i = n->hidden;
    attr(k, "numLayers")->i = n->layers;
    attr(k, "bias")->i = n->bias;
    attr(k, "batchFirst")->i = n->batch_first;
    attr(k, "bidirectional")->i = n->both;
    if (!is_gru(n))
        attr(k, "projSize")->i = n->proj;
    return k;
}

/* Small values of both signs, that differ from tensor to tensor. */
static void some(struct call *k, const struct net *n, int i, int rank, const int64_t *shape,
                 double size)
{
    const struct assay_tensor *t;

    in_shape(k, i, n->dtype, rank, shape, NULL);
    t = &k->data[i].t[k->c.in[i].n - 1];
    for (int64_t e = 0, all = assay_numel(t); e < all; e++)
        assay_store(t, e,
                    size * (double)((e * 7919 + 31 * i + 17 * k->c.in[i].n) % 211 - 105) / 105);
}

/* All inputs of a net. */
static struct call *whole(const struct net *n)
{
    struct call *k = begin_net(n);
    int64_t dirs = n->both ? 2 : 1, rows = (is_gru(n) ? 3 : 4) * n->hidden, out = out_of(n);
    int64_t states[] = { n->layers * dirs, n->batch, out };
    int64_t cells[] = { n->layers * dirs, n->batch, n->hidden };

    some(k, n, X, 3,
         n->batch_first ? (int64_t[]){ n->batch, n->steps, n->input }
                        : (int64_t[]){ n->steps, n->batch, n->input },
         2);
    for (int64_t i = 0; i < n->layers * dirs; i++) {
        int64_t width = i < dirs ? n->input : dirs * out;

        some(k, n, WEIGHT_IH, 2, (int64_t[]){ rows, width }, 0.7);
        some(k, n, WEIGHT_HH, 2, (int64_t[]){ rows, out }, 0.6);
        if (n->bias) {
            some(k, n, BIAS_IH, 1, &rows, 0.5);
            some(k, n, BIAS_HH, 1, &rows, 0.4);
        }
        if (n->proj)
            some(k, n, WEIGHT_HR, 2, (int64_t[]){ out, n->hidden }, 0.8);
    }
    if (n->states) {
        some(k, n, is_gru(n) ? GRU_H0 : LSTM_H0, 3, states, 0.9);
        if (!is_gru(n))
            some(k, n, LSTM_C0, 3, cells, 1.5);
    }
    return k;
}

/* ---- the definition, once more --------------------------------------------------------------- */

static double element(const struct call *k, int i, int64_t t, int64_t e)
{
    return k->c.in[i].n ? assay_load(&k->data[i].t[t], e) : 0;
}

static double gate(const struct call *k, const struct net *n, int64_t t, int64_t row,
                   const double *x, int64_t width, int bias, int weight)
{
    double sum = n->bias ? element(k, bias, t, row) : 0;

    for (int64_t i = 0; i < width; i++)
        sum += element(k, weight, t, row * width + i) * x[i];
    return sum;
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

/* One step of tensor t of the lists: h and c become the new ones. */
static void slow_step(const struct call *k, const struct net *n, int64_t t, const double *x,
                      int64_t width, double *h, double *c)
{
    int64_t H = n->hidden, out = out_of(n);
    double m[64];

    for (int64_t j = 0; j < H; j++) {
        double a[4], b[4];

        for (int g = 0; g < (is_gru(n) ? 3 : 4); g++) {
            a[g] = gate(k, n, t, g * H + j, x, width, BIAS_IH, WEIGHT_IH);
            b[g] = gate(k, n, t, g * H + j, h, out, BIAS_HH, WEIGHT_HH);
        }
        if (is_gru(n)) {
            double z = logistic(a[1] + b[1]);

            m[j] = (1 - z) * tanh(a[2] + logistic(a[0] + b[0]) * b[2]) + z * h[j];
        } else {
            c[j] = logistic(a[1] + b[1]) * c[j] + logistic(a[0] + b[0]) * tanh(a[2] + b[2]);
            m[j] = logistic(a[3] + b[3]) * tanh(c[j]);
        }
    }
    for (int64_t j = 0; j < out; j++) {
        double sum = n->proj ? 0 : m[j];

        for (int64_t i = 0; n->proj && i < H; i++)
            sum += element(k, WEIGHT_HR, t, j * H + i) * m[i];
        h[j] = sum;
    }
}

static void close_to(const struct call *k, int o, int64_t i, double want)
{
    if (!(fabs(result_of(k, o, i) - want) <= 1e-13))
        fail_msg("output %d, element %lld: got %.17g, want %.17g", o, (long long)i,
                 result_of(k, o, i), want);
}

/* Sequence b through all layers, compared with what the golden made of it. */
static void check_sequence(const struct call *k, const struct net *n, int64_t b)
{
    int64_t dirs = n->both ? 2 : 1, out = out_of(n), width = n->input;
    double *from = calloc((size_t)n->steps * 64, sizeof *from);
    double *to = calloc((size_t)n->steps * 64, sizeof *to);

    for (int64_t s = 0; s < n->steps; s++)
        for (int64_t i = 0; i < width; i++)
            from[s * 64 + i] = element(
                k, X, 0, (n->batch_first ? b * n->steps + s : s * n->batch + b) * width + i);
    for (int64_t l = 0; l < n->layers; l++, width = dirs * out) {
        double *old = from;

        for (int64_t t = l * dirs; t < (l + 1) * dirs; t++) {
            double h[64], c[64];
            int64_t at = t * n->batch + b;

            for (int64_t j = 0; j < out; j++)
                h[j] = element(k, is_gru(n) ? GRU_H0 : LSTM_H0, 0, at * out + j);
            for (int64_t j = 0; j < n->hidden; j++)
                c[j] = is_gru(n) ? 0 : element(k, LSTM_C0, 0, at * n->hidden + j);
            for (int64_t i = 0; i < n->steps; i++) {
                int64_t s = t % dirs ? n->steps - 1 - i : i;

                slow_step(k, n, t, from + s * 64, width, h, c);
                memcpy(to + s * 64 + t % dirs * out, h, (size_t)out * sizeof *h);
            }
            for (int64_t j = 0; j < out; j++)
                close_to(k, 1, at * out + j, h[j]);
            for (int64_t j = 0; !is_gru(n) && j < n->hidden; j++)
                close_to(k, 2, at * n->hidden + j, c[j]);
        }
        from = to;
        to = old;
    }
    for (int64_t s = 0; s < n->steps; s++)
        for (int64_t j = 0; j < width; j++)
            close_to(k, 0, (n->batch_first ? b * n->steps + s : s * n->batch + b) * width + j,
                     from[s * 64 + j]);
    free(from);
    free(to);
}

static void test_definition(void **state)
{
    static const struct net nets[] = {
        { "gru", 3, 2, 5, 17, 1, 0, false, false, true, true, ASSAY_F32 },
        { "gru", 4, 9, 3, 16, 2, 0, true, true, true, false, ASSAY_F16 },
        { "gru", 5, 11, 19, 5, 3, 0, false, true, false, true, ASSAY_BF16 },
        { "gru", 1, 1, 1, 1, 3, 0, true, false, true, true, ASSAY_F32 },
        { "lstm", 3, 2, 5, 17, 1, 0, false, true, true, true, ASSAY_F32 },
        { "lstm", 4, 9, 3, 19, 3, 18, true, false, true, true, ASSAY_F32 },
        { "lstm", 5, 13, 7, 16, 2, 0, true, true, false, false, ASSAY_F16 },
        { "lstm", 2, 1, 2, 3, 2, 1, false, false, true, false, ASSAY_BF16 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct call *k = whole(&nets[i]);

        run(k, false);
        for (int64_t b = 0; b < nets[i].batch; b++)
            check_sequence(k, &nets[i], b);
        end(k);
    }
}

/* ---- by hand --------------------------------------------------------------------------------- */

#define LN3 1.0986122886681098 /* its logistic is 3/4, that of its opposite 1/4 */

/* One unit, weights 0: gates are as their biases have them. */
static struct call *lone(const char *op, int gates, enum assay_dtype d, const double *bias_ih,
                         const double *bias_hh)
{
    static const double zeros[4];
    struct net n = { op, 2, 1, 1, 1, 1, 0, false, false, true, false, d };
    struct call *k = begin_net(&n);
    int64_t rows = gates;

    in_shape(k, X, d, 3, (int64_t[]){ 2, 1, 1 }, NULL);
    in_shape(k, WEIGHT_IH, d, 2, (int64_t[]){ rows, 1 }, zeros);
    in_shape(k, WEIGHT_HH, d, 2, (int64_t[]){ rows, 1 }, zeros);
    in(k, BIAS_IH, d, rows, bias_ih);
    in(k, BIAS_HH, d, rows, bias_hh);
    return k;
}

/* r = 1/4, z = 3/4, n = tanh(1/4 + r) */
static void test_gru_by_hand(void **state)
{
    static const double ih[] = { -2, 2, 0.25 }, hh[] = { 2 - LN3, LN3 - 2, 1 }, one[] = { 1 };
    const double n = 0.46211715726000975; /* tanh(1/2) */
    struct call *k = lone("gru", 3, ASSAY_F32, ih, hh);

    (void)state;
    in_shape(k, GRU_H0, ASSAY_F32, 3, (int64_t[]){ 1, 1, 1 }, one);
    run(k, false);
    assert_true(fabs(result(k, 0) - (n / 4 + 0.75)) < 1e-7); /* LN3 is rounded to fp32 */
    assert_true(fabs(result(k, 1) - (n / 4 + 0.75 * (n / 4 + 0.75))) < 1e-7);
    assert_true(result_of(k, 1, 0) == result(k, 1));
    end(k);
}

/* The native run rounds every step to the dtype: here half of bfloat16's last bits show. */
static void test_gru_native(void **state)
{
    static const double ih[] = { 0.30078125, 0.703125, 0.251953125 };
    static const double hh[] = { 0.10009765625, -0.2001953125, 0.90234375 };
    struct call *k = lone("gru", 3, ASSAY_BF16, ih, hh);
    double v[6], h = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        v[i] = assay_round_to(ASSAY_BF16, ih[i]);
        v[3 + i] = assay_round_to(ASSAY_BF16, hh[i]);
    }
    run(k, true);
    for (int s = 0; s < 2; s++) {
        double r = assay_round_to(ASSAY_BF16, v[3] + v[0]), z, n;

        r = assay_round_to(ASSAY_BF16, logistic(r));
        z = assay_round_to(ASSAY_BF16, v[4] + v[1]);
        z = assay_round_to(ASSAY_BF16, logistic(z));
        n = assay_round_to(ASSAY_BF16, v[2] + assay_round_to(ASSAY_BF16, v[5] * r));
        n = assay_round_to(ASSAY_BF16, tanh(n));
        h = assay_round_to(ASSAY_BF16, assay_round_to(ASSAY_BF16, h - n) * z);
        h = assay_round_to(ASSAY_BF16, h + n);
        assert_true(result(k, s) == h);
        h = result(k, s);
    }
    end(k);
}

/* i = 3/4, f = 1/2, g = tanh(1/2), o = 1/4 */
static void test_lstm_by_hand(void **state)
{
    static const double ih[] = { LN3, 1, 0.25, 0 }, hh[] = { 0, -1, 0.25, -LN3 }, one[] = { 1 };
    const double g = 0.46211715726000975;
    double c = 0.5 + 0.75 * g;
    struct call *k = lone("lstm", 4, ASSAY_F32, ih, hh);

    (void)state;
    in_shape(k, LSTM_H0, ASSAY_F32, 3, (int64_t[]){ 1, 1, 1 }, one);
    in_shape(k, LSTM_C0, ASSAY_F32, 3, (int64_t[]){ 1, 1, 1 }, one);
    run(k, false);
    assert_true(fabs(result(k, 0) - tanh(c) / 4) < 1e-7);
    c = c / 2 + 0.75 * g;
    assert_true(fabs(result(k, 1) - tanh(c) / 4) < 1e-7);
    assert_true(fabs(result_of(k, 1, 0) - tanh(c) / 4) < 1e-7);
    assert_true(fabs(result_of(k, 2, 0) - c) < 1e-7);
    end(k);
}

/* Biases that are not there are zeros in gru; without them and without a state, all is 0. */
static void test_gru_without_biases(void **state)
{
    struct net n = { "gru", 3, 2, 4, 3, 1, 0, false, false, false, true, ASSAY_F32 };

    (void)state;
    for (int bias = 0; bias < 2; bias++) {
        struct call *k = whole(&n);

        attr(k, "bias")->i = bias;
        attr(k, "dropout")->f = bias / 2.0; /* for training only */
        run(k, false);
        for (int64_t b = 0; b < n.batch; b++)
            check_sequence(k, &n, b);
        end(k);
    }
}

/* ---- special values -------------------------------------------------------------------------- */

/* A NaN stays in its sequence, from its step on, or from the last one down to it. */
static void test_nan(void **state)
{
    static const char *const ops[] = { "gru", "lstm" };

    (void)state;
    for (int o = 0; o < 2; o++) {
        struct net n = { ops[o], 5, 3, 2, 3, 1, 0, true, false, true, true, ASSAY_F32 };
        struct call *k = whole(&n);

        assay_store(&k->data[X].t[0], (2 * n.batch + 1) * n.input, NAN); /* step 2, sequence 1 */
        run(k, false);
        for (int64_t i = 0; i < n.steps * n.batch * 2 * n.hidden; i++) {
            int64_t s = i / (2 * n.hidden) / n.batch, b = i / (2 * n.hidden) % n.batch;
            bool back = i / n.hidden % 2;

            assert_int_equal(isnan(result(k, i)) != 0, b == 1 && (back ? s <= 2 : s >= 2));
        }
        end(k);
    }
}

/* Infinite inputs close gates, or open them wide. */
static void test_infinite_input(void **state)
{
    static const double x[] = { INFINITY, -INFINITY }, w[] = { 1, 1, 1 }, u[] = { 0, 0, 0 };
    static const double h0[] = { 0.25 };
    struct net n = { "gru", 2, 1, 1, 1, 1, 0, false, false, false, true, ASSAY_F16 };
    struct call *k = begin_net(&n);

    (void)state;
    in_shape(k, X, ASSAY_F16, 3, (int64_t[]){ 2, 1, 1 }, x);
    in_shape(k, WEIGHT_IH, ASSAY_F16, 2, (int64_t[]){ 3, 1 }, w);
    in_shape(k, WEIGHT_HH, ASSAY_F16, 2, (int64_t[]){ 3, 1 }, u);
    in_shape(k, GRU_H0, ASSAY_F16, 3, (int64_t[]){ 1, 1, 1 }, h0);
    run(k, false);
    assert_true(result(k, 0) == 0.25); /* z = 1: the state stays */
    assert_true(result(k, 1) == -1);   /* z = 0: it is n */
    end(k);
}

/* An infinite cell stays, as long as its gate is open; its state is finite. */
static void test_infinite_cell(void **state)
{
    static const double zeros[4], h0[] = { 0 }, c0[] = { INFINITY };
    struct call *k = lone("lstm", 4, ASSAY_BF16, zeros, zeros);

    (void)state;
    in_shape(k, LSTM_H0, ASSAY_BF16, 3, (int64_t[]){ 1, 1, 1 }, h0);
    in_shape(k, LSTM_C0, ASSAY_BF16, 3, (int64_t[]){ 1, 1, 1 }, c0);
    run(k, false);
    assert_true(result(k, 0) == 0.5 && result(k, 1) == 0.5);
    assert_true(result_of(k, 2, 0) == INFINITY);
    end(k);
}

static void test_no_sequences(void **state)
{
    static const char *const ops[] = { "gru", "lstm" };

    (void)state;
    for (int o = 0; o < 2; o++) {
        struct net n = { ops[o], 3, 0, 4, 5, 2, 0, true, false, true, true, ASSAY_F32 };
        struct call *k = whole(&n);

        run(k, false);
        assert_int_equal(k->want[0].t[0].shape[0], 3);
        assert_int_equal(k->want[0].t[0].shape[1], 0);
        assert_int_equal(k->want[0].t[0].shape[2], 10);
        assert_int_equal(k->want[1].t[0].shape[0], 4);
        end(k);
    }
}

/* ---- identities ------------------------------------------------------------------------------ */

/* With the batch first, all is the same but for the order of x and y. */
static void test_batch_first(void **state)
{
    struct net n = { "lstm", 4, 5, 3, 6, 2, 2, true, false, true, true, ASSAY_F32 };
    struct net turned = n;
    struct call *a = whole(&n), *b;

    (void)state;
    turned.batch_first = true;
    b = whole(&turned);
    for (int64_t s = 0; s < n.steps; s++)
        for (int64_t i = 0; i < n.batch; i++)
            for (int64_t e = 0; e < n.input; e++)
                assay_store(&b->data[X].t[0], (i * n.steps + s) * n.input + e,
                            assay_load(&a->data[X].t[0], (s * n.batch + i) * n.input + e));
    run(a, false);
    run(b, false);
    for (int64_t s = 0; s < n.steps; s++)
        for (int64_t i = 0; i < n.batch; i++)
            for (int64_t e = 0; e < 4; e++)
                assert_true(result(a, (s * n.batch + i) * 4 + e) ==
                            result(b, (i * n.steps + s) * 4 + e));
    for (int64_t e = 0; e < 4 * n.batch * 2; e++)
        assert_true(result_of(a, 1, e) == result_of(b, 1, e));
    end(a);
    end(b);
}

/* A sequence in two parts, the second of which begins with the state that the first one left. */
static void test_in_parts(void **state)
{
    struct net n = { "gru", 6, 3, 4, 5, 1, 0, false, false, true, true, ASSAY_F32 };
    struct net half = n;
    struct call *all = whole(&n), *part[2];

    (void)state;
    half.steps = 3;
    run(all, false);
    for (int i = 0; i < 2; i++) {
        int64_t size = half.steps * n.batch * n.input;

        part[i] = whole(&half);
        for (int64_t e = 0; e < size; e++)
            assay_store(&part[i]->data[X].t[0], e, assay_load(&all->data[X].t[0], i * size + e));
        for (int64_t e = 0; i && e < n.batch * n.hidden; e++)
            assay_store(&part[i]->data[GRU_H0].t[0], e, result_of(part[0], 1, e));
        run(part[i], false);
    }
    for (int64_t e = 0; e < half.steps * n.batch * n.hidden; e++) {
        assert_true(fabs(result(all, e) - result(part[0], e)) < 1e-14);
        /* the state between them is rounded to fp32 */
        assert_true(fabs(result(all, half.steps * n.batch * n.hidden + e) - result(part[1], e)) <
                    1e-7);
    }
    end(all);
    end(part[0]);
    end(part[1]);
}

static void test_threads(void **state)
{
    static const struct net nets[] = {
        { "gru", 7, 37, 131, 67, 2, 0, true, false, true, true, ASSAY_BF16 },
        { "lstm", 5, 29, 71, 43, 3, 19, true, true, true, true, ASSAY_F16 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct call *k = whole(&nets[i]);

        same_on_two_threads(k);
        end(k);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static struct call *changed(const char *op, const char *name, int64_t to)
{
    struct net n = { op, 3, 2, 4, 5, 2, 0, true, false, true, true, ASSAY_F32 };
    struct call *k = whole(&n);

    if (name)
        attr(k, name)->i = to;
    return k;
}

static void test_refused_attributes(void **state)
{
    struct call *k;

    (void)state;
    refused(changed("gru", "inputSize", 3), "x float32 [3,2,4] has to have rank 3 and end in");
    refused(changed("gru", "inputSize", 0), "inputSize is 0, must be positive");
    refused(changed("lstm", "hiddenSize", 0), "hiddenSize is 0, must be positive");
    refused(changed("lstm", "hiddenSize", INT64_MAX), "must be positive");
    refused(changed("gru", "hiddenSize", 4),
            "weight_ih[0] is float32 [15,4], it should be float32 [12,4]");
    refused(changed("gru", "numLayers", 0), "numLayers is 0, 1 to 32 are allowed");
    refused(changed("gru", "numLayers", 33), "numLayers is 33, 1 to 32 are allowed");
    refused(changed("gru", "numLayers", 3),
            "weight_ih has 4 tensors, numLayers and bidirectional ask for 6");
    refused(changed("lstm", "bidirectional", 0), "numLayers and bidirectional ask for 2");
    refused(changed("lstm", "projSize", 5), "projSize is 5, 0 to hiddenSize - 1 are allowed");
    refused(changed("lstm", "projSize", 2), "weight_hr is not there, but projSize is 2");
    refused(changed("gru", "bias", 0), "bias_ih and bias_hh are there, but bias is false");
    k = changed("gru", NULL, 0);
    attr(k, "dropout")->f = 1.5;
    refused(k, "dropout is 1.5, 0 to 1 are allowed");
    k = changed("lstm", NULL, 0);
    attr(k, "dropout")->f = NAN;
    refused(k, "0 to 1 are allowed");
}

static void test_refused_inputs(void **state)
{
    struct call *k;

    (void)state;
    k = changed("lstm", NULL, 0);
    k->c.in[BIAS_IH].n = k->c.in[BIAS_HH].n = 0;
    refused(k, "bias is true, but bias_ih and bias_hh are not there: random initial values");
    k = changed("gru", NULL, 0);
    k->c.in[BIAS_HH].n = 0;
    refused(k, "bias_ih is there, but not bias_hh");
    k = changed("lstm", NULL, 0);
    k->c.in[LSTM_H0].n = 0;
    refused(k, "c0 is there, but not h0");
    k = changed("lstm", NULL, 0);
    k->c.in[LSTM_C0].n = 0;
    refused(k, "h0 is there, but not c0");
    k = changed("gru", NULL, 0);
    k->c.in[WEIGHT_IH].shape[2].dim[1] = 5; /* both directions go in */
    refused(k, "weight_ih[2] is float32 [15,5], it should be float32 [15,10]");
    k = changed("gru", NULL, 0);
    k->c.in[WEIGHT_HH].dtype = ASSAY_F16;
    refused(k, "weight_hh[0] is float16 [15,5], it should be float32 [15,5]");
    k = changed("gru", NULL, 0);
    k->c.in[GRU_H0].shape[0].dim[1] = 3;
    refused(k, "h0 is float32 [4,3,5], it should be float32 [4,2,5]");
    k = changed("gru", NULL, 0);
    k->c.in[X].shape[0].dim[0] = 0;
    refused(k, "x float32 [0,2,4] has no steps");
    k = changed("gru", NULL, 0);
    k->c.in[X].shape[0].rank = 2;
    refused(k, "has to have rank 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),         cmocka_unit_test(test_gru_by_hand),
        cmocka_unit_test(test_gru_native),         cmocka_unit_test(test_lstm_by_hand),
        cmocka_unit_test(test_gru_without_biases), cmocka_unit_test(test_nan),
        cmocka_unit_test(test_infinite_input),     cmocka_unit_test(test_infinite_cell),
        cmocka_unit_test(test_no_sequences),       cmocka_unit_test(test_batch_first),
        cmocka_unit_test(test_in_parts),           cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refused_attributes), cmocka_unit_test(test_refused_inputs),
    };

    return cmocka_run_group_tests_name("recurrent", tests, NULL, NULL);
}
