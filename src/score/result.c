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

void assay_row_set_hap(struct assay_row *row)
{
    struct assay_hap h;

    assay_hap_range(&h, &row->time, row->t_hw_ns, row->t_hw_spread);
    row->hap = h.value;
    row->hap_lo = h.lo;
    row->hap_hi = h.hi;
    row->hap_limit = h.limit;
    if (h.below)
        row->time.flags |= ASSAY_TIME_BELOW_LIMIT;
}

/* Rows are joined to their operator by the record, never by position. */
static void sum_op(struct assay__score_sum *sum, const struct assay_result *r, int build)
{
    const struct assay_build_row *b = &r->builds[build];
    bool compiled = b->done && b->compiled;

    *sum = (struct assay__score_sum){ .compiled = compiled };
    for (int i = 0; i < r->n_rows; i++) {
        const struct assay_row *row = &r->rows[i];
        struct assay_case_score c = { .compiled = compiled };

        if (row->op != b->op)
            continue;
        c.correct = row_correct(row);
        c.timed = row->timed;
        if (row->timed) {
            c.hap = row->hap;
            c.hap_lo = row->hap_lo;
            c.hap_hi = row->hap_hi;
            c.hap_limit = row->hap_limit;
            c.speedup = row->time.base_ns / row->time.cand_ns;
            c.speedup_lo = 1 / row->time.ratio_hi;
            c.speedup_hi = 1 / row->time.ratio_lo;
        }
        assay__score_add(sum, &c);
    }
}

void assay_result_op_score(const struct assay_result *r, int build, struct assay_op_score *s)
{
    struct assay__score_sum sum;

    sum_op(&sum, r, build);
    assay__score_finish(&sum, s);
}

static bool in_tier(const struct assay_op *op, int tier)
{
    return tier > 0 ? op->tier == tier : op->tier >= 1 && op->tier <= 4;
}

/* Scores of operators and mean HAPs, summed with their doubt. */
struct total {
    double min, max; /* of the sum of scores, whatever the times */
    double hap;
    int n_hap;
    struct assay__doubt score_doubt, hap_doubt;
};

/* Operators without a time add to the score what is known for certain. */
static void add_op(struct assay_total_score *t, struct total *sum, const struct assay_result *r,
                   int build)
{
    struct assay__score_sum op;
    struct assay_op_score s;

    sum_op(&op, r, build);
    assay__score_finish(&op, &s);
    t->n_ops++;
    t->n_correct += s.n_correct;
    t->sum += s.score;
    sum->min += assay__score_points(&op, 0);
    sum->max += assay__score_points(&op, s.n_timed);
    if (s.n_timed == 0)
        return;
    assay__doubt_add_sum(&sum->score_doubt, &op.hap_doubt, assay__score_per_hap(&op));
    assay__doubt_add_sum(&sum->hap_doubt, &op.hap_doubt, 1.0 / s.n_timed);
    sum->hap += s.hap;
    sum->n_hap++;
}

static void count_rows(struct assay_total_score *t, const struct assay_result *r, int tier)
{
    for (int i = 0; i < r->n_rows; i++) {
        const struct assay_row *row = &r->rows[i];

        if (!in_tier(row->op, tier))
            continue;
        t->n_cases++;
        t->n_failed_here += row->failed_here;
        t->n_not_run += !row->done && !row->failed_here;
    }
}

void assay_result_total(const struct assay_result *r, int tier, struct assay_total_score *t)
{
    struct total sum = { 0 };

    *t = (struct assay_total_score){
        .mean_lo = NAN,
        .mean_hi = NAN,
        .sum_lo = NAN,
        .sum_hi = NAN,
        .hap = NAN,
        .hap_lo = NAN,
        .hap_hi = NAN,
    };
    for (int b = 0; b < r->n_builds; b++)
        if (in_tier(r->builds[b].op, tier))
            add_op(t, &sum, r, b);
    count_rows(t, r, tier);
    if (t->n_ops > 0)
        t->mean = t->sum / t->n_ops;
    if (sum.n_hap == 0)
        return;
    assay__doubt_interval(&t->sum_lo, &t->sum_hi, &sum.score_doubt, 1, t->sum, sum.min, sum.max);
    t->mean_lo = t->sum_lo / t->n_ops;
    t->mean_hi = t->sum_hi / t->n_ops;
    t->hap = sum.hap / sum.n_hap;
    assay__doubt_interval(&t->hap_lo, &t->hap_hi, &sum.hap_doubt, 1.0 / sum.n_hap, t->hap, 0, 1);
}
