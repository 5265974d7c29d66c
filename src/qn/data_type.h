/* SPDX-License-Identifier: Apache-2.0 */
/* data_type.h: what data.c asks of each kind of data set, and where the kinds put what they read.
 */
#ifndef QN_DATA_TYPE_H
#define QN_DATA_TYPE_H

#include "qn/data.h"

/*
 * An open data set. A kind fills info.shape, n, classes, names and labels; one that holds its
 * pictures in memory also pixels and step, one that decodes files sets `own`.
 */
struct qn_data {
    const struct qn_data_type *type;
    struct qn_data_info info;
    struct qn_data_options options;
    struct assay_arena arena; /* everything that is held */
    const int32_t *labels;    /* [n] */
    const uint8_t *pixels;    /* picture i begins at pixels + i * step */
    size_t step;
    void *own;
};

/* One file each; the last lines of it are such a record. */
struct qn_data_type {
    const char *name;
    const char *looks_for; /* for the message when nothing is there */
    /* Whether the folder holds this kind, in either part. */
    bool (*lies_in)(const char *folder);
    /* What was filled in before a failure is released by the caller. */
    enum assay_status (*open)(struct qn_data *d, const char *folder, enum qn_part part,
                              struct assay_err *err);
    /* NULL: pictures are in memory. i is in range, p->label is set. */
    enum assay_status (*get)(const struct qn_data *d, int64_t i, struct qn_picture *p,
                             struct assay_arena *scratch, struct assay_err *err);
    void (*release)(struct qn_data *d); /* of own; or NULL */
};

extern const struct qn_data_type qn_data_idx;
extern const struct qn_data_type qn_data_cifar10;
extern const struct qn_data_type qn_data_cifar100;
extern const struct qn_data_type qn_data_folder;

/* FOLDER/name in the arena of d; NULL: out of memory. */
char *qn__data_path(struct qn_data *d, const char *folder, const char *name);
/* Whether there is a file (or a folder) of that name in a folder. */
bool qn__is_file(const char *folder, const char *name);
bool qn__is_folder(const char *folder, const char *name);
/* How many of n pictures the options ask for. */
int64_t qn__data_kept(const struct qn_data *d, int64_t n);
enum assay_status qn__data_no_memory(int64_t n, const char *path, struct assay_err *err);

#endif
