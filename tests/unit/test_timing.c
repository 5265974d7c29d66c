/* SPDX-License-Identifier: Apache-2.0 */
/* test_timing.c: the plan and the estimator on made-up times, where the right answer is known. */
#include "t.h"

#include "assay/time.h"
#include "timing/estimate.h"

#include <math.h>

static const struct assay_plan_limits limits = {
    .target = 0.01,
    .block_ns = 250e3,
    .first_base_ns = 25e3,
    .max_calls = 64,
    .min_rounds = 6,
    .max_pairs = 400,
    .round_pairs = 12,
};

/* Ranks from tables of the sign test, alpha = 0.05 two-sided (Dixon and Mood 1946): the largest r
 * with 2 P(B <= r) <= 0.05 is 0 for n = 6 to 8, 1 for 9 to 11, 2 for 12 to 14, 5 for 20, 17 for 50,
 * 39 for 100; the rank is one more. */
static void ranks_of_the_sign_test(void **state)
{
    static const struct {
        int n, rank;
    } table[] = { { 0, 0 },  { 1, 0 },  { 5, 0 },  { 6, 1 },  { 8, 1 },   { 9, 2 },
                  { 11, 2 }, { 12, 3 }, { 14, 3 }, { 20, 6 }, { 50, 18 }, { 100, 40 } };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(assay__median_rank(table[i].n), table[i].rank);
    /* the approximation takes over without a jump */
    assert_true(abs(assay__median_rank(1001) - assay__median_rank(1000)) <= 1);
}

/* Fewer than six rounds say little, however many pairs they hold. */
static void too_few_rounds_are_coarse(void **state)
{
    struct assay_pair pair[6];
    double null_ns[6] = { 100, 100, 100, 100, 100, 100 };
    struct assay_time t;

    (void)state;
    for (int i = 0; i < 6; i++)
        pair[i] =
            (struct assay_pair){ .base_ns = 1000, .cand_ns = 2000 + i, .n_calls = 3, .round = i };
    assert_int_equal(assay__estimate(&t, pair, null_ns, 0), ASSAY_OK);
    assert_true(isnan(t.ratio) && (t.flags & ASSAY_TIME_COARSE));
    assert_int_equal(assay__estimate(&t, pair, null_ns, 5), ASSAY_OK);
    assert_true(t.flags & ASSAY_TIME_COARSE);
    assert_int_equal(assay__estimate(&t, pair, null_ns, 6), ASSAY_OK);
    assert_false(t.flags & ASSAY_TIME_COARSE);
    assert_int_equal(t.n_calls, 18);
    assert_int_equal(t.n_rounds, 6);
    assert_float_equal(t.ratio_lo, 2.0, 1e-12);
    assert_float_equal(t.ratio_hi, 2.005, 1e-12);
    assert_float_equal(t.null_ns, 100, 0);
    pair[5].round = 4;
    assert_int_equal(assay__estimate(&t, pair, null_ns, 6), ASSAY_OK);
    assert_true(t.flags & ASSAY_TIME_COARSE);
    assert_int_equal(t.n_rounds, 5);
}

/* Within a round the median of its pairs, over rounds the median of those: 1, 3 and 10 give 3
 * though most pairs are 10, and the interval knows of rounds only. */
static void rounds_weigh_the_same(void **state)
{
    static const double ratio[] = { 1, 3, 2.9, 3.1, 10, 10, 10, 10, 10, 10 };
    static const int round[] = { 0, 1, 1, 1, 2, 2, 2, 2, 2, 2 };
    const double null_ns[10] = { 0 };
    struct assay_pair pair[10];
    struct assay_time t;

    (void)state;
    for (int i = 0; i < 10; i++)
        pair[i] = (struct assay_pair){
            .base_ns = 100, .cand_ns = 100 * ratio[i], .n_calls = 1, .round = round[i]
        };
    assert_int_equal(assay__estimate(&t, pair, null_ns, 10), ASSAY_OK);
    assert_float_equal(t.ratio, 3, 1e-12);
    assert_float_equal(t.ratio_lo, 1, 1e-12);
    assert_float_equal(t.ratio_hi, 10, 1e-12);
}

/* Lower quartile of 1..5 is 2; the median ratio does not care for one wild pair. */
static void quartile_and_median(void **state)
{
    const struct assay_pair pair[] = {
        { 5, 15, 1, false, false, 0 },   { 1, 3, 1, true, false, 1 },
        { 4, 12, 1, false, false, 2 },   { 2, 6, 1, true, false, 3 },
        { 3, 9000, 1, false, false, 4 },
    };
    const double null_ns[5] = { 0 };
    struct assay_time t;

    (void)state;
    assert_int_equal(assay__estimate(&t, pair, null_ns, 5), ASSAY_OK);
    assert_float_equal(t.base_ns, 2, 1e-12);
    assert_float_equal(t.ratio, 3, 1e-12);
    assert_float_equal(t.cand_ns, 6, 1e-12);
}

/* A round's disturbed pairs count only when it has no others. */
static void disturbed_pairs(void **state)
{
    struct assay_pair pair[18];
    const double null_ns[18] = { 0 };
    struct assay_time t;

    (void)state;
    for (int i = 0; i < 18; i++)
        pair[i] = (struct assay_pair){ .base_ns = 10,
                                       .cand_ns = i % 3 ? 50 : 20,
                                       .n_calls = 1,
                                       .disturbed = i % 3,
                                       .round = i / 3 };
    assert_int_equal(assay__estimate(&t, pair, null_ns, 18), ASSAY_OK);
    assert_int_equal(t.n_discarded, 12);
    assert_float_equal(t.ratio_hi, 2, 1e-12);
    pair[0].disturbed = true; /* the first round has nothing else now: 20, 50, 50 */
    assert_int_equal(assay__estimate(&t, pair, null_ns, 18), ASSAY_OK);
    assert_int_equal(t.n_discarded, 10);
    assert_float_equal(t.ratio_hi, 5, 1e-12);
    assert_float_equal(t.ratio, 2, 1e-12);
}

/*
 * Made-up runs in which every round has an offset of its own, larger than the scatter of its pairs:
 * the 95 % interval holds the true ratio often enough. One over pairs alone would not.
 */
static void interval_covers(void **state)
{
    uint64_t seed = t_seed(20261130);
    const double null_ns[40] = { 0 };
    int covered = 0, runs = 2000;
    struct assay_time t;

    (void)state;
    for (int r = 0; r < runs; r++) {
        struct assay_key key = assay_key(seed, "interval", r, 0, 0);
        struct assay_pair pair[40];

        for (uint64_t i = 0; i < 40; i++) {
            uint64_t round = i / 5;
            double offset =
                assay_rng_unit(key, 1000 + 2 * round) - assay_rng_unit(key, 1001 + 2 * round);
            double noise =
                assay_rng_unit(key, 2 * i) - assay_rng_unit(key, 2 * i + 1); /* median 0 */

            pair[i] = (struct assay_pair){ .base_ns = 100,
                                           .cand_ns = 130 * exp(0.1 * offset + 0.02 * noise),
                                           .n_calls = 1,
                                           .round = (int32_t)round };
        }
        assert_int_equal(assay__estimate(&t, pair, null_ns, 40), ASSAY_OK);
        covered += t.ratio_lo <= 1.3 && 1.3 <= t.ratio_hi;
    }
    /* 8 rounds: smallest and largest hold the median with 1 - 2^-7 = 99.2 %, 1984 of 2000; six
     * standard deviations of the binomial below that is 1960 */
    print_message("covered %d of %d\n", covered, runs);
    assert_true(covered >= 1960);
}

static void add(struct assay_plan *p, double base, double ratio)
{
    const struct assay_pair pair = { .base_ns = base, .cand_ns = base * ratio, .n_calls = 1 };

    assert_int_equal(assay_plan_add(p, &pair, 300), ASSAY_OK);
    assay_plan_new_round(p);
}

/* Lengths follow the baseline, never the candidate; both orders come; never more than the arenas
 * hold. */
static void blocks_of_a_plan(void **state)
{
    struct assay_plan *p = assay_plan_new(&limits, assay_key(t_seed(7), "plan", 1, 0, 0));
    int n_calls, first = 0, lowest = 1000, highest = 0;
    bool cand_first;

    (void)state;
    assert_non_null(p);
    for (int i = 0; i < 200; i++) {
        assay_plan_next(p, &n_calls, &cand_first);
        add(p, 25e3, i % 2 ? 1e-3 : 1e3);
        first += cand_first;
        lowest = n_calls < lowest ? n_calls : lowest;
        highest = n_calls > highest ? n_calls : highest;
    }
    /* 0.4 to 1.6 times 250 us over 25 us: 4 to 16 calls */
    assert_true(lowest >= 4 && lowest <= 5);
    assert_true(highest >= 14 && highest <= 16);
    assert_true(first > 60 && first < 140);
    assay_plan_free(p);
}

static void long_and_short_calls(void **state)
{
    struct assay_plan_limits lim = limits;
    struct assay_plan *p;
    bool cand_first;
    int n_calls;

    (void)state;
    lim.first_base_ns = 1e9;
    p = assay_plan_new(&lim, assay_key(1, "plan", 1, 0, 0));
    assay_plan_next(p, &n_calls, &cand_first);
    assert_int_equal(n_calls, 1);
    assay_plan_free(p);
    lim.first_base_ns = 10;
    p = assay_plan_new(&lim, assay_key(1, "plan", 1, 0, 0));
    assay_plan_next(p, &n_calls, &cand_first);
    assert_int_equal(n_calls, 64);
    assay_plan_free(p);
}

static void stops_when_sure(void **state)
{
    struct assay_plan *p = assay_plan_new(&limits, assay_key(1, "plan", 1, 0, 0));
    struct assay_time t;
    int n = 0;

    (void)state;
    for (; !assay_plan_done(p); n++)
        add(p, 1000, 1.5);
    assert_int_equal(n, limits.min_rounds);
    assay_plan_estimate(p, &t);
    assert_float_equal(t.ratio, 1.5, 1e-12);
    assay_plan_free(p);
    p = assay_plan_new(&limits, assay_key(1, "plan", 1, 0, 0));
    for (n = 0; !assay_plan_done(p); n++)
        add(p, 1000, n % 2 ? 1.0 : 2.0); /* never sure */
    assert_int_equal(n, limits.max_pairs);
    assay_plan_free(p);
}

/* At a ratio of 10 the score moves 3.025 times less than at 1: r / (1 + r)^2 is 10 / 121 there, 1 /
 * 4 here. */
static void stops_sooner_far_from_one(void **state)
{
    static const struct {
        double ratio, spread; /* pairs at ratio * (1 +- spread): the half width is that spread */
        bool done;
    } table[] = { { 1, 0.009, true },    { 1, 0.012, false },  { 10, 0.029, true },
                  { 10, 0.032, false },  { 0.1, 0.029, true }, { 1000, 0.149, true },
                  { 1000, 0.152, false } };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct assay_plan *p = assay_plan_new(&limits, assay_key(1, "plan", 1, 0, 0));

        for (int k = -15; k <= 15; k++)
            add(p, 1000, table[i].ratio * (1 + table[i].spread * ((k > 0) - (k < 0))));
        assert_int_equal(assay_plan_done(p), table[i].done);
        assay_plan_free(p);
    }
}

/* A round ends with its pairs; an empty one does not count. */
static void rounds_of_a_plan(void **state)
{
    struct assay_plan *p = assay_plan_new(&limits, assay_key(1, "plan", 1, 0, 0));
    const struct assay_pair pair = { .base_ns = 1000, .cand_ns = 1000, .n_calls = 1 };
    int n;

    (void)state;
    assay_plan_new_round(p);
    for (int i = 0; i < limits.round_pairs; i++) {
        assert_false(assay_plan_round_over(p));
        assert_int_equal(assay_plan_add(p, &pair, 1), ASSAY_OK);
    }
    assert_true(assay_plan_round_over(p));
    assay_plan_new_round(p);
    assert_false(assay_plan_round_over(p));
    assert_int_equal(assay_plan_add(p, &pair, 1), ASSAY_OK);
    assert_int_equal(assay_plan_pairs(p, &n)[limits.round_pairs - 1].round, 0);
    assert_int_equal(assay_plan_pairs(p, &n)[limits.round_pairs].round, 1);
    assert_int_equal(n, limits.round_pairs + 1);
    assay_plan_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_of_the_sign_test),    cmocka_unit_test(too_few_rounds_are_coarse),
        cmocka_unit_test(rounds_weigh_the_same),     cmocka_unit_test(quartile_and_median),
        cmocka_unit_test(disturbed_pairs),           cmocka_unit_test(interval_covers),
        cmocka_unit_test(blocks_of_a_plan),          cmocka_unit_test(rounds_of_a_plan),
        cmocka_unit_test(long_and_short_calls),      cmocka_unit_test(stops_when_sure),
        cmocka_unit_test(stops_sooner_far_from_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
