/* SPDX-License-Identifier: Apache-2.0 */
/* test_timing_rounds.c: both orders within each round of fresh processes, and what disturbed pairs
 * say of the baseline. */
#include "t.h"

#include "timing/estimate.h"

#include <math.h>

/* A round that ends in the middle of a couple does not turn the couples of the next one apart. */
static void couples_do_not_cross_rounds(void **state)
{
    static const struct assay_plan_limits limits = { .target = 0.01,
                                                     .block_ns = 250e3,
                                                     .block_most_ns = 100e6,
                                                     .max_calls = 64,
                                                     .rounds = 100,
                                                     .round_pairs = 8,
                                                     .max_pairs = 2000 };
    const struct assay_pair pair = { .base_ns = 1000, .cand_ns = 1000, .n_calls = 1 };
    struct assay_plan *p = assay_plan_new(&limits, assay_key(5, "rounds", 1, 0, 0));

    (void)state;
    assert_non_null(p);
    for (int round = 0; round < 100; round++) {
        bool cand_first, before = false;
        int n_calls;

        for (int i = 0; i < 5; i++) {
            assay_plan_next(p, &n_calls, &cand_first);
            assert_int_equal(assay_plan_add(p, &pair, 1), ASSAY_OK);
            if (i % 2)
                assert_true(cand_first != before);
            before = cand_first;
        }
        assay_plan_new_round(p);
    }
    assay_plan_free(p);
}

/* Twelve pairs at 100 ns, four disturbed ones at 10: the baseline took 100, as the ratio says.
 * Where all are disturbed, all count. */
static void baseline_of_the_same_pairs(void **state)
{
    static const double no_null[16];
    struct assay_pair pair[16];
    struct assay_time t;

    (void)state;
    for (int i = 0; i < 16; i++) {
        bool quiet = i % 4;

        pair[i] = (struct assay_pair){
            .base_ns = quiet ? 100 : 10, .cand_ns = 200, .n_calls = 1, .disturbed = !quiet
        };
    }
    assert_int_equal(assay__estimate(&t, pair, no_null, 16), ASSAY_OK);
    assert_int_equal(t.n_discarded, 4);
    assert_true(t.base_ns == 100 && t.base_lo == 100 && t.base_hi == 100);
    assert_true(fabs(t.ratio - 2) < 1e-12 && fabs(t.cand_ns - 200) < 1e-9);
    for (int i = 0; i < 16; i++)
        pair[i].disturbed = true;
    assert_int_equal(assay__estimate(&t, pair, no_null, 16), ASSAY_OK);
    assert_int_equal(t.n_discarded, 0);
    assert_true(fabs(t.base_ns - 77.5) < 1e-9); /* four of 10, then 100: 3.75 places in */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(couples_do_not_cross_rounds),
        cmocka_unit_test(baseline_of_the_same_pairs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
