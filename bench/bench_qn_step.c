/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_qn_step.c: how long a training step of a network takes, by kind of layer, and how far its
 * convolutions are from the products of OpenBLAS. Not a test.
 *
 *     cmake --build build/dev --target bench_qn_step
 *     build/dev/bench_qn_step [net] [batch] [threads] [weights] [activations]
 */
#include "base/blas.h"
#include "qn/optim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7, KINDS = 16, SQUARE = 1024 };

/* Time of all cores together, which others on the machine disturb least; the wall's is printed
 * beside it. */
static double at_s(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now_s(void)
{
    return at_s(CLOCK_PROCESS_CPUTIME_ID);
}

struct times {
    const struct qn_graph *g;
    double last, layer[2][QN_MAX_LAYERS]; /* the least of all rounds */
};

static void watch(void *cookie, int layer, bool backward)
{
    struct times *t = cookie;
    double now = now_s(), took = now - t->last;

    if (took < t->layer[backward][layer])
        t->layer[backward][layer] = took;
    t->last = now;
}

static double square_flops(void)
{
    const struct assay__blas *blas = assay__blas();
    size_t n = (size_t)SQUARE * SQUARE;
    float *a = malloc(3 * n * sizeof *a), *b = a + n, *c = b + n;
    double best = INFINITY;

    for (size_t i = 0; a && i < 2 * n; i++)
        a[i] = (float)(i % 7) - 3;
    for (int r = 0; a && blas && r < ROUNDS; r++) {
        double start = now_s();

        blas->sgemm(ASSAY__ROW_MAJOR, ASSAY__NO_TRANS, ASSAY__NO_TRANS, SQUARE, SQUARE, SQUARE, 1,
                    a, SQUARE, b, SQUARE, 0, c, SQUARE);
        best = fmin(best, now_s() - start);
    }
    free(a);
    return 2.0 * SQUARE * SQUARE * SQUARE / best;
}

/* Multiplications and additions of a forward pass of one sample. */
static double layer_flops(struct qn_net *net, const struct qn_layer *l)
{
    char name[QN_MAX_NAME + 16];
    const struct qn_param *p;

    snprintf(name, sizeof name, "%s.weight", l->name);
    p = qn_net_find_param(net, name);
    if (!p || p->role != QN_WEIGHT)
        return 0;
    return 2.0 * (double)p->n * (double)(l->shape.h * l->shape.w);
}

static void print(struct qn_net *net, const struct times *t, int64_t batch, double peak, bool each)
{
    const struct qn_graph *g = t->g;
    double conv[2] = { 0 }, flops[2] = { 0 };

    for (int i = 1; i < g->n_layers; i++) {
        const struct qn_layer *l = &g->layers[i];
        double f = layer_flops(net, l) * (double)batch;
        double back = i == 1 ? f : 2 * f; /* nobody asks for the gradient of the input */

        if (each)
            printf("%-24s %-12s %8.3f %8.3f ms  %6.1f %6.1f GFLOP/s\n", l->name,
                   strstr(l->name, "quant") ? "quant" : "", 1e3 * t->layer[0][i],
                   1e3 * t->layer[1][i], f / t->layer[0][i] * 1e-9, back / t->layer[1][i] * 1e-9);
        if (f > 0) {
            conv[0] += t->layer[0][i];
            conv[1] += t->layer[1][i];
            flops[0] += f;
            flops[1] += back;
        }
    }
    printf("products: forward %.2f ms, %.1f GFLOP/s; backward %.2f ms, %.1f GFLOP/s; one sgemm of "
           "%d^3 on one core %.1f GFLOP/s\n",
           1e3 * conv[0], flops[0] / conv[0] * 1e-9, 1e3 * conv[1], flops[1] / conv[1] * 1e-9,
           SQUARE, peak * 1e-9);
}

static int fail(const struct assay_err *err)
{
    fprintf(stderr, "%s\n", err->text);
    return 1;
}

static int run(struct qn_net *net, const struct qn_graph *g, int64_t batch)
{
    static struct times t;
    struct qn_pass pass = { .train = true, .watch = watch, .cookie = &t };
    int64_t size = g->layers[0].shape.c * g->layers[0].shape.h * g->layers[0].shape.w;
    struct assay_arena arena = { 0 };
    float *x = assay_arena_array(&arena, (size_t)(batch * size), sizeof *x);
    int32_t *labels = assay_arena_zero(&arena, (size_t)batch * sizeof *labels);
    struct assay_err err = { "" };
    struct qn_optim o;
    double best = INFINITY, wall = INFINITY;

    pass.weights = pass.activations = QN_SOFT;
    if (!x || !labels || qn_optim_init(&o, &qn_optim_sgd, net, &arena, &err))
        return fail(&err);
    for (int64_t i = 0; i < batch * size; i++)
        x[i] = (float)sin(0.01 * (double)i);
    for (int i = 0; i < g->n_layers; i++)
        t.layer[0][i] = t.layer[1][i] = INFINITY;
    t.g = g;
    for (int r = 0; r < ROUNDS; r++) {
        struct qn_loss loss;
        double start = t.last = now_s(), began = at_s(CLOCK_MONOTONIC);

        if (qn_net_forward(net, &pass, x, batch, &err) || qn_net_loss(net, labels, 0, &loss, &err))
            return fail(&err);
        t.last = now_s();
        if (qn_net_backward(net, &pass, &err) || qn_net_backward_weights(net, &pass, &err))
            return fail(&err);
        qn_optim_step(&o, 1e-3, qn_net_pool(net));
        best = fmin(best, now_s() - start);
        wall = fmin(wall, at_s(CLOCK_MONOTONIC) - began);
    }
    print(net, &t, batch, square_flops(), getenv("EACH") != NULL);
    printf("%s, batch %lld: a step takes %.2f ms of cores, %.2f ms\n", g->name, (long long)batch,
           1e3 * best, 1e3 * wall);
    assay_arena_release(&arena);
    return 0;
}

int main(int argc, char **argv)
{
    struct qn_net_options o = { .train = true };
    struct qn_graph g = { 0 };
    struct assay_err err = { "" };
    struct qn_net *net;
    char path[512];
    int code;

    snprintf(path, sizeof path, "%s/data/nets/%s.json", ASSAY_SOURCE_DIR,
             argc > 1 ? argv[1] : "resnet20");
    o.max_batch = argc > 2 ? strtol(argv[2], NULL, 10) : 128;
    o.n_threads = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
    o.weights = qn_quant_config_default(argc > 4 ? &qn_quant_sigmoid : NULL);
    o.activations = qn_quant_config_default(argc > 5 ? &qn_quant_sigmoid : NULL);
    if ((argc > 4 && qn_levels_parse(&o.weights.levels, argv[4], &err)) ||
        (argc > 5 && qn_levels_parse(&o.activations.levels, argv[5], &err)) ||
        qn_graph_read(&g, path, NULL, &err) || qn_net_new(&net, &g, &o, &err))
        return fail(&err);
    qn_net_seed(net, 1);
    code = run(net, &g, o.max_batch);
    qn_net_free(net);
    qn_graph_release(&g);
    return code;
}
