/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paper rules over dtype x value x disturbance, expected verdicts from the formulas in long
 * double; and: a smaller error never turns a pass into a fail.
 */
#include "t.h"

#include "assay/judge.h"
#include "assay/rng.h"

#include <float.h>
#include <math.h>

enum { SIZE = 1000 }; /* so many that one mismatch leaves the mean below tau */

static double got_data[SIZE], want_data[SIZE], native_data[SIZE];

/* What the standard says of a floating dtype. */
struct format {
    enum assay_dtype d;
    double tau, small, cancel, max, min_normal, min_subnormal;
};
static const struct format formats[] = {
    { ASSAY_F64, 0x1p-13, 0x1p-14, 0x1p-8, DBL_MAX, DBL_MIN, 0x1p-1074 },
    { ASSAY_F32, 0x1p-13, 0x1p-14, 0x1p-8, FLT_MAX, 0x1p-126, 0x1p-149 },
    { ASSAY_F16, 0x1p-10, 0x1p-11, 0x1p-5, 65504, 0x1p-14, 0x1p-24 },
    { ASSAY_BF16, 0x1p-7, 0x1p-8, 0x1p-3, 0x1.fep127, 0x1p-126, 0x1p-133 },
};

/* The next value of the dtype towards infinity (up) or minus infinity. */
static double neighbour(enum assay_dtype d, double v, bool up)
{
    uint64_t bits = 0;
    struct assay_tensor t = { .data = &bits, .dtype = d };
    size_t top = assay_dtype_size(d) * 8 - 1;

    assay_store(&t, 0, v);
    if (v == 0)
        bits = up ? 1 : (uint64_t)1 << top | 1;
    else
        bits = (v > 0) == up ? bits + 1 : bits - 1;
    return assay_load(&t, 0);
}

static bool below_bound(const struct format *f, double c, double g)
{
    return fabsl((long double)c - (long double)g) / (fabsl((long double)g) + 1e-7L) <
           10 * (long double)f->tau;
}

/* One such element may be off by more than 10 tau, but not by more than the small-value threshold.
 * The difference is the one of doubles, as the rules have it; only fp64 outputs can tell. */
static bool excusable(const struct format *f, double c, double g)
{
    return fabs(g) < f->cancel && fabs(c - g) <= f->small;
}

static bool expected(const struct format *f, double c, double g)
{
    if (isnan(c) || isnan(g))
        return isnan(c) && isnan(g);
    if (isinf(c) && isfinite(g)) /* within tau of the largest value it takes its place */
        return signbit(c) == signbit(g) && fabs(g) > f->max * (1 - f->tau);
    if (isinf(c) || isinf(g))
        return c == g;
    return below_bound(f, c, g) || excusable(f, c, g);
}

static void check_float(const struct format *f, const char *what, double c, double g)
{
    struct assay_tensor got = { got_data, f->d, 1, { SIZE } },
                        want = { want_data, ASSAY_F64, 1, { SIZE } };
    struct assay_tensor native = { native_data, f->d, 1, { SIZE } };
    struct assay_match m;
    int64_t at = SIZE - 3;

    for (int64_t i = 0; i < SIZE; i++) {
        assay_store(&want, i, 1);
        assay_store(&got, i, 1);
        assay_store(&native, i, 1);
    }
    assay_store(&want, at, g);
    assay_store(&native, at, g);
    assay_store(&got, at, c);
    assay_judge_tensor(&m, ASSAY_RULES_PAPER, -1, &got, &want, &native);
    if (m.passed != expected(f, c, g) || m.needs_native)
        fail_msg("%s: %s: got %.17g, want %.17g: passed %d (%s)", assay_dtype_name(f->d), what, c,
                 g, m.passed, m.text);
    if (!m.passed && (isnan(c) != isnan(g)) != (m.reason == ASSAY_REASON_NAN))
        fail_msg("%s: %s: reason %s", assay_dtype_name(f->d), what, assay_reason_name(m.reason));
}

/* The last value on either side that passes, by bisection over doubles, then its neighbours. */
static void check_bounds(const struct format *f, double g)
{
    for (int up = 0; up < 2; up++) {
        double near = g, far = up ? f->max : -f->max;

        if (expected(f, far, g))
            continue;
        for (int k = 0; k < 4000; k++) {
            double mid = assay_round_to(f->d, near / 2 + far / 2);

            if (mid == near || mid == far || neighbour(f->d, near, up) == far)
                break;
            if (expected(f, mid, g))
                near = mid;
            else
                far = mid;
        }
        check_float(f, "bound", near, g);
        check_float(f, "bound - 1 ULP", neighbour(f->d, near, !up), g);
        check_float(f, "bound + 1 ULP", neighbour(f->d, near, up), g);
        check_float(f, "bound + 2 ULP", neighbour(f->d, neighbour(f->d, near, up), up), g);
    }
}

static void floats_by_the_table(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        const struct format *f = &formats[k];
        const double values[] = {
            1,
            -3,
            100.5,
            0,
            -0.0,
            f->min_subnormal,
            -f->min_subnormal,
            3 * f->min_subnormal,
            f->min_normal,
            f->small,
            -f->small,
            f->small / 2,
            f->cancel,
            f->cancel / 2,
            f->max,
            -f->max,
            f->max / 4,
        };
        const double classes[] = { NAN, INFINITY, -INFINITY };

        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            double g = assay_round_to(f->d, values[i]);

            check_float(f, "equal", g, g);
            if (fabs(g) < f->max) {
                check_float(f, "1 ULP up", neighbour(f->d, g, true), g);
                check_float(f, "1 ULP down", neighbour(f->d, g, false), g);
            }
            check_float(f, "negated", -g, g);
            check_bounds(f, g);
            for (int c = 0; c < 3; c++) {
                check_float(f, "class of the candidate", classes[c], g);
                check_float(f, "class of the golden", g, classes[c]);
            }
        }
        for (int c = 0; c < 3; c++)
            for (int g = 0; g < 3; g++)
                check_float(f, "classes", classes[c], classes[g]);
    }
}

/* ---- integers -------------------------------------------------------------------------------- */

static void check_int(enum assay_dtype d, double tol, int64_t c, int64_t g)
{
    struct assay_tensor got = { got_data, d, 1, { SIZE } }, want = { want_data, d, 1, { SIZE } };
    /* as unsigned numbers the difference always fits */
    uint64_t diff = c > g ? (uint64_t)c - (uint64_t)g : (uint64_t)g - (uint64_t)c;
    bool passes = diff <= (uint64_t)tol;
    struct assay_match m;

    memset(got_data, 0, sizeof got_data);
    memset(want_data, 0, sizeof want_data);
    assay_store_int(&got, 7, c);
    assay_store_int(&want, 7, g);
    assay_judge_tensor(&m, ASSAY_RULES_PAPER, tol, &got, &want, NULL);
    if (m.passed != passes || m.mismatches != !passes)
        fail_msg("%s: got %lld, want %lld, tolerance %g: passed %d", assay_dtype_name(d),
                 (long long)c, (long long)g, tol, m.passed);
    if (!passes && (m.first_index != 7 || m.reason != ASSAY_REASON_INTEGER))
        fail_msg("%s: found at %lld", assay_dtype_name(d), (long long)m.first_index);
}

static void integers_by_the_table(void **state)
{
    static const struct {
        enum assay_dtype d;
        int64_t min, max;
    } types[] = {
        { ASSAY_I8, INT8_MIN, INT8_MAX },    { ASSAY_U8, 0, UINT8_MAX },
        { ASSAY_I16, INT16_MIN, INT16_MAX }, { ASSAY_I32, INT32_MIN, INT32_MAX },
        { ASSAY_I64, INT64_MIN, INT64_MAX },
    };
    static const int64_t tolerances[] = { 0, 1, 5 };

    (void)state;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        int64_t lo = types[k].min, hi = types[k].max;
        const int64_t values[] = { 0, 1, 64, lo, lo + 1, hi - 1, hi };

        for (size_t t = 0; t < sizeof tolerances / sizeof *tolerances; t++) {
            double tol = (double)tolerances[t];

            for (size_t a = 0; a < sizeof values / sizeof *values; a++) {
                for (size_t b = 0; b < sizeof values / sizeof *values; b++)
                    check_int(types[k].d, tol, values[a], values[b]);
                for (int64_t step = tolerances[t] - 1; step <= tolerances[t] + 1; step++) {
                    if (step >= 0 && values[a] <= hi - step)
                        check_int(types[k].d, tol, values[a] + step, values[a]);
                    if (step >= 0 && values[a] >= lo + step)
                        check_int(types[k].d, tol, values[a] - step, values[a]);
                }
            }
        }
    }
}

static void bools_by_the_table(void **state)
{
    uint8_t g[SIZE] = { 0 }, w[SIZE] = { 0 };
    struct assay_tensor got = { g, ASSAY_BOOL, 1, { SIZE } }, want = { w, ASSAY_BOOL, 1, { SIZE } };

    (void)state;
    for (int a = 0; a < 4; a++) {
        for (int b = 0; b < 2; b++) {
            struct assay_match m;

            g[SIZE - 1] = (uint8_t)(a < 3 ? a : 255);
            w[SIZE - 1] = (uint8_t)b;
            assay_judge_tensor(&m, ASSAY_RULES_PAPER, -1, &got, &want, NULL);
            assert_int_equal(m.passed, a == b);
        }
    }
}

/* ---- monotone -------------------------------------------------------------------------------- */

enum { FEW = 40 };

/* Log-uniform sizes around the regions, so that each of them is met. */
static double draw_size(struct assay_key key, uint64_t *next, double lo, double hi)
{
    return lo * pow(hi / lo, assay_rng_unit(key, (*next)++));
}

static void draw(struct assay_key key, uint64_t *next, double spread, double *error)
{
    for (int i = 0; i < FEW; i++) {
        double r = assay_rng_unit(key, (*next)++);

        error[i] = r < 0.7 ? 0 : draw_size(key, next, 1e-10, spread);
        if (assay_rng_unit(key, (*next)++) < 0.5)
            error[i] = -error[i];
    }
}

static bool passes(const double *y, const double *error, const struct assay_tensor *native)
{
    double c[FEW];
    struct assay_tensor want = { (void *)(uintptr_t)y, ASSAY_F64, 1, { FEW } },
                        got = { c, ASSAY_F64, 1, { FEW } };
    struct assay_match m;

    for (int i = 0; i < FEW; i++)
        c[i] = y[i] + error[i];
    assay_judge_tensor(&m, ASSAY_RULES_PAPER, -1, &got, &want, native);
    return m.passed;
}

static void smaller_errors_never_fail(void **state)
{
    struct assay_key key = assay_key(t_seed(5), "monotone", 0, 0, 0);
    uint64_t next = 0;
    int n_passed = 0, n_failed = 0;

    (void)state;
    for (int t = 0; t < 20000; t++) {
        double y[FEW], n[FEW], error[FEW], native_error[FEW],
            spread = draw_size(key, &next, 1e-7, 1e-1);
        struct assay_tensor native = { n, ASSAY_F64, 1, { FEW } };
        bool passed;

        for (int i = 0; i < FEW; i++)
            y[i] = i % 5 == 0 ? 0 : draw_size(key, &next, 1e-7, 10) * (i % 2 ? 1 : -1);
        draw(key, &next, spread, native_error);
        draw(key, &next, 3 * spread, error);
        for (int i = 0; i < FEW; i++)
            n[i] = y[i] + native_error[i];
        passed = passes(y, error, &native);
        n_passed += passed;
        n_failed += !passed;
        if (!passed)
            continue;
        for (int k = 0; k < 10; k++) { /* shrink one, or turn its sign */
            int i = (int)assay_rng_below(key, next++, FEW);

            error[i] *= 1 - 2 * assay_rng_unit(key, next++);
            if (!passes(y, error, &native))
                fail_msg("trial %d: a smaller error at %d fails", t, i);
        }
    }
    printf("%d passed, %d failed\n", n_passed, n_failed);
    assert_true(n_passed > 1000 && n_failed > 1000);
}

/* What passes without a native reference passes with any. */
static void native_only_helps(void **state)
{
    struct assay_key key = assay_key(t_seed(6), "native", 0, 0, 0);
    uint64_t next = 0;
    int n_alone = 0;

    (void)state;
    for (int t = 0; t < 20000; t++) {
        double y[FEW], n[FEW], error[FEW], native_error[FEW],
            spread = draw_size(key, &next, 1e-8, 1e-2);
        struct assay_tensor native = { n, ASSAY_F64, 1, { FEW } };

        for (int i = 0; i < FEW; i++)
            y[i] = i % 5 == 0 ? 0 : draw_size(key, &next, 1e-7, 10);
        draw(key, &next, spread, error);
        draw(key, &next, 1, native_error);
        for (int i = 0; i < FEW; i++)
            n[i] = y[i] + native_error[i];
        if (!passes(y, error, NULL))
            continue;
        n_alone++;
        assert_true(passes(y, error, &native));
    }
    assert_true(n_alone > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_by_the_table), cmocka_unit_test(integers_by_the_table),
        cmocka_unit_test(bools_by_the_table),  cmocka_unit_test(smaller_errors_never_fail),
        cmocka_unit_test(native_only_helps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
