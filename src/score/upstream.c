/* SPDX-License-Identifier: Apache-2.0 */
/* The official arithmetic, which is not bounded and has a pole where both gains cancel. */
#include "assay/score.h"

#include <math.h>

static bool usable(double t)
{
    return t > 0; /* neither missing nor NaN */
}

/* What stands in for a missing baseline. */
static double baseline_of(const struct assay_upstream_case *c)
{
    if (usable(c->baseline_us))
        return c->baseline_us;
    return usable(c->t_hw_us) ? fmax(10 * c->t_hw_us, 10) : 10;
}

static bool timed(const struct assay_upstream_case *c)
{
    return c->success && c->has_time && !c->collection_failed && usable(c->elapsed_us);
}

static double case_score(const struct assay_upstream_case *c)
{
    double gain, sum;

    if (!timed(c) || !usable(c->t_hw_us))
        return NAN;
    gain = baseline_of(c) - c->t_hw_us;
    sum = (c->elapsed_us - c->t_hw_us) + gain;
    return sum > 0 ? gain / sum : NAN;
}

static bool zeroes(const struct assay_upstream_case *c)
{
    return c->success && c->has_time && !c->collection_failed && c->elapsed_us <= 0;
}

void assay_score_upstream(struct assay_upstream_score *s, double *per_case,
                          const struct assay_upstream_case *cases, int n, int declared,
                          bool compile_failed, bool subprocess_failed)
{
    bool failed = compile_failed || subprocess_failed;
    double sum = 0, speedups = 0;
    int n_speedups = 0;

    *s = (struct assay_upstream_score){ .total_cases = declared > n ? declared : n };
    for (int i = 0; i < n; i++) {
        double v = failed ? NAN : case_score(&cases[i]);

        if (per_case)
            per_case[i] = v;
        sum += isnan(v) ? 0 : v;
        s->passed += cases[i].success;
        if (timed(&cases[i])) {
            speedups += baseline_of(&cases[i]) / cases[i].elapsed_us;
            n_speedups++;
        }
        s->compile_runtime_failures += !failed && !cases[i].success && !cases[i].accuracy_failure;
        s->zeroed = s->zeroed || (!failed && zeroes(&cases[i]));
    }
    s->pass_rate = n > 0 ? (double)s->passed / n : 0;
    s->avg_speedup = n_speedups > 0 ? speedups / n_speedups : 0;
    if (failed || s->zeroed || s->total_cases == 0)
        return;
    s->compilation = 20.0 * (s->total_cases - s->compile_runtime_failures) / s->total_cases;
    s->function = 30.0 * s->passed / s->total_cases;
    s->performance = 50.0 * sum / s->total_cases;
    s->total = s->compilation + s->function + s->performance;
}
