/* SPDX-License-Identifier: Apache-2.0 */
/* Limits, HAP and its range, against figures worked out by hand. */
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

/* The spread of the level that the data lie in; of the unit itself where that is no cache. */
static void a_limit_is_as_sure_as_its_unit(void **state)
{
    struct assay_machine m = {
        .spread = { [ASSAY_UNIT_DRAM] = 0.03, [ASSAY_UNIT_TRANS] = 0.01 },
        .level = { { .bytes = 1e4, .spread = 0.1 }, { .bytes = 1e6, .spread = 0.2 } },
        .n_levels = 2,
    };
    struct assay_work w = { .amount = { [ASSAY_UNIT_CACHE] = 2e4 } };

    (void)state;
    near(assay_limit_spread(&w, &m, ASSAY_UNIT_DRAM), 0.03);
    near(assay_limit_spread(&w, &m, ASSAY_UNIT_TRANS), 0.01);
    near(assay_limit_spread(&w, &m, ASSAY_UNIT_CACHE), 0.2);
    w.amount[ASSAY_UNIT_CACHE] = 1e4;
    near(assay_limit_spread(&w, &m, ASSAY_UNIT_CACHE), 0.1);
    w.amount[ASSAY_UNIT_CACHE] = 2e6; /* no level is known to hold it */
    assert_true(assay_limit_spread(&w, &m, ASSAY_UNIT_CACHE) == 0);
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
    near(assay_hap(20, 100, 20, &below), 1); /* at the limit is no alarm */
    assert_false(below);
    near(assay_hap(19, 100, 20, &below), 1);
    assert_true(below);
    /* a baseline at its limit: the limit counts as 0.9 of it */
    near(assay_hap(95, 100, 94, &below), 10.0 / 15);
    assert_false(below);
    near(assay_hap(90, 100, 1000, &below), 1);
    assert_true(below);
}

/* A limit above 0.9 T_base is moved down for the score; who is faster than it is seen all the same.
 */
static void a_moved_limit_hides_nothing(void **state)
{
    bool below;

    (void)state;
    near(assay_hap(95, 100, 96, &below), 10.0 / 15);
    assert_true(below);
    near(assay_hap(96, 100, 96, &below), 10.0 / 16);
    assert_false(below);
    near(assay_hap(100, 100, 101, &below), 0.5);
    assert_true(below);
    near(assay_hap(150, 100, 151, &below), 10.0 / 70);
    assert_true(below);
    near(assay_hap(151, 100, 151, &below), 10.0 / 71);
    assert_false(below);
}

/* ---- the range of HAP ------------------------------------------------------ */

static struct assay_time time_of(double base, double base_lo, double base_hi, double ratio,
                                 double ratio_lo, double ratio_hi)
{
    return (struct assay_time){ .base_ns = base,
                                .base_lo = base_lo,
                                .base_hi = base_hi,
                                .cand_ns = base * ratio,
                                .ratio = ratio,
                                .ratio_lo = ratio_lo,
                                .ratio_hi = ratio_hi };
}

static void check_range(struct assay_time t, double t_hw, double lo, double value, double hi)
{
    struct assay_hap h;

    assay_hap_range(&h, &t, t_hw, 0);
    near(h.lo, lo);
    near(h.value, value);
    near(h.hi, hi);
    assert_true(h.limit == 0);
}

/* T_HW 20; each corner as (T_base - 20) / ((T_cand - 20) + (T_base - 20)). */
static void the_range_lies_in_the_corners(void **state)
{
    (void)state;
    /* the baseline known, in three ways: candidate 60 in [50, 70] */
    check_range(time_of(100, NAN, NAN, 0.6, 0.5, 0.7), 20, 80.0 / 130, 80.0 / 120, 80.0 / 110);
    check_range(time_of(100, 0, 0, 0.6, 0.5, 0.7), 20, 80.0 / 130, 80.0 / 120, 80.0 / 110);
    check_range(time_of(100, 100, 100, 0.6, 0.5, 0.7), 20, 80.0 / 130, 80.0 / 120, 80.0 / 110);
    /* faster than the baseline: best 40 of 80, worst 87.5 of 125 */
    check_range(time_of(100, 80, 125, 0.6, 0.5, 0.7), 20, 105 / (67.5 + 105), 80.0 / 120,
                60.0 / (20 + 60));
    /* slower: best 187.5 of 125, worst 240 of 80 */
    check_range(time_of(100, 80, 125, 2, 1.5, 3), 20, 60.0 / (220 + 60), 80.0 / 260,
                105 / (167.5 + 105));
    /* either: best 40 of 80, worst 160 of 80 */
    check_range(time_of(100, 80, 125, 1, 0.5, 2), 20, 60.0 / (140 + 60), 0.5, 60.0 / (20 + 60));
    /* T* is 0.9 of any baseline: only the ratio counts */
    check_range(time_of(100, 80, 103, 0.95, 0.9, 1), 95, 0.5, 10.0 / 15, 1);
    /* and in between: T* 72 of 80, where the ratio alone counts, and 80 of 125: 45 / (20 + 45) */
    check_range(time_of(100, 80, 125, 0.95, 0.8, 1), 80, 0.5, 20.0 / 35, 1);
}

static void check_limit(double t_cand, double t_hw, double spread, double a, double b)
{
    struct assay_time t = time_of(100, NAN, NAN, t_cand / 100, t_cand / 100, t_cand / 100);
    struct assay_hap h;

    assay_hap_range(&h, &t, t_hw, spread);
    if (!(fabs(h.limit - fabs(a - b) / 2) <= 1e-12))
        fail_msg("%.17g, want %.17g", h.limit, fabs(a - b) / 2);
}

/* Half of the way that HAP goes while T_HW goes from its lower to its upper end. */
static void a_moving_limit_moves_hap(void **state)
{
    (void)state;
    check_limit(60, 20, 0.25, 85.0 / (45 + 85), 75.0 / (35 + 75));    /* 15 .. 25 */
    check_limit(200, 20, 0.25, 85.0 / (185 + 85), 75.0 / (175 + 75)); /* the other way */
    check_limit(100, 20, 0.25, 0.5, 0.5);
    check_limit(95, 80, 0.25, 40.0 / (35 + 40), 10.0 / (5 + 10)); /* 60 .. 100, kept to 90 */
    check_limit(95, 20, 2, 100.0 / (95 + 100), 40.0 / (35 + 40)); /* 0 .. 60 */
    check_limit(60, 20, 0, 0, 0);
    check_limit(60, 20, NAN, 0, 0);
    check_limit(60, 0, 0.25, 0, 0);
}

static void alarms_for_either_side(void **state)
{
    struct assay_time slower = time_of(100, NAN, NAN, 1.5, 1.4, 1.6);
    struct assay_hap h;

    (void)state;
    assay_hap_range(&h, &slower, 100, 0);
    assert_false(h.below);
    assay_hap_range(&h, &slower, 101, 0); /* the baseline's 100, not the candidate's 150 */
    assert_true(h.below);
    near(h.value, 10.0 / 70);
    assay_hap_range(&h, &slower, 151, 0);
    assert_true(h.below);
}

static void unknown_stays_unknown(void **state)
{
    struct assay_time t = time_of(100, 90, 110, 0.6, NAN, NAN);
    struct assay_hap h;

    (void)state;
    assay_hap_range(&h, &t, 20, 0.25); /* no interval, yet a value and what the limit adds */
    assert_true(isnan(h.lo) && isnan(h.hi) && !h.below);
    near(h.value, 80.0 / 120);
    assert_true(h.limit > 0);
    assay_hap_range(&h, &t, NAN, 0.25);
    assert_true(isnan(h.value) && isnan(h.lo) && isnan(h.hi) && isnan(h.limit) && !h.below);
}

/* What a row holds is what its time and limit give. */
static void rows_take_it_over(void **state)
{
    struct assay_row row = { .t_hw_ns = 20, .t_hw_spread = 0.25 };

    (void)state;
    row.time = time_of(100, 80, 125, 0.6, 0.5, 0.7);
    row.time.flags = ASSAY_TIME_COARSE;
    assay_row_set_hap(&row);
    near(row.hap, 80.0 / 120);
    near(row.hap_lo, 105 / (67.5 + 105));
    near(row.hap_hi, 60.0 / (20 + 60));
    near(row.hap_limit, (75.0 / (35 + 75) - 85.0 / (45 + 85)) / 2);
    assert_int_equal(row.time.flags, ASSAY_TIME_COARSE);
    row.t_hw_ns = 101;
    assay_row_set_hap(&row);
    assert_int_equal(row.time.flags, ASSAY_TIME_COARSE | ASSAY_TIME_BELOW_LIMIT);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slowest_unit_bounds),
        cmocka_unit_test(a_limit_is_as_sure_as_its_unit),
        cmocka_unit_test(hap_has_its_anchors),
        cmocka_unit_test(a_moved_limit_hides_nothing),
        cmocka_unit_test(the_range_lies_in_the_corners),
        cmocka_unit_test(a_moving_limit_moves_hap),
        cmocka_unit_test(alarms_for_either_side),
        cmocka_unit_test(unknown_stays_unknown),
        cmocka_unit_test(rows_take_it_over),
        cmocka_unit_test(c36_no_pole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
