/* SPDX-License-Identifier: Apache-2.0 */
/* train_choice.h: what a command line of `qnet train` asks for, and the recipe that it makes. */
#ifndef QNET_TRAIN_CHOICE_H
#define QNET_TRAIN_CHOICE_H

#include "qnet/qnet.h"

struct qnet__train_choice {
    const char *data, *out, *net, *recipe, *from, *weights, *activations, *json;
    int method, preset, epochs, threads, until; /* until -1: to the end */
    uint64_t seed;
    bool seed_given, net_given, method_given, preset_given, epochs_given, resume, quiet, verbose;
    char **fields; /* FIELD=VALUE */
    int n_fields;
};

/*
 * Defaults, then the recipe, then options, then fields, each over what was there before. A recipe
 * that knows phases for what is not quantised after all loses them; levels without a phase get
 * one; --epochs makes every phase as long, with its drops where they were in proportion.
 * ASSAY_INVALID, and what reading a file gives.
 */
enum assay_status qnet__train_recipe(struct qn_recipe *r, const struct qnet__train_choice *c,
                                     struct assay_err *err);

#endif
