/* SPDX-License-Identifier: Apache-2.0 */
/* qnet_bench.c: `qnet bench`: how long a training step takes, by kind of layer. */
#include "qnet/qnet.h"

#include "base/clock.h"
#include "base/json.h"

#include <math.h>
#include <string.h>

enum { KINDS = 24 };

struct choice {
    const char *net, *data, *weights, *activations, *json;
    int batch, threads, rounds, size;
};

static const struct assay__usage usage = {
    .command = "bench",
    .args = "[NET]",
    .max_args = 1,
    .about =
        "Times training steps of a network (default lenet-s) and says where the time goes: by\n"
        "kind of layer, forward and backward, and what share products and convolutions reach\n"
        "of each second. With --data the batches come from a data set, and the share of\n"
        "decoding is told. The least of all rounds counts.",
    .exits = "0 measured, 2 wrong usage, 3 our own fault",
    .example = "qnet bench resnet20 --batch 128\n"
               "qnet bench resnet18 --data pictures --size 224 --batch 32",
};

/* ---- times ----------------------------------------------------------------------------------- */

struct times {
    double last, *layer[2]; /* the least of all rounds, forward and backward, seconds */
    double step, rest;      /* loss, clipping and the optimiser */
};

static void watch(void *cookie, int layer, bool backward)
{
    struct times *t = cookie;
    double now = assay__now_s(), took = now - t->last;

    t->layer[backward][layer] = fmin(t->layer[backward][layer], took);
    t->last = now;
}

struct bench {
    const struct choice *choice;
    struct assay_arena arena;
    struct qn_graph graph;
    struct qn_net *net;
    struct qn_optim optim;
    struct qn_data *data;
    struct qn_feed *feed;
    struct times times;
    int64_t n_steps;
    double fed_s; /* from the first batch of data to the last */
};

static enum assay_status step(struct bench *b, const float *x, const int32_t *labels, int64_t n,
                              struct assay_err *err)
{
    struct qn_pass pass = { .train = true, .watch = watch, .cookie = &b->times };
    double start = assay__now_s(), before;
    struct qn_loss loss;

    pass.weights = b->choice->weights ? QN_SOFT : QN_OFF;
    pass.activations = b->choice->activations ? QN_SOFT : QN_OFF;
    b->times.last = start;
    ASSAY_TRY(qn_net_forward(b->net, &pass, x, n, err));
    before = assay__now_s();
    ASSAY_TRY(qn_net_loss(b->net, labels, 0, &loss, err));
    b->times.last = assay__now_s();
    before = b->times.last - before;
    ASSAY_TRY(qn_net_backward(b->net, &pass, err));
    b->times.last = assay__now_s();
    ASSAY_TRY(qn_net_backward_weights(b->net, &pass, err));
    qn_grad_clip(&b->optim, 5);
    qn_optim_step(&b->optim, 1e-6, qn_net_pool(b->net));
    b->times.rest = fmin(b->times.rest, assay__now_s() - b->times.last + before);
    b->times.step = fmin(b->times.step, assay__now_s() - start);
    b->n_steps++;
    return ASSAY_OK;
}

/* ---- where batches come from ----------------------------------------------------------------- */

static enum assay_status steps_of_noise(struct bench *b, struct assay_err *err)
{
    const struct qn_shape *s = &b->graph.layers[0].shape;
    int64_t n = b->choice->batch, size = n * s->c * s->h * s->w;
    float *x = assay_arena_array(&b->arena, (size_t)size, sizeof *x);
    int32_t *labels = assay_arena_array(&b->arena, (size_t)n, sizeof *labels);

    if (!x || !labels)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a batch of %lld", (long long)n);
    for (int64_t i = 0; i < size; i++)
        x[i] = (float)sin(0.01 * (double)i);
    for (int64_t i = 0; i < n; i++)
        labels[i] = (int32_t)(i % qn_net_classes(b->net));
    for (int i = 0; i < b->choice->rounds; i++)
        ASSAY_TRY(step(b, x, labels, n, err));
    return ASSAY_OK;
}

static enum assay_status steps_of_data(struct bench *b, struct assay_err *err)
{
    struct qn_feed_options o = qn_feed_options_default(b->data, b->choice->batch);
    struct qn_batch batch;
    double start;

    o.shape = b->graph.layers[0].shape;
    o.shuffle = o.drop_last = true;
    o.augment.flip = true;
    o.augment.random_crop = qn_data_info(b->data)->shape.h == 0;
    o.n_workers = o.augment.random_crop ? assay_parallel_threads(0) : 1;
    o.n_ahead = o.n_workers + 1;
    ASSAY_TRY(qn_feed_new(&b->feed, b->data, &o, err));
    start = assay__now_s();
    for (uint64_t epoch = 0; b->n_steps < b->choice->rounds; epoch++) {
        qn_feed_start(b->feed, epoch, 0);
        while (b->n_steps < b->choice->rounds) {
            ASSAY_TRY(qn_feed_next(b->feed, &batch, err));
            if (batch.n == 0)
                break;
            ASSAY_TRY(step(b, batch.x, batch.labels, batch.n, err));
        }
    }
    b->fed_s = assay__now_s() - start;
    return ASSAY_OK;
}

/* ---- setting up ------------------------------------------------------------------------------ */

static enum assay_status quantiser(const char *levels, struct qn_quant_config *c, bool activations,
                                   struct assay_err *err)
{
    struct qn_start s;

    *c = qn_quant_config_default(levels ? &qn_quant_sigmoid : NULL);
    if (!levels)
        return ASSAY_OK;
    if (qn_levels_parse(&c->levels, levels, err))
        return assay_wrap(err, ASSAY_INVALID, activations ? "--activations" : "--weights");
    return qn_preset(c, &s, "default", activations, err);
}

static enum assay_status open_data(struct bench *b, struct qn_graph_size *size,
                                   struct assay_err *err)
{
    struct qn_data_options o = { .least_side = b->choice->size };
    const struct qn_data_info *info;

    if (!b->choice->data)
        return ASSAY_OK;
    ASSAY_TRY(qn_data_open(&b->data, b->choice->data, QN_TRAIN, &o, err));
    info = qn_data_info(b->data);
    size->input = info->shape;
    if (b->choice->size > 0 || size->input.h == 0)
        size->input.h = size->input.w = b->choice->size > 0 ? b->choice->size : 224;
    size->classes = info->classes;
    if (info->n < b->choice->batch)
        return assay_fail(err, ASSAY_INVALID, "%lld pictures; a batch of at most that expected",
                          (long long)info->n);
    return ASSAY_OK;
}

static enum assay_status set_up(struct bench *b, struct assay_err *err)
{
    struct qn_net_options o = { .max_batch = b->choice->batch,
                                .train = true,
                                .n_threads = b->choice->threads };
    struct qn_graph_size size = { 0 };
    struct assay_text text = { 0 };
    enum assay_status st = qnet__net_text(&text, b->choice->net, err);

    if (!st)
        st = open_data(b, &size, err);
    if (!st)
        st = qn_graph_parse(&b->graph, text.data, text.len, &size, err);
    assay_text_release(&text);
    ASSAY_TRY(st);
    ASSAY_TRY(quantiser(b->choice->weights, &o.weights, false, err));
    ASSAY_TRY(quantiser(b->choice->activations, &o.activations, true, err));
    ASSAY_TRY(qn_net_new(&b->net, &b->graph, &o, err));
    qn_net_seed(b->net, 1);
    for (int i = 0; i < 2; i++) {
        b->times.layer[i] = assay_arena_array(&b->arena, (size_t)b->graph.n_layers, sizeof(double));
        if (!b->times.layer[i])
            return assay_fail(err, ASSAY_NOMEM, "no memory for times");
        for (int j = 0; j < b->graph.n_layers; j++)
            b->times.layer[i][j] = INFINITY;
    }
    b->times.step = b->times.rest = INFINITY;
    return qn_optim_init(&b->optim, &qn_optim_sgd, b->net, &b->arena, err);
}

static void release(struct bench *b)
{
    qn_feed_free(b->feed);
    qn_data_free(b->data);
    qn_net_free(b->net);
    qn_graph_release(&b->graph);
    assay_arena_release(&b->arena);
}

/* ---- report ---------------------------------------------------------------------------------- */

struct kind {
    const char *name;
    double forward, backward;
    double flops[2]; /* of products */
};

static double flops_of(struct bench *b, int layer)
{
    const struct qn_layer *l = &b->graph.layers[layer];
    struct qn_view v;
    float *w;

    if (!qn_net_weights(b->net, layer, &w, &v))
        return 0;
    return 2.0 * (double)(v.channels * v.inner) * (double)(l->shape.h * l->shape.w) *
           (double)b->choice->batch;
}

static int sum_kinds(struct bench *b, struct kind *kinds)
{
    int n = 0;

    for (int i = 1; i < b->graph.n_layers; i++) {
        const char *name = qn_layer_kind(&b->graph.layers[i]);
        double flops = flops_of(b, i), back = b->times.layer[1][i];
        int k = 0;

        while (k < n && strcmp(kinds[k].name, name) != 0)
            k++;
        if (k == KINDS)
            continue;
        if (k == n)
            kinds[n++] = (struct kind){ .name = name };
        kinds[k].forward += b->times.layer[0][i];
        kinds[k].backward += isinf(back) ? 0 : back;
        kinds[k].flops[0] += flops;
        kinds[k].flops[1] += i == 1 ? flops : 2 * flops; /* nobody asks for the input's gradient */
    }
    return n;
}

static void put_text(struct assay_text *t, struct bench *b)
{
    struct kind kinds[KINDS];
    int n = sum_kinds(b, kinds);
    double batch = b->choice->batch;

    assay_text_add(t, "%s, batch %d, %lld steps; the least time of each\n", b->graph.name,
                   b->choice->batch, (long long)b->n_steps);
    assay_text_add(t, "%-12s %12s %12s %12s %12s\n", "layers", "forward ms", "backward ms",
                   "GFLOP/s", "GFLOP/s");
    for (int i = 0; i < n; i++) {
        assay_text_add(t, "%-12s %12.3f %12.3f", kinds[i].name, 1e3 * kinds[i].forward,
                       1e3 * kinds[i].backward);
        if (kinds[i].flops[0] > 0)
            assay_text_add(t, " %12.1f %12.1f", 1e-9 * kinds[i].flops[0] / kinds[i].forward,
                           1e-9 * kinds[i].flops[1] / kinds[i].backward);
        assay_text_add(t, "\n");
    }
    assay_text_add(t, "%-12s %25.3f\n", "loss, step", 1e3 * b->times.rest);
    assay_text_add(t, "a step takes %.2f ms: %.0f pictures a second\n", 1e3 * b->times.step,
                   batch / b->times.step);
    if (b->feed) {
        struct qn_feed_times f = qn_feed_times(b->feed);

        assay_text_add(t,
                       "with data: %.1f pictures a second; decoding %.1f %%, augmenting %.1f %% of "
                       "the time of %d cores; waited for batches %.1f %% of the time\n",
                       batch * (double)b->n_steps / b->fed_s,
                       100 * f.decode_s / b->fed_s / assay_parallel_threads(0),
                       100 * f.augment_s / b->fed_s / assay_parallel_threads(0),
                       assay_parallel_threads(0), 100 * f.waited_s / b->fed_s);
    }
}

static void put_json(struct assay_text *t, struct bench *b)
{
    struct kind kinds[KINDS];
    int n = sum_kinds(b, kinds);

    assay_text_add(t, "{\"net\":");
    assay__json_add_string(t, b->graph.name);
    assay_text_add(t, ",\"batch\":%d,\"steps\":%lld,\"step_s\":", b->choice->batch,
                   (long long)b->n_steps);
    assay__json_add_number(t, b->times.step);
    assay_text_add(t, ",\"kinds\":[");
    for (int i = 0; i < n; i++) {
        assay_text_add(t, "%s{\"kind\":\"%s\",\"forward_s\":", i ? "," : "", kinds[i].name);
        assay__json_add_number(t, kinds[i].forward);
        assay_text_add(t, ",\"backward_s\":");
        assay__json_add_number(t, kinds[i].backward);
        assay_text_add(t, ",\"forward_flops\":%.0f,\"backward_flops\":%.0f}", kinds[i].flops[0],
                       kinds[i].flops[1]);
    }
    assay_text_add(t, "]");
    if (b->feed) {
        struct qn_feed_times f = qn_feed_times(b->feed);

        assay_text_add(t, ",\"data\":{\"seconds\":");
        assay__json_add_number(t, b->fed_s);
        assay_text_add(t, ",\"decode_s\":");
        assay__json_add_number(t, f.decode_s);
        assay_text_add(t, ",\"augment_s\":");
        assay__json_add_number(t, f.augment_s);
        assay_text_add(t, ",\"waited_s\":");
        assay__json_add_number(t, f.waited_s);
        assay_text_add(t, "}");
    }
    assay_text_add(t, "}\n");
}

static int run_choice(const struct choice *c)
{
    struct bench b = { .choice = c };
    struct assay_text t = { 0 };
    struct assay_err err = { "" };
    enum assay_status st = set_up(&b, &err);

    if (!st)
        st = b.data ? steps_of_data(&b, &err) : steps_of_noise(&b, &err);
    if (!st && c->json)
        put_json(&t, &b);
    else if (!st)
        put_text(&t, &b);
    release(&b);
    return st ? assay__failure("bench", st, &err)
              : assay__put_text("bench", c->json ? c->json : "-", &t);
}

static int run_bench(int argc, char **argv)
{
    struct choice c = { .net = "lenet-s", .batch = 128, .rounds = 10 };
    struct assay__args args;
    const struct assay__opt opts[] = {
        { "batch", 'b', ASSAY__OPT_INT, &c.batch, "N", .help = "pictures in a step (default 128)",
          .min = 1, .max = 65536 },
        { "data", 0, ASSAY__OPT_STRING, &c.data, "FOLDER",
          .help = "batches of this data set instead of made-up ones" },
        { "size", 0, ASSAY__OPT_INT, &c.size, "N",
          .help = "pictures are cropped to N x N (default: as they are, or 224)", .min = 1,
          .max = QN_MAX_SIDE },
        { "weights", 'w', ASSAY__OPT_STRING, &c.weights, "LEVELS", .help = "quantise weights" },
        { "activations", 'a', ASSAY__OPT_STRING, &c.activations, "LEVELS",
          .help = "quantise activations" },
        { "rounds", 'r', ASSAY__OPT_INT, &c.rounds, "N", .help = "steps (default 10)", .min = 1,
          .max = 1e6 },
        { "threads", 't', ASSAY__OPT_INT, &c.threads, "N", .help = "threads (default: all cores)",
          .min = 1, .max = 1024 },
        { "json", 0, ASSAY__OPT_STRING, &c.json, "FILE",
          .help = "write the times there; - for stdout" },
        { 0 },
    };
    int code = assay__begin(&args, &usage, opts, argc, argv);

    if (code >= 0)
        return code;
    if (args.n > 0)
        c.net = args.v[0];
    return run_choice(&c);
}

const struct assay__command qnet__bench = { "bench", "where the time of a training step goes",
                                            run_bench };
