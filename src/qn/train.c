/* SPDX-License-Identifier: Apache-2.0 */
/* train.c: a run's life, and its epochs. */
#include "qn/train_parts.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

enum { NORM_PICTURES = 10000, DEFAULT_SIZE = 224 };

/* ---- setting up ------------------------------------------------------------------------------ */

static struct qn_shape shape_of(const struct qn_recipe *r, const struct qn_data_info *info)
{
    struct qn_shape s = info->shape;

    if (r->size > 0)
        s.h = s.w = r->size;
    else if (s.h == 0)
        s.h = s.w = DEFAULT_SIZE;
    return s;
}

static enum assay_status check_data(const struct qn_train_setup *s, struct assay_err *err)
{
    const struct qn_data_info *a = qn_data_info(s->train), *b = qn_data_info(s->test);

    if (a->shape.c != b->shape.c || a->shape.h != b->shape.h || a->shape.w != b->shape.w)
        return assay_fail(err, ASSAY_INVALID,
                          "pictures of the training part are %lldx%lldx%lld, of the test part "
                          "%lldx%lldx%lld",
                          (long long)a->shape.c, (long long)a->shape.h, (long long)a->shape.w,
                          (long long)b->shape.c, (long long)b->shape.h, (long long)b->shape.w);
    if (a->classes < b->classes)
        return assay_fail(err, ASSAY_INVALID, "%lld classes to learn, %lld in the test part",
                          (long long)a->classes, (long long)b->classes);
    return ASSAY_OK;
}

static enum assay_status make_feeds(struct qn_train *t, struct assay_err *err)
{
    const struct qn_recipe *r = &t->recipe;
    struct qn_feed_options o = qn_feed_options_default(t->setup.train, r->batch);
    int workers = t->setup.n_workers;

    if (workers < 0)
        workers = qn_data_info(t->setup.train)->shape.h ? 1 : assay_parallel_threads(0);
    o.shape = t->graph.layers[0].shape;
    o.norm = t->norm;
    o.seed = r->seed;
    o.n_workers = workers;
    o.n_ahead = workers + 1;
    o.augment.resize = r->augment.resize;
    ASSAY_TRY(qn_feed_new(&t->test_feed, t->setup.test, &o, err));
    o.augment = r->augment;
    o.shuffle = true;
    o.drop_last = qn_data_info(t->setup.train)->n >= r->batch;
    return qn_feed_new(&t->feed, t->setup.train, &o, err);
}

static enum assay_status make_optim(struct qn_train *t, struct assay_err *err)
{
    const struct qn_recipe *r = &t->recipe;
    bool adam = !strcmp(r->optimiser, "adam");

    ASSAY_TRY(
        qn_optim_init(&t->optim, adam ? &qn_optim_adam : &qn_optim_sgd, t->net, &t->arena, err));
    t->optim.rule.momentum = r->momentum;
    t->optim.rule.nesterov = r->nesterov;
    t->optim.rule.decay = r->decay;
    t->optim.rule.decay_rest = r->decay_rest;
    t->optim.rule.decay_scales = r->decay_scales;
    qn_optim_set_decay(&t->optim);
    return ASSAY_OK;
}

static void describe(const struct qn_quantiser *q, char *out, size_t size)
{
    if (!strcmp(q->kind, "float"))
        snprintf(out, size, "float");
    else
        snprintf(out, size, "%s %.70s", q->kind, q->levels);
}

static void begin_history(struct qn_train *t)
{
    struct qn_history *h = &t->history;
    const struct qn_recipe *r = &t->recipe;

    snprintf(h->net, sizeof h->net, "%s", t->graph.name);
    snprintf(h->data, sizeof h->data, "%s", t->setup.data_name);
    describe(&r->weights, h->weights, sizeof h->weights);
    describe(&r->activations, h->activations, sizeof h->activations);
    h->seed = r->seed;
    h->n_phases = qn_recipe_n_phases(r);
    for (int i = 0; i < h->n_phases; i++) {
        int k = qn_recipe_phase(r, i);

        snprintf(h->phases[i].name, sizeof h->phases[i].name, "%s", qn_phase_names[k]);
        h->phases[i].n_epochs = r->phases[k].epochs;
    }
}

static enum assay_status build(struct qn_train *t, struct assay_err *err)
{
    struct qn_net_options o = { .max_batch = t->recipe.batch,
                                .train = true,
                                .n_threads = t->setup.n_threads };
    struct qn_graph_size size;
    enum assay_status st;

    ASSAY_TRY(qn_recipe_check(&t->recipe, err));
    ASSAY_TRY(check_data(&t->setup, err));
    size.input = shape_of(&t->recipe, qn_data_info(t->setup.train));
    size.classes = qn_data_info(t->setup.train)->classes;
    ASSAY_TRY(qn_recipe_net_options(&t->recipe, &o, err));
    st = qn_graph_parse(&t->graph, t->setup.net_text, t->setup.net_len, &size, err);
    if (st)
        return assay_wrap(err, st, "net %s on pictures %lldx%lldx%lld", t->setup.net_name,
                          (long long)size.input.c, (long long)size.input.h,
                          (long long)size.input.w);
    ASSAY_TRY(qn_net_new(&t->net, &t->graph, &o, err));
    if (qn_net_classes(t->net) != size.classes)
        return assay_fail(err, ASSAY_INVALID,
                          "the net ends in %lld values, the data have %lld "
                          "classes",
                          (long long)qn_net_classes(t->net), (long long)size.classes);
    qn_net_seed(t->net, t->recipe.seed);
    ASSAY_TRY(qn_data_norm(t->setup.train, NORM_PICTURES, &t->norm, err));
    ASSAY_TRY(make_optim(t, err));
    begin_history(t);
    return make_feeds(t, err);
}

enum assay_status qn_train_new(struct qn_train **out, const struct qn_train_setup *setup,
                               struct assay_err *err)
{
    struct qn_train *t = assay_alloc_zero(sizeof *t);
    enum assay_status st;

    if (!t)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a training run");
    t->setup = *setup;
    t->recipe = *setup->recipe;
    t->n_epochs = qn_recipe_n_epochs(&t->recipe);
    t->step_s = t->test_s = NAN;
    st = build(t, err);
    if (st) {
        qn_train_free(t);
        return st;
    }
    *out = t;
    return ASSAY_OK;
}

void qn_train_free(struct qn_train *t)
{
    if (!t)
        return;
    qn_feed_free(t->feed);
    qn_feed_free(t->test_feed);
    qn_net_free(t->net);
    qn_graph_release(&t->graph);
    qn_history_release(&t->history);
    assay_arena_release(&t->arena);
    free(t);
}

struct qn_net *qn_train_net(struct qn_train *t)
{
    return t->net;
}

const struct qn_history *qn_train_history(const struct qn_train *t)
{
    return &t->history;
}

bool qn_train_done(const struct qn_train *t)
{
    return t->epoch >= t->n_epochs;
}

/* ---- an epoch -------------------------------------------------------------------------------- */

struct epoch {
    struct qn_train *t;
    const struct qn_train_watch *watch;
    enum qn_phase_kind kind;
    int64_t of_phase;
    double began_s;
    double loss, norm, rate; /* sums over batches; rate: the last one */
    int64_t n, n_correct, batch, n_batches;
};

/* Seconds until the run is over, from the epoch before or else from the batches so far. */
static double eta(const struct epoch *e)
{
    const struct qn_train *t = e->t;
    double step = isnan(t->step_s) ? (assay__now_s() - e->began_s) / (double)e->batch : t->step_s;
    double test = isnan(t->test_s) ? 0 : t->test_s;
    double epochs = (double)(t->n_epochs - t->epoch - 1);

    return step * ((double)(e->n_batches - e->batch) + epochs * (double)e->n_batches) +
           test * (epochs + 1);
}

static void tell(const struct epoch *e)
{
    struct qn_train_progress p = { e->t->epoch + 1,
                                   e->t->n_epochs,
                                   e->kind,
                                   "train",
                                   e->batch,
                                   e->n_batches,
                                   e->loss / (double)e->n,
                                   (double)e->n_correct / (double)e->n,
                                   eta(e) };

    if (e->watch && e->watch->progress)
        e->watch->progress(e->watch->cookie, &p);
}

static bool stopped(const struct qn_train_watch *w)
{
    return w && w->stop && *w->stop;
}

static enum assay_status step(struct epoch *e, const struct qn_batch *b, bool *diverged,
                              struct assay_err *err)
{
    struct qn_train *t = e->t;
    struct qn_pass pass = qn__train_pass(t, e->kind);
    const struct qn_recipe *r = &t->recipe;
    struct qn_loss loss;
    double norm;

    pass.step = (uint64_t)(t->n_steps + e->batch);
    ASSAY_TRY(qn_net_forward(t->net, &pass, b->x, b->n, err));
    ASSAY_TRY(qn_net_loss(t->net, b->labels, r->smoothing, &loss, err));
    ASSAY_TRY(qn_net_backward(t->net, &pass, err));
    if (r->clip_latent && e->kind != QN_PHASE_ACTIVATIONS)
        ASSAY_TRY(qn_net_backward_weights(t->net, &pass, err));
    norm = r->clip > 0 ? qn_grad_clip(&t->optim, r->clip) : qn_grad_norm(&t->optim);
    *diverged = !isfinite(loss.loss) || !isfinite(norm);
    if (*diverged)
        return ASSAY_OK;
    if (!r->clip_latent && e->kind != QN_PHASE_ACTIVATIONS)
        ASSAY_TRY(qn_net_backward_weights(t->net, &pass, err));
    e->rate = qn_phase_rate(&r->phases[e->kind],
                            (double)e->of_phase + ((double)e->batch + 0.5) / (double)e->n_batches);
    qn_optim_step(&t->optim, e->rate, qn_net_pool(t->net));
    e->loss += loss.loss * (double)b->n;
    e->norm += norm;
    e->n_correct += loss.n_correct;
    e->n += b->n;
    e->batch++;
    return ASSAY_OK;
}

/* The same step once more, looking at every layer. Returns with the reason in err. */
static void name_layer(struct epoch *e, const struct qn_batch *b, struct assay_err *err)
{
    struct qn_pass pass = qn__train_pass(e->t, e->kind);
    struct qn_loss loss;

    pass.step = (uint64_t)(e->t->n_steps + e->batch);
    pass.check = true;
    if (!qn_net_forward(e->t->net, &pass, b->x, b->n, err) &&
        !qn_net_loss(e->t->net, b->labels, e->t->recipe.smoothing, &loss, err) &&
        !qn_net_backward(e->t->net, &pass, err) && !qn_net_backward_weights(e->t->net, &pass, err))
        assay_fail(err, ASSAY_INVALID, "the loss or the length of the gradients is not finite");
    assay_wrap(err, ASSAY_INVALID, "epoch %lld, batch %lld", (long long)(e->t->epoch + 1),
               (long long)(e->batch + 1));
}

static enum assay_status learn(struct epoch *e, enum qn_train_end *end, struct assay_err *err)
{
    struct qn_batch b;
    bool diverged;

    qn_feed_start(e->t->feed, (uint64_t)e->t->epoch, 0);
    for (;;) {
        ASSAY_TRY(qn_feed_next(e->t->feed, &b, err));
        if (b.n == 0)
            return ASSAY_OK;
        ASSAY_TRY(step(e, &b, &diverged, err));
        if (diverged) {
            name_layer(e, &b, err);
            *end = QN_TRAIN_DIVERGED;
            return ASSAY_OK;
        }
        tell(e);
        if (stopped(e->watch)) {
            *end = QN_TRAIN_STOPPED;
            return ASSAY_OK;
        }
    }
}

/* The last step of an epoch is one that no batch has looked at. */
static bool all_finite(struct qn_train *t, struct assay_err *err)
{
    for (int i = 0; i < qn_net_n_params(t->net); i++) {
        const struct qn_param *p = qn_net_param(t->net, i);

        for (int64_t j = 0; j < p->n; j++)
            if (!isfinite(p->v[j])) {
                (void)assay_fail(err, ASSAY_INVALID,
                                 "epoch %lld: '%s' is not finite after the last batch; a lower "
                                 "rate or a clip of gradients may help",
                                 (long long)(t->epoch + 1), p->name);
                return false;
            }
    }
    return true;
}

/* ---- looking at what has been learned -------------------------------------------------------- */

static enum assay_status test(struct epoch *e, struct qn_epoch *row, struct assay_err *err)
{
    struct qn_train *t = e->t;
    struct qn_pass soft = qn__test_pass(t, e->kind, true), hard = qn__test_pass(t, e->kind, false);
    struct qn_eval is;

    if (soft.weights == QN_SOFT || soft.activations == QN_SOFT) {
        qn_feed_start(t->test_feed, 0, 0);
        ASSAY_TRY(qn_evaluate(t->net, &soft, t->test_feed, e->watch, &is, NULL, err));
        row->soft_accuracy = is.accuracy;
    }
    qn_feed_start(t->test_feed, 0, 0);
    ASSAY_TRY(qn_evaluate(t->net, &hard, t->test_feed, e->watch, &is, NULL, err));
    row->hard_accuracy = is.accuracy;
    row->test_loss = is.loss;
    if (isnan(row->soft_accuracy))
        row->soft_accuracy = is.accuracy;
    return ASSAY_OK;
}

/* Soft and hard accuracy this far apart are worth a word. */
static const double apart = 0.05;

/* Adds the epoch to the history, unless it is stopped on the way. */
static enum assay_status look(struct epoch *e, double took_s, enum qn_train_end *end,
                              struct assay_err *err)
{
    struct qn_train *t = e->t;
    struct assay_arena arena = { 0 };
    double began = assay__now_s();
    struct qn_epoch row = { .epoch = t->epoch + 1,
                            .rate = e->rate,
                            .train_loss = e->loss / (double)e->n,
                            .train_accuracy = (double)e->n_correct / (double)e->n,
                            .gradient_norm = e->norm / (double)e->batch,
                            .soft_accuracy = NAN,
                            .took_s = took_s };
    double t_weights = qn_recipe_heat(&t->recipe, false, t->epoch);
    double t_activations = qn_recipe_heat(&t->recipe, true, t->epoch);
    enum assay_status st;

    row.t_weights = t_weights > 0 ? t_weights : NAN;
    row.t_activations = t_activations > 0 ? t_activations : NAN;
    for (int i = 0; i < t->history.n_phases; i++)
        if (qn_recipe_phase(&t->recipe, i) == (int)e->kind)
            row.phase = i;
    st = test(e, &row, err);
    if (!st && stopped(e->watch)) {
        *end = QN_TRAIN_STOPPED;
        return ASSAY_OK;
    }
    if (!st)
        st = qn__train_usage(t, e->kind, &arena, &row, err);
    if (!st)
        st = qn_history_add(&t->history, &row, err);
    assay_arena_release(&arena);
    t->test_s = assay__now_s() - began;
    if (!st && fabs(row.soft_accuracy - row.hard_accuracy) > apart)
        st =
            qn_history_warn(&t->history, err,
                            "epoch %lld: soft accuracy %.2f %%, hard %.2f %%: steps are not yet "
                            "what was trained; a higher temperature brings them together",
                            (long long)row.epoch, 100 * row.soft_accuracy, 100 * row.hard_accuracy);
    return st;
}

enum assay_status qn_train_epoch(struct qn_train *t, const struct qn_train_watch *watch,
                                 enum qn_train_end *end, struct assay_err *err)
{
    struct epoch e = { .t = t, .watch = watch, .n_batches = qn_feed_n_batches(t->feed) };
    double took;

    *end = QN_TRAIN_DONE;
    if (qn_train_done(t))
        return ASSAY_OK;
    e.kind = qn_recipe_at(&t->recipe, t->epoch, &e.of_phase);
    ASSAY_TRY(qn__train_enter(t, err));
    e.began_s = assay__now_s();
    *end = QN_TRAIN_GOING;
    ASSAY_TRY(learn(&e, end, err));
    if (*end != QN_TRAIN_GOING)
        return ASSAY_OK;
    if (!all_finite(t, err)) {
        *end = QN_TRAIN_DIVERGED;
        return ASSAY_OK;
    }
    took = assay__now_s() - e.began_s;
    t->step_s = took / (double)e.batch;
    ASSAY_TRY(look(&e, took, end, err));
    if (*end != QN_TRAIN_GOING)
        return ASSAY_OK;
    if (!isfinite(t->history.epochs[t->history.n_epochs - 1].test_loss)) {
        (void)assay_fail(err, ASSAY_INVALID,
                         "epoch %lld: the loss over the test part is not finite; a lower rate or "
                         "a clip of gradients may help",
                         (long long)(t->epoch + 1));
        *end = QN_TRAIN_DIVERGED;
        return ASSAY_OK;
    }
    t->epoch++;
    t->n_steps += e.batch;
    if (qn_train_done(t))
        *end = QN_TRAIN_DONE;
    return ASSAY_OK;
}
