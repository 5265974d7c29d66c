/* SPDX-License-Identifier: Apache-2.0 */
/*
 * train.h: training runs: phases, epochs, evaluation, checkpoints.
 *
 *     struct qn_train *t;
 *     qn_train_new(&t, &setup, err);                        net, recipe, data
 *     qn_train_from(t, "run/checkpoint.qn", err);           or qn_train_load_weights(): float start
 *     while (!qn_train_done(t))
 *         qn_train_epoch(t, &watch, err);                   and qn_train_save() after it
 *     qn_train_free(t);
 *
 * The same setup gives the same bytes for any number of threads, whether the run is one or is taken
 * up again from a checkpoint any number of times.
 */
#ifndef QN_TRAIN_H
#define QN_TRAIN_H

#include "qn/bundle.h"
#include "qn/history.h"
#include "qn/recipe.h"

struct qn_train_setup {
    const struct qn_recipe *recipe;
    const char *net_text; /* a description: net.h */
    size_t net_len;
    const struct qn_data *train, *test;
    const char *data_name; /* for the history */
    const char *net_name;  /* for messages */
    int n_threads;         /* 0: all cores */
    int n_workers;         /* that make batches; -1: one, for pictures in files as many as cores */
};

struct qn_train;

/* Everything is allocated here; what setup points to must outlive the run. ASSAY_INVALID, ... */
enum assay_status qn_train_new(struct qn_train **out, const struct qn_train_setup *setup,
                               struct assay_err *err);
void qn_train_free(struct qn_train *t);
struct qn_net *qn_train_net(struct qn_train *t);
const struct qn_history *qn_train_history(const struct qn_train *t);

/* Starts from a trained net, in the place of random weights. Quantisers of weights go on as they
 * are where the bundle has the same ones and the recipe neither a float phase nor one of weights,
 * those of activations where it has none of activations either; else they are set up anew. */
enum assay_status qn_train_load_weights(struct qn_train *t, const struct qn_bundle *b,
                                        struct qn_load_report *report, struct assay_err *err);
/* Takes a run up again. ASSAY_INVALID: the checkpoint is of another net, recipe or data. */
enum assay_status qn_train_from(struct qn_train *t, const struct qn_bundle *checkpoint,
                                struct assay_err *err);

/* For progress: called after each batch, in the thread of the caller. */
struct qn_train_progress {
    int64_t epoch, n_epochs; /* from 1 */
    enum qn_phase_kind phase;
    const char *stage; /* "train", "test" */
    int64_t batch, n_batches;
    double loss, accuracy; /* of this epoch so far */
    double eta_s;          /* until the run is over; NaN: nobody can tell yet */
};
struct qn_train_watch {
    void (*progress)(void *cookie, const struct qn_train_progress *p);
    void *cookie;
    const volatile int *stop; /* not 0: give up between batches; or NULL */
};

enum qn_train_end { QN_TRAIN_GOING, QN_TRAIN_DONE, QN_TRAIN_STOPPED, QN_TRAIN_DIVERGED };

/*
 * Trains and evaluates one epoch and adds it to the history. *end says how things stand: STOPPED
 * and DIVERGED leave the run as after the epoch before on disk, not in memory: it cannot go on.
 * DIVERGED: err names the layer whose values are not finite first; the status is ASSAY_OK.
 */
enum assay_status qn_train_epoch(struct qn_train *t, const struct qn_train_watch *watch,
                                 enum qn_train_end *end, struct assay_err *err);
bool qn_train_done(const struct qn_train *t);

/* A checkpoint: all that the run needs to go on. A model: what evaluation needs. The about text
 * holds net, recipe, norm and history; in a model without times, so that it has the same bytes
 * whenever it is made the same way. */
enum assay_status qn_train_save(struct qn_train *t, const char *path, struct assay_err *err);
enum assay_status qn_train_save_model(struct qn_train *t, const char *path, struct assay_err *err);

/* ---- models ---------------------------------------------------------------------------------- */

/* A trained net as a file holds it. */
struct qn_model {
    struct qn_graph graph;
    struct qn_net *net;
    struct qn_recipe recipe;
    struct qn_norm norm;
    struct qn_history history;
    enum qn_quant_mode weights, activations; /* QN_HARD for what has been quantised */
};
enum assay_status qn_model_open(struct qn_model *m, const struct qn_bundle *b, int64_t max_batch,
                                int n_threads, struct assay_err *err);
void qn_model_release(struct qn_model *m);

/* ---- evaluation ------------------------------------------------------------------------------ */

struct qn_eval {
    double loss, accuracy;
    int64_t n, n_correct;
};
/* Loss and accuracy over a feed, as pass says (not train). predicted: [n] classes in the feed's
 * order, or NULL. ASSAY_INVALID when stop is set on the way. */
enum assay_status qn_evaluate(struct qn_net *net, const struct qn_pass *pass, struct qn_feed *feed,
                              const struct qn_train_watch *watch, struct qn_eval *e,
                              int32_t *predicted, struct assay_err *err);

#endif
