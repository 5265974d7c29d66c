/* SPDX-License-Identifier: Apache-2.0 */
/* Scores of operators and of results, and their intervals, against figures worked out by hand. */
#include "t.h"

#include "assay/result.h"
#include "assay/score.h"

#include <math.h>

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * fabs(want)))
        fail_msg("%.17g, want %.17g", got, want);
}

/* ---- operators ------------------------------------------------------------- */

/* A right case with its HAP, known for certain, and speed-up. */
static struct assay_case_score fast(double hap, double speedup)
{
    return (struct assay_case_score){ .compiled = true,
                                      .correct = true,
                                      .timed = true,
                                      .hap = hap,
                                      .hap_lo = hap,
                                      .hap_hi = hap,
                                      .speedup = speedup,
                                      .speedup_lo = speedup,
                                      .speedup_hi = speedup };
}

/* The same with intervals. */
static struct assay_case_score about(double hap, double lo, double hi, double limit)
{
    struct assay_case_score c = fast(hap, 1);

    c.hap_lo = lo;
    c.hap_hi = hi;
    c.hap_limit = limit;
    return c;
}

static const struct assay_case_score right = {
    .compiled = true, .correct = true, .hap = NAN, .speedup = NAN
};

static void adds_the_three_parts(void **state)
{
    struct assay_case_score cases[] = {
        fast(0.5, 1),
        fast(0.75, 4),
        fast(1, 100), /* and wrong */
        right,
    };
    struct assay_op_score s;

    (void)state;
    cases[2].correct = false;
    assay_score_op(&s, cases, 4);
    assert_true(s.compiled);
    assert_int_equal(s.n, 4);
    assert_int_equal(s.n_correct, 3);
    assert_int_equal(s.n_timed, 2);
    near(s.score, 20 + 30 * 3 / 4.0 + 50 * (0.5 + 0.75) / 4);
    near(s.hap, 0.625);
    near(s.speedup, 2); /* sqrt(1 * 4) */
    /* all known for certain */
    assert_true(s.score_lo == s.score && s.score_hi == s.score);
    assert_true(s.hap_lo == s.hap && s.hap_hi == s.hap);
    assert_true(s.speedup_lo == s.speedup && s.speedup_hi == s.speedup);
}

/*
 * HAPs 0.5 in [0.45, 0.55] and 0.6 in [0.5, 0.7]: mean 0.55, and 0.55 - sqrt(0.05^2 + 0.1^2) / 2 =
 * 0.55 - 0.0559017 = 0.4940983. With two cases that are right a HAP counts 25 in the score.
 */
static void independent_cases_add_up_as_squares(void **state)
{
    const struct assay_case_score cases[] = { about(0.5, 0.45, 0.55, 0), about(0.6, 0.5, 0.7, 0) };
    struct assay_op_score s;

    (void)state;
    assay_score_op(&s, cases, 2);
    near(s.hap, 0.55);
    near(s.hap_lo, 0.55 - 0.05590169943749475);
    near(s.hap_hi, 0.55 + 0.05590169943749475);
    near(s.score, 77.5);
    near(s.score_lo, 77.5 - 50 * 0.05590169943749475);
    near(s.score_hi, 77.5 + 50 * 0.05590169943749475);
}

/*
 * Both ends on their own: below sqrt(0.03^2 + 0.04^2) = 0.05, above sqrt(0.08^2 + 0.06^2) = 0.1.
 * The limit takes 0.05 + 0.07 = 0.12 in both: sqrt(0.05^2 + 0.12^2) = 0.13 below. Of four cases one
 * is wrong and one right without a time, for which there is no doubt: a HAP counts 12.5 of the
 * score.
 */
static void the_limit_does_not_average_away(void **state)
{
    const struct assay_case_score cases[] = {
        about(0.5, 0.47, 0.58, 0.05), right, about(0.6, 0.56, 0.66, 0.07), { .compiled = true }
    };
    struct assay_op_score s;

    (void)state;
    assay_score_op(&s, cases, 4);
    near(s.score, 20 + 30 * 3 / 4.0 + 12.5 * 1.1);
    near(s.score_lo, s.score - 12.5 * 0.13);
    near(s.score_hi, s.score + 12.5 * sqrt(0.1 * 0.1 + 0.12 * 0.12));
    near(s.hap_lo, 0.55 - 0.13 / 2);
}

/* What was counted is certain: no interval leaves what it allows. */
static void intervals_stay_within_the_counted_parts(void **state)
{
    const struct assay_case_score low[] = { about(0.02, 0, 0.06, 0.1), right };
    const struct assay_case_score high[] = { about(0.99, 0.98, 1, 0.1), right };
    struct assay_op_score s;

    (void)state;
    assay_score_op(&s, low, 2);
    near(s.score, 50.5);
    assert_true(s.score_lo == 50 && s.hap_lo == 0);
    near(s.score_hi, 50.5 + 25 * sqrt(0.04 * 0.04 + 0.1 * 0.1));
    assay_score_op(&s, high, 2);
    assert_true(s.score_hi == 75 && s.hap_hi == 1); /* one of two cases has a time */
    near(s.score_lo, 74.75 - 25 * sqrt(0.01 * 0.01 + 0.1 * 0.1));
}

/* Speed-ups 1 and 4, known to factors of 1.25 and of 2: in logarithms as means of HAPs are. */
static void speedups_have_an_interval(void **state)
{
    struct assay_case_score cases[] = { fast(0.5, 1), fast(0.5, 4), fast(0.5, 3) };
    double factor = exp(sqrt(pow(log(1.25), 2) + pow(log(2), 2)) / 2);
    struct assay_op_score s;

    (void)state;
    cases[0].speedup_lo = 0.8;
    cases[0].speedup_hi = 1.25;
    cases[1].speedup_lo = 2;
    cases[1].speedup_hi = 8;
    assay_score_op(&s, cases, 2);
    near(s.speedup, 2);
    near(s.speedup_lo, 2 / factor);
    near(s.speedup_hi, 2 * factor);
    cases[2].speedup_lo = 0; /* could be anything from there on */
    cases[2].speedup_hi = INFINITY;
    assay_score_op(&s, cases, 3);
    assert_true(s.speedup_lo == 0 && isinf(s.speedup_hi));
}

/* One interval that is not known makes that of the sum unknown, and never a number. */
static void unknown_intervals_spread(void **state)
{
    struct assay_case_score cases[] = { about(0.5, 0.4, 0.6, 0), about(0.6, NAN, NAN, 0.01) };
    struct assay_op_score s;

    (void)state;
    cases[1].speedup_lo = NAN;
    assay_score_op(&s, cases, 2);
    near(s.score, 77.5);
    assert_true(isnan(s.score_lo) && isnan(s.score_hi) && isnan(s.hap_lo) && isnan(s.hap_hi));
    assert_true(isnan(s.speedup_lo) && !isnan(s.speedup));
}

/* C38: a case whose timing failed is right but not fast, and does not stand at the baseline. */
static void c38_failed_timing_is_not_the_baseline(void **state)
{
    const struct assay_case_score cases[] = { right, fast(0.6, 1.5) };
    struct assay_op_score s;

    (void)state;
    assay_score_op(&s, cases, 2);
    near(s.score, 20 + 30 + 50 * 0.6 / 2);
    near(s.speedup, 1.5);
    assert_int_equal(s.n_timed, 1);
    assay_score_op(&s, cases, 1);
    near(s.score, 50);
    assert_true(isnan(s.hap) && isnan(s.speedup));
    /* nothing was estimated */
    assert_true(isnan(s.score_lo) && isnan(s.score_hi) && isnan(s.hap_lo) && isnan(s.speedup_hi));
}

static void nothing_built_scores_nothing(void **state)
{
    struct assay_case_score cases[] = { fast(1, 2), { .hap = NAN, .speedup = NAN } };
    struct assay_op_score s;

    (void)state;
    cases[0].compiled = cases[0].correct = false;
    assay_score_op(&s, cases, 2);
    assert_true(s.score == 0 && !s.compiled);
    assert_int_equal(s.n_correct, 0);
    assay_score_op(&s, NULL, 0);
    assert_true(s.score == 0);
    assert_int_equal(s.n, 0);
}

/* ---- results --------------------------------------------------------------- */

static const struct assay_op l1 = { .name = "a", .tier = 1 }, l2 = { .name = "b", .tier = 2 },
                             quantised = { .name = "q", .tier = 5 },
                             l3 = { .name = "c", .tier = 3 };

static struct assay_row row(const struct assay_op *op, int id, enum assay_verdict v)
{
    return (struct assay_row){ .op = op, .case_id = id, .done = true, .verdict = v, .hap = NAN };
}

static struct assay_row timed_row(const struct assay_op *op, int id, double hap, double base,
                                  double cand)
{
    struct assay_row r = row(op, id, ASSAY_PASS);

    r.timed = true;
    r.hap = r.hap_lo = r.hap_hi = hap;
    r.time.base_ns = base;
    r.time.cand_ns = cand;
    r.time.ratio = r.time.ratio_lo = r.time.ratio_hi = cand / base;
    return r;
}

/* Four operators; rows of b before those of a: C39, joined by record and not by place. */
static void make_result(struct assay_result *r)
{
    memset(r, 0, sizeof *r);
    r->n_builds = 4;
    r->n_rows = 9;
    r->builds = assay_arena_zero(&r->arena, 4 * sizeof *r->builds);
    r->rows = assay_arena_zero(&r->arena, 9 * sizeof *r->rows);
    assert_true(r->builds && r->rows);
    r->builds[0] =
        (struct assay_build_row){ .op = &l1, .done = true, .present = true, .compiled = true };
    r->builds[1] =
        (struct assay_build_row){ .op = &l2, .done = true, .present = true, .compiled = true };
    r->builds[2] = (struct assay_build_row){
        .op = &quantised, .done = true, .present = true, .compiled = true
    };
    r->builds[3] = (struct assay_build_row){ .op = &l3, .done = true, .present = true };
    r->rows[0] = timed_row(&l2, 1, 0.25, 100, 200);
    r->rows[1] = row(&l2, 2, ASSAY_WRONG);
    r->rows[2] = timed_row(&l1, 1, 0.8, 300, 100);
    r->rows[3] = row(&l1, 2, ASSAY_PASS);
    r->rows[3].done = false; /* C47: a verdict of 0 that nobody gave */
    r->rows[4] = row(&l1, 3, ASSAY_PASS);
    r->rows[4].failed_here = true;
    r->rows[5] = row(&l1, 4, ASSAY_PASS);
    r->rows[6] = timed_row(&quantised, 1, 1, 2, 1);
    r->rows[7] = row(&l3, 1, ASSAY_COMPILE_FAILED);
    r->rows[8] = row(&l3, 2, ASSAY_COMPILE_FAILED);
}

static void joins_rows_by_operator(void **state)
{
    struct assay_result r;
    struct assay_op_score s;

    (void)state;
    make_result(&r);
    assay_result_op_score(&r, 0, &s);
    assert_int_equal(s.n, 4);
    assert_int_equal(s.n_correct, 2);
    assert_int_equal(s.n_timed, 1);
    near(s.score, 20 + 30 * 2 / 4.0 + 50 * 0.8 / 4);
    near(s.hap, 0.8);
    near(s.speedup, 3);
    assay_result_op_score(&r, 1, &s);
    near(s.score, 20 + 30 / 2.0 + 50 * 0.25 / 2);
    near(s.speedup, 0.5);
    assay_result_op_score(&r, 3, &s);
    assert_true(s.score == 0 && !s.compiled);
    assert_int_equal(s.n, 2);
    assay_result_release(&r);
}

static void adds_up_tiers(void **state)
{
    struct assay_result r;
    struct assay_total_score t;

    (void)state;
    make_result(&r);
    assay_result_total(&r, 0, &t); /* without the quantised one */
    assert_int_equal(t.n_ops, 3);
    assert_int_equal(t.n_cases, 8);
    assert_int_equal(t.n_correct, 3);
    assert_int_equal(t.n_failed_here, 1);
    assert_int_equal(t.n_not_run, 1);
    near(t.sum, 45 + 41.25 + 0);
    near(t.mean, 86.25 / 3);
    near(t.hap, (0.8 + 0.25) / 2);
    assay_result_total(&r, 2, &t);
    assert_int_equal(t.n_ops, 1);
    assert_int_equal(t.n_cases, 2);
    near(t.mean, 41.25);
    near(t.hap, 0.25);
    assay_result_total(&r, 5, &t);
    near(t.mean, 100);
    assay_result_total(&r, 3, &t);
    assert_int_equal(t.n_ops, 1);
    assert_true(t.sum == 0 && isnan(t.hap));
    assay_result_total(&r, 4, &t);
    assert_int_equal(t.n_ops, 0);
    assert_true(t.mean == 0 && isnan(t.hap));
    assay_result_release(&r);
}

/*
 * b has two cases, a HAP counts 25: 0.25 in [0.2, 0.35], 0.02 of the limit. a has four, it counts
 * 12.5: 0.8 in [0.7, 0.85], 0.01 of the limit. c does not compile: 0 for certain. The sum is 86.25;
 * below sqrt((25 * 0.05)^2 + (12.5 * 0.1)^2 + (25 * 0.02 + 12.5 * 0.01)^2) = sqrt(1.5625 + 1.5625 +
 * 0.390625) = 1.875; above sqrt((25 * 0.1)^2 + (12.5 * 0.05)^2 + 0.390625) = sqrt(7.03125). The
 * mean HAP of a and b: sqrt(0.05^2 + 0.1^2 + (0.02 + 0.01)^2) / 2 below. The speed-up of a is 1 /
 * ratio: 3 in [2, 4].
 */
static void totals_have_intervals(void **state)
{
    struct assay_result r;
    struct assay_op_score s;
    struct assay_total_score t;

    (void)state;
    make_result(&r);
    r.rows[0].hap_lo = 0.2;
    r.rows[0].hap_hi = 0.35;
    r.rows[0].hap_limit = 0.02;
    r.rows[2].hap_lo = 0.7;
    r.rows[2].hap_hi = 0.85;
    r.rows[2].hap_limit = 0.01;
    r.rows[2].time.ratio_lo = 0.25;
    r.rows[2].time.ratio_hi = 0.5;
    assay_result_op_score(&r, 0, &s);
    near(s.score_lo, 45 - 12.5 * sqrt(0.1 * 0.1 + 0.01 * 0.01));
    near(s.score_hi, 45 + 12.5 * sqrt(0.05 * 0.05 + 0.01 * 0.01));
    near(s.speedup_lo, 2);
    near(s.speedup_hi, 4);
    assay_result_total(&r, 0, &t);
    near(t.sum_lo, 86.25 - 1.875);
    near(t.sum_hi, 86.25 + sqrt(7.03125));
    near(t.mean_lo, (86.25 - 1.875) / 3);
    near(t.mean_hi, (86.25 + sqrt(7.03125)) / 3);
    near(t.hap_lo, 0.525 - sqrt(0.05 * 0.05 + 0.1 * 0.1 + 0.03 * 0.03) / 2);
    near(t.hap_hi, 0.525 + sqrt(0.1 * 0.1 + 0.05 * 0.05 + 0.03 * 0.03) / 2);
    assay_result_total(&r, 2, &t);
    near(t.mean_lo, 41.25 - 25 * sqrt(0.05 * 0.05 + 0.02 * 0.02));
    assay_result_total(&r, 3, &t); /* nothing timed */
    assert_true(isnan(t.mean_lo) && isnan(t.mean_hi) && isnan(t.sum_lo) && isnan(t.sum_hi));
    assert_true(isnan(t.hap_lo) && isnan(t.hap_hi));
    /* no interval of one case: none of the whole, but of the other tier */
    r.rows[2].hap_lo = NAN;
    assay_result_total(&r, 0, &t);
    near(t.mean, 86.25 / 3);
    assert_true(isnan(t.mean_lo) && isnan(t.sum_lo) && isnan(t.hap_lo));
    assay_result_total(&r, 2, &t);
    assert_true(t.mean_lo < 41.25);
    assay_result_release(&r);
}

static void release_leaves_nothing(void **state)
{
    static const struct assay_result nothing;
    struct assay_result r;

    (void)state;
    make_result(&r);
    assay_result_release(&r);
    assert_memory_equal(&r, &nothing, sizeof r);
    assay_result_release(&r); /* twice does no harm */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_the_three_parts),
        cmocka_unit_test(independent_cases_add_up_as_squares),
        cmocka_unit_test(the_limit_does_not_average_away),
        cmocka_unit_test(intervals_stay_within_the_counted_parts),
        cmocka_unit_test(speedups_have_an_interval),
        cmocka_unit_test(unknown_intervals_spread),
        cmocka_unit_test(c38_failed_timing_is_not_the_baseline),
        cmocka_unit_test(nothing_built_scores_nothing),
        cmocka_unit_test(joins_rows_by_operator),
        cmocka_unit_test(adds_up_tiers),
        cmocka_unit_test(totals_have_intervals),
        cmocka_unit_test(release_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
