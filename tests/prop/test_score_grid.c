/* SPDX-License-Identifier: Apache-2.0 */
/* HAP over a grid of times, odd ones included: bounded, falling, anchored, defined. */
#include "t.h"

#include "assay/rng.h"
#include "assay/score.h"

#include <float.h>
#include <math.h>

static const double grid[] = {
    -INFINITY, -1,    0,  0x1p-1074, 1e-300, 0.5, 0.9, 1,     4.99,    5,        5.01,
    9,         9.999, 10, 11,        15,     1e3, 1e9, 1e200, DBL_MAX, INFINITY, NAN,
};
enum { GRID = sizeof grid / sizeof *grid };

static void fails(const char *what, double c, double b, double h, double v)
{
    fail_msg("%s: t_cand %g, t_base %g, t_hw %g gives %.17g", what, c, b, h, v);
}

/* Properties of one point; *last is the value for the candidate time before, or above 1. */
static void check(double c, double b, double h, double *last)
{
    bool below, defined = !isnan(c) && !isnan(b) && !isnan(h) && b > 0;
    double v = assay_hap(c, b, h, &below);

    if (isnan(v) == defined)
        fails(defined ? "not defined" : "defined", c, b, h, v);
    if (!defined) {
        if (below)
            fails("alarm without a value", c, b, h, v);
        return;
    }
    if (!(v >= 0 && v <= 1))
        fails("out of bounds", c, b, h, v);
    if (v > *last)
        fails("rising", c, b, h, v);
    *last = v;
    if (c == b && v != 0.5)
        fails("anchor", c, b, h, v);
    if (below && v != 1)
        fails("alarm below 1", c, b, h, v);
    if (c < b ? v < 0.5 : v > 0.5)
        fails("wrong side of the baseline", c, b, h, v);
    if (isfinite(b) && c <= h && c <= 0.9 * b && c != b && !below)
        fails("no alarm under the limit", c, b, h, v);
    if (isinf(c) && c > 0 && isfinite(b) && v != 0)
        fails("endless", c, b, h, v);
}

static void holds_on_the_grid(void **state)
{
    (void)state;
    for (int b = 0; b < GRID; b++)
        for (int h = 0; h < GRID; h++) {
            double last = 2;

            for (int c = 0; c < GRID; c++)
                check(grid[c], grid[b], grid[h], &last);
        }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void holds_for_random_times(void **state)
{
    struct assay_key key = assay_key(t_seed(9), "hap", 0, 0, 0);
    uint64_t next = 0;

    (void)state;
    for (int t = 0; t < 20000; t++) {
        double b = exp(20 * assay_rng_unit(key, next++)), h = b * 2 * assay_rng_unit(key, next++);
        double c[16], last = 2;

        for (int i = 0; i < 16; i++)
            c[i] = i == 0 ? b : i == 1 ? h : b * exp(6 * (assay_rng_unit(key, next++) - 0.5));
        qsort(c, 16, sizeof *c, by_value);
        for (int i = 0; i < 16; i++)
            check(c[i], b, h, &last);
    }
}

/* The unit does not matter: powers of two scale without rounding. */
static void units_do_not_matter(void **state)
{
    struct assay_key key = assay_key(t_seed(10), "hap", 0, 0, 1);
    uint64_t next = 0;

    (void)state;
    for (int t = 0; t < 20000; t++) {
        double b = exp(20 * assay_rng_unit(key, next++)), h = b * 2 * assay_rng_unit(key, next++);
        double c = b * 3 * assay_rng_unit(key, next++);
        bool below, below_2;

        assert_true(assay_hap(c, b, h, &below) ==
                    assay_hap(c * 1024, b * 1024, h * 1024, &below_2));
        assert_int_equal(below, below_2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_on_the_grid),
        cmocka_unit_test(holds_for_random_times),
        cmocka_unit_test(units_do_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
