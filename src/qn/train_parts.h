/* SPDX-License-Identifier: Apache-2.0 */
/* train_parts.h: what a training run consists of, for the files train*.c. */
#ifndef QN_TRAIN_PARTS_H
#define QN_TRAIN_PARTS_H

#include "qn/train.h"

struct qn_train {
    struct assay_arena arena;
    struct qn_train_setup setup;
    struct qn_recipe recipe;
    struct qn_graph graph;
    struct qn_net *net;
    struct qn_norm norm;
    struct qn_feed *feed, *test_feed;
    struct qn_optim optim;
    struct qn_history history;
    int64_t n_epochs, epoch; /* in all; done */
    int64_t n_steps;         /* of all epochs done: names the random numbers of dropout */
    bool weights_started, activations_started; /* quantisers have been set up */
    double step_s, test_s; /* of the last epoch: seconds a batch, and for the whole evaluation */
};

/* How forward and backward passes are made in an epoch; evaluation: soft or hard. */
struct qn_pass qn__train_pass(const struct qn_train *t, enum qn_phase_kind k);
struct qn_pass qn__test_pass(const struct qn_train *t, enum qn_phase_kind k, bool soft);
/* Before the first step of an epoch: sets temperatures and, where a phase begins, quantisers and
 * what moves. */
enum assay_status qn__train_enter(struct qn_train *t, struct assay_err *err);
/* Shares of the levels of all quantisers after a forward pass of the net, in arena. */
enum assay_status qn__train_usage(struct qn_train *t, enum qn_phase_kind k,
                                  struct assay_arena *arena, struct qn_epoch *e,
                                  struct assay_err *err);

#endif
