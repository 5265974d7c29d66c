/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_qn_learning.c: what steps of training do to quantisers of each kind: what moves and what
 * stays (QB-32), runs that stay finite or say where they stop (QB-30), thresholds in order,
 * temperatures, weights or activations that are off or hard, batches of one.
 */
#include "t.h"

#include "assay/rng.h"
#include "qn/optim.h"

#include <math.h>

enum { N = 48, BATCH = 16, IN = 4, CLASSES = 3 };

static struct assay_key key;

static const char text[] =
    "{\"format\":1,\"name\":\"n\",\"input\":[4,1,1],\"classes\":3,\"layers\":["
    "{\"type\":\"fc\",\"name\":\"a\",\"out\":12},"
    "{\"type\":\"batch_norm\",\"name\":\"n1\"},{\"type\":\"relu\"},"
    "{\"type\":\"quant\",\"name\":\"q1\"},"
    "{\"type\":\"fc\",\"name\":\"b\",\"out\":12},"
    "{\"type\":\"batch_norm\",\"name\":\"n2\"},{\"type\":\"relu\"},"
    "{\"type\":\"quant\",\"name\":\"q2\"},"
    "{\"type\":\"fc\",\"name\":\"c\",\"out\":\"classes\"}]}";

struct kind {
    const struct qn_quant_type *weights, *activations;
    const char *weight_levels, *activation_levels;
};

static const struct kind kinds[] = {
    { &qn_quant_sigmoid, &qn_quant_sigmoid, "ternary", "u2" },
    { &qn_quant_sigmoid, &qn_quant_sigmoid, "binary", "u1" },
    { &qn_quant_ste, &qn_quant_ste, "pm2", "u2" },
    { &qn_quant_lsq, &qn_quant_lsq, "pm2", "u2" },
    { &qn_quant_twn, &qn_quant_lsq, "ternary", "u1" },
    { &qn_quant_dorefa, &qn_quant_dorefa, "s2", "u2" },
    { &qn_quant_dorefa, &qn_quant_dorefa, "binary", "u1" },
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

struct bench {
    struct qn_graph g;
    struct qn_net *net;
    struct qn_optim o;
    struct assay_arena arena;
    struct qn_pass pass;
    float x[N * IN];
    int32_t labels[N];
};

static struct qn_quant_config quant(const struct qn_quant_type *type, const char *levels)
{
    struct qn_quant_config c = qn_quant_config_default(type);
    struct assay_err err = { "" };

    T_OK(qn_levels_parse(&c.levels, levels, &err));
    return c;
}

static struct qn_net_options options(const struct kind *k)
{
    struct qn_net_options o = { .max_batch = BATCH, .train = true, .n_threads = 2 };

    o.weights = o.first = o.last = quant(k->weights, k->weight_levels);
    o.activations = quant(k->activations, k->activation_levels);
    return o;
}

/* Samples around three corners, well apart. */
static void make_samples(struct bench *b)
{
    for (int i = 0; i < N; i++) {
        b->labels[i] = i % CLASSES;
        for (int j = 0; j < IN; j++)
            b->x[i * IN + j] = (float)(assay_rng_unit(key, (uint64_t)i * IN + (uint64_t)j) - 0.5) +
                               (j == i % CLASSES ? 1.5f : 0);
    }
}

static void make(struct bench *b, const struct qn_net_options *o)
{
    struct qn_start start = qn_start_default(1);
    struct assay_err err = { "" };

    *b = (struct bench){ .pass = { .train = true, .check = true } };
    b->pass.weights = b->pass.activations = QN_SOFT;
    make_samples(b);
    T_OK(qn_graph_parse(&b->g, text, sizeof text - 1, NULL, &err));
    T_OK(qn_net_new(&b->net, &b->g, o, &err));
    qn_net_seed(b->net, 5);
    T_OK(qn_net_start_weights(b->net, &start, &err));
    qn_net_temperature(b->net, false, 4);
    qn_net_temperature(b->net, true, 4);
    for (int i = 0; i < b->g.n_layers && o->activations.type; i++)
        if (b->g.layers[i].name[0] == 'q')
            T_OK(qn_net_start_activations(b->net, &b->pass, i, b->x, N, &start, &err));
    T_OK(qn_optim_init(&b->o, &qn_optim_sgd, b->net, &b->arena, &err));
}

static void release(struct bench *b)
{
    qn_net_free(b->net);
    qn_graph_release(&b->g);
    assay_arena_release(&b->arena);
}

static enum assay_status step(struct bench *b, int batch, double rate, struct qn_loss *loss,
                              struct assay_err *err)
{
    int at = batch * BATCH % N;

    ASSAY_TRY(qn_net_forward(b->net, &b->pass, b->x + at * IN, BATCH, err));
    ASSAY_TRY(qn_net_loss(b->net, b->labels + at, 0, loss, err));
    ASSAY_TRY(qn_net_backward(b->net, &b->pass, err));
    ASSAY_TRY(qn_net_backward_weights(b->net, &b->pass, err));
    qn_optim_step(&b->o, rate, qn_net_pool(b->net));
    return ASSAY_OK;
}

static void train(struct bench *b, int n, double rate)
{
    struct assay_err err = { "" };
    struct qn_loss loss;

    for (int i = 0; i < n; i++)
        T_OK(step(b, i, rate, &loss, &err));
}

static struct qn_param *param(struct bench *b, const char *name)
{
    struct qn_param *p = qn_net_find_param(b->net, name);

    assert_non_null(p);
    return p;
}

/* All parameters, to compare with later. */
static float *copy_all(struct bench *b)
{
    size_t n = 0;
    float *all;

    for (int i = 0; i < qn_net_n_params(b->net); i++)
        n += (size_t)qn_net_param(b->net, i)->n;
    all = assay_arena_array(&b->arena, n, sizeof *all);
    assert_non_null(all);
    for (int i = 0, at = 0; i < qn_net_n_params(b->net); i++) {
        const struct qn_param *p = qn_net_param(b->net, i);

        memcpy(all + at, p->v, (size_t)p->n * sizeof *all);
        at += (int)p->n;
    }
    return all;
}

/* ---- what moves ------------------------------------------------------------------------------ */

/* Whether a scale of this kind is trained, from the papers: the method trains both, straight-
 * through and LSQ the step, the others none. */
static bool should_train(const struct qn_quant_type *type, enum qn_role role)
{
    if (type == &qn_quant_sigmoid)
        return role == QN_ALPHA || role == QN_BETA;
    return role == QN_ALPHA && (type == &qn_quant_ste || type == &qn_quant_lsq);
}

static bool is_scale(const struct qn_param *p)
{
    return p->role == QN_ALPHA || p->role == QN_BETA || p->role == QN_THRESHOLD;
}

/* QB-32: after 10 steps each trained scale has moved and no other one has, decay or not; a part
 * whose rate is 0 stays as a whole. */
static void moves(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        struct qn_net_options o = options(&kinds[k]);
        struct bench b;
        const float *was;
        int n_moved = 0, n_expected = 0;

        make(&b, &o);
        b.o.rule.decay_scales = 0.01;
        qn_optim_set_decay(&b.o);
        for (int i = 0; i < qn_net_n_params(b.net); i++)
            if (strncmp(qn_net_param(b.net, i)->name, "b.", 2) == 0)
                b.o.groups[i].scale = 0;
        was = copy_all(&b);
        train(&b, 10, 0.02);
        for (int i = 0, at = 0; i < qn_net_n_params(b.net); i++) {
            const struct qn_param *p = qn_net_param(b.net, i);
            bool own = p->name[0] != 'q', frozen = b.o.groups[i].scale == 0;
            bool moved = memcmp(was + at, p->v, (size_t)p->n * sizeof *was) != 0;

            at += (int)p->n;
            if (!is_scale(p) && !(frozen && p->role <= QN_BIAS))
                continue;
            if (is_scale(p) && p->role != QN_THRESHOLD)
                assert_int_equal(
                    p->trained,
                    should_train(own ? kinds[k].weights : kinds[k].activations, p->role));
            if (p->role == QN_THRESHOLD && kinds[k].weights == &qn_quant_dorefa && own)
                continue; /* a function of the weights */
            n_moved += moved;
            n_expected += p->trained && !frozen;
            if (moved != (p->trained && !frozen))
                fail_msg("%s of %s: %s", p->name, kinds[k].weights->name,
                         moved ? "moved" : "did not move");
        }
        assert_int_equal(n_moved, n_expected);
        release(&b);
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool all_finite(struct bench *b)
{
    for (int i = 0; i < qn_net_n_params(b->net); i++)
        for (int64_t j = 0; j < qn_net_param(b->net, i)->n; j++)
            if (!isfinite(qn_net_param(b->net, i)->v[j]))
                return false;
    return true;
}

/* Three epochs and a look at the result; what is checked once more after the last step is finite
 * throughout. */
static enum assay_status three_epochs(struct bench *b, double rate, struct qn_loss *loss,
                                      struct assay_err *err)
{
    struct qn_pass hard = b->pass;

    for (int i = 0; i < 3 * N / BATCH; i++)
        ASSAY_TRY(step(b, i, rate, loss, err));
    hard.train = false;
    hard.weights = hard.activations = QN_HARD;
    ASSAY_TRY(qn_net_forward(b->net, &hard, b->x, BATCH, err));
    ASSAY_TRY(qn_net_loss(b->net, b->labels, 0, loss, err));
    assert_true(all_finite(b));
    return ASSAY_OK;
}

/* QB-30: from random weights, at any rate: finite, or stopped with the layer or parameter named. */
static void finite_or_named(void **state)
{
    static const double rates[] = { 0.01, 1, 1e4, 1e12, 1e30 };
    int n_stopped = 0;

    (void)state;
    for (int k = 0; k < N_KINDS; k++)
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
            struct qn_net_options o = options(&kinds[k]);
            struct assay_err err = { "" };
            struct qn_loss loss = { 0 };
            enum assay_status st;
            struct bench b;

            make(&b, &o);
            st = three_epochs(&b, rates[r], &loss, &err);
            if (st) {
                assert_int_equal(st, ASSAY_INVALID);
                assert_non_null(strstr(err.text, "not finite"));
                assert_non_null(strchr(err.text, '\''));
                n_stopped++;
            } else {
                assert_true(isfinite(loss.loss));
            }
            assert_true(r > 0 || !st);
            release(&b);
        }
    assert_true(n_stopped > 0);
}

/* At a sound rate each kind learns three heaps that are well apart (ARBITRARY: half of what a
 * guess costs). */
static void learns(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        struct qn_net_options o = options(&kinds[k]);
        struct assay_err err = { "" };
        struct qn_loss loss;
        struct bench b;

        make(&b, &o);
        train(&b, 150, 0.02);
        T_OK(step(&b, 0, 0, &loss, &err));
        if (!(loss.loss < 0.5 * log(3)))
            fail_msg("%s: a loss of %g", kinds[k].weights->name, loss.loss);
        release(&b);
    }
}

/* NaN in what steps would make a level of. */
static void steps_hide_nothing(void **state)
{
    static const char *const names[] = { "b.weight", "b.weight_quant.beta", "q1.thresholds",
                                         "n2.running_var" };
    struct qn_net_options o = options(&kinds[2]);
    struct assay_err err = { "" };
    struct bench b;

    (void)state;
    make(&b, &o);
    b.pass.weights = b.pass.activations = QN_HARD;
    b.pass.train = false;
    for (int i = 0; i < 4; i++) {
        float *v = param(&b, names[i])->v, was = v[0];
        char layer[20];

        v[0] = i == 3 ? INFINITY : NAN;
        assert_int_equal(qn_net_forward(b.net, &b.pass, b.x, BATCH, &err), ASSAY_INVALID);
        snprintf(layer, sizeof layer, "layer '%.*s'", (int)strcspn(names[i], "."), names[i]);
        assert_non_null(strstr(err.text, layer));
        v[0] = was;
        T_OK(qn_net_forward(b.net, &b.pass, b.x, BATCH, &err));
    }
    release(&b);
}

/* ---- thresholds and temperatures ------------------------------------------------------------- */

static void order(void **state)
{
    static const float in[] = { -3, -1, -2, -3, 0, 1, 1, 5, 4 };
    static const float want[] = { -3, -2, -2, -2, 0, 1, 1, 4.5f, 4.5f };
    float b[9], odd[] = { 0.1f, 0.2f, 0.3f }, down[] = { 3, 2, 1 };

    (void)state;
    memcpy(b, in, sizeof b);
    qn__thresholds_order(b, 9);
    assert_memory_equal(b, want, sizeof b);
    qn__thresholds_order(b, 9);
    assert_memory_equal(b, want, sizeof b);
    qn__thresholds_order(odd, 3);
    assert_true(odd[0] == 0.1f && odd[1] == 0.2f && odd[2] == 0.3f);
    qn__thresholds_order(down, 3);
    assert_true(down[0] == 2 && down[1] == 2 && down[2] == 2);
    qn__thresholds_order(down, 0);
}

/* Learnt thresholds move, and never pass each other, at rates at which they would; without they
 * stay to the bit. */
static void thresholds_learnt(void **state)
{
    static const char *const names[] = { "a.weight_quant.thresholds", "b.weight_quant.thresholds",
                                         "q1.thresholds", "q2.thresholds" };
    bool met = false;

    (void)state;
    for (int learn = 0; learn < 2; learn++) {
        struct qn_net_options o = options(&kinds[0]);
        struct assay_err err = { "" };
        struct qn_loss loss;
        float was[4][3];
        struct bench b;

        o.weights.learn_thresholds = o.first.learn_thresholds = learn;
        o.activations.learn_thresholds = learn;
        make(&b, &o);
        b.o.rule.decay_scales = 1; /* is for scales, which it draws to where they started */
        qn_optim_set_decay(&b.o);
        for (int i = 0; i < qn_net_n_params(b.net); i++)
            if (qn_net_param(b.net, i)->role == QN_THRESHOLD)
                assert_true(b.o.groups[i].decay == 0);
        for (int i = 0; i < 4; i++)
            memcpy(was[i], param(&b, names[i])->v, (size_t)param(&b, names[i])->n * sizeof(float));
        for (int s = 0; s < 30; s++) {
            T_OK(step(&b, s, 0.3, &loss, &err));
            for (int i = 0; i < 4; i++) {
                const struct qn_param *p = param(&b, names[i]);

                for (int64_t j = 1; j < p->n; j++) {
                    assert_true(p->v[j - 1] <= p->v[j]);
                    met |= p->v[j - 1] == p->v[j];
                }
            }
        }
        for (int i = 0; i < 4; i++) {
            const struct qn_param *p = param(&b, names[i]);

            assert_int_equal(p->trained, learn);
            for (int64_t j = 0; j < p->n; j++)
                assert_int_equal(p->v[j] != was[i][j], learn);
        }
        release(&b);
    }
    assert_true(met);
}

/* Weights above the cap are as at the cap; what was asked for is kept. */
static void temperature_cap(void **state)
{
    struct qn_net_options o = options(&kinds[0]);
    struct assay_err err = { "" };
    float at_cap[BATCH * CLASSES];
    struct bench b;

    (void)state;
    o.weights.t_cap = o.first.t_cap = o.last.t_cap = 50;
    make(&b, &o);
    for (int k = 0; k < 3; k++) {
        static const float t[] = { 50, 1e6f, 49 };
        const float *y;

        qn_net_temperature(b.net, false, t[k]);
        assert_true(qn_net_quant(b.net, 1)->t == t[k]);
        T_OK(qn_net_forward(b.net, &b.pass, b.x, BATCH, &err));
        y = qn_net_output(b.net, b.g.n_layers - 1);
        if (k == 0)
            memcpy(at_cap, y, sizeof at_cap);
        assert_int_equal(memcmp(at_cap, y, sizeof at_cap) == 0, k < 2);
    }
    release(&b);
}

/* ---- modes ----------------------------------------------------------------------------------- */

/* What takes no part has gradients of 0, whatever a pass before left there. */
static void off(void **state)
{
    struct qn_net_options o = options(&kinds[0]);
    struct qn_loss loss;
    struct assay_err err = { "" };
    struct bench b;

    (void)state;
    make(&b, &o);
    T_OK(step(&b, 0, 0, &loss, &err));
    for (int k = 0; k < 3; k++) {
        b.pass.weights = k & 1 ? QN_SOFT : QN_OFF;
        b.pass.activations = k & 2 ? QN_SOFT : QN_OFF;
        T_OK(step(&b, 0, 0, &loss, &err));
        for (int i = 0; i < qn_net_n_params(b.net); i++) {
            const struct qn_param *p = qn_net_param(b.net, i);
            bool on = p->name[0] == 'q' ? k & 2 : k & 1;

            if (p->g && is_scale(p))
                assert_int_equal(p->g[0] != 0, on);
        }
    }
    release(&b);
}

/* With weights off the net is the float one, and so are its gradients. */
static void off_is_float(void **state)
{
    struct qn_net_options o = options(&kinds[0]);
    struct qn_net_options plain = { .max_batch = BATCH, .train = true, .n_threads = 1 };
    struct assay_err err = { "" };
    struct qn_loss loss, plain_loss;
    struct bench b, f;

    (void)state;
    make(&b, &o);
    make(&f, &plain);
    b.pass.weights = b.pass.activations = QN_OFF;
    T_OK(step(&b, 0, 0, &loss, &err));
    T_OK(step(&f, 0, 0, &plain_loss, &err));
    assert_true(loss.loss == plain_loss.loss);
    for (int i = 0; i < qn_net_n_params(f.net); i++) {
        const struct qn_param *p = qn_net_param(f.net, i), *q = param(&b, p->name);

        if (p->g)
            assert_memory_equal(p->g, q->g, (size_t)p->n * sizeof *p->g);
    }
    release(&b);
    release(&f);
}

static double loss_at(struct bench *b, float *v, float to)
{
    struct assay_err err = { "" };
    float was = *v;
    struct qn_loss loss;

    *v = to;
    T_OK(qn_net_forward(b->net, &b->pass, b->x, BATCH, &err));
    T_OK(qn_net_loss(b->net, b->labels, 0, &loss, &err));
    *v = was;
    return loss.loss;
}

/* Weights are steps, activations soft and learning: gradients of their scales by differences, and
 * nothing of the weights moves when their rate is 0. */
static void weights_hard(void **state)
{
    static const char *const names[] = { "q1.alpha", "q1.beta", "q2.alpha", "q2.beta" };
    struct qn_net_options o = options(&kinds[0]);
    struct assay_err err = { "" };
    struct qn_loss loss;
    float w[12 * 12];
    struct bench b;

    (void)state;
    o.activations.clamp = 0;
    make(&b, &o);
    b.pass.weights = QN_HARD;
    for (int i = 0; i < qn_net_n_params(b.net); i++)
        if (qn_net_param(b.net, i)->role == QN_WEIGHT)
            b.o.groups[i].scale = 0;
    memcpy(w, param(&b, "b.weight")->v, sizeof w);
    T_OK(step(&b, 0, 0, &loss, &err));
    for (int i = 0; i < 4; i++) {
        struct qn_param *p = param(&b, names[i]);
        const struct qn_quant *q = qn_net_quant(b.net, p->layer);
        double h = 0.01 * (double)(i % 2 ? qn_quant_beta(q, 0) : qn_quant_alpha(q, 0)), got;
        float g = p->g[0];

        got = (loss_at(&b, p->v, (float)h) - loss_at(&b, p->v, (float)-h)) / (2 * h);
        /* 1e-7 of a loss near 1 over 2h, and the cubic term: 1e-4 of the slope's own size */
        if (!(fabs(got - (double)g) < 0.02 * fabs(got) + 2e-7 / h))
            fail_msg("%s: slope %g, gradient %g", p->name, got, (double)g);
    }
    train(&b, 3, 0.05);
    assert_memory_equal(w, param(&b, "b.weight")->v, sizeof w);
    release(&b);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* One sample: each channel has one value, whose deviation from itself is 0. The result is finite,
 * the running variance stays, the running mean follows. */
static void batch_of_one(void **state)
{
    struct qn_net_options o = options(&kinds[0]);
    struct assay_err err = { "" };
    struct qn_loss loss;
    float variance[12], mean[12];
    struct bench b;

    (void)state;
    make(&b, &o);
    b.pass.weights = b.pass.activations = QN_OFF;
    memcpy(variance, param(&b, "n1.running_var")->v, sizeof variance);
    memcpy(mean, param(&b, "n1.running_mean")->v, sizeof mean);
    T_OK(qn_net_forward(b.net, &b.pass, b.x, 1, &err));
    for (int c = 0; c < 12; c++) {
        float made = qn_net_output(b.net, 1)[c];

        assert_true(param(&b, "n1.running_var")->v[c] == variance[c]);
        assert_float_equal(param(&b, "n1.running_mean")->v[c], 0.9f * mean[c] + 0.1f * made, 1e-6);
    }
    T_OK(qn_net_loss(b.net, b.labels, 0, &loss, &err));
    T_OK(qn_net_backward(b.net, &b.pass, &err));
    for (int i = 0; i < 12; i++)
        assert_true(fabsf(param(&b, "n1.weight")->g[i]) < 1e-4f);
    release(&b);
}

/* Sizes that are none, and passes that have not been. */
static void refused(void **state)
{
    static const int64_t bad[] = { 0, -1, BATCH + 1, INT64_MAX, INT64_MIN };
    struct qn_net_options o = options(&kinds[0]);
    struct assay_err err = { "" };
    struct qn_loss loss;
    struct bench b;

    (void)state;
    make(&b, &o);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(qn_net_forward(b.net, &b.pass, b.x, bad[i], &err), ASSAY_INVALID);
    assert_int_equal(qn_net_forward_to(b.net, &b.pass, b.x, 1, -1, &err), ASSAY_INVALID);
    assert_int_equal(qn_net_forward_to(b.net, &b.pass, b.x, 1, b.g.n_layers, &err), ASSAY_INVALID);
    T_OK(qn_net_forward_to(b.net, &b.pass, b.x, BATCH, 3, &err));
    assert_int_equal(qn_net_loss(b.net, b.labels, 0, &loss, &err), ASSAY_INVALID);
    assert_int_equal(qn_net_backward(b.net, &b.pass, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "no forward pass"));
    T_OK(qn_net_forward(b.net, &b.pass, b.x, BATCH, &err));
    T_OK(qn_net_loss(b.net, b.labels, 0, &loss, &err));
    release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves),           cmocka_unit_test(finite_or_named),
        cmocka_unit_test(learns),          cmocka_unit_test(steps_hide_nothing),
        cmocka_unit_test(order),           cmocka_unit_test(thresholds_learnt),
        cmocka_unit_test(temperature_cap), cmocka_unit_test(off),
        cmocka_unit_test(off_is_float),    cmocka_unit_test(weights_hard),
        cmocka_unit_test(batch_of_one),    cmocka_unit_test(refused),
    };

    key = assay_key(t_seed(1), "test_qn_learning", 0, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
