/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_qn_shared.c: one quantiser for all layers: parameters that are there once, where they start,
 * gradients by differences and as sums of those of separate quantisers.
 */
#include "t.h"

#include "assay/rng.h"
#include "qn/net.h"

#include <math.h>

enum { N = 5, IN = 2 * 6 * 6, CLASSES = 3 };

static struct assay_key key;

/* First and last are left alone; a, b, c share, and so do p, q. No corners. */
static const char text[] =
    "{\"format\":1,\"name\":\"n\",\"input\":[2,6,6],\"classes\":3,\"layers\":["
    "{\"type\":\"conv\",\"name\":\"first\",\"out\":4,\"kernel\":3,\"pad\":1},"
    "{\"type\":\"batch_norm\",\"name\":\"n1\"},{\"type\":\"quant\",\"name\":\"p\"},"
    "{\"type\":\"conv\",\"name\":\"a\",\"out\":4,\"kernel\":3},"
    "{\"type\":\"conv\",\"name\":\"b\",\"from\":\"p\",\"out\":4,\"kernel\":3},"
    "{\"type\":\"add\",\"from\":[\"a\",\"b\"]},"
    "{\"type\":\"batch_norm\",\"name\":\"n2\"},{\"type\":\"quant\",\"name\":\"q\"},"
    "{\"type\":\"conv\",\"name\":\"c\",\"out\":6,\"kernel\":2,\"bias\":true},"
    "{\"type\":\"fc\",\"name\":\"last\",\"out\":\"classes\"}]}";
static const char *const sharers[] = { "a", "b", "c", "p", "q" };
/* What owns their parameters: in a net where each has its own, and where they share. */
static const char *const own[] = { "a.weight_quant", "b.weight_quant", "c.weight_quant", "p", "q" };
static const char *const owner[] = { "weight_quant", "weight_quant", "weight_quant",
                                     "activation_quant", "activation_quant" };
static const char *const suffixes[] = { "alpha", "beta", "alpha_start", "beta_start",
                                        "thresholds" };

struct bench {
    struct qn_graph g;
    struct qn_net *net;
    struct qn_pass pass;
    float x[N * IN];
    int32_t labels[N];
};

static struct qn_quant_config quant(const struct qn_quant_type *type, const char *levels)
{
    struct qn_quant_config c = qn_quant_config_default(type);
    struct assay_err err = { "" };

    c.clamp = 0;
    c.learn_thresholds = type->trains_thresholds;
    T_OK(qn_levels_parse(&c.levels, levels, &err));
    return c;
}

static struct qn_net_options options(bool shared, int n_threads)
{
    struct qn_net_options o = { .max_batch = N, .train = true, .n_threads = n_threads };

    o.weights = quant(&qn_quant_sigmoid, "pm2");
    o.activations = quant(&qn_quant_sigmoid, "u2");
    o.share_weights = o.share_activations = shared;
    return o;
}

static void start_activations(struct bench *b)
{
    struct qn_start start = qn_start_default(1);
    struct assay_err err = { "" };

    T_OK(qn_net_start_activations(b->net, &b->pass, qn_graph_find(&b->g, "p"), b->x, N, &start,
                                  &err));
    T_OK(qn_net_start_activations(b->net, &b->pass, qn_graph_find(&b->g, "q"), b->x, N, &start,
                                  &err));
}

static void make(struct bench *b, const struct qn_net_options *o)
{
    struct qn_start start = qn_start_default(1);
    struct assay_err err = { "" };

    *b = (struct bench){ .pass = { .train = true, .check = true } };
    b->pass.weights = b->pass.activations = QN_SOFT;
    T_OK(qn_graph_parse(&b->g, text, sizeof text - 1, NULL, &err));
    T_OK(qn_net_new(&b->net, &b->g, o, &err));
    qn_net_seed(b->net, 3);
    for (int i = 0; i < N * IN; i++)
        b->x[i] = (float)(assay_rng_unit(key, (uint64_t)i) * 2 - 1);
    for (int i = 0; i < N; i++)
        b->labels[i] = i % CLASSES;
    T_OK(qn_net_start_weights(b->net, &start, &err));
    qn_net_temperature(b->net, false, 3);
    qn_net_temperature(b->net, true, 2);
    start_activations(b);
}

static void release(struct bench *b)
{
    qn_net_free(b->net);
    qn_graph_release(&b->g);
}

static struct qn_param *param(struct bench *b, const char *of, const char *suffix)
{
    char name[100];

    snprintf(name, sizeof name, "%.40s.%.40s", of, suffix);
    return qn_net_find_param(b->net, name);
}

static double loss(struct bench *b)
{
    struct assay_err err = { "" };
    struct qn_loss l;

    T_OK(qn_net_forward(b->net, &b->pass, b->x, N, &err));
    T_OK(qn_net_loss(b->net, b->labels, 0, &l, &err));
    return l.loss;
}

static void gradients(struct bench *b)
{
    struct assay_err err = { "" };

    loss(b);
    T_OK(qn_net_backward(b->net, &b->pass, &err));
    T_OK(qn_net_backward_weights(b->net, &b->pass, &err));
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* Five parameters for each kind of tensor in the place of five for each of three and two layers;
 * all names differ. */
static void parameters(void **state)
{
    struct qn_net_options o = options(true, 1), separate = options(false, 1);
    struct bench b, s;

    (void)state;
    make(&b, &o);
    make(&s, &separate);
    assert_int_equal(qn_net_n_params(b.net), qn_net_n_params(s.net) - 5 * 5 + 2 * 5);
    for (int i = 0; i < 5; i++) {
        assert_non_null(param(&b, "weight_quant", suffixes[i]));
        assert_non_null(param(&b, "activation_quant", suffixes[i]));
        assert_null(param(&s, "weight_quant", suffixes[i]));
        assert_null(param(&b, "a.weight_quant", suffixes[i]));
        assert_null(param(&b, "q", suffixes[i]));
    }
    for (int i = 0; i < qn_net_n_params(b.net); i++)
        assert_ptr_equal(qn_net_find_param(b.net, qn_net_param(b.net, i)->name),
                         qn_net_param(b.net, i));
    assert_int_equal(param(&b, "weight_quant", "thresholds")->n, 4);
    assert_int_equal(param(&b, "weight_quant", "alpha")->layer, 0);
    for (int i = 0; i < 5; i++) {
        const struct qn_quant *q = qn_net_quant(b.net, qn_graph_find(&b.g, sharers[i]));

        assert_ptr_equal(q->alpha.raw, param(&b, owner[i], "alpha")->v);
        assert_ptr_equal(q->b, param(&b, owner[i], "thresholds")->v);
    }
    release(&b);
    release(&s);
}

/* ---- starts ---------------------------------------------------------------------------------- */

/* The same as a quantiser alone that is given all weights in one array. */
static void start_of_weights(void **state)
{
    struct qn_net_options o = options(true, 1);
    struct qn_start start = qn_start_default(1);
    struct assay_arena arena = { 0 };
    struct assay_err err = { "" };
    struct qn_quant alone;
    const struct qn_quant *q;
    float w[4 * 4 * 9 * 2 + 6 * 4 * 4], most = 0;
    struct bench b;
    int64_t n = 0;

    (void)state;
    make(&b, &o);
    for (int i = 0; i < 3; i++) {
        const struct qn_param *p = param(&b, sharers[i], "weight");

        memcpy(w + n, p->v, (size_t)p->n * sizeof *w);
        n += p->n;
    }
    assert_int_equal(n, sizeof w / sizeof *w);
    for (int64_t i = 0; i < n; i++)
        most = fmaxf(most, fabsf(w[i]));
    T_OK(qn_quant_init(&alone, &o.weights, 1, &arena, &err));
    T_OK(qn_quant_start(&alone, w, (struct qn_view){ 1, 1, n }, &start, &arena, &err));
    for (int i = 0; i < 3; i++) {
        q = qn_net_quant(b.net, qn_graph_find(&b.g, sharers[i]));
        assert_float_equal(qn_quant_beta(q, 0), 1.25f * 2 / most, 1e-5);
        assert_true(qn_quant_alpha(q, 0) == qn_quant_alpha(&alone, 0));
        assert_memory_equal(q->b, alone.b, 4 * sizeof *q->b);
    }
    assay_arena_release(&arena);
    release(&b);
}

/* From the inputs of both layers, of which the largest decides; a call for the second one, or
 * again, changes nothing. Without quantisers in the way, 4 x 16 values of p and 4 x 16 of q each.
 */
static void start_of_activations(void **state)
{
    static const char *const before[] = { "n1", "n2" };
    struct qn_net_options o = options(true, 1);
    struct assay_err err = { "" };
    struct bench b;
    struct qn_quant *q;
    float most = 0, was[3], alpha;

    (void)state;
    make(&b, &o);
    q = qn_net_quant(b.net, qn_graph_find(&b.g, "p"));
    memcpy(was, q->b, sizeof was);
    alpha = qn_quant_alpha(q, 0);
    b.pass.activations = QN_OFF;
    for (int i = 0; i < 2; i++) {
        int layer = qn_graph_find(&b.g, before[i]);
        const float *x;

        T_OK(qn_net_forward_to(b.net, &b.pass, b.x, N, layer, &err));
        x = qn_net_output(b.net, layer);
        for (int j = 0; j < N * 4 * (i ? 16 : 36); j++)
            most = fmaxf(most, fabsf(x[j]));
    }
    b.pass.activations = QN_SOFT;
    /* 2^17 values are drawn out of a few hundred, with each of them in all probability */
    assert_float_equal(alpha, most / (1.25f * 3), 1e-6);
    for (int i = 0; i < 2; i++)
        assert_true(was[i] < was[i + 1]);
    start_activations(&b);
    assert_memory_equal(was, q->b, sizeof was);
    assert_true(alpha == qn_quant_alpha(qn_net_quant(b.net, qn_graph_find(&b.g, "q")), 0));
    release(&b);
}

/* ---- gradients ------------------------------------------------------------------------------- */

static double slope(struct bench *b, float *v, double h)
{
    float was = *v;
    double at[2];

    for (int k = 0; k < 2; k++) {
        *v = (float)((double)was + (k ? -h : h));
        at[k] = loss(b);
    }
    *v = was;
    return (at[0] - at[1]) / (2 * h);
}

/* Steps are a share of what they move. Of two differences the cubic terms cancel; what is left is
 * 1e-7 of the loss, some layers of it, over the step: 1e-5 of relative change over 1e-2. */
static void differences(void **state)
{
    static const char *const owners[] = { "weight_quant", "activation_quant" };
    static const char *const trained[] = { "alpha", "beta", "thresholds" };
    struct qn_net_options o = options(true, 2);
    struct bench b;

    (void)state;
    make(&b, &o);
    gradients(&b);
    for (int k = 0; k < 6; k++) {
        struct qn_param *p = param(&b, owners[k / 3], trained[k % 3]);
        struct qn_quant *q = qn_net_quant(b.net, qn_graph_find(&b.g, k < 3 ? "a" : "p"));
        float g[4], scale = k % 3 == 0   ? qn_quant_alpha(q, 0)
                            : k % 3 == 1 ? qn_quant_beta(q, 0)
                                         : 1;

        memcpy(g, p->g, (size_t)p->n * sizeof *g);
        for (int64_t i = 0; i < p->n; i++) {
            double h = 0.02 * (double)scale;
            double got = (4 * slope(&b, p->v + i, h / 2) - slope(&b, p->v + i, h)) / 3;

            if (!(fabs(got - (double)g[i]) <= 0.01 * fabs(got) + 1e-3 / (double)scale))
                fail_msg("%s[%d]: slope %.6g, gradient %.6g", p->name, (int)i, got, (double)g[i]);
        }
        assert_true(fabsf(g[0]) > 1e-4f);
    }
    release(&b);
}

/* Separate quantisers with the same scales and thresholds: their gradients, added up. */
static void sums(void **state)
{
    struct qn_net_options o = options(true, 2), separate = options(false, 1);
    struct bench b, s;

    (void)state;
    make(&b, &o);
    make(&s, &separate);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 5; k++) {
            const struct qn_param *from = param(&b, owner[i], suffixes[k]);

            memcpy(param(&s, own[i], suffixes[k])->v, from->v, (size_t)from->n * sizeof *from->v);
        }
    gradients(&b);
    gradients(&s);
    for (int kind = 0; kind < 2; kind++)
        for (int k = 0; k < 5; k++) {
            const struct qn_param *p = param(&b, owner[kind ? 3 : 0], suffixes[k]);

            for (int64_t j = 0; p->g && j < p->n; j++) {
                double sum = 0;

                for (int i = kind ? 3 : 0; i < (kind ? 5 : 3); i++)
                    sum += (double)param(&s, own[i], suffixes[k])->g[j];
                assert_true(p->g[j] == (float)sum);
            }
        }
    /* what is not shared is the same */
    assert_memory_equal(param(&b, "a", "weight")->g, param(&s, "a", "weight")->g,
                        (size_t)param(&b, "a", "weight")->n * sizeof(float));
    release(&b);
    release(&s);
}

static void threads(void **state)
{
    struct bench b[3];

    (void)state;
    for (int k = 0; k < 3; k++) {
        struct qn_net_options o = options(true, k + 1);

        make(&b[k], &o);
        gradients(&b[k]);
        for (int i = 0; i < qn_net_n_params(b[0].net); i++) {
            const struct qn_param *p = qn_net_param(b[0].net, i), *q = qn_net_param(b[k].net, i);

            if (p->g)
                assert_memory_equal(p->g, q->g, (size_t)p->n * sizeof *p->g);
        }
    }
    for (int k = 0; k < 3; k++)
        release(&b[k]);
}

/* ---- answers and refusals -------------------------------------------------------------------- */

/* A net that only answers, filled by name. */
static void answers(void **state)
{
    struct qn_net_options o = options(true, 1);
    struct bench b, a;

    (void)state;
    make(&b, &o);
    o.train = false;
    make(&a, &o);
    param(&b, "weight_quant", "beta")->v[0] = 0.7f;
    param(&b, "activation_quant", "alpha")->v[0] = -0.05f;
    for (int i = 0; i < qn_net_n_params(a.net); i++) {
        struct qn_param *p = qn_net_param(a.net, i);

        memcpy(p->v, qn_net_find_param(b.net, p->name)->v, (size_t)p->n * sizeof *p->v);
    }
    a.pass.train = b.pass.train = false;
    a.pass.weights = b.pass.weights = a.pass.activations = b.pass.activations = QN_HARD;
    assert_true(loss(&a) == loss(&b));
    release(&a);
    release(&b);
}

static void refused(void **state)
{
    static const char taken[] = "{\"format\":1,\"name\":\"n\",\"input\":[2,6,6],\"layers\":["
                                "{\"type\":\"fc\",\"name\":\"a\",\"out\":4},"
                                "{\"type\":\"quant\",\"name\":\"%s\"},"
                                "{\"type\":\"fc\",\"name\":\"b\",\"out\":4},"
                                "{\"type\":\"fc\",\"name\":\"c\",\"out\":4}]}";
    static const char *const names[] = { "weight_quant", "b.weight_quant" };
    struct qn_net_options o = options(true, 1);
    struct assay_err err = { "" };
    struct qn_graph g = { 0 };
    struct qn_net *net;

    (void)state;
    T_OK(qn_graph_parse(&g, text, sizeof text - 1, NULL, &err));
    o.weights.per_channel = true;
    assert_int_equal(qn_net_new(&net, &g, &o, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "cannot have scales per channel"));
    o = options(true, 1);
    o.weights = quant(&qn_quant_twn, "ternary");
    assert_int_equal(qn_net_new(&net, &g, &o, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "twn"));
    qn_graph_release(&g);
    for (int k = 0; k < 2; k++) {
        char json[sizeof taken + 20];

        snprintf(json, sizeof json, taken, names[k]);
        o = options(k == 0, 1);
        o.share_activations = false;
        T_OK(qn_graph_parse(&g, json, strlen(json), NULL, &err));
        assert_int_equal(qn_net_new(&net, &g, &o, &err), ASSAY_INVALID);
        assert_non_null(strstr(err.text, "two parameters would be called"));
        qn_graph_release(&g);
    }
}

static bool fail_at(void *cookie, size_t bytes)
{
    int *left = cookie;

    (void)bytes;
    return (*left)-- != 0;
}

/* Each allocation of a net and of its starts fails once. */
static void out_of_memory(void **state)
{
    struct qn_net_options o = options(true, 1);
    struct qn_start start = qn_start_default(1);
    struct bench b;
    int n_failed = 0;

    (void)state;
    make(&b, &o);
    for (bool over = false; !over; n_failed += !over) {
        struct qn_net *net = NULL;
        struct assay_err err = { "" };
        int left = n_failed;
        enum assay_status st;

        assay_alloc_hook_set(fail_at, &left);
        st = qn_net_new(&net, &b.g, &o, &err);
        if (!st)
            st = qn_net_start_activations(net, &b.pass, qn_graph_find(&b.g, "p"), b.x, N, &start,
                                          &err);
        if (!st)
            st = qn_net_start_weights(net, &start, &err);
        assay_alloc_hook_set(NULL, NULL);
        over = left >= 0;
        assert_int_equal(st, over ? ASSAY_INVALID : ASSAY_NOMEM); /* in the end: weights of 0 */
        qn_net_free(net);
    }
    assert_true(n_failed > 5);
    release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters),
        cmocka_unit_test(start_of_weights),
        cmocka_unit_test(start_of_activations),
        cmocka_unit_test(differences),
        cmocka_unit_test(sums),
        cmocka_unit_test(threads),
        cmocka_unit_test(answers),
        cmocka_unit_test(refused),
        cmocka_unit_test(out_of_memory),
    };

    key = assay_key(t_seed(1), "test_qn_shared", 0, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
