/* SPDX-License-Identifier: Apache-2.0 */
/* Limits, HAP, scores of operators and of results, against figures worked out by hand. */
#include "t.h"

#include "assay/result.h"
#include "assay/score.h"

#include <math.h>

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * fabs(want)))
        fail_msg("%.17g, want %.17g", got, want);
}

/* ---- limits ---------------------------------------------------------------- */

static void the_slowest_unit_bounds(void **state)
{
    struct assay_machine m = { .peak = { [ASSAY_UNIT_DRAM] = 20e9, [ASSAY_UNIT_FMA_F32] = 100e9 } };
    struct assay_work w = { .amount = { [ASSAY_UNIT_DRAM] = 4e6, [ASSAY_UNIT_FMA_F32] = 1e6 } };
    enum assay_unit unit = ASSAY_UNIT_TRANS;

    (void)state;
    near(assay_limit_ns(&w, &m, false, &unit), 200e3); /* 4 MB at 20 GB/s */
    assert_int_equal(unit, ASSAY_UNIT_DRAM);
    w.amount[ASSAY_UNIT_FMA_F32] = 50e6; /* 500 us */
    near(assay_limit_ns(&w, &m, false, &unit), 500e3);
    assert_int_equal(unit, ASSAY_UNIT_FMA_F32);
    w.amount[ASSAY_UNIT_TRANS] = 1e12; /* no peak known */
    near(assay_limit_ns(&w, &m, false, &unit), 500e3);
    assert_int_equal(unit, ASSAY_UNIT_FMA_F32);
    memset(&w, 0, sizeof w);
    assert_true(assay_limit_ns(&w, &m, false, &unit) == 0);
    assert_int_equal(unit, ASSAY_UNIT_DRAM);
}

/* ---- HAP ------------------------------------------------------------------- */

static void hap_has_its_anchors(void **state)
{
    bool below;

    (void)state;
    near(assay_hap(100, 100, 20, &below), 0.5);
    near(assay_hap(60, 100, 20, &below), 80.0 / 120); /* 80 / (40 + 80) */
    near(assay_hap(180, 100, 20, &below), 80.0 / 240);
    assert_false(below);
    near(assay_hap(20, 100, 20, &below), 1);
    assert_true(below);
    near(assay_hap(19, 100, 20, &below), 1);
    assert_true(below);
    /* a baseline at its limit: the limit counts as 0.9 of it */
    near(assay_hap(95, 100, 100, &below), 10.0 / 15);
    assert_false(below);
    near(assay_hap(90, 100, 1000, &below), 1);
    assert_true(below);
}

/* C36: where the official quotient has its pole, and beyond it. */
static void c36_no_pole(void **state)
{
    const struct assay_upstream_case cases[] = {
        { .success = true, .has_time = true, .elapsed_us = 5.01, .baseline_us = 15, .t_hw_us = 10 },
        { .success = true, .has_time = true, .elapsed_us = 4.99, .baseline_us = 15, .t_hw_us = 10 },
    };
    struct assay_upstream_score s;
    double per_case[2];
    bool below;

    (void)state;
    assay_score_upstream(&s, per_case, cases, 2, 2, false, false);
    assert_true(per_case[0] > 499 && per_case[0] < 501);
    assert_true(isnan(per_case[1]));
    for (int i = 0; i < 2; i++) {
        near(assay_hap(cases[i].elapsed_us, 15, 10, &below), 1);
        assert_true(below);
    }
    near(assay_hap(11, 15, 10, &below), 5.0 / 6);
    assert_false(below);
}

/* ---- operators ------------------------------------------------------------- */

static void adds_the_three_parts(void **state)
{
    const struct assay_case_score cases[] = {
        { true, true, true, 0.5, 1 },
        { true, true, true, 0.75, 4 },
        { true, false, true, 1, 100 }, /* fast and wrong */
        { true, true, false, NAN, NAN },
    };
    struct assay_op_score s;

    (void)state;
    assay_score_op(&s, cases, 4);
    assert_true(s.compiled);
    assert_int_equal(s.n, 4);
    assert_int_equal(s.n_correct, 3);
    assert_int_equal(s.n_timed, 2);
    near(s.score, 20 + 30 * 3 / 4.0 + 50 * (0.5 + 0.75) / 4);
    near(s.hap, 0.625);
    near(s.speedup, 2); /* sqrt(1 * 4) */
}

/* C38: a case whose timing failed is right but not fast, and does not stand at the baseline. */
static void c38_failed_timing_is_not_the_baseline(void **state)
{
    const struct assay_case_score cases[] = { { true, true, false, NAN, NAN },
                                              { true, true, true, 0.6, 1.5 } };
    struct assay_op_score s;

    (void)state;
    assay_score_op(&s, cases, 2);
    near(s.score, 20 + 30 + 50 * 0.6 / 2);
    near(s.speedup, 1.5);
    assert_int_equal(s.n_timed, 1);
    assay_score_op(&s, cases, 1);
    near(s.score, 50);
    assert_true(isnan(s.hap) && isnan(s.speedup));
}

static void nothing_built_scores_nothing(void **state)
{
    const struct assay_case_score cases[] = { { false, true, true, 1, 2 },
                                              { false, false, false, NAN, NAN } };
    struct assay_op_score s;

    (void)state;
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
    r.hap = hap;
    r.time.base_ns = base;
    r.time.cand_ns = cand;
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
        cmocka_unit_test(the_slowest_unit_bounds),
        cmocka_unit_test(hap_has_its_anchors),
        cmocka_unit_test(c36_no_pole),
        cmocka_unit_test(adds_the_three_parts),
        cmocka_unit_test(c38_failed_timing_is_not_the_baseline),
        cmocka_unit_test(nothing_built_scores_nothing),
        cmocka_unit_test(joins_rows_by_operator),
        cmocka_unit_test(adds_up_tiers),
        cmocka_unit_test(release_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
