/* SPDX-License-Identifier: Apache-2.0 */
/* One block of a pair of floating tensors as doubles, with its IEEE classes settled. */
#ifndef ASSAY_COMPARE_BLOCK_H
#define ASSAY_COMPARE_BLOCK_H

#include "compare/scan.h"

struct assay__block {
    int64_t at, n;           /* covers at .. at + n - 1; padded with zeros to ASSAY__BLOCK */
    double c[ASSAY__BLOCK];  /* candidate */
    double y[ASSAY__BLOCK];  /* golden as computed */
    double g[ASSAY__BLOCK];  /* golden rounded to the output's dtype */
    bool masked;             /* skip[] is filled in and not all false */
    bool skip[ASSAY__BLOCK]; /* no relative error here: c, y and g are 0 */
};

void assay__block_load(struct assay__block *b, const struct assay__pair *p, int64_t at);

/*
 * Settles the positions where either side is not finite: agreeing ones and disagreeing ones are
 * skipped from then on, the latter counted in s (which may be NULL); saturating rules put the
 * largest finite value in place of a one-sided infinity.
 */
void assay__block_settle(struct assay__block *b, const struct assay__pair *p,
                         struct assay__sums *s);

#endif
