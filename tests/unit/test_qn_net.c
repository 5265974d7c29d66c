/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_qn_net.c: whole networks: gradients through residuals and quantisers, memory that is shared,
 * threads, the loss, and what is said about values that are not finite.
 */
#include "t.h"

#include "assay/rng.h"
#include "qn/net.h"

#include <math.h>

enum { N = 6, IN = 2 * 8 * 8, CLASSES = 5 };

static struct assay_key key;

/* A residual block with a projection, two branches side by side, dropout (of which the first one
 * could spoil what ReLU6 has to remember); each value that is read twice is one whose gradient has
 * to be added up. */
static const char branched[] =
    "{\"format\":1,\"name\":\"branched\",\"input\":[2,8,8],\"classes\":5,\"layers\":["
    "{\"type\":\"conv\",\"name\":\"c1\",\"out\":4,\"kernel\":3,\"pad\":1,\"bias\":true},"
    "{\"type\":\"batch_norm\"},{\"type\":\"relu6\"},{\"type\":\"dropout\",\"rate\":0.8},"
    "{\"type\":\"quant\",\"name\":\"q1\"},"
    "{\"type\":\"conv\",\"name\":\"c2\",\"out\":6,\"kernel\":3,\"pad\":1,\"stride\":2},"
    "{\"type\":\"batch_norm\",\"name\":\"n2\"},"
    "{\"type\":\"conv\",\"name\":\"down\",\"from\":\"q1\",\"out\":6,\"kernel\":1,\"stride\":2},"
    "{\"type\":\"batch_norm\",\"name\":\"n3\"},"
    "{\"type\":\"add\",\"name\":\"sum\",\"from\":[\"n2\",\"n3\"]},"
    "{\"type\":\"relu6\",\"name\":\"r2\"},{\"type\":\"quant\",\"name\":\"q2\"},"
    "{\"type\":\"conv\",\"name\":\"left\",\"out\":3,\"kernel\":3,\"pad\":1},"
    "{\"type\":\"avg_pool\",\"name\":\"right\",\"from\":\"q2\",\"kernel\":3,\"stride\":1,\"pad\":1}"
    ","
    "{\"type\":\"concat\",\"name\":\"both\",\"from\":[\"left\",\"right\",\"q2\"]},"
    "{\"type\":\"add\",\"name\":\"twice\",\"from\":[\"both\",\"both\"]},"
    "{\"type\":\"dropout\",\"rate\":0.25},{\"type\":\"flatten\"},"
    "{\"type\":\"fc\",\"out\":\"classes\",\"name\":\"out\"}]}";

struct bench {
    struct qn_graph g;
    struct qn_net *net;
    struct qn_pass pass;
    float x[N * IN];
    int32_t labels[N];
};

static struct qn_quant_config quant(const char *levels, bool per_channel)
{
    struct qn_quant_config c = { .type = &qn_quant_sigmoid, .learn_thresholds = true };
    struct assay_err err = { "" };

    c.per_channel = per_channel;
    T_OK(qn_levels_parse(&c.levels, levels, &err));
    return c;
}

static void make(struct bench *b, const struct qn_net_options *o, bool quantised)
{
    struct qn_start start = qn_start_default(1);
    struct assay_err err = { "" };

    *b = (struct bench){ .pass = { .train = true, .check = true } };
    b->pass.weights = b->pass.activations = quantised ? QN_SOFT : QN_OFF;
    T_OK(qn_graph_parse(&b->g, branched, sizeof branched - 1, NULL, &err));
    T_OK(qn_net_new(&b->net, &b->g, o, &err));
    qn_net_seed(b->net, 3);
    for (int i = 0; i < N * IN; i++)
        b->x[i] = (float)(assay_rng_unit(key, (uint64_t)i) * 2 - 1);
    for (int i = 0; i < N; i++)
        b->labels[i] = i % CLASSES;
    if (!quantised)
        return;
    T_OK(qn_net_start_weights(b->net, &start, &err));
    qn_net_temperature(b->net, false, 3);
    qn_net_temperature(b->net, true, 2);
    for (int i = 0; i < b->g.n_layers; i++)
        if (b->g.layers[i].name[0] == 'q')
            T_OK(qn_net_start_activations(b->net, &b->pass, i, b->x, N, &start, &err));
}

/* Keeps what batch norm makes away from the corners of ReLU and ReLU6, which differences would see.
 */
static void smooth(struct bench *b)
{
    for (int i = 0; i < qn_net_n_params(b->net); i++) {
        struct qn_param *p = qn_net_param(b->net, i);

        for (int64_t j = 0; j < p->n; j++)
            if (p->role == QN_GAMMA || p->role == QN_SHIFT)
                p->v[j] = p->role == QN_GAMMA ? 0.3f : 1.5f;
    }
}

static void release(struct bench *b)
{
    qn_net_free(b->net);
    qn_graph_release(&b->g);
}

static double loss(struct bench *b)
{
    struct assay_err err = { "" };
    struct qn_loss l;

    T_OK(qn_net_forward(b->net, &b->pass, b->x, N, &err));
    T_OK(qn_net_loss(b->net, b->labels, 0.1, &l, &err));
    return l.loss;
}

static void gradients(struct bench *b)
{
    struct assay_err err = { "" };

    loss(b);
    T_OK(qn_net_backward(b->net, &b->pass, &err));
    T_OK(qn_net_backward_weights(b->net, &b->pass, &err));
}

static struct qn_net_options quantised_options(bool per_channel, int n_threads)
{
    struct qn_net_options o = { .max_batch = N + 2, .train = true, .n_threads = n_threads };

    o.weights = o.first = quant("ternary", per_channel);
    o.last = quant("pm4", false);
    o.activations = quant("u2", per_channel);
    return o;
}

/* ---- gradients ------------------------------------------------------------------------------- */

/* The slope of the loss when p moves from v along g / length, from two steps of h. */
static double slope(struct bench *b, struct qn_param *p, const float *v, const float *g,
                    double length, double h)
{
    double at[2];

    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < p->n; i++)
            p->v[i] = (float)((double)v[i] + (k ? -h : h) * (double)g[i] / length);
        at[k] = loss(b);
    }
    memcpy(p->v, v, (size_t)p->n * sizeof *v);
    return (at[0] - at[1]) / (2 * h);
}

/* Along the gradient of one parameter the loss rises by its length. Two differences cancel the
 * cubic term (Richardson). Those of a float net are noisy: 1e-7 of the loss, once per layer, over
 * 2h = 1e-2 is some 1e-4. */
static void check_param(struct bench *b, struct qn_param *p)
{
    float g[2048], v[2048];
    double length = 0, got, h = 1e-2;

    assert_true(p->n <= 2048);
    for (int64_t i = 0; i < p->n; i++)
        length += (double)p->g[i] * (double)p->g[i];
    length = sqrt(length);
    memcpy(g, p->g, (size_t)p->n * sizeof *g);
    memcpy(v, p->v, (size_t)p->n * sizeof *v);
    if (length < 1e-5)
        return;
    got = (4 * slope(b, p, v, g, length, h / 2) - slope(b, p, v, g, length, h)) / 3;
    if (!(fabs(got - length) <= 0.01 * length + 1e-3))
        fail_msg("%s: slope %.6g, gradient of length %.6g", p->name, got, length);
}

static void check_all(const struct qn_net_options *o, bool quantised, int n_expected)
{
    struct bench b;
    int n = 0;

    make(&b, o, quantised);
    smooth(&b);
    gradients(&b);
    for (int i = 0; i < qn_net_n_params(b.net); i++)
        if (qn_net_param(b.net, i)->g) {
            check_param(&b, qn_net_param(b.net, i));
            n++;
        }
    assert_int_equal(n, n_expected);
    release(&b);
}

static void float_net(void **state)
{
    struct qn_net_options o = { .max_batch = N, .train = true, .n_threads = 2 };

    (void)state;
    /* four weights of convolutions and a bias, three batch norms, weight and bias of the last */
    check_all(&o, false, 4 + 1 + 3 * 2 + 2);
}

static void quantised_net(void **state)
{
    (void)state;
    for (int per_channel = 0; per_channel < 2; per_channel++) {
        struct qn_net_options o = quantised_options(per_channel, 2);

        /* and alpha, beta, thresholds of five weights and two activations */
        check_all(&o, true, 13 + 7 * 3);
    }
}

/* ---- memory and threads ---------------------------------------------------------------------- */

static void same_gradients(struct bench *a, struct bench *b)
{
    for (int i = 0; i < qn_net_n_params(a->net); i++) {
        const struct qn_param *p = qn_net_param(a->net, i), *q = qn_net_param(b->net, i);

        assert_string_equal(p->name, q->name);
        assert_memory_equal(p->v, q->v, (size_t)p->n * sizeof *p->v);
        if (p->g)
            assert_memory_equal(p->g, q->g, (size_t)p->n * sizeof *p->g);
    }
}

static void threads(void **state)
{
    struct bench b[3];

    (void)state;
    for (int k = 0; k < 3; k++) {
        struct qn_net_options o = quantised_options(true, k + 1);

        make(&b[k], &o, true);
        gradients(&b[k]);
        same_gradients(&b[0], &b[k]);
    }
    for (int k = 0; k < 3; k++)
        release(&b[k]);
}

/* A net that only answers places its activations otherwise, and answers with the same bytes. */
static void inference_memory(void **state)
{
    struct qn_net_options o = quantised_options(true, 1);
    struct bench train, infer;
    const float *y, *z;

    (void)state;
    make(&train, &o, true);
    o.train = false;
    make(&infer, &o, true);
    for (int i = 0; i < qn_net_n_params(train.net); i++)
        memcpy(qn_net_param(infer.net, i)->v, qn_net_param(train.net, i)->v,
               (size_t)qn_net_param(train.net, i)->n * sizeof(float));
    train.pass.train = infer.pass.train = false;
    train.pass.weights = infer.pass.weights = QN_HARD;
    train.pass.activations = infer.pass.activations = QN_HARD;
    assert_true(loss(&train) == loss(&infer));
    y = qn_net_output(train.net, train.g.n_layers - 1);
    z = qn_net_output(infer.net, infer.g.n_layers - 1);
    assert_memory_equal(y, z, N * CLASSES * sizeof *y);
    assert_true(qn_net_memory(infer.net).activations < qn_net_memory(train.net).activations);
    assert_int_equal(qn_net_backward(infer.net, &infer.pass, NULL), ASSAY_INVALID);
    release(&train);
    release(&infer);
}

/* Where activations lie depends on the batch; what comes out does not. */
static void batch_memory(void **state)
{
    struct qn_net_options o = quantised_options(false, 2);
    struct bench a, b;

    (void)state;
    make(&a, &o, true);
    o.max_batch = 40;
    make(&b, &o, true);
    gradients(&a);
    gradients(&b);
    same_gradients(&a, &b);
    release(&a);
    release(&b);
}

static void plan(void **state)
{
    struct qn_net_options o = { .max_batch = 32, .train = true, .n_threads = 1 };
    struct assay_text t = { 0 };
    struct qn_graph g = { 0 };
    struct qn_memory m;
    struct assay_err err = { "" };
    struct qn_net *net;

    (void)state;
    T_OK(qn_graph_read(&g, ASSAY_SOURCE_DIR "/data/nets/resnet20.json", NULL, &err));
    T_OK(qn_net_new(&net, &g, &o, &err));
    m = qn_net_memory(net);
    assert_true(m.activations < m.unshared);
    qn_net_plan_text(net, &t);
    assert_false(t.failed);
    assert_non_null(strstr(t.data, "layer3.2.conv2"));
    assert_non_null(strstr(t.data, "without sharing"));
    assay_text_release(&t);
    qn_net_free(net);
    qn_graph_release(&g);
}

/* ---- loss ------------------------------------------------------------------------------------ */

static void cross_entropy(void **state)
{
    static const char text[] = "{\"format\":1,\"name\":\"n\",\"input\":[3,1,1],\"layers\":["
                               "{\"type\":\"flatten\"}]}";
    static const float x[] = { 1, 2, 4, 1000, -1000, 0 };
    static const int32_t labels[] = { 1, 0 }, wrong[] = { 0, 3 }, negative[] = { -1, 0 };
    /* log(e^-3 + e^-2 + 1) + 2, and 0 */
    const double first = log(exp(-3) + exp(-2) + 1) + 2;
    struct qn_net_options o = { .max_batch = 2, .train = true, .n_threads = 1 };
    struct qn_pass pass = { .train = true };
    struct qn_graph g = { 0 };
    struct assay_err err = { "" };
    struct qn_net *net;
    struct qn_loss l;
    const float *dx;

    (void)state;
    T_OK(qn_graph_parse(&g, text, sizeof text - 1, NULL, &err));
    T_OK(qn_net_new(&net, &g, &o, &err));
    T_OK(qn_net_forward(net, &pass, x, 2, &err));
    T_OK(qn_net_loss(net, labels, 0, &l, &err));
    assert_true(fabs(l.loss - first / 2) < 1e-12);
    assert_int_equal(l.n_correct, 1);
    dx = qn_net_output_gradient(net);
    assert_true(fabs((double)dx[0] - (0.5 * exp(1 - 2 - first))) < 1e-7);
    assert_true(fabs((double)dx[1] - (0.5 * (exp(-first) - 1))) < 1e-7);
    assert_true(fabs((double)dx[2] - (0.5 * exp(4 - 2 - first))) < 1e-7);
    assert_true(dx[3] == 0 && dx[4] == 0 && dx[5] == 0);
    /* a third of the targets to each: loss = log sum - 0.7 x_1 - 0.1 (x_0 + x_1 + x_2) */
    T_OK(qn_net_forward(net, &pass, x, 1, &err));
    T_OK(qn_net_loss(net, labels, 0.3, &l, &err));
    assert_true(fabs(l.loss - (first + 2 - 0.7 * 2 - 0.1 * 7)) < 1e-12);
    assert_int_equal(qn_net_forward(net, &pass, x, 3, &err), ASSAY_INVALID);
    T_OK(qn_net_forward(net, &pass, x, 2, &err));
    assert_int_equal(qn_net_loss(net, wrong, 0, &l, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "label 3 of sample 1; the net has 3 classes"));
    assert_int_equal(qn_net_loss(net, negative, 0, &l, &err), ASSAY_INVALID);
    assert_int_equal(qn_net_loss(net, labels, 1, &l, &err), ASSAY_INVALID);
    qn_net_free(net);
    qn_graph_release(&g);
}

/* ---- values that are not finite ---------------------------------------------------------------
 */

static void names_the_layer(void **state)
{
    struct qn_net_options o = { .max_batch = N, .train = true, .n_threads = 2 };
    struct assay_err err = { "" };
    struct bench b;
    struct qn_loss l;

    (void)state;
    make(&b, &o, false);
    qn_net_find_param(b.net, "down.weight")->v[2] = (float)NAN;
    assert_int_equal(qn_net_forward(b.net, &b.pass, b.x, N, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "layer 'down' (conv)"));
    /* without the check it comes out at the end: nothing on the way swallows it */
    b.pass.check = false;
    T_OK(qn_net_forward(b.net, &b.pass, b.x, N, &err));
    T_OK(qn_net_loss(b.net, b.labels, 0, &l, &err));
    assert_true(!isfinite(l.loss));
    qn_net_find_param(b.net, "down.weight")->v[2] = 1;
    b.pass.check = true; /* it went into running moments, and is found there too */
    assert_int_equal(qn_net_forward(b.net, &b.pass, b.x, N, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "'n3.running_mean'"));
    qn_net_seed(b.net, 3);
    T_OK(qn_net_forward(b.net, &b.pass, b.x, N, &err));
    T_OK(qn_net_loss(b.net, b.labels, 0, &l, &err));
    qn_net_output_gradient(b.net)[3] = INFINITY;
    assert_int_equal(qn_net_backward(b.net, &b.pass, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "'out."));
    release(&b);
}

/* ---- quantisers in a net --------------------------------------------------------------------- */

/* Which layers have one: first and last by options of their own, others unless they say no. */
static void who_is_quantised(void **state)
{
    struct qn_net_options o = { .max_batch = N, .train = true, .n_threads = 1 };
    struct bench b;
    float *w;
    struct qn_view v;

    (void)state;
    o.weights = quant("ternary", false);
    make(&b, &o, false);
    assert_null(qn_net_quant(b.net, qn_graph_find(&b.g, "c1")));
    assert_non_null(qn_net_quant(b.net, qn_graph_find(&b.g, "c2")));
    assert_non_null(qn_net_quant(b.net, qn_graph_find(&b.g, "down")));
    assert_null(qn_net_quant(b.net, qn_graph_find(&b.g, "out")));
    assert_null(qn_net_quant(b.net, qn_graph_find(&b.g, "q1")));
    assert_true(qn_net_weights(b.net, qn_graph_find(&b.g, "c2"), &w, &v));
    assert_int_equal(v.channels, 6);
    assert_int_equal(v.inner, 4 * 9);
    assert_false(qn_net_weights(b.net, qn_graph_find(&b.g, "q1"), &w, &v));
    release(&b);
}

/* Hard activations are alpha times a level and nothing else, with each of four levels in use. */
static void hard_activations(void **state)
{
    struct qn_net_options o = quantised_options(false, 1);
    struct assay_err err = { "" };
    struct bench b;
    const struct qn_quant *q;
    const float *y;
    int seen[4] = { 0 }, layer;

    (void)state;
    make(&b, &o, true);
    layer = qn_graph_find(&b.g, "q2");
    q = qn_net_quant(b.net, layer);
    b.pass.activations = b.pass.weights = QN_HARD;
    T_OK(qn_net_forward_to(b.net, &b.pass, b.x, N, layer, &err));
    y = qn_net_output(b.net, layer);
    for (int i = 0; i < N * 6 * 16; i++) {
        int code = 0;

        while (code < 4 && y[i] != qn_quant_alpha(q, 0) * (float)code)
            code++;
        assert_true(code < 4);
        seen[code]++;
    }
    for (int i = 0; i < 4; i++)
        assert_true(seen[i] > 0);
    release(&b);
}

static void refused(void **state)
{
    struct qn_net_options o = { .max_batch = 0 };
    struct qn_start start = qn_start_default(1);
    struct assay_err err = { "" };
    struct qn_graph g = { 0 };
    struct qn_net *net;
    struct bench b;

    (void)state;
    T_OK(qn_graph_parse(&g, branched, sizeof branched - 1, NULL, &err));
    assert_int_equal(qn_net_new(&net, &g, &o, &err), ASSAY_INVALID);
    o.max_batch = 1;
    o.weights = (struct qn_quant_config){ .type = &qn_quant_sigmoid };
    assert_int_equal(qn_net_new(&net, &g, &o, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "layer 'c2'"));
    qn_graph_release(&g);
    o = (struct qn_net_options){ .max_batch = N, .train = true };
    make(&b, &o, false);
    assert_int_equal(
        qn_net_start_activations(b.net, &b.pass, qn_graph_find(&b.g, "q1"), b.x, N, &start, &err),
        ASSAY_INVALID);
    release(&b);
}

/* Places beyond what a size holds: 1100 layers of batch norm whose input and gradient of 2^53 bytes
 * each have their own. */
static void too_large(void **state)
{
    struct qn_net_options o = { .max_batch = 1 << 20, .train = true, .n_threads = 1 };
    struct assay_text t = { 0 };
    struct assay_err err = { "" };
    struct qn_graph g = { 0 };
    struct qn_net *net;

    (void)state;
    assay_text_add(&t, "{\"format\":1,\"name\":\"n\",\"input\":[1,46340,46340],\"layers\":["
                       "{\"type\":\"batch_norm\"}");
    for (int i = 0; i < 1100; i++)
        assay_text_add(&t, ",{\"type\":\"batch_norm\"}");
    assay_text_add(&t, "]}");
    assert_false(t.failed);
    T_OK(qn_graph_parse(&g, t.data, t.len, NULL, &err));
    assert_int_equal(qn_net_new(&net, &g, &o, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "exceed all memory"));
    qn_graph_release(&g);
    assay_text_release(&t);
}

/* ---- memory that cannot be had --------------------------------------------------------------- */

static bool fail_at(void *cookie, size_t bytes)
{
    int *left = cookie;

    (void)bytes;
    return (*left)-- != 0;
}

/* Each allocation fails once; what was made until then is given back (the address sanitizer looks).
 */
static void out_of_memory(void **state)
{
    struct qn_net_options o = quantised_options(true, 1);
    int n_failed = 0;

    (void)state;
    for (bool over = false; !over; n_failed += !over) {
        struct qn_graph g = { 0 };
        struct qn_net *net = NULL;
        struct assay_err err = { "" };
        int left = n_failed;
        enum assay_status st;

        assay_alloc_hook_set(fail_at, &left);
        st = qn_graph_parse(&g, branched, sizeof branched - 1, NULL, &err);
        if (!st)
            st = qn_net_new(&net, &g, &o, &err);
        assay_alloc_hook_set(NULL, NULL);
        over = left >= 0;
        if (over)
            T_OK(st);
        else if (st) /* a document that cannot be read for want of memory is one that cannot be read
                      */
            assert_true(err.text[0] != 0);
        qn_net_free(net);
        qn_graph_release(&g);
    }
    assert_true(n_failed > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float_net),        cmocka_unit_test(quantised_net),
        cmocka_unit_test(threads),          cmocka_unit_test(inference_memory),
        cmocka_unit_test(batch_memory),     cmocka_unit_test(plan),
        cmocka_unit_test(cross_entropy),    cmocka_unit_test(names_the_layer),
        cmocka_unit_test(who_is_quantised), cmocka_unit_test(hard_activations),
        cmocka_unit_test(too_large),        cmocka_unit_test(refused),
        cmocka_unit_test(out_of_memory),
    };

    key = assay_key(t_seed(1), "test_qn_net", 0, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
