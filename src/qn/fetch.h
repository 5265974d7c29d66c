/* SPDX-License-Identifier: Apache-2.0 */
/* fetch.h: how each data set is got: what fetch.c and the recipes tell each other. */
#ifndef QN_FETCH_H
#define QN_FETCH_H

#include "qn/data.h"

/* A file of a data set. */
struct qn__fetched {
    const char *name;
    const char *sha256; /* 64 digits; of sets that are made: for seed 0 */
};

/* A fetch under way. */
struct qn__fetching {
    const struct qn_fetch *how;
    struct assay_arena arena;
    const char *temporary; /* a folder for whatever is needed, absolute, gone at the end */
    const char *out;       /* where the files are to be put: a folder in it */
};

struct qn__recipe {
    const struct qn__fetched *files; /* NULL-terminated by name */
    bool seeded;                     /* other seeds than 0 give other files */
    enum assay_status (*make)(struct qn__fetching *f, struct assay_err *err);
};

/* One file each. */
extern const struct qn__recipe qn__fetch_fashion_mnist;
extern const struct qn__recipe qn__fetch_mnist;
extern const struct qn__recipe qn__fetch_digits;
extern const struct qn__recipe qn__fetch_colour_mnist;

/* What qn_data_fetch() does, given the recipe. One at a time for a folder. */
enum assay_status qn__fetch(const struct qn__recipe *r, const char *name, const char *folder,
                            const struct qn_fetch *how, struct assay_err *err);

/* ---- for recipes ----------------------------------------------------------------------------- */

void qn__fetch_say(const struct qn__fetching *f, const char *fmt, ...) ASSAY_PRINTF(2, 3);
/* Writes a file into f->out. */
enum assay_status qn__fetch_put(struct qn__fetching *f, const char *name, const void *data,
                                size_t len, struct assay_err *err);

struct qn__package {
    enum { QN__DEBIAN, QN__NPM } kind;
    const char *name, *version; /* version: npm's; of Debian the one that apt-get finds */
    const char *within;         /* the folder of it that counts */
};

/*
 * Where the files of a package lie: how->from when it is a folder, or within it; the folder where
 * the system has them when the package is installed; else the package, how->from or fetched, is
 * unpacked. Runs apt-get, dpkg-deb, npm, tar. ASSAY_IO with what to do by hand.
 */
enum assay_status qn__fetch_package(struct qn__fetching *f, const struct qn__package *p,
                                    const char **folder, struct assay_err *err);
/* Reads FOLDER/name, or FOLDER/name.gz unpacked. */
enum assay_status qn__fetch_read(struct qn__fetching *f, const char *folder, const char *name,
                                 struct assay_text *t, struct assay_err *err);

/* ---- colour-mnist ---------------------------------------------------------------------------- */

/* One picture: u8 [3, 32, 32] out of a digit u8 [28, 28], and of random numbers alone. */
void qn__colour_picture(uint64_t seed, enum qn_part part, int64_t i, const uint8_t *digit,
                        uint8_t *out);

#endif
