/* SPDX-License-Identifier: Apache-2.0 */
/* Candidate against baseline on timed calls: what is odd, what agrees, what must be escalated. */
#include "t.h"

#include "assay/judge.h"

#include <math.h>

enum { SIZE = 5000 };
static const double tau = 0x1p-13;

static struct assay_arena arena;

static const struct assay_index_rule to_values = {
    .input = 0, .dim_attr = -1, .values_out = 0, .distinct = true
};
static const struct assay_tol tolerances[] = {
    { ASSAY_I8, 3 }, { ASSAY_I32, 1 }, { ASSAY_BF16, 0 }, { 0, -1 }
};
static const struct assay_param one_out[] = { { .name = "y" }, { 0 } };
static const struct assay_param top_out[] = {
    { .name = "values" }, { .name = "at", .flags = ASSAY_PARAM_INDEX, .index = &to_values }, { 0 }
};
static const struct assay_param free_out[] = { { .name = "y" },
                                               { .name = "z", .flags = ASSAY_PARAM_UNJUDGED },
                                               { 0 } };
static const struct assay_op plain = { .name = "f", .out = one_out, .tol = tolerances, .n_tol = 3 };
static const struct assay_op top = { .name = "f", .out = top_out };
static const struct assay_op free_op = { .name = "f", .out = free_out };
static const struct assay_args no_args;

static struct assay_tensor tensor(enum assay_dtype d, const double *v, int64_t n)
{
    struct assay_tensor t = { .dtype = d, .rank = 1, .shape = { n } };

    t.data = assay_arena_zero(&arena, (size_t)(n + 1) * sizeof(double));
    assert_non_null(t.data);
    if (v)
        assay_store_n(&t, 0, n, v);
    return t;
}

static int reset(void **state)
{
    (void)state;
    assay_arena_reset(&arena);
    return 0;
}

static struct assay_tensor filled(enum assay_dtype d, double v)
{
    struct assay_tensor t = tensor(d, NULL, SIZE);

    for (int64_t i = 0; i < SIZE; i++)
        assay_store(&t, i, v);
    return t;
}

/* One output; *odd may be NULL. */
static bool agree(const struct assay_tensor *c, const struct assay_tensor *b, int64_t allow,
                  int64_t *odd)
{
    struct assay_slot cs[ASSAY_MAX_OUT] = { { (struct assay_tensor *)c, 1 } };
    struct assay_slot bs[ASSAY_MAX_OUT] = { { (struct assay_tensor *)b, 1 } };
    const int64_t allowed[ASSAY_MAX_OUT] = { allow };
    int64_t odds[ASSAY_MAX_OUT];
    bool a = assay_agree(odds, allowed, &plain, &no_args, cs, bs, 2);

    if (odd)
        *odd = odds[0];
    return a;
}

static void positions_are_odd_beyond_20_tau(void **state)
{
    struct assay_tensor b = filled(ASSAY_F32, 8), c = filled(ASSAY_F32, 8);
    int64_t odd;

    (void)state;
    assert_true(agree(&c, &b, 0, &odd));
    assert_int_equal(odd, 0);
    assay_store(&c, 4999, 8 * (1 + 19.99 * tau));
    assert_true(agree(&c, &b, 0, &odd));
    assert_int_equal(odd, 0);
    assay_store(&c, 4999, 8 * (1 + 20.01 * tau));
    assay_store(&c, 0, -8);
    assert_false(agree(&c, &b, 1, &odd));
    assert_int_equal(odd, 2);
}

/* 2 of 5000 positions, each 100 % off: the mean is 4e-4, over 2 tau, whatever is allowed. */
static void the_mean_decides_too(void **state)
{
    struct assay_tensor b = filled(ASSAY_F32, 8), c = filled(ASSAY_F32, 8);
    int64_t odd;

    (void)state;
    assay_store(&c, 3, 0);
    assert_true(agree(&c, &b, 1, &odd)); /* 2e-4 */
    assay_store(&c, 4, 0);
    assert_false(agree(&c, &b, 100, &odd));
    assert_int_equal(odd, 2);
    b = filled(ASSAY_F32, 8);
    c = filled(ASSAY_F32, 8 * (1 + 1.99 * tau));
    assert_true(agree(&c, &b, 0, &odd));
    c = filled(ASSAY_F32, 8 * (1 + 2.01 * tau));
    assert_false(agree(&c, &b, 0, &odd));
    assert_int_equal(odd, 0);
}

static void classes_must_be_the_same(void **state)
{
    static const double odd_pairs[][2] = {
        { NAN, 1 },        { 1, NAN }, { INFINITY, 1 }, { 1, INFINITY }, { INFINITY, -INFINITY },
        { NAN, INFINITY },
    };
    static const double even_pairs[][2] = {
        { NAN, NAN }, { INFINITY, INFINITY }, { -INFINITY, -INFINITY }, { 0, -0.0 }
    };
    static const enum assay_dtype dtypes[] = { ASSAY_F32, ASSAY_F16 };
    int64_t odd;

    (void)state;
    for (int d = 0; d < 2; d++) {
        struct assay_tensor b = filled(dtypes[d], 2), c = filled(dtypes[d], 2);

        for (size_t i = 0; i < sizeof odd_pairs / sizeof *odd_pairs; i++) {
            assay_store(&c, 1234, odd_pairs[i][0]);
            assay_store(&b, 1234, odd_pairs[i][1]);
            assert_false(agree(&c, &b, 0, &odd));
            assert_int_equal(odd, 1);
            assert_true(agree(&c, &b, 1, NULL)); /* left out of the mean */
        }
        for (size_t i = 0; i < sizeof even_pairs / sizeof *even_pairs; i++) {
            assay_store(&c, 1234, even_pairs[i][0]);
            assay_store(&b, 1234, even_pairs[i][1]);
            assert_true(agree(&c, &b, 0, &odd));
            assert_int_equal(odd, 0);
        }
    }
}

static void nothing_but_nan_agrees(void **state)
{
    struct assay_tensor b = filled(ASSAY_F32, NAN), c = filled(ASSAY_F32, NAN);

    (void)state;
    assert_true(agree(&c, &b, 0, NULL));
    b = tensor(ASSAY_F32, NULL, 0);
    c = tensor(ASSAY_F32, NULL, 0);
    assert_true(agree(&c, &b, 0, NULL));
}

static void integers_get_twice_their_tolerance(void **state)
{
    struct assay_tensor b = filled(ASSAY_I8, -100), c = filled(ASSAY_I8, -106);
    int64_t odd;

    (void)state;
    assert_true(agree(&c, &b, 0, &odd));
    assay_store_int(&c, 77, -107);
    assert_false(agree(&c, &b, 0, &odd));
    assert_int_equal(odd, 1);
    b = filled(ASSAY_I64, 5); /* no tolerance declared */
    c = filled(ASSAY_I64, 5);
    assert_true(agree(&c, &b, 0, NULL));
    assay_store_int(&c, SIZE - 1, INT64_MIN);
    assay_store_int(&b, SIZE - 1, 0);
    assert_false(agree(&c, &b, 0, &odd));
    assert_int_equal(odd, 1);
    b = filled(ASSAY_BOOL, 1);
    c = filled(ASSAY_BOOL, 1);
    assert_true(agree(&c, &b, 0, NULL));
    assay_store_int(&c, 0, 0);
    assert_false(agree(&c, &b, 0, &odd));
    assert_int_equal(odd, 1);
}

static void exact_floats_agree_bit_by_bit(void **state)
{
    struct assay_tensor b = filled(ASSAY_BF16, 1), c = filled(ASSAY_BF16, 1);
    int64_t odd;

    (void)state;
    assert_true(agree(&c, &b, 0, NULL));
    ((uint16_t *)c.data)[4000]++;
    assert_false(agree(&c, &b, 0, &odd));
    assert_int_equal(odd, 1);
}

static void forms_must_be_the_same(void **state)
{
    struct assay_tensor b = filled(ASSAY_F32, 1), c = filled(ASSAY_F32, 1);
    struct assay_slot cs[ASSAY_MAX_OUT] = { { &c, 1 } }, bs[ASSAY_MAX_OUT] = { { &b, 1 } };
    const int64_t allow[ASSAY_MAX_OUT] = { INT64_MAX, INT64_MAX };
    int64_t odd[ASSAY_MAX_OUT];

    (void)state;
    c.shape[0] = SIZE - 1; /* a data-dependent size */
    assert_false(agree(&c, &b, INT64_MAX, NULL));
    c = filled(ASSAY_F16, 1);
    assert_false(agree(&c, &b, INT64_MAX, NULL));
    c = filled(ASSAY_F32, 1);
    cs[0].n = 0;
    assert_false(assay_agree(odd, allow, &plain, &no_args, cs, bs, 1));
    bs[0].n = 0; /* absent on both sides */
    assert_true(assay_agree(odd, allow, &plain, &no_args, cs, bs, 1));
}

static void lists_share_their_allowance(void **state)
{
    struct assay_tensor b[3], c[3];
    struct assay_slot cs[ASSAY_MAX_OUT] = { { c, 3 } }, bs[ASSAY_MAX_OUT] = { { b, 3 } };
    int64_t odd[ASSAY_MAX_OUT];

    (void)state;
    for (int i = 0; i < 3; i++) {
        b[i] = filled(ASSAY_F32, 1);
        c[i] = filled(ASSAY_F32, 1);
        assay_store(&c[i], i, 1.01);
    }
    assert_false(assay_agree(odd, (int64_t[ASSAY_MAX_OUT]){ 2 }, &plain, &no_args, cs, bs, 1));
    assert_int_equal(odd[0], 3); /* 0.01 each, 20 tau is 0.0024 */
    assert_true(assay_agree(odd, (int64_t[ASSAY_MAX_OUT]){ 3 }, &plain, &no_args, cs, bs, 1));
}

static void unjudged_outputs_are_not_looked_at(void **state)
{
    struct assay_tensor b = filled(ASSAY_F32, 1), c = filled(ASSAY_F32, 1),
                        z = filled(ASSAY_F32, 7);
    struct assay_slot cs[ASSAY_MAX_OUT] = { { &c, 1 }, { &z, 1 } },
                      bs[ASSAY_MAX_OUT] = { { &b, 1 }, { &b, 1 } };
    const int64_t allow[ASSAY_MAX_OUT] = { 0 };
    int64_t odd[ASSAY_MAX_OUT];

    (void)state;
    assert_true(assay_agree(odd, allow, &free_op, &no_args, cs, bs, 1));
    assert_int_equal(odd[1], 0);
}

/* The baseline's choice among ties does not bind the candidate; every wrong index counts. */
static void indices_agree_by_what_they_point_at(void **state)
{
    static const double x[] = { 4, 4, 4, 1, 0 }, v[] = { 4, 4, 4 };
    struct assay_tensor in = tensor(ASSAY_F32, x, 5), values = tensor(ASSAY_F32, v, 3);
    struct assay_tensor ci = tensor(ASSAY_I64, (double[]){ 2, 0, 1 }, 3),
                        bi = tensor(ASSAY_I64, (double[]){ 0, 1, 2 }, 3);
    struct assay_tensor c[] = { values, ci }, b[] = { values, bi };
    struct assay_slot cs[ASSAY_MAX_OUT] = { { &c[0], 1 }, { &c[1], 1 } };
    struct assay_slot bs[ASSAY_MAX_OUT] = { { &b[0], 1 }, { &b[1], 1 } };
    struct assay_args args = { .in = { { &in, 1 } } };
    const int64_t allow[ASSAY_MAX_OUT] = { 0 };
    int64_t odd[ASSAY_MAX_OUT], *at = ci.data;

    (void)state;
    assert_true(assay_agree(odd, allow, &top, &args, cs, bs, 1));
    at[0] = 3;
    at[1] = 9;
    assert_false(assay_agree(odd, allow, &top, &args, cs, bs, 1));
    assert_int_equal(odd[1], 2);
    at[0] = at[1] = 1;
    assert_false(assay_agree(odd, allow, &top, &args, cs, bs, 1));
    assert_int_equal(odd[1], 2); /* index 1 stands there three times */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(positions_are_odd_beyond_20_tau, reset),
        cmocka_unit_test_setup(the_mean_decides_too, reset),
        cmocka_unit_test_setup(classes_must_be_the_same, reset),
        cmocka_unit_test_setup(nothing_but_nan_agrees, reset),
        cmocka_unit_test_setup(integers_get_twice_their_tolerance, reset),
        cmocka_unit_test_setup(exact_floats_agree_bit_by_bit, reset),
        cmocka_unit_test_setup(forms_must_be_the_same, reset),
        cmocka_unit_test_setup(lists_share_their_allowance, reset),
        cmocka_unit_test_setup(unjudged_outputs_are_not_looked_at, reset),
        cmocka_unit_test_setup(indices_agree_by_what_they_point_at, reset),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    assay_arena_release(&arena);
    return failed;
}
