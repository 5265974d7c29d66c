/* SPDX-License-Identifier: Apache-2.0 */
/* test_outside.c: when work outside of calls is beyond chance. */
#include "t.h"

#include "assay/time.h"

#include <math.h>

enum { BLOCK_US = 250 };

static void add(struct assay_outside *o, int n, double more_us)
{
    for (int i = 0; i < n; i++) {
        double cand_ns = BLOCK_US * 1e3, base_ns = BLOCK_US * 1e3;

        assay_outside_add(o, 10e3 + fmax(more_us, 0) * 1e3, 10e3 + fmax(-more_us, 0) * 1e3,
                          &cand_ns, &base_ns, 2);
    }
}

/* A twentieth of the block, 5 us, and what the other side took, at least; the side that took more
 * pays for it. */
static void margins(void **state)
{
    struct assay_outside o = { 0 };
    double cand_ns = 250e3, base_ns = 500e3;

    (void)state;
    add(&o, 1, 12.4);
    add(&o, 1, -12.4);
    assert_true(o.n == 2 && o.n_more == 0 && o.n_less == 0);
    add(&o, 1, 12.6);
    add(&o, 2, -12.6);
    assert_true(o.n == 5 && o.n_more == 1 && o.n_less == 2);
    assert_true(o.more_ns > 12.59e3 && o.more_ns < 12.61e3);
    assay_outside_add(&o, 20e3, 8e3, &cand_ns, &base_ns, 2);
    assert_true(cand_ns == 250e3 && base_ns == 500e3);
    assay_outside_add(&o, 21e3, 8e3, &cand_ns, &base_ns, 2);
    assert_true(cand_ns == 263e3 && base_ns == 500e3);
    assay_outside_add(&o, 8e3, 32e3, &cand_ns, &base_ns,
                      2); /* of its own block, not of the other */
    assert_true(cand_ns == 263e3 && base_ns == 500e3);
    assay_outside_add(&o, 8e3, 34e3, &cand_ns, &base_ns, 2);
    assert_true(cand_ns == 263e3 && base_ns == 526e3);
    cand_ns = base_ns = 1e3;
    assay_outside_add(&o, 4.9e3, 0, &cand_ns, &base_ns, 2);
    assert_true(cand_ns == 1e3);
    assay_outside_add(&o, 300e3, 0, &cand_ns, &base_ns, 2); /* all of the work before its calls */
    assert_true(cand_ns == 301e3 && base_ns == 1e3);
    /* where calls need much around them, less than as much again is the machine's */
    cand_ns = base_ns = 250e3;
    assay_outside_add(&o, 299e3, 150e3, &cand_ns, &base_ns, 2);
    assay_outside_add(&o, 150e3, 299e3, &cand_ns, &base_ns, 2);
    assert_true(cand_ns == 250e3 && base_ns == 250e3);
    assay_outside_add(&o, 301e3, 150e3, &cand_ns, &base_ns, 2);
    assert_true(cand_ns == 401e3);
}

static bool exceeds(int n_more, int n_less, int n_alike)
{
    struct assay_outside o = { 0 };

    add(&o, n_more / 2, 50);
    assay_outside_restart(&o);
    add(&o, n_more - n_more / 2, 50);
    add(&o, n_less, -50);
    add(&o, n_alike, 0);
    return assay_outside_exceeds(&o);
}

/* One process alone is no proof, however many blocks it had; nor is one with a few of another. */
static void two_processes(void **state)
{
    struct assay_outside o = { 0 };

    (void)state;
    add(&o, 100, 50);
    assert_false(assay_outside_exceeds(&o));
    assay_outside_restart(&o);
    add(&o, 100, 0);
    assay_outside_restart(&o);
    add(&o, 2, 50);
    assert_false(assay_outside_exceeds(&o));
    add(&o, 2, -50);
    add(&o, 1, 50);
    assert_true(assay_outside_exceeds(&o)); /* 3 more, 2 less: the second */
    o = (struct assay_outside){ 0 };
    add(&o, 100, 50);
    assay_outside_restart(&o);
    add(&o, 3, 50);
    add(&o, 3, -50);
    assert_false(assay_outside_exceeds(&o));
}

/*
 * Probabilities of a fair coin, by hand: 17 of 17: 7.6e-6, below one in a hundred thousand where
 * most blocks show it; 16 of 16: 1.5e-5, above. 20 of 20: 9.5e-7, below one in a million, which a
 * minority of the blocks needs; 19 of 19: 1.9e-6, above.
 */
static void limits(void **state)
{
    (void)state;
    assert_false(exceeds(0, 0, 100));
    assert_false(exceeds(4, 0, 0));
    assert_false(exceeds(16, 0, 1)); /* most */
    assert_true(exceeds(17, 0, 1));
    assert_false(exceeds(19, 0, 60)); /* some */
    assert_true(exceeds(20, 0, 60));
    assert_false(exceeds(20, 0, 381)); /* fewer than one in twenty */
    assert_true(exceeds(20, 0, 380));
}

/*
 * Small, but nearly always more: the median of it, for each of the two calls of a block. By hand:
 * 2^-14 = 6.1e-5, below one in ten thousand; 2^-13 = 1.2e-4, above.
 */
static void steady(void **state)
{
    struct assay_outside o = { 0 };

    (void)state;
    add(&o, 13, 4);
    assert_true(assay_outside_steady(&o) == 0);
    add(&o, 1, 6);
    assert_true(fabs(assay_outside_steady(&o) - 2000) < 0.01);
    assert_false(assay_outside_exceeds(&o));
    o = (struct assay_outside){ 0 };
    add(&o, 100, -4);
    assert_true(assay_outside_steady(&o) == 0);
    add(&o, 100, 4);
    assert_true(assay_outside_steady(&o) == 0);
}

/* What a busy machine does to both sides alike is nobody's fault. */
static void noise_is_even(void **state)
{
    (void)state;
    assert_false(exceeds(50, 50, 0));
    assert_false(exceeds(60, 40, 100));
    assert_true(exceeds(80, 20, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(margins), cmocka_unit_test(limits),        cmocka_unit_test(two_processes),
        cmocka_unit_test(steady),  cmocka_unit_test(noise_is_even),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
