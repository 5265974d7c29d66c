/* SPDX-License-Identifier: Apache-2.0 */
/* test_qn_train.c: training runs on a small set of stripes: what moves in which phase, what the
 * history says, runs taken up again, models, and what becomes of failures. */
#include "t.h"
#include "alloc_fail.h"

#include "base/json.h"
#include "qn/train_parts.h"

#include <math.h>
#include <unistd.h>

enum { SIDE = 8, N_TRAIN = 160, N_TEST = 80, BATCH = 20 };

/* ---- data ------------------------------------------------------------------------------------ */

static char folder[] = "/tmp/test_qn_train.XXXXXX";
static struct qn_data *train_data, *test_data;

static uint64_t random_state = 1;

/* Knuth's MMIX generator, upper bits. */
static unsigned draw(unsigned below)
{
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(random_state >> 33) % below;
}

static const char *in_folder(const char *name, char buf[256])
{
    snprintf(buf, 256, "%s/%s", folder, name);
    return buf;
}

static void put_file(const char *name, const uint8_t *head, size_t n_head, const uint8_t *data,
                     size_t n)
{
    char path[256];
    FILE *f = fopen(in_folder(name, path), "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(head, 1, n_head, f), n_head);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Class 0 has stripes across, class 1 along, class 2 both; in noise. */
static void put_part(const char *stem, int n)
{
    uint8_t images[N_TRAIN * SIDE * SIDE], labels[N_TRAIN];
    uint8_t head[16] = { 0, 0, 8, 3, 0, 0, 0, (uint8_t)n, 0, 0, 0, SIDE, 0, 0, 0, SIDE };
    char name[64];

    for (int i = 0; i < n; i++) {
        int shift = (int)draw(4);

        labels[i] = (uint8_t)(i % 3);
        for (int p = 0; p < SIDE * SIDE; p++) {
            int x = (p % SIDE + shift) / 2 % 2, y = (p / SIDE + shift) / 2 % 2;
            int on = labels[i] == 0 ? y : labels[i] == 1 ? x : x ^ y;

            images[i * SIDE * SIDE + p] = (uint8_t)(40 + 130 * on + (int)draw(80));
        }
    }
    snprintf(name, sizeof name, "%s-images-idx3-ubyte", stem);
    put_file(name, head, 16, images, (size_t)n * SIDE * SIDE);
    head[3] = 1;
    snprintf(name, sizeof name, "%s-labels-idx1-ubyte", stem);
    put_file(name, head, 8, labels, (size_t)n);
}

static int make_data(void **state)
{
    struct assay_err err = { "" };

    (void)state;
    if (!mkdtemp(folder))
        return -1;
    put_part("train", N_TRAIN);
    put_part("t10k", N_TEST);
    return qn_data_open(&train_data, folder, QN_TRAIN, NULL, &err) ||
           qn_data_open(&test_data, folder, QN_TEST, NULL, &err);
}

static int remove_data(void **state)
{
    static const char *const names[] = { "train-images-idx3-ubyte",
                                         "train-labels-idx1-ubyte",
                                         "t10k-images-idx3-ubyte",
                                         "t10k-labels-idx1-ubyte",
                                         "run.qn",
                                         "model.qn" };

    (void)state;
    qn_data_free(train_data);
    qn_data_free(test_data);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[256];

        (void)remove(in_folder(names[i], path));
    }
    return rmdir(folder);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static const char net_text[] =
    "{\"format\":1,\"name\":\"toy\",\"input\":[1,8,8],\"classes\":3,\"layers\":["
    "{\"type\":\"conv\",\"name\":\"conv1\",\"out\":4,\"kernel\":3},"
    "{\"type\":\"batch_norm\",\"name\":\"bn1\"},{\"type\":\"relu\"},"
    "{\"type\":\"quant\",\"name\":\"quant1\"},"
    "{\"type\":\"conv\",\"name\":\"conv2\",\"out\":6,\"kernel\":3,\"bias\":true},"
    "{\"type\":\"batch_norm\",\"name\":\"bn2\"},{\"type\":\"relu\"},"
    "{\"type\":\"quant\",\"name\":\"quant2\"},{\"type\":\"flatten\"},"
    "{\"type\":\"fc\",\"name\":\"fc1\",\"out\":\"classes\"}]}";

/* Defaults, "field=value field=value" over them. */
static struct qn_recipe recipe_of(const char *sets)
{
    struct qn_recipe r = qn_recipe_default();
    struct assay_err err = { "" };
    char copy[1024], *save = NULL;

    r.batch = BATCH;
    snprintf(copy, sizeof copy, "%s", sets);
    for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(w, '=');

        *equals = 0;
        T_OK(qn_recipe_set(&r, w, equals + 1, &err));
    }
    return r;
}

static enum assay_status begin(struct qn_train **t, const struct qn_recipe *r, const char *net,
                               struct assay_err *err)
{
    struct qn_train_setup s = { .recipe = r,
                                .net_text = net,
                                .net_len = strlen(net),
                                .train = train_data,
                                .test = test_data,
                                .data_name = "stripes",
                                .net_name = "toy",
                                .n_threads = 1 };

    return qn_train_new(t, &s, err);
}

static struct qn_train *run_of(const struct qn_recipe *r)
{
    struct assay_err err = { "" };
    struct qn_train *t;

    T_OK(begin(&t, r, net_text, &err));
    return t;
}

static void epochs(struct qn_train *t, int n)
{
    struct assay_err err = { "" };
    enum qn_train_end end;

    while (n-- > 0) {
        T_OK(qn_train_epoch(t, NULL, &end, &err));
        assert_int_equal(end, qn_train_done(t) ? QN_TRAIN_DONE : QN_TRAIN_GOING);
    }
}

static const char quantised[] =
    "float.epochs=1 weights.kind=sigmoid weights.levels=ternary weights_phase.epochs=1 "
    "activations.kind=sigmoid activations.levels=u2 activations_phase.epochs=1 both.epochs=1 ";

/* ---- what moves ------------------------------------------------------------------------------ */

/* All values of a net, one behind the other. */
static float *snapshot(struct qn_train *t)
{
    struct qn_net *net = qn_train_net(t);
    size_t n = 0;
    float *all;

    for (int i = 0; i < qn_net_n_params(net); i++)
        n += (size_t)qn_net_param(net, i)->n;
    all = malloc((n + 1) * sizeof *all);
    assert_non_null(all);
    n = 0;
    for (int i = 0; i < qn_net_n_params(net); i++) {
        const struct qn_param *p = qn_net_param(net, i);

        memcpy(all + n, p->v, (size_t)p->n * sizeof *all);
        n += (size_t)p->n;
    }
    return all;
}

static bool is_state(const struct qn_param *p)
{
    return p->role == QN_MEAN || p->role == QN_VARIANCE || p->role == QN_START;
}

enum who { WEIGHTS = 1, REST = 2, OF_WEIGHTS = 4, OF_ACTIVATIONS = 8 };

static enum who who(const struct qn_param *p)
{
    if (p->role >= QN_ALPHA)
        return p->of_activations ? OF_ACTIVATIONS : OF_WEIGHTS;
    return p->role == QN_WEIGHT ? WEIGHTS : REST;
}

/* That those of `moving` differ from before, and the others are the same bit for bit. Thresholds
 * are not learned here; they are set up with the scales. */
static void check_moved(struct qn_train *t, const float *before, int moving)
{
    for (int i = 0; i < qn_net_n_params(qn_train_net(t)); i++) {
        const struct qn_param *p = qn_net_param(qn_train_net(t), i);
        bool same = !memcmp(before, p->v, (size_t)p->n * sizeof *before);

        before += p->n;
        if (is_state(p) || p->role == QN_THRESHOLD)
            continue;
        if (same == !!(moving & (int)who(p)))
            fail_msg("'%s' %s", p->name, same ? "stays" : "moves");
    }
}

static void moves(struct qn_train *t, int moving)
{
    float *before = snapshot(t);

    epochs(t, 1);
    check_moved(t, before, moving);
    free(before);
}

static void phases(void **state)
{
    struct qn_recipe r = recipe_of(quantised);
    struct qn_train *t = run_of(&r);

    (void)state;
    moves(t, WEIGHTS | REST);
    moves(t, WEIGHTS | REST | OF_WEIGHTS);
    moves(t, REST | OF_ACTIVATIONS);
    moves(t, WEIGHTS | REST | OF_WEIGHTS | OF_ACTIVATIONS);
    assert_true(qn_train_done(t));
    qn_train_free(t);
}

/* Weights that are float are learned while activations are; quantised ends alone keep all. */
static void phases_of_activations(void **state)
{
    static const char alone[] =
        "float.epochs=0 activations.kind=sigmoid activations.levels=u2 activations_phase.epochs=1 ";
    struct qn_recipe r = recipe_of(alone);
    struct qn_train *t = run_of(&r);

    (void)state;
    moves(t, WEIGHTS | REST | OF_ACTIVATIONS);
    qn_train_free(t);
    r = recipe_of(alone);
    snprintf(r.last.kind, sizeof r.last.kind, "ste");
    snprintf(r.last.levels, sizeof r.last.levels, "s8");
    t = run_of(&r);
    moves(t, REST | OF_ACTIVATIONS);
    qn_train_free(t);
}

/* The factor 0 keeps scales where they were set up: raw ones at 0. */
static void still_scales(void **state)
{
    struct qn_recipe r = recipe_of("float.epochs=0 weights.kind=sigmoid weights.levels=pm2 "
                                   "weights_phase.epochs=1 weights_phase.scales=0");
    struct qn_train *t = run_of(&r);

    (void)state;
    moves(t, WEIGHTS | REST);
    assert_true(qn_net_find_param(qn_train_net(t), "conv2.weight_quant.alpha")->v[0] == 0);
    assert_true(qn_net_find_param(qn_train_net(t), "conv2.weight_quant.alpha_start")->v[0] != 1);
    qn_train_free(t);
}

/* ---- history --------------------------------------------------------------------------------- */

static void check_usage(const struct qn_usage *u, const char *layer, bool activations, int n)
{
    double sum = 0;

    assert_string_equal(u->layer, layer);
    assert_true(u->activations == activations);
    assert_int_equal(u->n_levels, n);
    for (int i = 0; i < n; i++)
        sum += (double)u->share[i];
    assert_true(fabs(sum - 1) < 1e-6); /* n shares in float */
    assert_true(u->alpha > 0 && u->beta > 0);
}

static void rows(void **state)
{
    struct qn_recipe r = recipe_of("weights_phase.rate=0.02 weights_phase.drops=0.5 seed=3");
    struct qn_recipe q = recipe_of(quantised);
    const struct qn_history *h;
    struct qn_train *t;
    const struct qn_epoch *e;

    (void)state;
    q.seed = r.seed;
    q.phases[QN_PHASE_WEIGHTS].rate = r.phases[QN_PHASE_WEIGHTS].rate;
    q.phases[QN_PHASE_WEIGHTS].decline = QN_STEPS;
    q.phases[QN_PHASE_WEIGHTS].n_drops = 1;
    q.phases[QN_PHASE_WEIGHTS].drops[0] = 0.5;
    t = run_of(&q);
    h = qn_train_history(t);
    assert_int_equal(h->n_epochs, 0);
    epochs(t, 4);
    assert_string_equal(h->net, "toy");
    assert_string_equal(h->data, "stripes");
    assert_string_equal(h->weights, "sigmoid ternary");
    assert_string_equal(h->activations, "sigmoid u2");
    assert_true(h->seed == 3);
    assert_int_equal(h->n_phases, 4);
    assert_string_equal(h->phases[2].name, "activations");
    assert_int_equal(h->n_epochs, 4);
    for (int i = 0; i < 4; i++) {
        e = &h->epochs[i];
        assert_int_equal(e->epoch, i + 1);
        assert_int_equal(e->phase, i);
        assert_true(e->train_loss > 0 && isfinite(e->test_loss) && e->gradient_norm > 0);
        assert_true(e->train_accuracy >= 0 && e->train_accuracy <= 1);
        /* of 80 pictures */
        assert_true(fabs(e->hard_accuracy * N_TEST - rint(e->hard_accuracy * N_TEST)) < 1e-9);
    }
    e = h->epochs;
    assert_true(isnan(e[0].t_weights) && isnan(e[0].t_activations));
    assert_true(e[1].t_weights == 20 && isnan(e[1].t_activations));
    assert_true(isnan(e[2].t_weights) && e[2].t_activations == 40);
    assert_true(e[3].t_weights == 7 && e[3].t_activations == 40);
    assert_true(e[0].soft_accuracy == e[0].hard_accuracy);
    /* the last of 8 steps: cosine at 15/16 of one epoch; a tenth past the half */
    assert_true(fabs(e[0].rate - 0.05 * 0.5 * (1 + cos(3.14159265358979323846 * 15 / 16))) < 1e-12);
    assert_true(fabs(e[1].rate - 0.002) < 1e-12);
    assert_int_equal(e[0].n_usages, 0);
    assert_int_equal(e[1].n_usages, 1);
    check_usage(&e[1].usages[0], "conv2", false, 3);
    assert_int_equal(e[3].n_usages, 3);
    check_usage(&e[3].usages[0], "quant1", true, 4);
    check_usage(&e[3].usages[1], "conv2", false, 3);
    check_usage(&e[3].usages[2], "quant2", true, 4);
    qn_train_free(t);
}

/* Sigmoids that are nearly straight are another network than steps: the history warns. Where the
 * forward pass has steps there is nothing to part. */
static void warnings(void **state)
{
    static const char cold[] = "float.epochs=3 weights_phase.epochs=1 weights.levels=ternary "
                               "weights.heat=constant weights.heat_base=0.01 ";
    struct qn_recipe r = recipe_of(cold);
    struct qn_train *t;
    const struct qn_history *h;

    (void)state;
    snprintf(r.weights.kind, sizeof r.weights.kind, "sigmoid");
    t = run_of(&r);
    epochs(t, 4);
    h = qn_train_history(t);
    assert_true(fabs(h->epochs[3].soft_accuracy - h->epochs[3].hard_accuracy) > 0.05);
    assert_int_equal(h->n_warnings, 1);
    assert_non_null(strstr(h->warnings[0], "epoch 4: soft accuracy"));
    assert_non_null(strstr(h->warnings[0], "higher temperature"));
    qn_train_free(t);
    snprintf(r.weights.kind, sizeof r.weights.kind, "ste");
    t = run_of(&r);
    epochs(t, 4);
    h = qn_train_history(t);
    assert_true(h->epochs[3].soft_accuracy == h->epochs[3].hard_accuracy);
    assert_int_equal(h->n_warnings, 0);
    qn_train_free(t);
}

static void learns(void **state)
{
    struct qn_recipe r = recipe_of(quantised);
    struct qn_train *t;

    (void)state;
    for (int i = 0; i < QN_N_PHASES; i++)
        r.phases[i].epochs = 5;
    t = run_of(&r);
    epochs(t, 20);
    /* ARBITRARY: three classes that a linear filter tells apart; chance is a third */
    assert_true(qn_train_history(t)->epochs[4].hard_accuracy > 0.9);
    assert_true(qn_train_history(t)->epochs[19].hard_accuracy > 0.9);
    qn_train_free(t);
}

/* ---- watching -------------------------------------------------------------------------------- */

struct seen {
    int n_train, n_test, stop_at;
    volatile int stop;
};

static void look(void *cookie, const struct qn_train_progress *p)
{
    struct seen *s = cookie;

    if (!strcmp(p->stage, "train")) {
        s->n_train++;
        assert_int_equal(p->batch, s->n_train);
        assert_int_equal(p->n_batches, N_TRAIN / BATCH);
        assert_int_equal(p->epoch, 1);
        assert_int_equal(p->n_epochs, 4);
        assert_true(p->eta_s >= 0 && p->loss > 0);
    } else {
        s->n_test++;
        assert_int_equal(p->n_batches, N_TEST / BATCH);
    }
    s->stop = s->n_train + s->n_test == s->stop_at;
}

static void stops(void **state)
{
    struct qn_recipe r = recipe_of(quantised);
    /* nowhere; in training; in the evaluation */
    static const int at[] = { 0, 3, N_TRAIN / BATCH + 2 };

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct seen s = { .stop_at = at[i] };
        struct qn_train_watch w = { look, &s, &s.stop };
        struct qn_train *t = run_of(&r);
        struct assay_err err = { "" };
        enum qn_train_end end;

        T_OK(qn_train_epoch(t, &w, &end, &err));
        assert_int_equal(end, at[i] ? QN_TRAIN_STOPPED : QN_TRAIN_GOING);
        assert_int_equal(qn_train_history(t)->n_epochs, at[i] ? 0 : 1);
        assert_int_equal(s.n_train + s.n_test, at[i] ? at[i] : N_TRAIN / BATCH + N_TEST / BATCH);
        qn_train_free(t);
    }
}

static void diverges(void **state)
{
    struct qn_recipe r = recipe_of("float.rate=1000 clip=0 float.decline=steps");
    struct qn_train *t = run_of(&r);
    enum qn_train_end end = QN_TRAIN_GOING;
    struct assay_err err = { "" };

    (void)state;
    while (end == QN_TRAIN_GOING)
        T_OK(qn_train_epoch(t, NULL, &end, &err));
    assert_int_equal(end, QN_TRAIN_DIVERGED);
    assert_non_null(strstr(err.text, "not finite"));
    assert_non_null(strstr(err.text, "a lower rate or a clip"));
    qn_train_free(t);
}

/* ---- checkpoints and models ------------------------------------------------------------------ */

static void save(struct qn_train *t, const char *name, struct qn_bundle *b)
{
    struct assay_err err = { "" };
    char path[256];

    in_folder(name, path);
    if (!strcmp(name, "model.qn"))
        T_OK(qn_train_save_model(t, path, &err));
    else
        T_OK(qn_train_save(t, path, &err));
    T_OK(qn_bundle_read(b, path, &err));
}

static void check_same_nets(struct qn_train *a, struct qn_train *b)
{
    for (int i = 0; i < qn_net_n_params(qn_train_net(a)); i++) {
        const struct qn_param *p = qn_net_param(qn_train_net(a), i);
        const struct qn_param *q = qn_net_param(qn_train_net(b), i);

        if (memcmp(p->v, q->v, (size_t)p->n * sizeof *p->v) != 0)
            fail_msg("'%s' differs", p->name);
    }
}

/* Wherever it is interrupted. */
static void resumes(void **state)
{
    struct qn_recipe r = recipe_of(quantised);
    struct qn_train *whole = run_of(&r);

    (void)state;
    epochs(whole, 4);
    for (int at = 0; at <= 4; at++) {
        struct qn_train *half = run_of(&r), *rest = run_of(&r);
        struct qn_bundle b = { 0 };
        struct assay_err err = { "" };

        epochs(half, at);
        save(half, "run.qn", &b);
        T_OK(qn_train_from(rest, &b, &err));
        assert_int_equal(qn_train_history(rest)->n_epochs, at);
        epochs(rest, 4 - at);
        check_same_nets(whole, rest);
        assert_true(qn_train_done(rest));
        for (int e = 0; e < 4; e++)
            assert_true(qn_train_history(rest)->epochs[e].train_loss ==
                        qn_train_history(whole)->epochs[e].train_loss);
        qn_bundle_release(&b);
        qn_train_free(half);
        qn_train_free(rest);
    }
    qn_train_free(whole);
}

static void other_runs(void **state)
{
    struct qn_recipe r = recipe_of(quantised), other = recipe_of(quantised);
    struct qn_train *t = run_of(&r), *u;
    struct qn_bundle b = { 0 }, m = { 0 };
    struct assay_err err = { "" };

    (void)state;
    save(t, "run.qn", &b);
    other.batch = 10;
    u = run_of(&other);
    assert_int_equal(qn_train_from(u, &b, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "its recipe is another"));
    qn_train_free(u);
    save(t, "model.qn", &m);
    assert_int_equal(qn_train_from(t, &m, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "no checkpoint"));
    qn_bundle_release(&b);
    qn_bundle_release(&m);
    qn_train_free(t);
}

static double hard_of(struct qn_model *m, enum qn_quant_mode weights,
                      enum qn_quant_mode activations)
{
    struct qn_feed_options o = qn_feed_options_default(test_data, BATCH);
    struct qn_pass pass = { .weights = weights, .activations = activations };
    struct assay_err err = { "" };
    struct qn_feed *feed;
    struct qn_eval e;

    o.norm = m->norm;
    o.n_workers = 0;
    T_OK(qn_feed_new(&feed, test_data, &o, &err));
    qn_feed_start(feed, 0, 0);
    T_OK(qn_evaluate(m->net, &pass, feed, NULL, &e, NULL, &err));
    qn_feed_free(feed);
    assert_int_equal(e.n, N_TEST);
    return e.accuracy;
}

/* A model answers as the run did, after every phase. */
static void models(void **state)
{
    static const enum qn_quant_mode want[4][2] = {
        { QN_OFF, QN_OFF }, { QN_HARD, QN_OFF }, { QN_HARD, QN_HARD }, { QN_HARD, QN_HARD }
    };
    struct qn_recipe r = recipe_of(quantised);
    struct qn_train *t = run_of(&r);

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct qn_bundle b = { 0 };
        struct assay_err err = { "" };
        struct qn_model m;

        epochs(t, 1);
        save(t, "model.qn", &b);
        assert_null(qn_bundle_find(&b, "optimiser.memory"));
        T_OK(qn_model_open(&m, &b, BATCH, 1, &err));
        assert_int_equal(m.weights, want[i][0]);
        assert_int_equal(m.activations, want[i][1]);
        assert_int_equal(m.history.n_epochs, i + 1);
        assert_true(isnan(m.history.epochs[0].took_s)); /* the same bytes at any time */
        assert_true(hard_of(&m, m.weights, m.activations) ==
                    qn_train_history(t)->epochs[i].hard_accuracy);
        qn_model_release(&m);
        qn_bundle_release(&b);
    }
    qn_train_free(t);
}

/* Whatever part of the description is missing or of another type, opening says so. */
static void damaged_models(void **state)
{
    static const char *const keys[] = { "format",
                                        "net",
                                        "input",
                                        "classes",
                                        "recipe",
                                        "norm",
                                        "history",
                                        "weights_started",
                                        "epoch",
                                        "steps",
                                        "activations_started" };
    struct qn_recipe r = recipe_of(quantised);
    struct qn_train *t = run_of(&r);
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };
    struct qn_model m;
    json_t *whole;

    (void)state;
    save(t, "run.qn", &b);
    T_OK(assay__json_parse(&whole, b.about, strlen(b.about), &err));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (int change = 0; change < 3; change++) {
            json_t *about = json_deep_copy(whole);
            bool of_runs = !strcmp(keys[i], "epoch") || !strcmp(keys[i], "steps");
            bool of_models = !strcmp(keys[i], "input") || !strcmp(keys[i], "classes");
            char *text;

            assert_non_null(json_object_get(about, keys[i]));
            if (change == 0)
                json_object_del(about, keys[i]);
            else
                json_object_set_new(about, keys[i],
                                    change == 1 ? json_string("x") : json_integer(-7));
            text = json_dumps(about, 0);
            T_OK(qn_bundle_set_about(&b, text, strlen(text), &err));
            free(text);
            json_decref(about);
            if (!of_runs)
                assert_int_not_equal(qn_model_open(&m, &b, 4, 1, &err), ASSAY_OK);
            if (!of_models)
                assert_int_not_equal(qn_train_from(t, &b, &err), ASSAY_OK);
        }
    json_decref(whole);
    qn_bundle_release(&b);
    qn_train_free(t);
}

/* ---- starting from weights ------------------------------------------------------------------- */

/* Runs a recipe from a bundle up to the end of its first epoch, at rate 0, and returns the scale
 * that conv2's weights have then. */
static float alpha_from(const struct qn_bundle *b, const char *sets)
{
    struct qn_recipe r = recipe_of(sets);
    struct qn_load_report report;
    struct assay_err err = { "" };
    struct qn_train *t = run_of(&r);
    float alpha;

    T_OK(qn_train_load_weights(t, b, &report, &err));
    epochs(t, 1);
    alpha = qn_quant_alpha(qn_net_quant(qn_train_net(t), qn_graph_find(&t->graph, "conv2")), 0);
    qn_train_free(t);
    return alpha;
}

static void from_weights(void **state)
{
    static const char more[] =
        "float.epochs=0 weights.kind=sigmoid activations.kind=sigmoid activations.levels=u2 "
        "both.epochs=1 both.rate=0 weights_phase.rate=0 ";
    struct qn_recipe r = recipe_of("float.epochs=1 weights.kind=sigmoid weights.levels=ternary "
                                   "weights_phase.epochs=2 weights_phase.rate=0.05");
    struct qn_train *t = run_of(&r);
    struct qn_bundle b = { 0 };
    float learned, fresh;
    char sets[512];

    (void)state;
    epochs(t, 3);
    save(t, "model.qn", &b);
    learned = qn_quant_alpha(qn_net_quant(t->net, qn_graph_find(&t->graph, "conv2")), 0);
    snprintf(sets, sizeof sets, "%sweights.levels=ternary", more);
    assert_true(alpha_from(&b, sets) == learned);
    /* set up anew by a phase of its own, and for other levels */
    snprintf(sets, sizeof sets, "%sweights.levels=ternary weights_phase.epochs=1", more);
    fresh = alpha_from(&b, sets);
    assert_true(fresh != learned && fresh > 0);
    snprintf(sets, sizeof sets, "%sweights.levels=pm2", more);
    assert_true(alpha_from(&b, sets) != learned);
    qn_bundle_release(&b);
    qn_train_free(t);
}

/* ---- wrong, and failing ---------------------------------------------------------------------- */

static void wrong(void **state)
{
    struct qn_recipe r = recipe_of(""), q = recipe_of(quantised);
    struct assay_err err = { "" };
    struct qn_train *t = NULL;

    (void)state;
    assert_int_not_equal(begin(&t, &r, "{}", &err), ASSAY_OK);
    assert_non_null(strstr(err.text, "net toy on pictures 1x8x8"));
    assert_int_equal(begin(&t, &r,
                           "{\"format\":1,\"name\":\"n\",\"input\":[1,8,8],\"layers\":["
                           "{\"type\":\"flatten\"},{\"type\":\"fc\",\"out\":4}]}",
                           &err),
                     ASSAY_INVALID);
    assert_non_null(strstr(err.text, "the net ends in 4 values, the data have 3 classes"));
    snprintf(q.weights.levels, sizeof q.weights.levels, "purple");
    assert_int_equal(begin(&t, &q, net_text, &err), ASSAY_INVALID);
    r.phases[QN_PHASE_FLOAT].epochs = 0;
    assert_int_equal(begin(&t, &r, net_text, &err), ASSAY_INVALID);
    assert_null(t);
}

/* Each allocation fails once: the reason is no memory, and nothing is left. */
static void no_memory_at_start(void **state)
{
    struct qn_recipe r = recipe_of(quantised);
    int n = 0;

    (void)state;
    for (struct t_fail f = { 0 }; t_fail_next(&f);) {
        struct assay_err err = { "" };
        struct qn_train *t = NULL;
        enum assay_status st = begin(&t, &r, net_text, &err);

        if (st)
            assert_int_equal(st, ASSAY_NOMEM);
        assert_true(!st == (t != NULL));
        qn_train_free(t);
        t_fail_done(&f, st == ASSAY_OK);
        n = f.n_failed;
    }
    assert_true(n > 20);
}

/* In the epoch in which activations are set up; then in saving, opening and going on. */
static void no_memory_later(void **state)
{
    struct qn_recipe r = recipe_of(quantised);
    struct qn_train *t = run_of(&r);
    struct qn_bundle b = { 0 };
    char path[256];

    (void)state;
    epochs(t, 2);
    save(t, "run.qn", &b);
    qn_train_free(t);
    for (struct t_fail f = { .step = 29 }; t_fail_next(&f);) {
        struct assay_err err = { "" };
        enum qn_train_end end;
        enum assay_status st;

        assay_alloc_hook_set(NULL, NULL);
        t = run_of(&r);
        T_OK(qn_train_from(t, &b, &err));
        assay_alloc_hook_set(t_fail_hook, &f);
        st = qn_train_epoch(t, NULL, &end, &err);
        if (!st)
            st = qn_train_save(t, in_folder("run.qn", path), &err);
        if (st)
            assert_int_equal(st, ASSAY_NOMEM);
        qn_train_free(t);
        t_fail_done(&f, st == ASSAY_OK);
    }
    for (struct t_fail f = { .step = 3 }; t_fail_next(&f);) {
        struct assay_err err = { "" };
        struct qn_model m;
        enum assay_status st = qn_model_open(&m, &b, 4, 1, &err);

        if (!st)
            qn_model_release(&m);
        t_fail_done(&f, st == ASSAY_OK);
    }
    t = run_of(&r);
    for (struct t_fail f = { .step = 3 }; t_fail_next(&f);) {
        struct qn_load_report report;
        struct assay_err err = { "" };
        enum assay_status st = qn_train_from(t, &b, &err);

        if (!st)
            st = qn_train_load_weights(t, &b, &report, &err);
        t_fail_done(&f, st == ASSAY_OK);
    }
    qn_train_free(t);
    qn_bundle_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases),
        cmocka_unit_test(phases_of_activations),
        cmocka_unit_test(still_scales),
        cmocka_unit_test(rows),
        cmocka_unit_test(warnings),
        cmocka_unit_test(learns),
        cmocka_unit_test(stops),
        cmocka_unit_test(diverges),
        cmocka_unit_test(resumes),
        cmocka_unit_test(other_runs),
        cmocka_unit_test(models),
        cmocka_unit_test(damaged_models),
        cmocka_unit_test(from_weights),
        cmocka_unit_test(wrong),
        cmocka_unit_test(no_memory_at_start),
        cmocka_unit_test(no_memory_later),
    };

    return cmocka_run_group_tests(tests, make_data, remove_data);
}
