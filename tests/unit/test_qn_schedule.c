/* SPDX-License-Identifier: Apache-2.0 */
/* test_qn_schedule.c: phases, rates and temperatures at points worked out by hand. */
#include "t.h"

#include "qn/recipe.h"

#include <math.h>

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(1, fabs(b)); /* a few roundings */
}

/* Epochs of float, weights, activations, both. */
static struct qn_recipe with_epochs(int64_t f, int64_t w, int64_t a, int64_t b)
{
    struct qn_recipe r = qn_recipe_default();

    r.phases[QN_PHASE_FLOAT].epochs = f;
    r.phases[QN_PHASE_WEIGHTS].epochs = w;
    r.phases[QN_PHASE_ACTIVATIONS].epochs = a;
    r.phases[QN_PHASE_BOTH].epochs = b;
    return r;
}

/* ---- phases ---------------------------------------------------------------------------------- */

static void phases(void **state)
{
    struct qn_recipe r = with_epochs(2, 0, 1, 3);
    static const struct {
        enum qn_phase_kind k;
        int64_t of_phase;
    } want[] = { { QN_PHASE_FLOAT, 0 }, { QN_PHASE_FLOAT, 1 }, { QN_PHASE_ACTIVATIONS, 0 },
                 { QN_PHASE_BOTH, 0 },  { QN_PHASE_BOTH, 1 },  { QN_PHASE_BOTH, 2 } };

    (void)state;
    assert_int_equal(qn_recipe_n_epochs(&r), 6);
    assert_int_equal(qn_recipe_n_phases(&r), 3);
    assert_int_equal(qn_recipe_phase(&r, 0), QN_PHASE_FLOAT);
    assert_int_equal(qn_recipe_phase(&r, 1), QN_PHASE_ACTIVATIONS);
    assert_int_equal(qn_recipe_phase(&r, 2), QN_PHASE_BOTH);
    for (int64_t e = 0; e < 6; e++) {
        int64_t of_phase = -1;

        assert_int_equal(qn_recipe_at(&r, e, &of_phase), want[e].k);
        assert_int_equal(of_phase, want[e].of_phase);
    }
    assert_string_equal(qn_phase_names[QN_PHASE_BOTH], "both");
    assert_null(qn_phase_names[QN_N_PHASES]);
}

/* ---- rates ----------------------------------------------------------------------------------- */

static void steps(void **state)
{
    struct qn_phase p = { .epochs = 8, .rate = 0.4, .decline = QN_STEPS, .drop = 0.5 };

    (void)state;
    assert_true(near(qn_phase_rate(&p, 0), 0.4));
    assert_true(near(qn_phase_rate(&p, 7.9), 0.4)); /* no drops: constant */
    p.n_drops = 3;
    p.drops[0] = 2;
    p.drops[1] = 4.5;
    p.drops[2] = 6;
    assert_true(near(qn_phase_rate(&p, 1.999), 0.4));
    assert_true(near(qn_phase_rate(&p, 2), 0.2)); /* the first step of the third epoch */
    assert_true(near(qn_phase_rate(&p, 4.25), 0.2));
    assert_true(near(qn_phase_rate(&p, 4.75), 0.1)); /* in the middle of an epoch */
    assert_true(near(qn_phase_rate(&p, 6.5), 0.05));
    p.drop = 0;
    assert_true(qn_phase_rate(&p, 3) == 0);
}

/* rate * (1 + cos(pi t / n)) / 2: 1, 3/4, 1/2, 1/4, 0 at t/n = 0, 1/3, 1/2, 2/3, 1. */
static void cosine(void **state)
{
    struct qn_phase p = { .epochs = 6, .rate = 0.8, .decline = QN_COSINE, .drop = 0.1 };

    (void)state;
    assert_true(near(qn_phase_rate(&p, 0), 0.8));
    assert_true(near(qn_phase_rate(&p, 2), 0.6));
    assert_true(near(qn_phase_rate(&p, 3), 0.4));
    assert_true(near(qn_phase_rate(&p, 4), 0.2));
    assert_true(fabs(qn_phase_rate(&p, 6)) < 1e-12);
    p.n_drops = 1; /* of no concern to it */
    assert_true(near(qn_phase_rate(&p, 3), 0.4));
}

/* From 0 to the full rate, times what the decline says at the time. */
static void warm_up(void **state)
{
    struct qn_phase p = { .epochs = 6, .rate = 0.8, .decline = QN_STEPS, .warm_up = 2 };

    (void)state;
    assert_true(qn_phase_rate(&p, 0) == 0);
    assert_true(near(qn_phase_rate(&p, 0.5), 0.2));
    assert_true(near(qn_phase_rate(&p, 1), 0.4));
    assert_true(near(qn_phase_rate(&p, 2), 0.8));
    assert_true(near(qn_phase_rate(&p, 5), 0.8));
    p.decline = QN_COSINE;
    p.warm_up = 4;
    assert_true(near(qn_phase_rate(&p, 2), 0.3)); /* 0.6 / 2 */
    assert_true(near(qn_phase_rate(&p, 4), 0.2));
}

/* ---- temperatures ---------------------------------------------------------------------------- */

static void check_heats(const struct qn_recipe *r, bool activations, const double *want, int n)
{
    assert_int_equal(qn_recipe_n_epochs(r), n);
    for (int e = 0; e < n; e++)
        if (!near(qn_recipe_heat(r, activations, e), want[e]))
            fail_msg("epoch %d: %g, not %g", e, qn_recipe_heat(r, activations, e), want[e]);
}

/* Each phase that learns weights (or activations) heats them up from the start. 0: not learned. */
static void heats(void **state)
{
    static const double w_linear[] = { 0, 20, 40, 0, 0, 7, 14 };
    static const double a_linear[] = { 0, 0, 0, 40, 80, 40, 80 };
    static const double w_exponential[] = { 0, 20, 30, 0, 0, 7, 10.5 };
    static const double a_constant[] = { 0, 0, 0, 7, 7, 7, 7 };
    struct qn_recipe r = with_epochs(1, 2, 2, 2);

    (void)state;
    check_heats(&r, false, w_linear, 7); /* bases 20, 7, and 40 are the defaults */
    check_heats(&r, true, a_linear, 7);
    r.weights.heat = QN_HEAT_EXPONENTIAL;
    r.weights.heat_growth = 1.5;
    check_heats(&r, false, w_exponential, 7);
    assert_int_equal(qn_recipe_set(&r, "weights.levels", "pm4", NULL), ASSAY_OK);
    r.weights.heat = QN_HEAT_LINEAR;
    assert_true(near(qn_recipe_heat(&r, false, 2), 10)); /* 20 / 4 * 2 */
    r.activations.heat = QN_HEAT_CONSTANT;
    r.activations.heat_base = 7;
    check_heats(&r, true, a_constant, 7);
}

/* A million is enough, whatever grows. */
static void ceiling(void **state)
{
    struct qn_recipe r = with_epochs(0, 400, 0, 0);

    (void)state;
    r.weights.heat = QN_HEAT_EXPONENTIAL;
    r.weights.heat_growth = 100;
    assert_true(qn_recipe_heat(&r, false, 399) == 1e6);
    assert_true(qn_recipe_heat(&r, false, 0) == 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases),  cmocka_unit_test(steps), cmocka_unit_test(cosine),
        cmocka_unit_test(warm_up), cmocka_unit_test(heats), cmocka_unit_test(ceiling),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
