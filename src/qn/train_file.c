/* SPDX-License-Identifier: Apache-2.0 */
/* train_file.c: checkpoints and models: a bundle whose about text says what the values belong to.
 */
#include "qn/train_parts.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

enum { FORMAT = 1 };
static const char memory_name[] = "optimiser.memory";

/* ---- writing --------------------------------------------------------------------------------- */

static json_t *norm_json(const struct qn_norm *norm)
{
    json_t *mean = json_array(), *sd = json_array();

    for (int i = 0; i < 4; i++) {
        json_array_append_new(mean, json_real((double)norm->mean[i]));
        json_array_append_new(sd, json_real((double)norm->sd[i]));
    }
    return json_pack("{s:o, s:o}", "mean", mean, "sd", sd);
}

static void forget_times(json_t *history)
{
    json_t *epochs = json_object_get(history, "epochs");

    for (size_t i = 0; i < json_array_size(epochs); i++)
        json_object_set_new(json_array_get(epochs, i), "took_s", json_null());
}

/* A model has the same bytes whenever it is made the same way: it knows nothing of times. */
static json_t *history_json(const struct qn_history *h, bool times)
{
    struct assay_text t = { 0 };
    json_t *out = NULL;

    qn_history_put_json(h, &t);
    if (!t.failed && assay__json_parse(&out, t.data, t.len, NULL))
        out = NULL;
    assay_text_release(&t);
    if (!times)
        forget_times(out);
    return out;
}

static json_t *about_json(const struct qn_train *t, const char *kind)
{
    const struct qn_shape *in = &t->graph.layers[0].shape;
    json_t *net = NULL;

    if (assay__json_parse(&net, t->setup.net_text, t->setup.net_len, NULL))
        return NULL;
    return json_pack("{s:i, s:s, s:o, s:[I,I,I], s:I, s:o, s:o, s:I, s:I, s:b, s:b, s:o}", "format",
                     FORMAT, "kind", kind, "net", net, "input", (json_int_t)in->c,
                     (json_int_t)in->h, (json_int_t)in->w, "classes",
                     (json_int_t)qn_net_classes(t->net), "recipe", qn_recipe_json(&t->recipe),
                     "norm", norm_json(&t->norm), "epoch", (json_int_t)t->epoch, "steps",
                     (json_int_t)t->n_steps, "weights_started", (int)t->weights_started,
                     "activations_started", (int)t->activations_started, "history",
                     history_json(&t->history, !strcmp(kind, "checkpoint")));
}

static enum assay_status set_about(const struct qn_train *t, const char *kind, struct qn_bundle *b,
                                   struct assay_err *err)
{
    json_t *about = about_json(t, kind);
    char *text = about ? assay__json_dump(about) : NULL;
    enum assay_status st;

    json_decref(about);
    if (!text)
        return assay_fail(err, ASSAY_NOMEM, "no memory to describe a run");
    st = qn_bundle_set_about(b, text, strlen(text), err);
    free(text);
    return st;
}

static enum assay_status save(struct qn_train *t, const char *kind, const char *path,
                              struct assay_err *err)
{
    int64_t n = (int64_t)t->optim.n_memory, n_steps = t->optim.n_steps;
    struct qn_bundle b = { 0 };
    enum assay_status st = qn_net_save(t->net, &b, err);

    if (!st && !strcmp(kind, "checkpoint"))
        st = qn_bundle_add(&b, memory_name, QN_F32, 1, &n, t->optim.memory, NULL, err);
    if (!st && !strcmp(kind, "checkpoint"))
        st = qn_bundle_add(&b, "optimiser.steps", QN_I64, 0, NULL, &n_steps, NULL, err);
    if (!st)
        st = set_about(t, kind, &b, err);
    if (!st)
        st = qn_bundle_write(&b, path, err);
    qn_bundle_release(&b);
    return st;
}

enum assay_status qn_train_save(struct qn_train *t, const char *path, struct assay_err *err)
{
    return save(t, "checkpoint", path, err);
}

enum assay_status qn_train_save_model(struct qn_train *t, const char *path, struct assay_err *err)
{
    return save(t, "model", path, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static enum assay_status read_about(const struct qn_bundle *b, json_t **about,
                                    struct assay_err *err)
{
    int64_t format;
    enum assay_status st;

    if (!b->about)
        return assay_fail(err, ASSAY_INVALID,
                          "these are weights alone: not a model or a checkpoint of `qnet train`");
    ASSAY_TRY(assay__json_parse(about, b->about, strlen(b->about), err));
    st = assay__json_int(*about, "about", "format", &format, err);
    if (!st && format != FORMAT)
        st = assay_fail(err, ASSAY_UNSUPPORTED, "about: format %lld; this program knows %d",
                        (long long)format, FORMAT);
    if (st)
        json_decref(*about);
    return st;
}

static enum assay_status read_floats(const json_t *o, const char *key, float v[4],
                                     struct assay_err *err)
{
    json_t *list;
    double d;

    ASSAY_TRY(assay__json_array(o, "norm", key, &list, err));
    for (size_t i = 0; i < 4; i++) {
        if (!assay__json_as_number(json_array_get(list, i), &d) || !isfinite(d))
            return assay_fail(err, ASSAY_PARSE, "norm: field '%s': four numbers expected", key);
        v[i] = (float)d;
    }
    return ASSAY_OK;
}

static enum assay_status read_norm(const json_t *about, struct qn_norm *norm, struct assay_err *err)
{
    json_t *o;

    ASSAY_TRY(assay__json_object(about, "about", "norm", &o, err));
    ASSAY_TRY(read_floats(o, "mean", norm->mean, err));
    ASSAY_TRY(read_floats(o, "sd", norm->sd, err));
    for (int i = 0; i < 4; i++)
        if (!(norm->sd[i] > 0))
            return assay_fail(err, ASSAY_PARSE, "norm: a deviation of %g; more than 0 expected",
                              (double)norm->sd[i]);
    return ASSAY_OK;
}

static enum assay_status read_history(const json_t *about, struct qn_history *h,
                                      struct assay_err *err)
{
    json_t *o;
    char *text;
    enum assay_status st;

    ASSAY_TRY(assay__json_object(about, "about", "history", &o, err));
    text = assay__json_dump(o);
    if (!text)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a history");
    st = qn_history_parse(h, text, strlen(text), err);
    free(text);
    return st;
}

/* ---- going on -------------------------------------------------------------------------------- */

static enum assay_status same(const json_t *about, const char *key, json_t *mine, const char *what,
                              struct assay_err *err)
{
    bool equal = mine && json_equal(json_object_get(about, key), mine);

    json_decref(mine);
    if (equal)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_INVALID,
                      "the checkpoint is of another run: %s; start a new one in another folder",
                      what);
}

static enum assay_status check_same(const struct qn_train *t, const json_t *about,
                                    struct assay_err *err)
{
    json_t *net = NULL;

    ASSAY_TRY(assay__json_parse(&net, t->setup.net_text, t->setup.net_len, err));
    ASSAY_TRY(same(about, "net", net, "its net is another", err));
    ASSAY_TRY(same(about, "recipe", qn_recipe_json(&t->recipe), "its recipe is another", err));
    return same(about, "norm", norm_json(&t->norm), "mean and deviation of its pictures differ",
                err);
}

static enum assay_status load_optimiser(struct qn_train *t, const struct qn_bundle *b,
                                        struct assay_err *err)
{
    const struct qn_entry *m = qn_bundle_find(b, memory_name);
    const struct qn_entry *n = qn_bundle_find(b, "optimiser.steps");

    if (!m || m->type != QN_F32 || m->n != (int64_t)t->optim.n_memory || !n || n->type != QN_I64 ||
        n->n != 1)
        return assay_fail(err, ASSAY_INVALID, "no checkpoint: the optimiser's state is not there");
    memcpy(t->optim.memory, m->data, t->optim.n_memory * sizeof *t->optim.memory);
    memcpy(&t->optim.n_steps, n->data, sizeof t->optim.n_steps);
    return ASSAY_OK;
}

static enum assay_status load_state(struct qn_train *t, const json_t *about, struct assay_err *err)
{
    int64_t epoch, steps;

    ASSAY_TRY(assay__json_int(about, "about", "epoch", &epoch, err));
    ASSAY_TRY(assay__json_int(about, "about", "steps", &steps, err));
    ASSAY_TRY(assay__json_bool(about, "about", "weights_started", &t->weights_started, err));
    ASSAY_TRY(
        assay__json_bool(about, "about", "activations_started", &t->activations_started, err));
    if (epoch < 0 || epoch > t->n_epochs || steps < 0)
        return assay_fail(err, ASSAY_PARSE, "about: epoch %lld of %lld", (long long)epoch,
                          (long long)t->n_epochs);
    qn_history_release(&t->history);
    ASSAY_TRY(read_history(about, &t->history, err));
    t->epoch = epoch;
    t->n_steps = steps;
    return ASSAY_OK;
}

enum assay_status qn_train_from(struct qn_train *t, const struct qn_bundle *checkpoint,
                                struct assay_err *err)
{
    struct qn_load_report report;
    json_t *about;
    enum assay_status st;

    ASSAY_TRY(read_about(checkpoint, &about, err));
    st = check_same(t, about, err);
    if (!st)
        st = load_optimiser(t, checkpoint, err);
    if (!st)
        st = qn_net_load(t->net, checkpoint, QN_LOAD_STRICT, &report, err);
    if (!st)
        st = load_state(t, about, err);
    json_decref(about);
    return st;
}

/* ---- models ---------------------------------------------------------------------------------- */

static bool is_on(const struct qn_quantiser *q)
{
    return strcmp(q->kind, "float") != 0;
}

static enum assay_status read_size(const json_t *about, struct qn_graph_size *size,
                                   struct assay_err *err)
{
    int64_t v[3];
    json_t *list;

    ASSAY_TRY(assay__json_array(about, "about", "input", &list, err));
    for (size_t i = 0; i < 3; i++)
        if (!assay__json_as_int(json_array_get(list, i), &v[i]) || v[i] < 1)
            return assay_fail(err, ASSAY_PARSE, "about: field 'input': three sizes expected");
    size->input = (struct qn_shape){ v[0], v[1], v[2] };
    ASSAY_TRY(assay__json_int(about, "about", "classes", &size->classes, err));
    if (size->classes < 1)
        return assay_fail(err, ASSAY_PARSE, "about: field 'classes': %lld; 1 or more expected",
                          (long long)size->classes);
    return ASSAY_OK;
}

static enum assay_status read_net(struct qn_model *m, const json_t *about, struct assay_err *err)
{
    struct qn_graph_size size;
    char *text = assay__json_dump(json_object_get(about, "net"));
    enum assay_status st = read_size(about, &size, err);

    if (!st && !text)
        st = assay_fail(err, ASSAY_PARSE, "about: field 'net' missing");
    if (!st)
        st = qn_graph_parse(&m->graph, text, strlen(text), &size, err);
    free(text);
    return st;
}

static enum assay_status open_model(struct qn_model *m, const struct qn_bundle *b,
                                    const json_t *about, const struct qn_net_options *options,
                                    struct assay_err *err)
{
    struct qn_net_options o = *options;
    struct qn_load_report report;
    bool weights, activations;
    json_t *recipe;

    ASSAY_TRY(assay__json_object(about, "about", "recipe", &recipe, err));
    m->recipe = qn_recipe_default();
    ASSAY_TRY(qn_recipe_read(&m->recipe, recipe, err));
    ASSAY_TRY(read_norm(about, &m->norm, err));
    ASSAY_TRY(read_history(about, &m->history, err));
    ASSAY_TRY(assay__json_bool(about, "about", "weights_started", &weights, err));
    ASSAY_TRY(assay__json_bool(about, "about", "activations_started", &activations, err));
    ASSAY_TRY(read_net(m, about, err));
    ASSAY_TRY(qn_recipe_net_options(&m->recipe, &o, err));
    ASSAY_TRY(qn_net_new(&m->net, &m->graph, &o, err));
    m->weights = weights ? QN_HARD : QN_OFF;
    m->activations = activations && is_on(&m->recipe.activations) ? QN_HARD : QN_OFF;
    return qn_net_load(m->net, b, QN_LOAD_STRICT, &report, err);
}

enum assay_status qn_model_open(struct qn_model *m, const struct qn_bundle *b, int64_t max_batch,
                                int n_threads, struct assay_err *err)
{
    struct qn_net_options o = { .max_batch = max_batch, .n_threads = n_threads };
    json_t *about;
    enum assay_status st;

    *m = (struct qn_model){ 0 };
    ASSAY_TRY(read_about(b, &about, err));
    st = open_model(m, b, about, &o, err);
    json_decref(about);
    if (st)
        qn_model_release(m);
    return st;
}

void qn_model_release(struct qn_model *m)
{
    qn_net_free(m->net);
    qn_graph_release(&m->graph);
    qn_history_release(&m->history);
    *m = (struct qn_model){ 0 };
}
