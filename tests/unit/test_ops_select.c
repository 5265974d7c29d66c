/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_select.c: operators that pick elements along an axis: arg_max, cummin. */
#include "op_inputs.h"

#include "assay/judge.h"

#include <math.h>

#define COUNT(a) ((int64_t)(sizeof(a) / sizeof *(a)))

static int64_t int_of(const struct call *k, int o, int64_t i)
{
    return assay_load_int(&k->want[o].t[0], i);
}

static void ints_are(const struct call *k, int o, int64_t n, const int64_t *want)
{
    assert_int_equal(k->want[o].t[0].dtype, ASSAY_I64);
    assert_int_equal(assay_numel(&k->want[o].t[0]), n);
    for (int64_t i = 0; i < n; i++)
        if (int_of(k, o, i) != want[i])
            fail_msg("index %lld: got %lld, want %lld", (long long)i, (long long)int_of(k, o, i),
                     (long long)want[i]);
}

static struct call *along(const char *op, enum assay_dtype d, int rank, const int64_t *shape,
                          const double *x, int64_t dim)
{
    struct call *k = begin(op);

    in_shape(k, 0, d, rank, shape, x);
    attr(k, "dim")->i = dim;
    return k;
}

/* ---- arg_max --------------------------------------------------------------------------------- */

static const int64_t two_by_three[] = { 2, 3 };
static const double six[] = { 1, 5, 5, 7, 2, 7 };

static void arg_max_is(enum assay_dtype d, int64_t n, const double *x, int64_t want)
{
    for (int native = 0; native < 2; native++) {
        struct call *k = along("arg_max", d, 1, &n, x, -1);

        run(k, native);
        shape_is(k, 0, 0, NULL);
        ints_are(k, 0, 1, &want);
        end(k);
    }
}

static void test_arg_max_axes(void **state)
{
    static const int64_t rows[] = { 1, 0 }, columns[] = { 1, 0, 1 };

    (void)state;
    for (int64_t dim = -2; dim < 2; dim++)
        for (int keep = 0; keep < 2; keep++) {
            struct call *k = along("arg_max", ASSAY_F32, 2, two_by_three, six, dim);
            bool first = dim == 0 || dim == -2;
            int64_t kept[] = { first ? 1 : 2, first ? 3 : 1 }, left = first ? 3 : 2;

            attr(k, "keepdim")->i = keep;
            run(k, false);
            shape_is(k, 0, keep ? 2 : 1, keep ? kept : &left);
            ints_are(k, 0, left, first ? columns : rows);
            end(k);
        }
}

static void test_arg_max_values(void **state)
{
    const double ties[] = { 1, 3, 3 }, zeros[] = { -0.0, 0.0, -0.0 },
                 nan[] = { 1, NAN, INFINITY, NAN };
    const double low[] = { -INFINITY, -INFINITY, -65504, -INFINITY },
                 same[] = { -INFINITY, -INFINITY };
    const double last[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, one = -4;

    (void)state;
    arg_max_is(ASSAY_F32, 3, ties, 1);
    arg_max_is(ASSAY_I32, 3, ties, 1);
    arg_max_is(ASSAY_F32, 3, zeros, 0);
    arg_max_is(ASSAY_F16, 4, nan, 1);
    arg_max_is(ASSAY_BF16, 4, nan, 1);
    arg_max_is(ASSAY_F16, 4, low, 2);
    arg_max_is(ASSAY_F32, 2, same, 0);
    arg_max_is(ASSAY_BF16, 9, last, 8);
    arg_max_is(ASSAY_I64, 1, &one, 0);
}

/* 2^53 + 1 is the first integer that doubles do not have. */
static void test_arg_max_int64(void **state)
{
    static const int64_t v[][3] = {
        { ((int64_t)1 << 53), ((int64_t)1 << 53) + 1, ((int64_t)1 << 53) },
        { INT64_MAX - 2, INT64_MAX - 1, INT64_MAX - 2 },
        { INT64_MIN, INT64_MIN + 1, INT64_MIN },
        { -((int64_t)1 << 60) - 1, -((int64_t)1 << 60), -((int64_t)1 << 60) },
    };
    const int64_t n = 3, one = 1;

    (void)state;
    for (int64_t i = 0; i < COUNT(v); i++) {
        struct call *k = along("arg_max", ASSAY_I64, 1, &n, NULL, 0);

        memcpy(k->data[0].t[0].data, v[i], sizeof v[i]);
        run(k, false);
        ints_are(k, 0, 1, &one);
        end(k);
    }
}

static void test_arg_max_forms(void **state)
{
    const int64_t none[] = { 0, 3 }, zero = 0, deep[] = { 1, 1, 2, 1, 1, 1, 1, 1 };
    const double x[] = { 4, 6 };
    struct call *k;

    (void)state;
    for (int64_t dim = -1; dim < 1; dim++) {
        k = along("arg_max", ASSAY_F16, 0, NULL, x, dim);
        run(k, false);
        shape_is(k, 0, 0, NULL);
        ints_are(k, 0, 1, &zero);
        end(k);
    }
    k = along("arg_max", ASSAY_F32, 2, none, NULL, 1);
    run(k, false);
    shape_is(k, 0, 1, &zero);
    end(k);
    k = along("arg_max", ASSAY_F32, 8, deep, x, 2);
    run(k, false);
    assert_int_equal(k->want[0].t[0].rank, 7);
    assert_int_equal(int_of(k, 0, 0), 1);
    end(k);
}

/* ---- cummin ---------------------------------------------------------------------------------- */

static void cummin_is(enum assay_dtype d, int64_t n, const double *x, const double *values,
                      const int64_t *indices)
{
    for (int native = 0; native < 2; native++) {
        struct call *k = along("cummin", d, 1, &n, x, 0);

        run(k, native);
        for (int64_t i = 0; i < n; i++)
            assert_true(result(k, i) == values[i] || (isnan(result(k, i)) && isnan(values[i])));
        ints_are(k, 1, n, indices);
        end(k);
    }
}

static void test_cummin_values(void **state)
{
    const double x[] = { 3, 1, 2, 1, 0, 5 }, y[] = { 3, 1, 1, 1, 0, 0 };
    const double special[] = { INFINITY, 2, NAN, 1, NAN, -INFINITY };
    const double of_special[] = { INFINITY, 2, NAN, NAN, NAN, NAN };
    const double low[] = { -INFINITY, 0, -INFINITY, -65504 };
    const double of_low[] = { -INFINITY, -INFINITY, -INFINITY, -INFINITY };
    const double ends[] = { 2147483647, -2147483648.0, -2147483647, -2147483648.0 };
    const double of_ends[] = { 2147483647, -2147483648.0, -2147483648.0, -2147483648.0 };
    const int64_t at[] = { 0, 1, 1, 3, 4, 4 }, at_special[] = { 0, 1, 2, 2, 4, 4 };
    const int64_t at_low[] = { 0, 0, 2, 2 }, at_ends[] = { 0, 1, 1, 3 };

    (void)state;
    cummin_is(ASSAY_F32, 6, x, y, at);
    cummin_is(ASSAY_F16, 6, x, y, at);
    cummin_is(ASSAY_I32, 6, x, y, at);
    cummin_is(ASSAY_F32, 6, special, of_special, at_special);
    cummin_is(ASSAY_BF16, 6, special, of_special, at_special);
    cummin_is(ASSAY_F16, 4, low, of_low, at_low);
    cummin_is(ASSAY_I32, 4, ends, of_ends, at_ends);
    cummin_is(ASSAY_F32, 0, x, y, at);
}

static void test_cummin_axes(void **state)
{
    static const double down[] = { 1, 5, 5, 1, 2, 5 }, across[] = { 1, 1, 1, 7, 2, 2 };
    static const int64_t at_down[] = { 0, 0, 0, 0, 1, 0 }, at_across[] = { 0, 0, 0, 0, 1, 1 };

    (void)state;
    for (int64_t dim = -2; dim < 2; dim++) {
        struct call *k = along("cummin", ASSAY_F32, 2, two_by_three, six, dim);
        bool first = dim == 0 || dim == -2;

        run(k, false);
        shape_is(k, 0, 2, two_by_three);
        shape_is(k, 1, 2, two_by_three);
        for (int i = 0; i < 6; i++)
            assert_true(result(k, i) == (first ? down : across)[i]);
        ints_are(k, 1, 6, first ? at_down : at_across);
        end(k);
    }
}

static void test_cummin_scalar(void **state)
{
    struct call *k = along("cummin", ASSAY_F32, 0, NULL, six + 1, -1);
    const int64_t zero = 0;

    (void)state;
    run(k, false);
    shape_is(k, 0, 0, NULL);
    assert_true(result(k, 0) == 5);
    ints_are(k, 1, 1, &zero);
    end(k);
}

/* ---- inputs as cases have them --------------------------------------------------------------- */

static struct call *drawn_along(const char *op, enum assay_dtype d, const int64_t shape[3],
                                int64_t dim, double lo, double hi, uint64_t seed)
{
    const int rank = 3;
    struct call *k =
        drawn(op, 1, &d, &rank, (const int64_t(*)[3])shape, &(struct assay_range){ lo, hi });

    attr(k, "dim")->i = dim;
    fill_inputs(k, seed);
    run(k, false);
    return k;
}

static const int64_t odd_shape[] = { 5, 67, 37 };

/* Strides of an axis of odd_shape, and where slice s of it begins. */
static int64_t slice_at(int64_t dim, int64_t s, int64_t *n, int64_t *step)
{
    *n = odd_shape[dim];
    *step = dim == 2 ? 1 : dim == 1 ? odd_shape[2] : odd_shape[1] * odd_shape[2];
    return s / *step * *step * *n + s % *step;
}

/* The element picked is no smaller than any other of its slice, and larger than those before it. */
static void check_arg_max(const struct call *k, int64_t dim)
{
    const struct assay_tensor *x = &k->args.in[0].t[0];
    int64_t n, step;

    for (int64_t s = 0; s < assay_numel(&k->want[0].t[0]); s++) {
        int64_t at = slice_at(dim, s, &n, &step), best = int_of(k, 0, s);
        double v = assay_load(x, at + best * step);

        assert_in_range(best, 0, n - 1);
        for (int64_t i = 0; i < n; i++) {
            double w = assay_load(x, at + i * step);

            assert_true(isnan(v) ? i >= best || !isnan(w) : i < best ? w < v : w <= v);
        }
    }
}

/* Each value is the element that its index names, which lies behind no other of its kind. */
static void check_cummin(const struct call *k, int64_t dim)
{
    const struct assay_tensor *x = &k->args.in[0].t[0];
    int64_t n, step, slices = assay_numel(x) / odd_shape[dim];

    for (int64_t s = 0; s < slices; s++) {
        int64_t at = slice_at(dim, s, &n, &step);

        for (int64_t i = 0; i < n; i++) {
            int64_t j = int_of(k, 1, at + i * step);
            double v = result(k, at + i * step), w = assay_load(x, at + j * step);

            assert_in_range(j, 0, i);
            assert_true(v == w || (isnan(v) && isnan(w)));
            for (int64_t t = j + 1; t <= i; t++) {
                w = assay_load(x, at + t * step);
                assert_true(!isnan(w) && (isnan(v) || w > v));
            }
            for (int64_t t = 0; t < j; t++)
                assert_true(isnan(v) || assay_load(x, at + t * step) >= v);
        }
    }
}

static void test_slices_hold(void **state)
{
    static const struct {
        enum assay_dtype d;
        double lo, hi;
    } of[] = { { ASSAY_F32, -2, 2 }, { ASSAY_F16, -0.01, 0.01 },         { ASSAY_BF16, -50, 100 },
               { ASSAY_I32, -1, 1 }, { ASSAY_F16, -INFINITY, INFINITY }, { ASSAY_BF16, NAN, NAN },
               { ASSAY_F32, 0, 0 } };

    (void)state;
    for (int64_t i = 0; i < COUNT(of); i++)
        for (int64_t dim = 0; dim < 3; dim++) {
            struct call *k = drawn_along("arg_max", of[i].d, odd_shape, dim, of[i].lo, of[i].hi, 7);

            check_arg_max(k, dim);
            end(k);
            k = drawn_along("cummin", of[i].d, odd_shape, dim, of[i].lo, of[i].hi, 7);
            check_cummin(k, dim);
            end(k);
        }
}

/* What the hooks make stays in the range; zeros stay zeros, infinities and NaN occur. */
static void test_fill_keeps_class(void **state)
{
    static const char *const ops[] = { "arg_max", "cummin" };

    (void)state;
    for (int o = 0; o < 2; o++) {
        struct call *k = drawn_along(ops[o], ASSAY_F32, odd_shape, 1, -2, 3, 1);
        int64_t n = assay_numel(&k->args.in[0].t[0]), odd = 0;

        for (int64_t i = 0; i < n; i++)
            assert_true(assay_load(&k->args.in[0].t[0], i) >= -2 &&
                        assay_load(&k->args.in[0].t[0], i) < 3);
        end(k);
        k = drawn_along(ops[o], ASSAY_F16, odd_shape, 1, 0, 0, 1);
        for (int64_t i = 0; i < n; i++)
            assert_true(assay_load(&k->args.in[0].t[0], i) == 0);
        end(k);
        k = drawn_along(ops[o], ASSAY_F16, odd_shape, 1, NAN, NAN, 1);
        for (int64_t i = 0; i < n; i++)
            odd += isnan(assay_load(&k->args.in[0].t[0], i));
        assert_in_range(odd, n / 20, n / 2);
        end(k);
    }
}

/* Maxima at the first place, the last, in what full vectors leave over, and elsewhere. */
static void test_maxima_are_everywhere(void **state)
{
    const int64_t shape[] = { 1, 2000, 1003 };
    struct call *k = drawn_along("arg_max", ASSAY_F16, shape, 2, -1, 1, 3);
    int64_t first = 0, last = 0, tail = 0;

    (void)state;
    for (int64_t s = 0; s < 2000; s++) {
        first += int_of(k, 0, s) == 0;
        last += int_of(k, 0, s) == 1002;
        tail += int_of(k, 0, s) >= 1000 && int_of(k, 0, s) < 1002;
    }
    assert_true(first > 200 && last > 150 && tail > 10);
    assert_true(first + last + tail < 1500);
    end(k);
}

/* Slices whose minimum moves at most steps, and slices where it hardly does. */
static void test_minima_move_or_stay(void **state)
{
    const int64_t shape[] = { 1, 400, 1003 };
    struct call *k = drawn_along("cummin", ASSAY_F32, shape, 2, -1, 1, 3);
    int64_t often = 0, seldom = 0, late = 0;

    (void)state;
    for (int64_t s = 0; s < 400; s++) {
        int64_t moves = 0;

        for (int64_t i = 1; i < 1003; i++)
            moves += int_of(k, 1, s * 1003 + i) != int_of(k, 1, s * 1003 + i - 1);
        often += moves > 900;
        seldom += moves < 20;
        late += int_of(k, 1, s * 1003 + 1002) > 1000;
    }
    assert_true(often > 20 && seldom > 100 && late > 100);
    end(k);
}

/* ---- how index outputs are judged ------------------------------------------------------------ */

/* The verdict where index i is v instead of the golden's. */
static enum assay_reason judged(const struct call *k, int o, int64_t i, int64_t v,
                                enum assay_rules rules)
{
    struct assay_slot got[ASSAY_MAX_OUT] = { { 0 } };
    struct assay_tensor t[2];
    struct assay_match m;
    struct assay_err err;
    enum assay_reason reason;
    int64_t n = assay_numel(&k->want[o].t[0]), *index = malloc((size_t)n * sizeof *index);
    float value = 0;

    assert_non_null(index);
    memcpy(index, k->want[o].t[0].data, (size_t)n * sizeof *index);
    index[i] = v;
    for (int p = 0; p <= o; p++) {
        t[p] = k->args.out[p].t[0];
        t[p].data = p == o ? (void *)index : (void *)&value;
        got[p] = (struct assay_slot){ &t[p], 1 };
    }
    if (o > 0) { /* the values of float32 calls, as a kernel writes them */
        t[0].data = calloc((size_t)n, sizeof value);
        assert_non_null(t[0].data);
        for (int64_t e = 0; e < n; e++)
            assay_store(&t[0], e, assay_load(&k->want[0].t[0], e));
    }
    T_OK(assay_judge(&m, NULL, rules, k->c.op, &k->args, got, k->want, NULL, &err));
    reason = m.passed ? ASSAY_REASON_NONE : m.reason;
    if (o > 0)
        free(t[0].data);
    free(index);
    return reason;
}

static void judged_by_both(const struct call *k, int o, int64_t i, int64_t v,
                           enum assay_reason want)
{
    assert_int_equal(judged(k, o, i, v, ASSAY_RULES_PAPER), want);
    assert_int_equal(judged(k, o, i, v, ASSAY_RULES_UPSTREAM), want);
}

static void test_judge_arg_max(void **state)
{
    (void)state;
    for (int keep = 0; keep < 2; keep++)
        for (int64_t dim = -1; dim < 2; dim += 2) {
            struct call *k = along("arg_max", ASSAY_BF16, 2, two_by_three, six, dim);

            attr(k, "keepdim")->i = keep;
            run(k, false);
            judged_by_both(k, 0, 0, 1, ASSAY_REASON_NONE);
            judged_by_both(k, 0, 0, 2, ASSAY_REASON_NONE); /* the other tie */
            judged_by_both(k, 0, 1, 2, ASSAY_REASON_NONE);
            judged_by_both(k, 0, 0, 0, ASSAY_REASON_INDEX_VALUE);
            judged_by_both(k, 0, 1, 1, ASSAY_REASON_INDEX_VALUE);
            judged_by_both(k, 0, 0, 3, ASSAY_REASON_INDEX_RANGE);
            judged_by_both(k, 0, 1, -1, ASSAY_REASON_INDEX_RANGE);
            judged_by_both(k, 0, 1, INT64_MAX, ASSAY_REASON_INDEX_RANGE);
            judged_by_both(k, 0, 1, INT64_MIN, ASSAY_REASON_INDEX_RANGE);
            end(k);
        }
}

static void test_judge_scalars(void **state)
{
    const double x[] = { 1, NAN, 5, NAN };
    const int64_t four = 4;
    struct call *k = along("arg_max", ASSAY_F32, 1, &four, x, -1);

    (void)state;
    run(k, false);
    judged_by_both(k, 0, 0, 3, ASSAY_REASON_NONE); /* any NaN */
    judged_by_both(k, 0, 0, 2, ASSAY_REASON_INDEX_VALUE);
    judged_by_both(k, 0, 0, 4, ASSAY_REASON_INDEX_RANGE);
    end(k);
    k = along("arg_max", ASSAY_F32, 0, NULL, x, 0);
    run(k, false);
    judged_by_both(k, 0, 0, 0, ASSAY_REASON_NONE);
    judged_by_both(k, 0, 0, 1, ASSAY_REASON_INDEX_RANGE);
    end(k);
}

/* Integers that doubles do not tell apart. */
static void test_judge_int64(void **state)
{
    static const int64_t v[] = { ((int64_t)1 << 62) + 1, ((int64_t)1 << 62) + 2,
                                 ((int64_t)1 << 62) + 2, ((int64_t)1 << 62) };
    const int64_t four = 4;

    (void)state;
    for (int keep = 0; keep < 2; keep++) {
        struct call *k = along("arg_max", ASSAY_I64, 1, &four, NULL, 0);

        attr(k, "keepdim")->i = keep;
        memcpy(k->data[0].t[0].data, v, sizeof v);
        run(k, false);
        judged_by_both(k, 0, 0, 1, ASSAY_REASON_NONE);
        judged_by_both(k, 0, 0, 2, ASSAY_REASON_NONE);
        judged_by_both(k, 0, 0, 0, ASSAY_REASON_INDEX_VALUE);
        judged_by_both(k, 0, 0, 3, ASSAY_REASON_INDEX_VALUE);
        end(k);
    }
}

static void test_judge_cummin(void **state)
{
    const double x[] = { 3, 1, 2, 1, 0, 5 };
    const int64_t shape[] = { 1, 6, 1 };

    (void)state;
    for (int64_t dim = -2; dim < 2; dim += 3) {
        struct call *k = along("cummin", ASSAY_F32, 3, shape, x, dim);

        run(k, false);
        judged_by_both(k, 1, 3, 3, ASSAY_REASON_NONE);
        judged_by_both(k, 1, 3, 1, ASSAY_REASON_NONE); /* the earlier of two equal ones */
        judged_by_both(k, 1, 3, 2, ASSAY_REASON_INDEX_VALUE);
        judged_by_both(k, 1, 3, 4, ASSAY_REASON_INDEX_VALUE); /* smaller, but it comes later */
        judged_by_both(k, 1, 0, 6, ASSAY_REASON_INDEX_RANGE);
        judged_by_both(k, 1, 5, -1, ASSAY_REASON_INDEX_RANGE);
        end(k);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

static void test_threads(void **state)
{
    const int64_t shape[] = { 3, 211, 333 };

    (void)state;
    for (int64_t dim = 0; dim < 3; dim++) {
        same_bits(drawn_along("arg_max", ASSAY_F16, shape, dim, -1, 1, 2));
        same_bits(drawn_along("cummin", ASSAY_F32, shape, dim, -1, 1, 2));
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void test_refused_axes(void **state)
{
    const int64_t none[] = { 3, 0 };
    struct call *k;

    (void)state;
    refused(along("arg_max", ASSAY_F32, 2, two_by_three, six, 2), "dim 2 out of range for rank 2");
    refused(along("arg_max", ASSAY_F32, 2, two_by_three, six, -3),
            "dim -3 out of range for rank 2");
    refused(along("arg_max", ASSAY_F32, 0, NULL, six, 1), "dim 1 out of range for rank 0");
    refused(along("arg_max", ASSAY_F32, 2, none, NULL, -1),
            "input has no elements along dim -1 to choose from");
    refused(along("cummin", ASSAY_F32, 2, two_by_three, six, INT64_MAX), "out of range for rank 2");
    refused(along("cummin", ASSAY_I64, 2, two_by_three, six, 0), "int64");
    k = begin("cummin");
    in(k, 0, ASSAY_F32, 4, NULL);
    refused(k, "dim");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arg_max_axes),        cmocka_unit_test(test_arg_max_values),
        cmocka_unit_test(test_arg_max_int64),       cmocka_unit_test(test_arg_max_forms),
        cmocka_unit_test(test_cummin_values),       cmocka_unit_test(test_cummin_axes),
        cmocka_unit_test(test_cummin_scalar),       cmocka_unit_test(test_slices_hold),
        cmocka_unit_test(test_fill_keeps_class),    cmocka_unit_test(test_maxima_are_everywhere),
        cmocka_unit_test(test_minima_move_or_stay), cmocka_unit_test(test_judge_arg_max),
        cmocka_unit_test(test_judge_scalars),       cmocka_unit_test(test_judge_int64),
        cmocka_unit_test(test_judge_cummin),        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refused_axes),
    };

    return cmocka_run_group_tests_name("ops: select", tests, NULL, NULL);
}
