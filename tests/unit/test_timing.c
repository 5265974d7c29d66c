/* SPDX-License-Identifier: Apache-2.0 */
/* test_timing.c: the plan and the estimator on made-up times, where the right answer is known. */
#include "t.h"

#include "assay/time.h"
#include "timing/estimate.h"

#include <math.h>

static const struct assay_plan_limits limits = {
    .target = 0.01,
    .block_ns = 250e3,
    .block_most_ns = 100e6,
    .first_base_ns = 25e3,
    .max_calls = 64,
    .rounds = 3,
    .round_pairs = 12,
    .max_pairs = 400,
};

/* ---- ranks ----------------------------------------------------------------------------------- */

/* Median: from tables of the sign test, alpha = 0.05 two-sided (Dixon and Mood 1946): the largest r
 * with 2 P(B <= r) <= 0.05 is 0 for n = 6 to 8, 1 for 9 to 11, 2 for 12 to 14, 5 for 20, 17 for 50,
 * 39 for 100; the rank is one more. Quartiles: 0.75^12 = 0.0317, 0.75^13 = 0.0238; 0.25^2 = 0.0625,
 * 0.25^3 = 0.0156. */
static void ranks_enclose_quantiles(void **state)
{
    static const struct {
        int n;
        double q;
        int rank;
    } table[] = { { 0, 0.5, 0 },   { 1, 0.5, 0 },   { 5, 0.5, 0 },   { 6, 0.5, 1 },
                  { 8, 0.5, 1 },   { 9, 0.5, 2 },   { 11, 0.5, 2 },  { 12, 0.5, 3 },
                  { 14, 0.5, 3 },  { 20, 0.5, 6 },  { 50, 0.5, 18 }, { 100, 0.5, 40 },
                  { 12, 0.25, 0 }, { 13, 0.25, 1 }, { 2, 0.75, 0 },  { 3, 0.75, 1 } };
    static const double quantiles[] = { 0.25, 0.5, 0.75 }, tails[] = { 0.016, 0.025 };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(assay__quantile_rank(table[i].n, table[i].q, 0.025), table[i].rank);
    /* the approximation takes over without a jump */
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            assert_true(abs(assay__quantile_rank(401, quantiles[i], tails[k]) -
                            assay__quantile_rank(400, quantiles[i], tails[k])) <= 1);
    /* (1 + 20 + ... + 15504) / 2^20 = 0.0207 */
    assert_int_equal(assay__quantile_rank(20, 0.5, 0.016), 5);
    assert_int_equal(assay__quantile_rank(6, 0.5, 0.016), 1); /* 1 / 64 = 0.0156 */
}

/* ---- estimates ------------------------------------------------------------------------------- */

static const double no_null[400];

/* n pairs of one round from the log-ratio `middle` +- `spread`, evenly spaced. */
static int put_round(struct assay_pair *pair, int at, int n, int round, double middle,
                     double spread)
{
    for (int i = 0; i < n; i++)
        pair[at + i] = (struct assay_pair){
            .base_ns = 1000,
            .cand_ns = 1000 * exp(middle + spread * (2.0 * i / (n - 1) - 1)),
            .n_calls = 2,
            .round = round,
        };
    return at + n;
}

static void too_few_pairs_are_coarse(void **state)
{
    const double null_ns[6] = { 100, 100, 100, 100, 100, 100 };
    struct assay_pair pair[6];
    struct assay_time t;

    (void)state;
    for (int i = 0; i < 6; i++)
        pair[i] = (struct assay_pair){ .base_ns = 1000, .cand_ns = 2000 + i, .n_calls = 3 };
    assert_int_equal(assay__estimate(&t, pair, null_ns, 0), ASSAY_OK);
    assert_true(isnan(t.ratio) && isnan(t.base_lo) && (t.flags & ASSAY_TIME_COARSE));
    assert_int_equal(assay__estimate(&t, pair, null_ns, 5), ASSAY_OK);
    assert_true(t.flags & ASSAY_TIME_COARSE);
    assert_float_equal(t.ratio_lo, 2.0, 1e-12);
    assert_float_equal(t.ratio_hi, 2.004, 1e-12);
    assert_int_equal(assay__estimate(&t, pair, null_ns, 6), ASSAY_OK);
    assert_int_equal(t.flags, 0);
    assert_int_equal(t.n_calls, 18);
    assert_int_equal(t.n_rounds, 1);
    assert_float_equal(t.ratio_lo, 2.0, 1e-12);
    assert_float_equal(t.ratio_hi, 2.005, 1e-12);
    assert_float_equal(t.null_ns, 100, 0);
}

/* Rounds that agree are one sample: of 21 pairs at exp(-0.10), ..., exp(0.10) in steps of 0.01 the
 * ranks 6 and 16 bound the median. */
static void agreeing_rounds_are_one_sample(void **state)
{
    struct assay_pair pair[21];
    struct assay_time t;

    (void)state;
    put_round(pair, 0, 21, 0, 0, 0.1);
    for (int i = 0; i < 21; i++) /* dealt out in turn */
        pair[i].round = i % 3;
    for (int i = 0; i < 21; i++) /* rounds lie together */
        for (int k = i; k > 0 && pair[k - 1].round > pair[k].round; k--) {
            struct assay_pair swap = pair[k];

            pair[k] = pair[k - 1];
            pair[k - 1] = swap;
        }
    assert_int_equal(assay__estimate(&t, pair, no_null, 21), ASSAY_OK);
    assert_int_equal(t.flags, 0);
    assert_int_equal(t.n_rounds, 3);
    assert_float_equal(t.ratio, 1, 1e-12);
    assert_float_equal(t.ratio_lo, exp(-0.05), 1e-12);
    assert_float_equal(t.ratio_hi, exp(0.05), 1e-12);
}

/* Three rounds of 7 pairs (the interval of 7 is their range) at 0, 0.2 and 0.1, each +- 0.01: the
 * first two exclude each other. The middle one is kept, and the union of all. */
static void disagreement_is_unresolved(void **state)
{
    struct assay_pair pair[49];
    struct assay_time t;
    int n = 0;

    (void)state;
    n = put_round(pair, n, 7, 0, 0, 0.01);
    n = put_round(pair, n, 7, 1, 0.2, 0.01);
    n = put_round(pair, n, 7, 2, 0.1, 0.01);
    assert_int_equal(assay__estimate(&t, pair, no_null, n), ASSAY_OK);
    assert_int_equal(t.flags, ASSAY_TIME_UNRESOLVED);
    assert_float_equal(t.ratio, exp(0.1), 1e-12);
    assert_float_equal(t.ratio_lo, exp(-0.01), 1e-12);
    assert_float_equal(t.ratio_hi, exp(0.21), 1e-12);
    assert_int_equal(t.n_pairs, 21);
    /* with six and more, the rounds themselves are a sample: medians 0, 0.2, 0.1, 0.3 ... */
    for (int r = 3; r < 7; r++)
        n = put_round(pair, n, 7, r, 0.1 * r, 0.01);
    assert_int_equal(assay__estimate(&t, pair, no_null, n), ASSAY_OK);
    assert_int_equal(t.flags, 0);
    assert_float_equal(t.ratio, exp(0.3), 1e-12);
    assert_float_equal(t.ratio_lo, 1, 1e-12);
    assert_float_equal(t.ratio_hi, exp(0.6), 1e-12);
}

/* Lower quartile of 1..5 is 2; the median ratio does not care for one wild pair. */
static void quartile_and_median(void **state)
{
    const struct assay_pair pair[] = {
        { 5, 15, 1, false, false, 0 },   { 1, 3, 1, true, false, 0 },
        { 4, 12, 1, false, false, 0 },   { 2, 6, 1, true, false, 0 },
        { 3, 9000, 1, false, false, 0 },
    };
    struct assay_time t;

    (void)state;
    assert_int_equal(assay__estimate(&t, pair, no_null, 5), ASSAY_OK);
    assert_float_equal(t.base_ns, 2, 1e-12);
    assert_float_equal(t.base_lo, 1, 1e-12);
    assert_true(t.base_hi >= 2 && t.base_hi <= 5);
    assert_float_equal(t.ratio, 3, 1e-12);
    assert_float_equal(t.cand_ns, 6, 1e-12);
}

/* Disturbed pairs are left out up to a quarter of all, where six others are left. */
static void disturbed_pairs(void **state)
{
    struct assay_pair pair[20];
    struct assay_time t;

    (void)state;
    for (int i = 0; i < 20; i++)
        pair[i] = (struct assay_pair){
            .base_ns = 10, .cand_ns = i % 4 ? 20 : 50, .n_calls = 1, .disturbed = i % 4 == 0
        };
    assert_int_equal(assay__estimate(&t, pair, no_null, 20), ASSAY_OK);
    assert_int_equal(t.n_discarded, 5);
    assert_float_equal(t.ratio_hi, 2, 1e-12);
    pair[1].disturbed = true; /* 6 of 20 */
    assert_int_equal(assay__estimate(&t, pair, no_null, 20), ASSAY_OK);
    assert_int_equal(t.n_discarded, 0);
    for (int i = 0; i < 7; i++)
        pair[i].disturbed = i < 2; /* 2 of 7: five left */
    assert_int_equal(assay__estimate(&t, pair, no_null, 7), ASSAY_OK);
    assert_int_equal(t.n_discarded, 0);
    pair[1].disturbed = false; /* six left */
    assert_int_equal(assay__estimate(&t, pair, no_null, 7), ASSAY_OK);
    assert_int_equal(t.n_discarded, 1);
}

/* Made-up runs of known ratio, with and without an offset of each process that is larger than the
 * scatter of its pairs: the 95 % interval holds the truth often enough in both. */
static int covered(double offset_size, int runs)
{
    uint64_t seed = t_seed(20261130);
    int n_covered = 0;

    for (int r = 0; r < runs; r++) {
        struct assay_key key = assay_key(seed, "interval", r, 0, 0);
        struct assay_pair pair[120];
        struct assay_time t;

        for (uint64_t i = 0; i < 120; i++) {
            uint64_t round = i / 15;
            double offset =
                assay_rng_unit(key, 1000 + 2 * round) - assay_rng_unit(key, 1001 + 2 * round);
            double noise =
                assay_rng_unit(key, 2 * i) - assay_rng_unit(key, 2 * i + 1); /* median 0 */

            pair[i] =
                (struct assay_pair){ .base_ns = 100,
                                     .cand_ns = 130 * exp(offset_size * offset + 0.02 * noise),
                                     .n_calls = 1,
                                     .round = (int32_t)round };
        }
        assert_int_equal(assay__estimate(&t, pair, no_null, 120), ASSAY_OK);
        n_covered += t.ratio_lo <= 1.3 && 1.3 <= t.ratio_hi;
    }
    return n_covered;
}

static void interval_covers(void **state)
{
    int alike = covered(0, 2000), apart = covered(0.1, 2000);

    (void)state;
    print_message("covered %d and %d of 2000\n", alike, apart);
    /* at least 95 %: 1900 of 2000, less four standard deviations of the binomial */
    assert_true(alike >= 1861);
    assert_true(apart >= 1861);
}

/* ---- plans ----------------------------------------------------------------------------------- */

static void add(struct assay_plan *p, double base, double ratio)
{
    const struct assay_pair pair = { .base_ns = base, .cand_ns = base * ratio, .n_calls = 1 };

    assert_int_equal(assay_plan_add(p, &pair, 300), ASSAY_OK);
}

/* Lengths follow the baseline, never the candidate; both orders come; never more than the arenas
 * hold. */
static void blocks_of_a_plan(void **state)
{
    struct assay_plan *p = assay_plan_new(&limits, assay_key(t_seed(7), "plan", 1, 0, 0));
    int n_calls, first = 0, led = 0, lowest = 1000, highest = 0;
    bool cand_first, before = false;

    (void)state;
    assert_non_null(p);
    for (int i = 0; i < 200; i++) {
        assay_plan_next(p, &n_calls, &cand_first);
        add(p, 25e3, i % 2 ? 1e-3 : 1e3);
        first += cand_first;
        if (i % 2)
            assert_true(cand_first != before); /* both orders in each couple */
        before = cand_first;
        led += i % 2 == 0 && cand_first;
        lowest = n_calls < lowest ? n_calls : lowest;
        highest = n_calls > highest ? n_calls : highest;
    }
    /* 0.4 to 1.6 times 250 us over 25 us: 4 to 16 calls */
    assert_true(lowest >= 4 && lowest <= 5);
    assert_true(highest >= 14 && highest <= 16);
    assert_int_equal(first, 100);
    assert_true(led > 30 && led < 70);
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
    lim.first_base_ns = 1e3;
    lim.first_cand_ns = 10e6; /* 10 calls of it in 100 ms */
    p = assay_plan_new(&lim, assay_key(1, "plan", 1, 0, 0));
    assay_plan_next(p, &n_calls, &cand_first);
    assert_int_equal(n_calls, 10);
    assay_plan_free(p);
    lim.first_cand_ns = 2e9;
    p = assay_plan_new(&lim, assay_key(1, "plan", 1, 0, 0));
    assay_plan_next(p, &n_calls, &cand_first);
    assert_int_equal(n_calls, 1);
    assay_plan_free(p);
    lim.first_cand_ns = 0;
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
    for (; !assay_plan_done(p); n++) {
        if (assay_plan_round_over(p) && assay_plan_wants_round(p))
            assay_plan_new_round(p);
        add(p, 1000, 1.5);
    }
    assert_int_equal(n, limits.rounds * limits.round_pairs);
    assert_true(assay_plan_enough(p));
    assay_plan_estimate(p, &t);
    assert_float_equal(t.ratio, 1.5, 1e-12);
    assert_int_equal(t.n_rounds, limits.rounds);
    assay_plan_free(p);
    p = assay_plan_new(&limits, assay_key(1, "plan", 1, 0, 0));
    for (n = 0; !assay_plan_done(p); n++)
        add(p, 1000, n % 2 ? 1.0 : 2.0); /* never sure, one round */
    assert_int_equal(n, limits.max_pairs);
    assert_true(assay_plan_wants_round(p));
    assert_false(assay_plan_enough(p));
    assay_plan_free(p);
}

/* Processes that disagree: more of them are wanted until they are a sample of their own. */
static void disagreement_asks_for_rounds(void **state)
{
    struct assay_plan *p = assay_plan_new(&limits, assay_key(1, "plan", 1, 0, 0));
    int rounds;

    (void)state;
    for (rounds = 1; rounds < 20; rounds++) {
        for (int i = 0; i < limits.round_pairs; i++)
            add(p, 1000, rounds % 2 ? 1.0 : 1.1);
        if (!assay_plan_wants_round(p))
            break;
        assay_plan_new_round(p);
    }
    assert_int_equal(rounds, 6);
    assay_plan_free(p);
}

/* At a ratio of 10 the score moves 3.025 times less than at 1: r / (1 + r)^2 is 10 / 121 there, 1 /
 * 4 here. */
static void stops_sooner_far_from_one(void **state)
{
    static const struct {
        double ratio,
            spread; /* pairs at ratio * (1 +- spread): the half width is about that spread */
        bool done;
    } table[] = { { 1, 0.009, true },    { 1, 0.012, false },  { 10, 0.029, true },
                  { 10, 0.032, false },  { 0.1, 0.029, true }, { 1000, 0.147, true },
                  { 1000, 0.152, false } };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct assay_plan *p = assay_plan_new(&limits, assay_key(1, "plan", 1, 0, 0));

        for (int k = 0; k < 3 * limits.round_pairs; k++) {
            if (k > 0 && k % limits.round_pairs == 0)
                assay_plan_new_round(p);
            add(p, 1000, table[i].ratio * (1 + table[i].spread * (k % 2 ? 1 : -1)));
        }
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
        cmocka_unit_test(ranks_enclose_quantiles),
        cmocka_unit_test(too_few_pairs_are_coarse),
        cmocka_unit_test(agreeing_rounds_are_one_sample),
        cmocka_unit_test(disagreement_is_unresolved),
        cmocka_unit_test(quartile_and_median),
        cmocka_unit_test(disturbed_pairs),
        cmocka_unit_test(interval_covers),
        cmocka_unit_test(blocks_of_a_plan),
        cmocka_unit_test(rounds_of_a_plan),
        cmocka_unit_test(long_and_short_calls),
        cmocka_unit_test(stops_when_sure),
        cmocka_unit_test(disagreement_asks_for_rounds),
        cmocka_unit_test(stops_sooner_far_from_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
