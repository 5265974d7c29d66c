/* SPDX-License-Identifier: Apache-2.0 */
/* same_run.h: in what two manifests differ that are to be of one run. */
#ifndef ASSAY_REPORT_SAME_RUN_H
#define ASSAY_REPORT_SAME_RUN_H

#include "assay/result.h"

/* The first difference; what: NULL as long as there is none. */
struct assay__difference {
    const char *what;
    char a[300], b[300];
};

/* Each does nothing when there is a difference already. */
void assay__compare_text(struct assay__difference *d, const char *what, const char *a,
                         const char *b);
void assay__compare_number(struct assay__difference *d, const char *what, uint64_t a, uint64_t b);

/* What changes a verdict or a time, whoever asks: all but the submission, the choice of cases, the
 * shard and the baseline. */
void assay__compare_runs(struct assay__difference *d, const struct assay_manifest *a,
                         const struct assay_manifest *b);

#endif
