/* SPDX-License-Identifier: Apache-2.0 */
/* test_qn_optim.c: steps of SGD and Adam against their formulas in double, clipping, groups; and
 * that a small net learns with each. */
#include "t.h"

#include "assay/rng.h"
#include "qn/optim.h"

#include <math.h>

static const char text[] = "{\"format\":1,\"name\":\"n\",\"input\":[4,1,1],\"layers\":["
                           "{\"type\":\"fc\",\"name\":\"a\",\"out\":8},{\"type\":\"batch_norm\","
                           "\"name\":\"n\"},{\"type\":\"relu\"},"
                           "{\"type\":\"fc\",\"name\":\"b\",\"out\":3}]}";

struct bench {
    struct qn_graph g;
    struct qn_net *net;
    struct qn_optim o;
    struct assay_arena arena;
};

static void make(struct bench *b, const struct qn_optim_type *type)
{
    struct qn_net_options o = { .max_batch = 64, .train = true, .n_threads = 1 };
    struct assay_err err = { "" };

    *b = (struct bench){ 0 };
    T_OK(qn_graph_parse(&b->g, text, sizeof text - 1, NULL, &err));
    T_OK(qn_net_new(&b->net, &b->g, &o, &err));
    qn_net_seed(b->net, 1);
    T_OK(qn_optim_init(&b->o, type, b->net, &b->arena, &err));
}

static void release(struct bench *b)
{
    qn_net_free(b->net);
    qn_graph_release(&b->g);
    assay_arena_release(&b->arena);
}

static void set_gradients(struct qn_net *net, double value)
{
    for (int i = 0; i < qn_net_n_params(net); i++)
        for (int64_t j = 0; qn_net_param(net, i)->g && j < qn_net_param(net, i)->n; j++)
            qn_net_param(net, i)->g[j] = (float)value;
}

/* m = 0.9 m + g + decay v; v -= rate m, or rate (g' + 0.9 m) looking ahead. */
static void sgd(void **state)
{
    (void)state;
    for (int nesterov = 0; nesterov < 2; nesterov++) {
        struct bench b;
        struct qn_param *p;
        double v, m = 0;

        make(&b, &qn_optim_sgd);
        b.o.rule.decay = 0.1;
        b.o.rule.nesterov = nesterov;
        qn_optim_set_decay(&b.o);
        p = qn_net_find_param(b.net, "a.weight");
        v = (double)p->v[5];
        for (int step = 1; step <= 5; step++) {
            double g = 0.3 * step, d = g + 0.1 * v;

            set_gradients(b.net, g);
            qn_optim_step(&b.o, 0.05, NULL);
            m = 0.9 * m + d;
            v -= 0.05 * (nesterov ? d + 0.9 * m : m);
            assert_true(fabs((double)p->v[5] - v) < 1e-6);
        }
        release(&b);
    }
}

static void adam(void **state)
{
    (void)state;
    for (int decoupled = 0; decoupled < 2; decoupled++) {
        struct bench b;
        struct qn_param *p;
        double v, m = 0, s = 0;

        make(&b, &qn_optim_adam);
        b.o.rule.decay = 0.1;
        b.o.rule.decoupled = decoupled;
        qn_optim_set_decay(&b.o);
        p = qn_net_find_param(b.net, "b.weight");
        v = (double)p->v[7];
        for (int step = 1; step <= 5; step++) {
            double g = step == 3 ? -0.7 : 0.2, d = g + (decoupled ? 0 : 0.1 * v);

            set_gradients(b.net, g);
            qn_optim_step(&b.o, 0.01, NULL);
            m = 0.9 * m + 0.1 * d;
            s = 0.999 * s + 0.001 * d * d;
            v = v * (decoupled ? 1 - 0.01 * 0.1 : 1) -
                0.01 * (m / (1 - pow(0.9, step))) / (sqrt(s / (1 - pow(0.999, step))) + 1e-8);
            assert_true(fabs((double)p->v[7] - v) < 1e-6);
        }
        release(&b);
    }
}

/* A group of scale 0 stays, one of scale 2 moves twice as far; biases and batch norms do not decay.
 */
static void groups(void **state)
{
    struct bench b;
    float before[3];

    (void)state;
    make(&b, &qn_optim_sgd);
    b.o.rule.decay = 0.5;
    qn_optim_set_decay(&b.o);
    for (int i = 0; i < qn_net_n_params(b.net); i++) {
        const char *name = qn_net_param(b.net, i)->name;

        b.o.groups[i].scale = strcmp(name, "a.weight") == 0 ? 0
                              : strcmp(name, "a.bias") == 0 ? 2
                                                            : 1;
    }
    before[0] = qn_net_find_param(b.net, "a.weight")->v[0];
    before[1] = qn_net_find_param(b.net, "a.bias")->v[0];
    before[2] = qn_net_find_param(b.net, "n.weight")->v[0];
    set_gradients(b.net, 1);
    qn_optim_step(&b.o, 0.25, NULL);
    assert_true(qn_net_find_param(b.net, "a.weight")->v[0] == before[0]);
    assert_true(qn_net_find_param(b.net, "a.bias")->v[0] == before[1] - 0.5f);
    assert_true(qn_net_find_param(b.net, "n.weight")->v[0] == before[2] - 0.25f);
    release(&b);
}

/* 32 + 8 + 8 + 8 + 24 + 3 = 83 gradients of 2: their length is 2 sqrt(83). */
static void clip(void **state)
{
    struct bench b;

    (void)state;
    make(&b, &qn_optim_sgd);
    set_gradients(b.net, 2);
    assert_true(fabs(qn_grad_norm(&b.o) - 2 * sqrt(83)) < 1e-9);
    assert_true(fabs(qn_grad_clip(&b.o, 100) - 2 * sqrt(83)) < 1e-9);
    assert_true(qn_net_param(b.net, 0)->g[0] == 2);
    qn_grad_clip(&b.o, 1);
    assert_true(fabs(qn_grad_norm(&b.o) - 1) < 1e-6);
    release(&b);
}

/* Three classes by the largest of three of four numbers: learned in 200 steps. */
static void learns(void **state)
{
    static const struct qn_optim_type *const types[] = { &qn_optim_sgd, &qn_optim_adam };
    static const double rates[] = { 0.05, 0.02 };
    struct assay_key key = assay_key(t_seed(1), "test_qn_optim", 0, 0, 0);

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct qn_pass pass = { .train = true, .check = true };
        struct assay_err err = { "" };
        struct qn_loss l = { 0, 0 };
        struct bench b;
        float x[64 * 4];
        int32_t labels[64];

        make(&b, types[k]);
        for (int i = 0; i < 256; i++)
            x[i] = (float)assay_rng_unit(key, (uint64_t)i);
        for (int i = 0; i < 64; i++) {
            const float *v = x + 4 * i;

            labels[i] = v[0] > v[1] ? (v[0] > v[2] ? 0 : 2) : (v[1] > v[2] ? 1 : 2);
        }
        for (int step = 0; step < 200; step++) {
            T_OK(qn_net_forward(b.net, &pass, x, 64, &err));
            T_OK(qn_net_loss(b.net, labels, 0, &l, &err));
            T_OK(qn_net_backward(b.net, &pass, &err));
            qn_optim_step(&b.o, rates[k], NULL);
        }
        assert_true(l.loss < 0.3);
        assert_true(l.n_correct >= 58);
        release(&b);
    }
}

static void refused(void **state)
{
    struct qn_net_options o = { .max_batch = 1, .n_threads = 1 };
    struct assay_arena arena = { 0 };
    struct assay_err err = { "" };
    struct qn_graph g = { 0 };
    struct qn_net *net;
    struct qn_optim optim;

    (void)state;
    T_OK(qn_graph_parse(&g, text, sizeof text - 1, NULL, &err));
    T_OK(qn_net_new(&net, &g, &o, &err));
    assert_int_equal(qn_optim_init(&optim, &qn_optim_sgd, net, &arena, &err), ASSAY_INVALID);
    qn_net_free(net);
    qn_graph_release(&g);
    assay_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sgd),  cmocka_unit_test(adam),   cmocka_unit_test(groups),
        cmocka_unit_test(clip), cmocka_unit_test(learns), cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
