/* SPDX-License-Identifier: Apache-2.0 */
/* qnet_train.c: `qnet train`: a run in a folder of its own. */
#include "qnet/train_choice.h"

#include "base/file.h"
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FIELDS = 64 };

static const struct assay__usage usage = {
    .command = "train",
    .args = "DATA [FIELD=VALUE ...]",
    .min_args = 1,
    .max_args = 1 + MAX_FIELDS,
    .about =
        "Trains a network on a data set (a folder, see `qnet data`) and keeps everything in the\n"
        "folder --out: checkpoint.qn after each epoch, model.qn, history.json and report.html\n"
        "with the curves. With --weights or --activations a float network is trained first (or\n"
        "read with --from), then quantised. FIELD=VALUE sets any field of the recipe\n"
        "(docs/qnet-recipes.md) and wins over options; these win over --recipe.",
    .exits = "0 trained, 1 the training diverged (the last checkpoint stays), 2 wrong usage,\n"
             "3 interrupted (go on with --resume), or our own fault",
    .example = "qnet train fashion --weights ternary --out run\n"
               "qnet train fashion --net vgg-small --activations u2 --out w2a2 \\\n"
               "    --weights ternary both.epochs=12 augment.shift=2 augment.flip=true\n"
               "qnet train fashion --out run --resume",
};

/* ---- a run ----------------------------------------------------------------------------------- */

struct run {
    const struct qnet__train_choice *choice;
    struct qn_recipe recipe;
    struct assay_text net;
    struct qn_data *train_data, *test_data;
    struct qn_bundle checkpoint; /* with --resume */
    struct qn_train *train;
    struct assay__status_line line;
};

static void release(struct run *r)
{
    qn_train_free(r->train);
    qn_bundle_release(&r->checkpoint);
    qn_data_free(r->train_data);
    qn_data_free(r->test_data);
    assay_text_release(&r->net);
}

/* Net and recipe of the checkpoint. */
static enum assay_status read_checkpoint(struct run *r, const char *path, struct assay_err *err)
{
    json_t *about = NULL, *recipe;
    enum assay_status st;
    char *net;

    ASSAY_TRY(qn_bundle_read(&r->checkpoint, path, err));
    if (!r->checkpoint.about)
        return assay_fail(err, ASSAY_INVALID, "%s: no checkpoint of a run", path);
    ASSAY_TRY(assay__json_parse(&about, r->checkpoint.about, strlen(r->checkpoint.about), err));
    r->recipe = qn_recipe_default();
    st = assay__json_object(about, path, "recipe", &recipe, err);
    if (!st)
        st = qn_recipe_read(&r->recipe, recipe, err);
    net = assay__json_dump(json_object_get(about, "net"));
    if (!st && !net)
        st = assay_fail(err, ASSAY_PARSE, "%s: field 'net' missing", path);
    if (!st)
        assay_text_add(&r->net, "%s", net);
    free(net);
    json_decref(about);
    return st;
}

/* Before anything is read or made. */
static enum assay_status check_folder(const struct qnet__train_choice *c, const char *checkpoint,
                                      struct assay_err *err)
{
    bool there = !access(checkpoint, F_OK);

    if (c->resume && !there)
        return assay_fail(err, ASSAY_INVALID,
                          "no run to go on with: there is no %s; without --resume one begins",
                          checkpoint);
    if (!c->resume && there)
        return assay_fail(err, ASSAY_INVALID,
                          "%s holds a run already; go on with --resume, or choose another --out",
                          c->out);
    return ASSAY_OK;
}

static enum assay_status make_folder(const char *path, struct assay_err *err)
{
    if (mkdir(path, 0777) && errno != EEXIST)
        return assay_fail(err, ASSAY_IO, "cannot make folder %s: %s", path, strerror(errno));
    return ASSAY_OK;
}

static enum assay_status open_data(struct run *r, struct assay_err *err)
{
    struct qn_data_options o = { .limit = r->recipe.limit,
                                 .least_side = r->recipe.augment.resize > 0
                                                   ? r->recipe.augment.resize
                                                   : r->recipe.size };

    ASSAY_TRY(qn_data_open(&r->train_data, r->choice->data, QN_TRAIN, &o, err));
    o.limit = 0;
    return qn_data_open(&r->test_data, r->choice->data, QN_TEST, &o, err);
}

static void say_loaded(const struct run *r, const struct qn_load_report *report)
{
    if (r->choice->quiet)
        return;
    fprintf(stderr, "qnet train: %s: %d arrays", r->choice->from, report->n_loaded);
    if (report->n_renamed > 0)
        fprintf(stderr, ", %d under other names", report->n_renamed);
    if (report->n_unused > 0)
        fprintf(stderr, "; %d not used, %s among them", report->n_unused, report->unused);
    fputc('\n', stderr);
}

static enum assay_status load_start(struct run *r, struct assay_err *err)
{
    struct qn_load_report report;
    struct qn_bundle b = { 0 };
    enum assay_status st = qn_bundle_read_any(&b, r->choice->from, err);

    if (!st)
        st = qn_train_load_weights(r->train, &b, &report, err);
    if (!st)
        say_loaded(r, &report);
    qn_bundle_release(&b);
    return st ? assay_wrap(err, st, "--from") : ASSAY_OK;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

static enum assay_status set_up(struct run *r, const char *checkpoint, struct assay_err *err)
{
    const struct qnet__train_choice *c = r->choice;
    struct qn_train_setup s = { .recipe = &r->recipe,
                                .data_name = name_of(c->data),
                                .net_name = c->resume ? "of the checkpoint" : c->net,
                                .n_threads = c->threads,
                                .n_workers = -1 };

    ASSAY_TRY(check_folder(c, checkpoint, err));
    if (c->resume) {
        ASSAY_TRY(read_checkpoint(r, checkpoint, err));
    } else {
        ASSAY_TRY(qnet__train_recipe(&r->recipe, c, err));
        ASSAY_TRY(qnet__net_text(&r->net, c->net, err));
    }
    if (r->net.failed)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the net");
    ASSAY_TRY(open_data(r, err));
    s.net_text = r->net.data;
    s.net_len = r->net.len;
    s.train = r->train_data;
    s.test = r->test_data;
    ASSAY_TRY(qn_train_new(&r->train, &s, err));
    if (c->resume)
        return qn_train_from(r->train, &r->checkpoint, err);
    if (c->from)
        ASSAY_TRY(load_start(r, err));
    ASSAY_TRY(make_folder(c->out, err));
    return qn_train_save(r->train, checkpoint, err);
}

/* ---- what is shown --------------------------------------------------------------------------- */

static void progress(void *cookie, const struct qn_train_progress *p)
{
    struct run *r = cookie;
    char line[256], eta[40];

    if (r->choice->quiet || !assay__status_line_due(&r->line))
        return;
    assay__eta_text(p->eta_s, eta, sizeof eta);
    if (p->n_epochs > 0)
        snprintf(line, sizeof line, "epoch %lld of %lld, %s  %lld of %lld  loss %.3f  %.2f %%%s",
                 (long long)p->epoch, (long long)p->n_epochs, qn_phase_names[p->phase],
                 (long long)p->batch, (long long)p->n_batches, p->loss, 100 * p->accuracy, eta);
    else
        snprintf(line, sizeof line, "%s  %lld of %lld  %.2f %%", p->stage, (long long)p->batch,
                 (long long)p->n_batches, 100 * p->accuracy);
    assay__status_line_show(&r->line, line);
}

static void print_head(const struct run *r)
{
    const struct qn_history *h = qn_train_history(r->train);
    struct assay_text t = { 0 };
    struct qn_memory m = qn_net_memory(qn_train_net(r->train));
    const double mib = 1048576;

    if (r->choice->quiet)
        return;
    assay_text_add(&t, "%s on %s: ", h->net, h->data);
    qnet__put_data(&t, qn_data_info(r->train_data));
    assay_text_add(&t, "\nweights %s, activations %s, seed %llu\n", h->weights, h->activations,
                   (unsigned long long)h->seed);
    assay_text_add(&t,
                   "memory: parameters %.2f MiB with gradients, activations %.2f MiB (%.2f without "
                   "sharing), scratch %.2f MiB\n",
                   (double)(m.parameters + m.gradients + m.state) / mib,
                   (double)m.activations / mib, (double)m.unshared / mib, (double)m.scratch / mib);
    if (r->choice->verbose)
        qn_net_plan_text(qn_train_net(r->train), &t);
    assay_text_add(&t, "\n%5s  %-11s  %9s  %7s  %7s  %7s  %7s  %7s  %7s  %7s\n", "epoch", "phase",
                   "rate", "T(w)", "T(a)", "loss", "train %", "soft %", "hard %", "s");
    assay__print_text("train", &t);
    fflush(stdout);
}

static void put_heat(struct assay_text *t, double heat)
{
    if (isnan(heat))
        assay_text_add(t, "  %7s", "-");
    else
        assay_text_add(t, "  %7.4g", heat);
}

static int print_epoch(const struct run *r)
{
    const struct qn_history *h = qn_train_history(r->train);
    const struct qn_epoch *e = &h->epochs[h->n_epochs - 1];
    struct assay_text t = { 0 };
    int code;

    if (r->choice->quiet)
        return ASSAY__EXIT_PASSED;
    assay_text_add(&t, "%5lld  %-11s  %9.3g", (long long)e->epoch, h->phases[e->phase].name,
                   e->rate);
    put_heat(&t, e->t_weights);
    put_heat(&t, e->t_activations);
    assay_text_add(&t, "  %7.4f  %7.2f  %7.2f  %7.2f  %7.1f\n", e->train_loss,
                   100 * e->train_accuracy, 100 * e->soft_accuracy, 100 * e->hard_accuracy,
                   e->took_s);
    code = assay__print_text("train", &t);
    fflush(stdout);
    return code;
}

/* ---- the files of a run ---------------------------------------------------------------------- */

typedef void (*put_fn)(const struct qn_history *h, struct assay_text *t);

static int write_text(const struct run *r, const char *name, put_fn put)
{
    struct assay_text t = { 0 };
    struct assay_err err = { "" };
    char path[QNET__PATH];

    if (qnet__join(path, r->choice->out, name, &err))
        return assay__failure("train", ASSAY_INVALID, &err);
    put(qn_train_history(r->train), &t);
    return assay__put_text("train", path, &t);
}

static int write_files(const struct run *r)
{
    int code = write_text(r, "history.json", qn_history_put_json);

    return code ? code : write_text(r, "report.html", qn_history_put_html);
}

static int finish(struct run *r)
{
    const struct qn_history *h = qn_train_history(r->train);
    struct assay_text t = { 0 };
    struct assay_err err = { "" };
    char path[QNET__PATH];
    enum assay_status st = qnet__join(path, r->choice->out, "model.qn", &err);
    int code;

    if (!st)
        st = qn_train_save_model(r->train, path, &err);
    if (st)
        return assay__failure("train", st, &err);
    code = write_files(r); /* what was killed between a checkpoint and them lacks an epoch */
    if (code)
        return code;
    for (int i = 0; i < h->n_warnings && !r->choice->quiet; i++)
        fprintf(stderr, "qnet train: %s\n", h->warnings[i]);
    if (!r->choice->quiet)
        printf("\nmodel %s, curves %s/report.html\n", path, r->choice->out);
    if (!r->choice->json)
        return ASSAY__EXIT_PASSED;
    qn_history_put_json(h, &t);
    return assay__put_text("train", r->choice->json, &t);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static int give_up(struct run *r, enum qn_train_end end, const struct assay_err *err)
{
    if (end == QN_TRAIN_DIVERGED) {
        fprintf(stderr, "qnet train: diverged: %s\n", err->text);
        return ASSAY__EXIT_FAILED;
    }
    fprintf(stderr,
            "qnet train: interrupted after %lld epochs; `qnet train %s --out %s --resume` goes "
            "on\n",
            (long long)qn_train_history(r->train)->n_epochs, r->choice->data, r->choice->out);
    return ASSAY__EXIT_FAULT;
}

static bool enough(const struct run *r)
{
    int until = r->choice->until;

    return until >= 0 && qn_train_history(r->train)->n_epochs >= until;
}

static int loop(struct run *r, const char *checkpoint)
{
    struct qn_train_watch watch = { progress, r, assay__stop_on_signals() };
    enum qn_train_end end = QN_TRAIN_GOING;
    struct assay_err err = { "" };
    int code = ASSAY__EXIT_PASSED;

    assay__status_line_init(&r->line);
    while (!code && !qn_train_done(r->train) && !enough(r)) {
        enum assay_status st = qn_train_epoch(r->train, &watch, &end, &err);

        assay__status_line_end(&r->line);
        if (!st && (end == QN_TRAIN_STOPPED || end == QN_TRAIN_DIVERGED))
            return give_up(r, end, &err);
        if (!st)
            st = qn_train_save(r->train, checkpoint, &err);
        if (st)
            return assay__failure("train", st, &err);
        code = print_epoch(r);
        if (!code)
            code = write_files(r);
    }
    return code ? code : finish(r);
}

/* What processes that were killed had half written. */
static enum assay_status remove_left_overs(const struct qnet__train_choice *c,
                                           struct assay_err *err)
{
    static const char *const files[] = { "checkpoint.qn", "model.qn", "history.json", "report.html",
                                         NULL };
    char path[QNET__PATH];

    for (const char *const *f = files; *f; f++) {
        ASSAY_TRY(qnet__join(path, c->out, *f, err));
        assay__file_left_over(path);
    }
    return ASSAY_OK;
}

static int run_choice(const struct qnet__train_choice *c)
{
    struct run r = { .choice = c };
    struct assay_err err = { "" };
    char checkpoint[QNET__PATH];
    enum assay_status st = qnet__join(checkpoint, c->out, "checkpoint.qn", &err);
    int code;

    if (!st)
        st = remove_left_overs(c, &err);
    if (!st)
        st = set_up(&r, checkpoint, &err);
    if (st) {
        code = assay__failure("train", st, &err);
    } else {
        print_head(&r);
        code = loop(&r, checkpoint);
    }
    release(&r);
    return code;
}

static int check_choice(const struct qnet__train_choice *c)
{
    bool asks = c->net_given || c->recipe || c->from || c->weights || c->activations ||
                c->method_given || c->preset_given || c->epochs_given || c->seed_given ||
                c->n_fields > 0;

    if (!c->out)
        return assay__usage_error("train", "--out FOLDER is missing: where the run is kept");
    if (c->resume && asks)
        return assay__usage_error(
            "train",
            "--resume goes on as the run began: no net, recipe, levels or fields beside it");
    if ((c->method_given || c->preset_given) && !c->weights && !c->activations)
        return assay__usage_error("train",
                                  "--%s says how --weights and --activations are "
                                  "quantised; neither of them is there",
                                  c->method_given ? "method" : "preset");
    return -1;
}

static int run_train(int argc, char **argv)
{
    struct qnet__train_choice c = { .net = "lenet-s", .until = -1 };
    struct assay__args args;
    const struct assay__opt opts[] = {
        { "out", 'o', ASSAY__OPT_STRING, &c.out, "FOLDER",
          .help = "where the run is kept; required" },
        { "net", 0, ASSAY__OPT_STRING, &c.net, "NET",
          .help = "a ready-made net or a description (default lenet-s)", .given = &c.net_given },
        { "weights", 'w', ASSAY__OPT_STRING, &c.weights, "LEVELS",
          .help = "quantise weights: binary, ternary, pm2, pm4, pm15 or a list" },
        { "activations", 'a', ASSAY__OPT_STRING, &c.activations, "LEVELS",
          .help = "quantise activations: u1 to u8 or a list" },
        { "method", 'm', ASSAY__OPT_CHOICE, &c.method, "sigmoid|ste|dorefa|lsq|twn",
          .help = "how (default sigmoid, the method of Quantization Networks)",
          .given = &c.method_given },
        { "preset", 0, ASSAY__OPT_CHOICE, &c.preset, "default|paper|released",
          .help = "which reading of the method", .given = &c.preset_given },
        { "epochs", 'e', ASSAY__OPT_INT, &c.epochs, "N", .help = "epochs of each phase (default 8)",
          .given = &c.epochs_given, .min = 1, .max = 100000 },
        { "from", 0, ASSAY__OPT_STRING, &c.from, "FILE",
          .help = "start from these weights (.qn, .safetensors) without a float phase" },
        { "recipe", 0, ASSAY__OPT_STRING, &c.recipe, "RECIPE",
          .help = "many fields at once: paper, released or a JSON file" },
        { "seed", 's', ASSAY__OPT_U64, &c.seed, "N", .help = "of everything random (default 1)",
          .given = &c.seed_given },
        { "resume", 0, ASSAY__OPT_FLAG, &c.resume, NULL,
          .help = "go on from the checkpoint in --out" },
        { "until", 0, ASSAY__OPT_INT, &c.until, "N",
          .help = "stop after the N-th epoch; --resume goes on", .min = 1, .max = 1e6 },
        { "threads", 't', ASSAY__OPT_INT, &c.threads, "N",
          .help = "threads of the network (default: all cores)", .min = 1, .max = 1024 },
        { "json", 0, ASSAY__OPT_STRING, &c.json, "FILE",
          .help = "write the history there, too; - for stdout" },
        { "quiet", 'q', ASSAY__OPT_FLAG, &c.quiet, NULL, .help = "print errors only" },
        { "verbose", 'v', ASSAY__OPT_FLAG, &c.verbose, NULL,
          .help = "print the plan of the memory, layer by layer" },
        { 0 },
    };
    int code = assay__begin(&args, &usage, opts, argc, argv);

    if (code >= 0)
        return code;
    c.data = args.v[0];
    c.fields = args.v + 1;
    c.n_fields = args.n - 1;
    code = check_choice(&c);
    if (c.json && !strcmp(c.json, "-"))
        c.quiet = true;
    return code >= 0 ? code : run_choice(&c);
}

const struct assay__command qnet__train = { "train", "train a network, float or quantised",
                                            run_train };
