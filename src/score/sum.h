/* SPDX-License-Identifier: Apache-2.0 */
/* The score of an operator, case by case, so that callers need no array of cases. */
#ifndef ASSAY_SCORE_SUM_H
#define ASSAY_SCORE_SUM_H

#include "assay/score.h"

/*
 * How far a sum of estimates can be off. Independent ones combine as in MOVER (Zou and Donner,
 * Statistics in Medicine 27, 2008): squares of the distances from each estimate to the ends of its
 * interval, apart for below and above. The part that all share adds up as it is. NaN: unknown, and
 * it stays so.
 */
struct assay__doubt {
    double below, above; /* sums of squares */
    double common;
};
void assay__doubt_add(struct assay__doubt *d, double value, double lo, double hi, double common);
/* Adds weight times a sum that is independent of those before it. */
void assay__doubt_add_sum(struct assay__doubt *d, const struct assay__doubt *sum, double weight);
/* The interval of `value`, which is `weight` times the sum; within [min, max]. */
void assay__doubt_interval(double *lo, double *hi, const struct assay__doubt *d, double weight,
                           double value, double min, double max);

struct assay__score_sum {
    bool compiled;
    int n, n_correct, n_timed, n_speedups;
    double hap, log_speedup;
    struct assay__doubt hap_doubt, log_speedup_doubt;
};

void assay__score_add(struct assay__score_sum *sum, const struct assay_case_score *c);
void assay__score_finish(const struct assay__score_sum *sum, struct assay_op_score *s);
/* The score if the HAPs added up to that; and what 1 more of it would bring. */
double assay__score_points(const struct assay__score_sum *sum, double hap);
double assay__score_per_hap(const struct assay__score_sum *sum);

#endif
