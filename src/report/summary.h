/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h: what reports show of one operator, derived from its rows. */
#ifndef ASSAY_REPORT_SUMMARY_H
#define ASSAY_REPORT_SUMMARY_H

#include "assay/result.h"

struct assay__summary {
    struct assay_op_score score;
    int first, n; /* rows of the operator: r->rows[first .. first + n - 1] */
    int n_not_run, n_failed_here;
    int bottleneck; /* most frequent enum assay_unit, -1: none */
    double wall_s;  /* build and cases */
};

/* build is a position in r->builds. */
void assay__summarize(struct assay__summary *s, const struct assay_result *r, int build);

/* A row that the candidate failed: ran, and not through our fault. */
bool assay__row_failed(const struct assay_row *row);
/* An operator whose build never came to an end. */
bool assay__build_not_run(const struct assay_result *r, int build);

/* "same", "slower" ... */
const char *assay__control_name(enum assay_control_kind k);

/* The word of a rule set, "paper" or "upstream". */
const char *assay__rules_name(enum assay_rules rules);

#endif
