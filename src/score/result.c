/* SPDX-License-Identifier: Apache-2.0 */
/* Derived numbers of a result: operators, tiers, everything. */
#include "assay/result.h"

#include "score/sum.h"

#include <math.h>
#include <string.h>

void assay_result_release(struct assay_result *r)
{
    struct assay_arena arena = r->arena;

    memset(r, 0, sizeof *r);
    assay_arena_release(&arena);
}

static bool row_correct(const struct assay_row *row)
{
    return row->done && !row->failed_here && row->verdict == ASSAY_PASS;
}

/* Rows are joined to their operator by the record, never by position. */
void assay_result_op_score(const struct assay_result *r, int build, struct assay_op_score *s)
{
    const struct assay_build_row *b = &r->builds[build];
    bool compiled = b->done && b->compiled;
    struct assay__score_sum sum = { .compiled = compiled };

    for (int i = 0; i < r->n_rows; i++) {
        const struct assay_row *row = &r->rows[i];
        struct assay_case_score c = { .compiled = compiled };

        if (row->op != b->op)
            continue;
        c.correct = row_correct(row);
        c.timed = row->timed;
        c.hap = row->timed ? row->hap : NAN;
        c.speedup = row->timed ? row->time.base_ns / row->time.cand_ns : NAN;
        assay__score_add(&sum, &c);
    }
    assay__score_finish(&sum, s);
}

static bool in_tier(const struct assay_op *op, int tier)
{
    return tier > 0 ? op->tier == tier : op->tier >= 1 && op->tier <= 4;
}

void assay_result_total(const struct assay_result *r, int tier, struct assay_total_score *t)
{
    double hap = 0;
    int n_hap = 0;

    *t = (struct assay_total_score){ .hap = NAN };
    for (int b = 0; b < r->n_builds; b++) {
        struct assay_op_score s;

        if (!in_tier(r->builds[b].op, tier))
            continue;
        assay_result_op_score(r, b, &s);
        t->n_ops++;
        t->n_correct += s.n_correct;
        t->sum += s.score;
        if (!isnan(s.hap)) {
            hap += s.hap;
            n_hap++;
        }
    }
    for (int i = 0; i < r->n_rows; i++) {
        const struct assay_row *row = &r->rows[i];

        if (!in_tier(row->op, tier))
            continue;
        t->n_cases++;
        t->n_failed_here += row->failed_here;
        t->n_not_run += !row->done && !row->failed_here;
    }
    if (t->n_ops > 0)
        t->mean = t->sum / t->n_ops;
    if (n_hap > 0)
        t->hap = hap / n_hap;
}
