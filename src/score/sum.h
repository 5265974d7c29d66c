/* SPDX-License-Identifier: Apache-2.0 */
/* The score of an operator, case by case, so that callers need no array of cases. */
#ifndef ASSAY_SCORE_SUM_H
#define ASSAY_SCORE_SUM_H

#include "assay/score.h"

struct assay__score_sum {
    bool compiled;
    int n, n_correct, n_timed, n_speedups;
    double hap, log_speedup;
};

void assay__score_add(struct assay__score_sum *sum, const struct assay_case_score *c);
void assay__score_finish(const struct assay__score_sum *sum, struct assay_op_score *s);

#endif
