/* SPDX-License-Identifier: Apache-2.0 */
/* The score of one operator: 20 for building, 30 for right cases, 50 for fast ones. */
#include "score/sum.h"

#include <math.h>

static const double weight_compiled = 0.2, weight_correct = 0.3, weight_fast = 0.5;

/* A time without a right result counts for nothing. */
void assay__score_add(struct assay__score_sum *sum, const struct assay_case_score *c)
{
    sum->n++;
    sum->compiled = sum->compiled || c->compiled;
    if (!c->compiled || !c->correct)
        return;
    sum->n_correct++;
    if (!c->timed || isnan(c->hap))
        return;
    sum->n_timed++;
    sum->hap += c->hap;
    if (c->speedup > 0 && isfinite(c->speedup)) {
        sum->n_speedups++;
        sum->log_speedup += log(c->speedup);
    }
}

void assay__score_finish(const struct assay__score_sum *sum, struct assay_op_score *s)
{
    *s = (struct assay_op_score){
        .compiled = sum->compiled,
        .n = sum->n,
        .n_correct = sum->n_correct,
        .n_timed = sum->n_timed,
        .hap = sum->n_timed > 0 ? sum->hap / sum->n_timed : NAN,
        .speedup = sum->n_speedups > 0 ? exp(sum->log_speedup / sum->n_speedups) : NAN,
    };
    if (!sum->compiled)
        return;
    s->score = 100 * weight_compiled;
    if (sum->n > 0)
        s->score += 100 * (weight_correct * sum->n_correct + weight_fast * sum->hap) / sum->n;
}

void assay_score_op(struct assay_op_score *s, const struct assay_case_score *cases, int n)
{
    struct assay__score_sum sum = { 0 };

    for (int i = 0; i < n; i++)
        assay__score_add(&sum, &cases[i]);
    assay__score_finish(&sum, s);
}
