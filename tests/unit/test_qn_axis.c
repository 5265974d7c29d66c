/* SPDX-License-Identifier: Apache-2.0 */
/* test_qn_axis.c: axes of charts: ends and ticks at round numbers, places on them. */
#include "t.h"

#include "qn/svg_axis.h"

#include <float.h>
#include <math.h>

/* ---- ticks ----------------------------------------------------------------------------------- */

struct ticks {
    double lo, hi;
    int steps; /* 0: logarithmic, -n: whole numbers */
    double from, to;
    const char *texts;
};

static const struct ticks ticks[] = {
    { 0, 1, 5, 0, 1, "0.0 0.2 0.4 0.6 0.8 1.0" },
    { 0, 100, 2, 0, 100, "0 50 100" },
    { 97.1, 99.2, 5, 97, 99.5, "97.0 97.5 98.0 98.5 99.0 99.5" },
    { 0, 2.3, 5, 0, 2.5, "0.0 0.5 1.0 1.5 2.0 2.5" },
    { 2.3, 0, 5, 0, 2.5, "0.0 0.5 1.0 1.5 2.0 2.5" },
    { -0.03, 0.05, 4, -0.04, 0.06, "-0.04 -0.02 0.00 0.02 0.04 0.06" },
    { 0, 0.3, 3, 0, 0.3, "0.0 0.1 0.2 0.3" },
    { -7, 12, 5, -10, 15, "-10 -5 0 5 10 15" },
    { 0, 3e6, 3, 0, 3e6, "0 1e6 2e6 3e6" },
    { 1.2e-8, 3.9e-8, 3, 1e-8, 4e-8, "1e-8 2e-8 3e-8 4e-8" },
    { 5, 5, 5, 4.4, 5.6, "4.4 4.6 4.8 5.0 5.2 5.4 5.6" }, /* 4.5 to 5.5, widened to ticks */
    { 0, -0.0, 5, 0, 1, "0.0 0.2 0.4 0.6 0.8 1.0" },
    { NAN, NAN, 5, 0, 1, "0.0 0.2 0.4 0.6 0.8 1.0" },
    { 0, INFINITY, 2, 0, 1e300, "0 5e299 1e300" },
    { -DBL_MAX, DBL_MAX, 4, -1e300, 1e300, "-1e300 -5e299 0 5e299 1e300" },
    { 0.5, 3.5, -8, 0.5, 3.5, "1 2 3" },
    { 0.5, 1.5, -8, 0.5, 1.5, "1" },
    { 0.5, 30.5, -8, 0.5, 30.5, "5 10 15 20 25 30" },
    { 90.5, 120.5, -4, 90.5, 120.5, "100 110 120" },
    { 1, 1000, 0, 1, 1000, "1 2 5 10 20 50 100 200 500 1000" },
    { 3, 70, 0, 2, 100, "2 5 10 20 50 100" },
    { 0.021, 2.3, 0, 0.02, 5, "0.02 0.05 0.1 0.2 0.5 1 2 5" },
    { 0.5, 2e4, 0, 0.5, 2e4, "1 10 100 1000 10000" },
    { 2e-7, 3e6, 0, 2e-7, 5e6, "1e-6 0.001 1 1000 1e6" }, /* every third of 14 decades */
    { 5, 5, 0, 5, 10, "5 10" },
    { 0, -1, 0, 1e-300, 2e-300, "1e-300 2e-300" },
};

static void make_axis(struct qn__axis *a, const struct ticks *t)
{
    if (t->steps > 0)
        qn__axis_linear(a, t->lo, t->hi, t->steps);
    else if (t->steps < 0)
        qn__axis_whole(a, t->lo, t->hi, -t->steps);
    else
        qn__axis_log(a, t->lo, t->hi);
}

static void round_ticks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        struct qn__axis a;
        char texts[512] = "";
        size_t len = 0;

        make_axis(&a, &ticks[i]);
        for (int k = 0; k < a.n; k++) {
            len += (size_t)snprintf(texts + len, sizeof texts - len, "%s%s", k ? " " : "",
                                    a.tick[k].text);
            /* within rounding of powers of ten beyond 1e22 */
            assert_true(fabs(a.tick[k].at - strtod(a.tick[k].text, NULL)) <=
                        1e-14 * fabs(a.tick[k].at));
            assert_true(k == 0 || a.tick[k].at > a.tick[k - 1].at);
        }
        assert_string_equal(texts, ticks[i].texts);
        assert_true(fabs(a.lo - ticks[i].from) <= 1e-14 * fabs(a.lo));
        assert_true(fabs(a.hi - ticks[i].to) <= 1e-14 * fabs(a.hi));
    }
}

/* Of any two doubles. */
static void any_ticks(void **state)
{
    uint64_t x = t_seed(7);

    (void)state;
    for (int i = 0; i < 200000; i++) {
        double v[3];
        struct qn__axis a;

        for (int k = 0; k < 3; k++) {
            x = x * 6364136223846793005U + 1442695040888963407U;
            memcpy(&v[k], &x, sizeof x);
        }
        make_axis(&a, &(struct ticks){ .lo = v[0], .hi = v[1], .steps = i % 31 - 15 });
        assert_true(a.lo < a.hi && isfinite(a.lo) && isfinite(a.hi));
        assert_true(a.n >= 0 && a.n <= QN__MAX_TICKS);
        for (int k = 0; k < 3; k++)
            assert_true(qn__axis_at(&a, v[k]) >= 0 && qn__axis_at(&a, v[k]) <= 1);
    }
}

static void places(void **state)
{
    struct qn__axis a;

    (void)state;
    qn__axis_linear(&a, 0, 10, 5);
    assert_true(qn__axis_at(&a, 2.5) == 0.25);
    assert_true(qn__axis_at(&a, -1) == 0);
    assert_true(qn__axis_at(&a, INFINITY) == 1);
    assert_true(qn__axis_at(&a, NAN) == 0);
    qn__axis_log(&a, 1, 1000);
    assert_true(fabs(qn__axis_at(&a, 10) - 1.0 / 3) < 1e-15);
    assert_true(qn__axis_at(&a, 0) == 0 && qn__axis_at(&a, -5) == 0);
    assert_true(qn__axis_at(&a, 1e4) == 1);
    qn__axis_log(&a, 1e-300, 1e300);
    assert_true(fabs(qn__axis_at(&a, 1) - 0.5) < 1e-15);
}

static void digits(void **state)
{
    char buf[QN__TICK_TEXT];

    (void)state;
    assert_string_equal(qn__digits(98.914, 4, buf), "98.91");
    assert_string_equal(qn__digits(-0.0, 4, buf), "0");
    assert_string_equal(qn__digits(1.5e6, 4, buf), "1.5e6");
    assert_string_equal(qn__digits(2e-7, 4, buf), "2e-7");
    assert_string_equal(qn__digits(-1e100, 4, buf), "-1e100");
    assert_string_equal(qn__digits(INFINITY, 4, buf), "inf");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(round_ticks), cmocka_unit_test(any_ticks),
                                        cmocka_unit_test(places), cmocka_unit_test(digits) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
