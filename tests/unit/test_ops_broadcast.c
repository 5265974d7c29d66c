/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_broadcast.c: maximum and gcd against values worked
 * out by hand. */
#include "op_inputs.h"

#include <math.h>

enum { MANY = 4001 };

/* A tensor of integers, which doubles may not hold. */
static void longs(struct call *k, int i, enum assay_dtype d, int64_t n, const int64_t *v)
{
    in(k, i, d, n, NULL);
    for (int64_t e = 0; e < n; e++)
        assay_store_int(k->data[i].t, e, v[e]);
}

/* ---- maximum --------------------------------------------------------------------------------- */

static double larger(double a, double b)
{
    struct call *k = begin("maximum");
    double y;

    in(k, 0, ASSAY_F32, 1, &a);
    in(k, 1, ASSAY_F32, 1, &b);
    run(k, false);
    y = result(k, 0);
    end(k);
    return y;
}

static void test_maximum(void **state)
{
    (void)state;
    assert_true(larger(1, 2) == 2 && larger(2, 1) == 2 && larger(-2, -1) == -1);
    assert_true(larger(INFINITY, 1) == INFINITY && larger(1, -INFINITY) == 1);
    assert_true(isnan(larger(NAN, INFINITY)) && isnan(larger(INFINITY, NAN)));
    assert_true(isnan(larger(NAN, -1)) && isnan(larger(-INFINITY, NAN)));
    /* equal numbers: the first */
    assert_true(!signbit(larger(0.0, -0.0)) && signbit(larger(-0.0, 0.0)));
}

static void maximum_of(int rank1, const int64_t *shape1, int rank2, const int64_t *shape2,
                       const double *x2, const double want[6])
{
    static const double x1[] = { 1, 5, -2, 4, 0, 3 };
    struct call *k = begin("maximum");

    in_shape(k, 0, ASSAY_F16, rank1, shape1, x1);
    in_shape(k, 1, ASSAY_F16, rank2, shape2, x2);
    run(k, false);
    assert_int_equal(k->want[0].t[0].rank, 2);
    assert_int_equal(k->want[0].t[0].shape[0], 2);
    assert_int_equal(k->want[0].t[0].shape[1], 3);
    expect(k, 0, want, 6);
    end(k);
}

/* x1 is [1 5 -2; 4 0 3], or its first row or column. */
static void test_broadcast(void **state)
{
    const int64_t whole[] = { 2, 3 }, row[] = { 1, 3 }, column[] = { 2, 1 }, one[] = { 1, 1 };
    const double three[] = { 2, 2, 1 }, two[] = { 0, 3.5 }, number[] = { 3 };

    (void)state;
    maximum_of(2, whole, 2, row, three, (const double[]){ 2, 5, 1, 4, 2, 3 });
    maximum_of(2, whole, 1, row + 1, three, (const double[]){ 2, 5, 1, 4, 2, 3 });
    maximum_of(2, whole, 2, column, two, (const double[]){ 1, 5, 0, 4, 3.5, 3.5 });
    maximum_of(2, whole, 2, one, number, (const double[]){ 3, 5, 3, 4, 3, 3 });
    maximum_of(2, whole, 1, one, number, (const double[]){ 3, 5, 3, 4, 3, 3 });
    maximum_of(2, whole, 0, one, number, (const double[]){ 3, 5, 3, 4, 3, 3 });
    maximum_of(2, row, 2, column, two, (const double[]){ 1, 5, 0, 3.5, 5, 3.5 });
    maximum_of(1, row + 1, 2, column, two, (const double[]){ 1, 5, 0, 3.5, 5, 3.5 });
}

/* An axis of x1 between two of x2: [2,1,2] and [3,1] give [2,3,2]. */
static void test_broadcast_between(void **state)
{
    const int64_t shape1[] = { 2, 1, 2 }, shape2[] = { 3, 1 };
    const double x1[] = { 1, 4, 7, 2 }, x2[] = { 3, 0, 5 };
    struct call *k = begin("maximum");

    (void)state;
    in_shape(k, 0, ASSAY_I32, 3, shape1, x1);
    in_shape(k, 1, ASSAY_I32, 2, shape2, x2);
    run(k, false);
    assert_int_equal(k->want[0].t[0].rank, 3);
    expect(k, 0, (const double[]){ 3, 4, 1, 4, 5, 5, 7, 3, 7, 2, 7, 5 }, 12);
    end(k);
}

static void test_maximum_ints(void **state)
{
    const int64_t a[] = { INT64_MIN, INT64_MAX - 1, 9007199254740993, -9007199254740993 };
    const int64_t b[] = { INT64_MIN + 1, INT64_MAX, 9007199254740992, -9007199254740992 };
    const double low[] = { -128, 127, -1 }, high[] = { 127, -128, -2 };
    struct call *k = begin("maximum");

    (void)state;
    longs(k, 0, ASSAY_I64, 4, a);
    longs(k, 1, ASSAY_I64, 4, b);
    run(k, false);
    assert_int_equal(k->want[0].t[0].dtype, ASSAY_I64);
    assert_true(assay_load_int(k->want[0].t, 0) == INT64_MIN + 1);
    assert_true(assay_load_int(k->want[0].t, 1) == INT64_MAX);
    assert_true(assay_load_int(k->want[0].t, 2) == 9007199254740993);
    assert_true(assay_load_int(k->want[0].t, 3) == -9007199254740992);
    end(k);
    k = begin("maximum");
    in(k, 0, ASSAY_I8, 3, low);
    in(k, 1, ASSAY_I8, 3, high);
    run(k, true);
    assert_int_equal(k->want[0].t[0].dtype, ASSAY_I8);
    expect(k, 0, (const double[]){ 127, 127, -1 }, 3);
    end(k);
}

static void test_broadcast_empty(void **state)
{
    const int64_t none[] = { 0, 3 }, one[] = { 1, 3 };
    struct call *k = begin("maximum");

    (void)state;
    in_shape(k, 0, ASSAY_F32, 2, none, NULL);
    in_shape(k, 1, ASSAY_F32, 2, one, NULL);
    run(k, false);
    assert_int_equal(k->want[0].t[0].shape[0], 0);
    assert_int_equal(k->want[0].t[0].shape[1], 3);
    end(k);
}

static void test_broadcast_refusals(void **state)
{
    static const char *const ops[] = { "maximum", "gcd" };
    const int64_t shape1[] = { 2, 3 }, shape2[] = { 3, 2 };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct call *k = begin(ops[i]);

        in_shape(k, 0, ASSAY_I32, 2, shape1, NULL);
        in_shape(k, 1, ASSAY_I32, 2, shape2, NULL);
        refused(k, "x2 is int32 [3,2], x1 is int32 [2,3]: extents must be equal, or one of them 1");
        k = begin(ops[i]);
        in(k, 0, ASSAY_I32, 4, NULL);
        in(k, 1, ASSAY_I64, 4, NULL);
        refused(k, "x2 is int64 [4], x1 is int32 [4]: they must have one dtype");
        k = begin(ops[i]);
        in(k, 0, ASSAY_U8, 4, NULL);
        in(k, 1, ASSAY_U8, 4, NULL);
        refused(k, "input x1 does not take uint8");
    }
}

static void test_broadcast_threads(void **state)
{
    const int64_t shape1[] = { 7, 1, 3, 1009 }, shape2[] = { 11, 1, 1 };
    struct call *k = begin("maximum");

    (void)state;
    in_shape(k, 0, ASSAY_F32, 4, shape1, NULL);
    in_shape(k, 1, ASSAY_F32, 3, shape2, NULL);
    range(k, 0, -1, INFINITY);
    range(k, 1, -1, 1);
    same_bits(k);
    k = begin("gcd");
    in_shape(k, 0, ASSAY_I64, 4, shape1, NULL);
    in_shape(k, 1, ASSAY_I64, 3, shape2, NULL);
    range(k, 0, -0x1p63, 0x1p63);
    range(k, 1, -1e9, 1e12);
    same_bits(k);
}

/* ---- gcd ------------------------------------------------------------------------------------- */

static int64_t gcd_of(enum assay_dtype d, int64_t a, int64_t b)
{
    int64_t y[2];

    for (int swap = 0; swap < 2; swap++) {
        struct call *k = begin("gcd");

        longs(k, swap, d, 1, &a);
        longs(k, 1 - swap, d, 1, &b);
        run(k, swap);
        assert_int_equal(k->want[0].t[0].dtype, d);
        y[swap] = assay_load_int(k->want[0].t, 0);
        end(k);
    }
    assert_true(y[0] == y[1]);
    return y[0];
}

static void test_gcd(void **state)
{
    static const enum assay_dtype dtypes[] = { ASSAY_I16, ASSAY_I32, ASSAY_I64 };

    (void)state;
    for (int i = 0; i < 3; i++) {
        enum assay_dtype d = dtypes[i];

        assert_true(gcd_of(d, 12, 18) == 6 && gcd_of(d, -12, 18) == 6);
        assert_true(gcd_of(d, -12, -18) == 6 && gcd_of(d, 17, 17) == 17);
        assert_true(gcd_of(d, 0, 0) == 0 && gcd_of(d, 0, -7) == 7 && gcd_of(d, 1, -1) == 1);
        assert_true(gcd_of(d, 7919, 3571) == 1);              /* primes */
        assert_true(gcd_of(d, 28657, 17711) == 1);            /* Fibonacci numbers 23 and 22 */
        assert_true(gcd_of(d, 8192, -2048) == 2048);          /* powers of two */
        assert_true(gcd_of(d, 30030, 2 * 3 * 7 * 13) == 546); /* 30030 = 2 3 5 7 11 13 */
    }
    assert_true(gcd_of(ASSAY_I64, 2880067194370816120, 1779979416004714189) == 1);
    /* 3 (2^53 + 1) and 2^53 + 1 */
    assert_true(gcd_of(ASSAY_I64, 27021597764222979, 9007199254740993) == 9007199254740993);
    assert_true(gcd_of(ASSAY_I64, (int64_t)1 << 40, 3 * ((int64_t)1 << 35)) == (int64_t)1 << 35);
}

/* The magnitude of the smallest number fits as long as the result is a part of it. */
static void test_gcd_smallest(void **state)
{
    static const enum assay_dtype dtypes[] = { ASSAY_I16, ASSAY_I32, ASSAY_I64 };
    static const int64_t least[] = { INT16_MIN, INT32_MIN, INT64_MIN };

    (void)state;
    for (int i = 0; i < 3; i++) {
        enum assay_dtype d = dtypes[i];

        assert_true(gcd_of(d, least[i], least[i]) == least[i]);
        assert_true(gcd_of(d, least[i], 0) == least[i]);
        assert_true(gcd_of(d, least[i], 12) == 4 && gcd_of(d, least[i], -6) == 2);
        assert_true(gcd_of(d, least[i], least[i] / 2) == -(least[i] / 2));
        assert_true(gcd_of(d, least[i], -(least[i] + 1)) == 1);
    }
}

/* gcd(k a, k b) = k gcd(a, b), and the result divides both. */
static void test_gcd_scales(void **state)
{
    const struct assay_key key = assay_key(1, "gcd", 0, 0, 0);
    struct call *once = begin("gcd"), *scaled = begin("gcd");
    int64_t a[MANY], b[MANY];

    (void)state;
    for (uint64_t i = 0; i < MANY; i++) {
        a[i] = (int64_t)assay_rng_below(key, 3 * i, 1 << 24) - (1 << 23);
        b[i] = (int64_t)assay_rng_below(key, 3 * i + 1, 1 << 12);
    }
    longs(once, 0, ASSAY_I32, MANY, a);
    longs(once, 1, ASSAY_I32, MANY, b);
    for (uint64_t i = 0; i < MANY; i++) {
        int64_t k = 1 + (int64_t)assay_rng_below(key, 3 * i + 2, (uint64_t)1 << 39);

        a[i] *= k;
        b[i] *= -k;
    }
    longs(scaled, 0, ASSAY_I64, MANY, a);
    longs(scaled, 1, ASSAY_I64, MANY, b);
    run(once, false);
    run(scaled, false);
    for (uint64_t i = 0; i < MANY; i++) {
        int64_t k = 1 + (int64_t)assay_rng_below(key, 3 * i + 2, (uint64_t)1 << 39);
        int64_t y = assay_load_int(once->want[0].t, (int64_t)i);

        assert_true(y >= 0 && assay_load_int(scaled->want[0].t, (int64_t)i) == k * y);
        assert_true(y == 0 ? a[i] == 0 && b[i] == 0 : a[i] / k % y == 0 && b[i] / k % y == 0);
    }
    end(once);
    end(scaled);
}

/* Values stay in their ranges, and all that was asked for occurs. */
static void test_gcd_inputs(void **state)
{
    struct call *k = begin("gcd");
    int zeros = 0, ends = 0, equal = 0, divides = 0;

    (void)state;
    in(k, 0, ASSAY_I32, MANY, NULL);
    in(k, 1, ASSAY_I32, MANY, NULL);
    range(k, 0, -0x1p31, 0x1p31 - 1);
    range(k, 1, -50000, 1000);
    make_inputs(k, 2);
    for (int64_t i = 0; i < MANY; i++) {
        int64_t a = assay_load_int(k->args.in[0].t, i), b = assay_load_int(k->args.in[1].t, i);

        assert_true(b >= -50000 && b <= 1000);
        zeros += a == 0;
        ends += a == INT32_MIN;
        equal += b != 0 && (a == b || a == -b);
        divides += b < -1 && a != 0 && a % b == 0;
    }
    assert_in_range(zeros, MANY / 32, MANY / 8);
    assert_in_range(ends, MANY / 64, MANY / 16);
    assert_in_range(equal, MANY / 64, MANY / 8);
    assert_in_range(divides, MANY / 64, MANY / 2);
    range(k, 0, 0, 0);
    range(k, 1, 7, 7);
    make_inputs(k, 1);
    for (int64_t i = 0; i < MANY; i++)
        assert_true(assay_load_int(k->args.in[0].t, i) == 0 &&
                    assay_load_int(k->args.in[1].t, i) == 7);
    end(k);
}

/* Five operations for each of ceil(log 100 / log 1.618) = 10 steps. */
static void test_gcd_work(void **state)
{
    struct call *k = begin("gcd");
    struct assay_work w;

    (void)state;
    in(k, 0, ASSAY_I64, 6, NULL);
    in(k, 1, ASSAY_I64, 1, NULL);
    range(k, 0, -50, 10);
    range(k, 1, 0, 100);
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_VEC_64] == 6 * 50);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 56 && w.bytes_out == 48 && w.amount[ASSAY_UNIT_ALU] == 12);
    range(k, 1, -1, 1);
    range(k, 0, 0, 0);
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_VEC_64] == 0);
    end(k);
}

static void test_tolerances(void **state)
{
    (void)state;
    assert_true(assay_op_tau(assay_op_find("maximum"), ASSAY_F32) == 0x1p-13);
    assert_true(assay_op_tau(assay_op_find("gcd"), ASSAY_I64) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maximum),           cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_broadcast_between), cmocka_unit_test(test_maximum_ints),
        cmocka_unit_test(test_broadcast_empty),   cmocka_unit_test(test_broadcast_refusals),
        cmocka_unit_test(test_broadcast_threads), cmocka_unit_test(test_gcd),
        cmocka_unit_test(test_gcd_smallest),      cmocka_unit_test(test_gcd_scales),
        cmocka_unit_test(test_gcd_inputs),        cmocka_unit_test(test_gcd_work),
        cmocka_unit_test(test_tolerances),
    };

    return cmocka_run_group_tests_name("ops_broadcast", tests, NULL, NULL);
}
