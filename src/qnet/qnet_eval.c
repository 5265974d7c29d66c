/* SPDX-License-Identifier: Apache-2.0 */
/* qnet_eval.c: `qnet eval`: how good a trained network is. */
#include "qnet/qnet.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

struct choice {
    const char *model, *data, *json, *predictions;
    int mode, part, threads, batch;
};

enum { HARD, SOFT, FLOAT };
enum { TEST, TRAIN };
static const char *const mode_names[] = { "hard", "soft", "float" };

static const struct assay__usage usage = {
    .command = "eval",
    .args = "MODEL DATA",
    .min_args = 2,
    .max_args = 2,
    .about =
        "Accuracy and loss of a model or checkpoint on a data set. hard: with steps, which is\n"
        "what counts; soft: with the sigmoids at the temperature of the last epoch; float:\n"
        "with the weights behind the quantisers.",
    .exits = "0 evaluated, 2 wrong usage, 3 interrupted or our own fault",
    .example = "qnet eval run/model.qn fashion\n"
               "qnet eval run/model.qn fashion --mode soft --json -",
};

static struct qn_pass pass_of(const struct qn_model *m, int mode)
{
    struct qn_pass p = { .weights = m->weights, .activations = m->activations };

    if (mode == FLOAT)
        p.weights = p.activations = QN_OFF;
    if (mode == SOFT && p.weights == QN_HARD)
        p.weights = QN_SOFT;
    if (mode == SOFT && p.activations == QN_HARD)
        p.activations = QN_SOFT;
    return p;
}

/* The last temperature at which weights (or activations) were learned. */
static float last_heat(const struct qn_model *m, bool activations)
{
    double t = 0;

    for (int64_t e = m->history.n_epochs; e-- > 0 && t == 0;)
        t = qn_recipe_heat(&m->recipe, activations, e);
    return (float)t;
}

static enum assay_status write_predictions(const char *path, const int32_t *y, int64_t n,
                                           struct assay_err *err)
{
    struct assay_text t = { 0 };
    enum assay_status st;

    for (int64_t i = 0; i < n; i++)
        assay_text_add(&t, "%d\n", (int)y[i]);
    st = t.failed ? assay_fail(err, ASSAY_NOMEM, "no memory for predictions")
                  : assay_file_write(path, t.data, t.len, err);
    assay_text_release(&t);
    return st;
}

static enum assay_status evaluate(const struct choice *c, struct qn_model *m, struct qn_data *data,
                                  struct qn_eval *e, struct assay_err *err)
{
    struct qn_feed_options o = qn_feed_options_default(data, c->batch);
    struct qn_train_watch watch = { .stop = assay__stop_on_signals() };
    struct qn_pass pass = pass_of(m, c->mode);
    struct assay_arena arena = { 0 };
    struct qn_feed *feed = NULL;
    int64_t n = qn_data_info(data)->n;
    int32_t *predicted =
        c->predictions ? assay_arena_array(&arena, (size_t)n, sizeof *predicted) : NULL;
    enum assay_status st = ASSAY_OK;

    o.shape = m->graph.layers[0].shape;
    o.norm = m->norm;
    o.augment.resize = m->recipe.augment.resize;
    qn_net_temperature(m->net, false, last_heat(m, false));
    qn_net_temperature(m->net, true, last_heat(m, true));
    if (c->predictions && !predicted)
        st = assay_fail(err, ASSAY_NOMEM, "no memory for predictions");
    if (!st)
        st = qn_feed_new(&feed, data, &o, err);
    if (!st) {
        qn_feed_start(feed, 0, 0);
        st = qn_evaluate(m->net, &pass, feed, &watch, e, predicted, err);
    }
    if (!st && e->n < n)
        st = assay_fail(err, ASSAY_IO, "interrupted after %lld of %lld pictures", (long long)e->n,
                        (long long)n);
    if (!st && predicted)
        st = write_predictions(c->predictions, predicted, e->n, err);
    qn_feed_free(feed);
    assay_arena_release(&arena);
    return st;
}

static int report(const struct choice *c, const struct qn_eval *e)
{
    struct assay_text t = { 0 };

    if (!c->json) {
        assay_text_add(&t, "%s accuracy %.2f %% (%lld of %lld), loss %.4f\n", mode_names[c->mode],
                       100 * e->accuracy, (long long)e->n_correct, (long long)e->n, e->loss);
        return assay__print_text("eval", &t);
    }
    assay_text_add(&t, "{\"model\":");
    assay__json_add_string(&t, c->model);
    assay_text_add(&t, ",\"data\":");
    assay__json_add_string(&t, c->data);
    assay_text_add(&t, ",\"part\":\"%s\",\"mode\":\"%s\",\"accuracy\":",
                   c->part == TEST ? "test" : "train", mode_names[c->mode]);
    assay__json_add_number(&t, e->accuracy);
    assay_text_add(&t, ",\"n_correct\":%lld,\"n\":%lld,\"loss\":", (long long)e->n_correct,
                   (long long)e->n);
    assay__json_add_number(&t, e->loss);
    assay_text_add(&t, "}\n");
    return assay__put_text("eval", c->json, &t);
}

static int run_choice(const struct choice *c)
{
    struct qn_bundle b = { 0 };
    struct qn_model m = { 0 };
    struct qn_data *data = NULL;
    struct qn_eval e = { 0 };
    struct assay_err err = { "" };
    enum assay_status st = qn_bundle_read(&b, c->model, &err);

    if (!st) {
        st = qn_model_open(&m, &b, c->batch, c->threads, &err);
        if (st)
            assay_wrap(&err, st, "%s", c->model);
    }
    qn_bundle_release(&b);
    if (!st) {
        struct qn_data_options o = { .least_side = m.recipe.augment.resize > 0
                                                       ? m.recipe.augment.resize
                                                       : m.graph.layers[0].shape.h };

        st = qn_data_open(&data, c->data, c->part == TEST ? QN_TEST : QN_TRAIN, &o, &err);
    }
    if (!st)
        st = evaluate(c, &m, data, &e, &err);
    qn_data_free(data);
    qn_model_release(&m);
    return st ? assay__failure("eval", st, &err) : report(c, &e);
}

static int run_eval(int argc, char **argv)
{
    struct choice c = { .batch = 128 };
    struct assay__args args;
    const struct assay__opt opts[] = {
        { "mode", 0, ASSAY__OPT_CHOICE, &c.mode, "hard|soft|float",
          .help = "what stands for the quantisers (default hard)" },
        { "part", 0, ASSAY__OPT_CHOICE, &c.part, "test|train",
          .help = "of the data set (default test)" },
        { "predictions", 0, ASSAY__OPT_STRING, &c.predictions, "FILE",
          .help = "write the class of each picture there, a line each" },
        { "batch", 'b', ASSAY__OPT_INT, &c.batch, "N", .help = "pictures at a time (default 128)",
          .min = 1, .max = 65536 },
        { "threads", 't', ASSAY__OPT_INT, &c.threads, "N", .help = "threads (default: all cores)",
          .min = 1, .max = 1024 },
        { "json", 0, ASSAY__OPT_STRING, &c.json, "FILE",
          .help = "write the result there; - for stdout" },
        { 0 },
    };
    int code = assay__begin(&args, &usage, opts, argc, argv);

    if (code >= 0)
        return code;
    c.model = args.v[0];
    c.data = args.v[1];
    return run_choice(&c);
}

const struct assay__command qnet__eval = { "eval", "accuracy of a trained network", run_eval };
