/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h: what a training run measured, epoch by epoch; as JSON, and as one HTML page of curves.
 *
 * Shares and accuracies are fractions in 0 .. 1; NaN: not measured (JSON: null).
 */
#ifndef QN_HISTORY_H
#define QN_HISTORY_H

#include "qn/quant.h"

enum { QN_HISTORY_NAME = 96 };

/* How often the values of one quantiser took each level in an epoch's evaluation. */
struct qn_usage {
    char layer[QN_HISTORY_NAME]; /* "conv2" */
    bool activations;
    int n_levels;
    float alpha, beta;          /* means over the scales */
    const float *level, *share; /* [n_levels] each, in the arena of the history */
};

struct qn_epoch {
    int64_t epoch;                   /* from 1, through all phases */
    int phase;                       /* index into phases */
    double rate;                     /* of the last step */
    double t_weights, t_activations; /* temperatures; NaN: nothing soft there */
    double train_loss, train_accuracy;
    double test_loss;                    /* of the hard network, or the float one */
    double soft_accuracy, hard_accuracy; /* of the test set; equal in float phases */
    double gradient_norm;                /* mean over the steps, before clipping */
    double took_s;                       /* training alone */
    int n_usages;
    const struct qn_usage *usages;
};

struct qn_phase_name {
    char name[24]; /* "float", "weights", "activations", "both" */
    int64_t n_epochs;
};

/* Zero-initialise. */
struct qn_history {
    struct assay_arena arena;
    char net[QN_HISTORY_NAME], data[QN_HISTORY_NAME];
    char weights[QN_HISTORY_NAME], activations[QN_HISTORY_NAME]; /* "sigmoid ternary", "float" */
    uint64_t seed;
    int n_phases;
    struct qn_phase_name phases[4];
    int64_t n_epochs, cap;
    struct qn_epoch *epochs;
    int n_warnings;
    const char *warnings[16];
};

void qn_history_release(struct qn_history *h);
/* Adds a copy of an epoch with its usages. ASSAY_NOMEM. */
enum assay_status qn_history_add(struct qn_history *h, const struct qn_epoch *e,
                                 struct assay_err *err);
/* Past sixteen the last one is kept. */
enum assay_status qn_history_warn(struct qn_history *h, struct assay_err *err, const char *fmt, ...)
    ASSAY_PRINTF(3, 4);

/* One JSON object, and the same read back: parse(put(h)) puts the same bytes. What h held is
 * released. Epochs have rising numbers and a phase that there is. ASSAY_PARSE says what and where,
 * ASSAY_NOMEM; the history is empty then. */
void qn_history_put_json(const struct qn_history *h, struct assay_text *t);
enum assay_status qn_history_parse(struct qn_history *h, const char *text, size_t len,
                                   struct assay_err *err);

/* One HTML page with curves as SVG, with nothing loaded from elsewhere and no scripts: loss,
 * accuracy and error (train, soft, hard), temperature, rate and norm of the gradient over epochs
 * with the phases marked; for each quantiser the shares of its levels over epochs. The best epoch
 * is one of the last phase that ran: a float phase before it may have done better. Out of memory:
 * t->failed.
 */
void qn_history_put_html(const struct qn_history *h, struct assay_text *t);

#endif
