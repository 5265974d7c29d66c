/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_qn_step.c: how long a training step of a network takes, and how far its convolutions are
 * from the products of OpenBLAS. Not a test. bench_qn_torch.py compares it with PyTorch.
 *
 *     cmake --build build/dev --target bench_qn_step
 *     build/dev/bench_qn_step [net[@CxHxW]] [batch] [threads] [weights] [activations]
 *
 * With EACH=1 it prints a line for each layer. With SAVE=file it takes no times but writes what two
 * steps start from and what they compute.
 */
#include "assay/rng.h"
#include "base/blas.h"
#include "qn/bundle.h"
#include "qn/optim.h"
#include "stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7, SQUARE = 1024 };

static const double DECAY = 1e-3, RATE = 0.01;

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

/* ---- steps ----------------------------------------------------------------------------------- */

struct bench {
    const struct qn_graph *g;
    struct qn_net *net;
    struct qn_optim optim;
    struct qn_pass pass;
    struct assay_arena arena;
    int64_t n;
    float *x;
    int32_t *labels;
};

static enum assay_status set_up(struct bench *b, struct assay_err *err)
{
    const struct qn_shape *s = &b->g->layers[0].shape;
    int64_t size = b->n * s->c * s->h * s->w;
    struct assay_key key = assay_key(1, "bench_qn_step", 0, 0, 0);

    b->x = assay_arena_array(&b->arena, (size_t)size, sizeof *b->x);
    b->labels = assay_arena_array(&b->arena, (size_t)b->n, sizeof *b->labels);
    if (!b->x || !b->labels)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a batch");
    for (int64_t i = 0; i < size; i++)
        b->x[i] = (float)(4 * assay_rng_unit(key, (uint64_t)i) - 2);
    for (int64_t i = 0; i < b->n; i++)
        b->labels[i] = (int32_t)(i * 7 % qn_net_classes(b->net));
    qn_net_seed(b->net, 1);
    ASSAY_TRY(qn_optim_init(&b->optim, &qn_optim_sgd, b->net, &b->arena, err));
    b->optim.rule.decay = b->optim.rule.decay_rest = DECAY;
    qn_optim_set_decay(&b->optim);
    b->pass = (struct qn_pass){ .train = true, .weights = QN_SOFT, .activations = QN_SOFT };
    return ASSAY_OK;
}

/* Up to the gradients. made: a copy of the class values, or NULL. */
static enum assay_status gradients(struct bench *b, double *loss, float *made,
                                   struct assay_err *err)
{
    struct times *t = b->pass.cookie;
    struct qn_loss l;

    ASSAY_TRY(qn_net_forward(b->net, &b->pass, b->x, b->n, err));
    if (made)
        memcpy(made, qn_net_output(b->net, b->g->n_layers - 1),
               (size_t)(b->n * qn_net_classes(b->net)) * sizeof *made);
    ASSAY_TRY(qn_net_loss(b->net, b->labels, 0, &l, err));
    if (t)
        t->last = now_s();
    ASSAY_TRY(qn_net_backward(b->net, &b->pass, err));
    ASSAY_TRY(qn_net_backward_weights(b->net, &b->pass, err));
    *loss = l.loss;
    return ASSAY_OK;
}

static enum assay_status time_steps(struct bench *b, bool each, struct assay_err *err)
{
    static struct times t;
    double cores[ROUNDS], wall[ROUNDS], loss;

    t.g = b->g;
    for (int i = 0; i < b->g->n_layers; i++)
        t.layer[0][i] = t.layer[1][i] = INFINITY;
    b->pass.watch = watch;
    b->pass.cookie = &t;
    for (int r = 0; r < ROUNDS; r++) {
        double start = t.last = now_s(), began = at_s(CLOCK_MONOTONIC);

        ASSAY_TRY(gradients(b, &loss, NULL, err));
        qn_optim_step(&b->optim, 1e-3, qn_net_pool(b->net));
        cores[r] = now_s() - start;
        wall[r] = at_s(CLOCK_MONOTONIC) - began;
    }
    print(b->net, &t, b->n, square_flops(), each);
    assay__stats_sort(cores, ROUNDS);
    assay__stats_sort(wall, ROUNDS);
    printf("%s, batch %lld: a step takes %.3f ms of cores, %.3f ms; median %.3f ms of cores, "
           "%.3f ms\n",
           b->g->name, (long long)b->n, 1e3 * cores[0], 1e3 * wall[0], 1e3 * cores[ROUNDS / 2],
           1e3 * wall[ROUNDS / 2]);
    return ASSAY_OK;
}

/* ---- what steps compute, for others to compare ----------------------------------------------- */

static enum assay_status add_params(struct bench *b, struct qn_bundle *out, const char *suffix,
                                    bool gradient, struct assay_err *err)
{
    for (int i = 0; i < qn_net_n_params(b->net); i++) {
        const struct qn_param *p = qn_net_param(b->net, i);
        char name[QN_MAX_NAME + 32];

        snprintf(name, sizeof name, "%s.%s", p->name, suffix);
        if (!gradient || p->g)
            ASSAY_TRY(qn_bundle_add(out, name, QN_F32, p->rank, p->dims, gradient ? p->g : p->v,
                                    NULL, err));
    }
    return ASSAY_OK;
}

/* Input, labels and parameters; loss, class values and gradients of the first step; parameters
 * after two. */
static enum assay_status save_steps(struct bench *b, const char *path, struct qn_bundle *out,
                                    struct assay_err *err)
{
    const struct qn_shape *s = &b->g->layers[0].shape;
    int64_t dims[4] = { b->n, s->c, s->h, s->w }, made[2] = { b->n, qn_net_classes(b->net) };
    struct qn_entry *e;
    double loss;

    ASSAY_TRY(qn_bundle_add(out, "x", QN_F32, 4, dims, b->x, NULL, err));
    ASSAY_TRY(qn_bundle_add(out, "labels", QN_I32, 1, dims, b->labels, NULL, err));
    ASSAY_TRY(add_params(b, out, "start", false, err));
    ASSAY_TRY(qn_bundle_add(out, "result", QN_F32, 2, made, NULL, &e, err));
    ASSAY_TRY(gradients(b, &loss, e->data, err));
    ASSAY_TRY(qn_bundle_add(out, "loss", QN_F64, 0, NULL, &loss, NULL, err));
    ASSAY_TRY(add_params(b, out, "gradient", true, err));
    qn_optim_step(&b->optim, RATE, qn_net_pool(b->net));
    ASSAY_TRY(gradients(b, &loss, NULL, err));
    qn_optim_step(&b->optim, RATE, qn_net_pool(b->net));
    ASSAY_TRY(add_params(b, out, "end", false, err));
    return qn_safetensors_write(out, path, err);
}

static enum assay_status save(struct bench *b, const char *path, struct assay_err *err)
{
    struct qn_bundle out = { 0 };
    enum assay_status st = save_steps(b, path, &out, err);

    qn_bundle_release(&out);
    return st;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* "resnet20" or "resnet20@1x28x28". */
static enum assay_status read_net(struct qn_graph *g, const char *what, struct assay_err *err)
{
    struct qn_graph_size size = { 0 };
    char path[512];
    const char *at = strchr(what, '@');
    int len = (int)(at ? (size_t)(at - what) : strlen(what));
    long long c, h, w;

    if (at && sscanf(at, "@%lldx%lldx%lld", &c, &h, &w) == 3)
        size.input = (struct qn_shape){ c, h, w };
    snprintf(path, sizeof path, "%s/data/nets/%.*s.json", ASSAY_SOURCE_DIR, len, what);
    return qn_graph_read(g, path, &size, err);
}

int main(int argc, char **argv)
{
    struct qn_net_options o = { .train = true };
    struct qn_graph g = { 0 };
    struct bench b = { .g = &g };
    struct assay_err err = { "" };
    const char *to = getenv("SAVE");

    o.max_batch = b.n = argc > 2 ? strtol(argv[2], NULL, 10) : 128;
    o.n_threads = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
    o.weights = qn_quant_config_default(argc > 4 ? &qn_quant_sigmoid : NULL);
    o.activations = qn_quant_config_default(argc > 5 ? &qn_quant_sigmoid : NULL);
    if ((argc > 4 && qn_levels_parse(&o.weights.levels, argv[4], &err)) ||
        (argc > 5 && qn_levels_parse(&o.activations.levels, argv[5], &err)) ||
        read_net(&g, argc > 1 ? argv[1] : "resnet20", &err) || qn_net_new(&b.net, &g, &o, &err) ||
        set_up(&b, &err) ||
        (to ? save(&b, to, &err) : time_steps(&b, getenv("EACH") != NULL, &err)))
        return fail(&err);
    qn_net_free(b.net);
    qn_graph_release(&g);
    assay_arena_release(&b.arena);
    return 0;
}
