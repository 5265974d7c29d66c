/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qnet.h: what the commands of `qnet` share.
 *
 * How to add a command: write qnet_x.c on the pattern of its neighbours, ending in a const record;
 * add its row to qnet.c and its declaration here; write man/qnet-x.1.
 */
#ifndef QNET_QNET_H
#define QNET_QNET_H

#include "program/program.h"
#include "qn/train.h"

extern const struct assay__command qnet__train, qnet__eval, qnet__inspect, qnet__data, qnet__bench;

/* The description of a net, or a recipe: a ready-made one by its name, or a file (a word with a
 * slash or a dot). ASSAY_INVALID lists the ready-made ones. */
enum assay_status qnet__net_text(struct assay_text *text, const char *name, struct assay_err *err);
enum assay_status qnet__recipe_text(struct assay_text *text, const char *name,
                                    struct assay_err *err);

/* "DIR/NAME" into out. ASSAY_INVALID: too long. */
enum { QNET__PATH = 4096 };
enum assay_status qnet__join(char out[QNET__PATH], const char *dir, const char *name,
                             struct assay_err *err);

/* A line on what the data are: "60000 pictures 1x28x28 of 10 classes". */
void qnet__put_data(struct assay_text *t, const struct qn_data_info *info);

#endif
