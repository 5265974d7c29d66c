/* SPDX-License-Identifier: Apache-2.0 */
/*
 * submission.h: what a submission says of itself in submission.json.
 *
 *     { "name": "first try", "author": "me", "model": "none", "flags": ["-ffast-math"] }
 *
 * The file and each of its fields are optional.
 */
#ifndef ASSAY_SUBMISSION_H
#define ASSAY_SUBMISSION_H

#include "assay/status.h"

enum { ASSAY_SUBMISSION_FLAGS = 16 };

struct assay_submission {
    char name[64], author[64], model[64]; /* empty: not said; longer texts are cut */
    int n_flags;
    const char *flags[ASSAY_SUBMISSION_FLAGS]; /* static strings, from the list of those allowed */
};

/* Compiler flags that a submission may ask for, NULL-terminated. */
const char *const *assay_submission_flags(void);

/*
 * Reads FOLDER/submission.json; without the file *s is empty. ASSAY_PARSE names file and field: no
 * JSON, another field, a field of the wrong type, a flag that is not allowed. The file is foreign:
 * 64 KiB at most, and links are not followed (ASSAY_PARSE). ASSAY_NOMEM: our fault, not the file's.
 */
enum assay_status assay_submission_read(struct assay_submission *s, const char *folder,
                                        struct assay_err *err);
/* The same from bytes in memory (for tests and fuzzing). */
enum assay_status assay_submission_parse(struct assay_submission *s, const char *text, size_t len,
                                         struct assay_err *err);

#endif
