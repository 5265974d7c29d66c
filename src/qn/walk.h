/* SPDX-License-Identifier: Apache-2.0 */
/* walk.h: the files below a folder, in the order of their paths. */
#ifndef QN_WALK_H
#define QN_WALK_H

#include "assay/memory.h"

enum { QN__MAX_DEPTH = 32 };

/* Zero-initialise. */
struct qn__paths {
    struct assay_text text;
    size_t *at; /* path i, relative to the folder, begins at text.data + at[i] */
    size_t n, cap;
};

/* Path i, valid until the next file is added. */
const char *qn__path_at(const struct qn__paths *p, size_t i);
void qn__paths_release(struct qn__paths *p);

/*
 * Ordinary files in any depth whose name `takes` accepts; links are followed. Names that begin with
 * a dot are left out. ASSAY_IO: a folder that cannot be read; ASSAY_INVALID: deeper than
 * QN__MAX_DEPTH, or a link that leads back up; ASSAY_NOMEM. Paths are sorted name by name, names
 * byte by byte.
 */
enum assay_status qn__walk(struct qn__paths *p, const char *folder, bool (*takes)(const char *name),
                           struct assay_err *err);
/* The names of the folders right in a folder, sorted. */
enum assay_status qn__list_folders(struct qn__paths *p, const char *folder, struct assay_err *err);
/* Whether there are any. */
bool qn__has_folders(const char *folder);

#endif
