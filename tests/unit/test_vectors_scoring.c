/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded official scores, replayed: operators, levels, the whole and its ranking. */
#include "t.h"

#include "assay/score.h"

#include <jansson.h>
#include <math.h>

enum { MAX_CASES = 64, MAX_OPS = 64 };

static void check(const char *id, const char *what, double got, const json_t *want)
{
    double w = json_number_value(want);

    if (!json_is_number(want))
        fail_msg("%s: no recorded %s", id, what);
    if (!(fabs(got - w) <= 1e-12 * fabs(w)))
        fail_msg("%s: %s is %.17g, recorded %.17g", id, what, got, w);
}

/* A number, the string "nan", or null: NaN for the last two. */
static double number(const json_t *v)
{
    if (json_is_string(v))
        assert_string_equal(json_string_value(v), "nan");
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static bool is(const json_t *o, const char *key, const char *text)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s && strcmp(s, text) == 0;
}

static struct assay_upstream_case read_case(const json_t *o)
{
    const json_t *elapsed = json_object_get(o, "elapsed_us");
    bool typed = json_is_string(json_object_get(o, "failure_type"));

    return (struct assay_upstream_case){
        .success = json_is_true(json_object_get(o, "success")),
        .accuracy_failure = is(o, "failure_type", "precision_mismatch") ||
                            is(o, "failure_type", "precision") ||
                            (!typed && is(o, "accuracy", "failed")),
        .has_time = json_is_number(elapsed),
        .elapsed_us = number(elapsed),
        .collection_failed = json_is_true(json_object_get(o, "perf_collection_failed")),
        .baseline_us = number(json_object_get(o, "baseline_us")),
        .t_hw_us = number(json_object_get(o, "t_hw_us")),
    };
}

static double replay(const json_t *o)
{
    const char *id = json_string_value(json_object_get(o, "id"));
    const json_t *want = json_object_get(o, "score"), *jc,
                 *per = json_object_get(want, "per_case_scores");
    struct assay_upstream_case cases[MAX_CASES];
    struct assay_upstream_score s;
    double per_case[MAX_CASES];
    size_t n = json_array_size(json_object_get(o, "cases")), i;

    assert_true(n <= MAX_CASES);
    json_array_foreach(json_object_get(o, "cases"), i, jc) cases[i] = read_case(jc);
    assay_score_upstream(&s, per_case, cases, (int)n,
                         (int)json_integer_value(json_object_get(o, "declared_cases")),
                         json_is_true(json_object_get(o, "compile_failed")),
                         json_is_true(json_object_get(o, "subprocess_failed")));
    check(id, "compilation", s.compilation, json_object_get(want, "compilation_score"));
    check(id, "function", s.function, json_object_get(want, "function_score"));
    check(id, "performance", s.performance, json_object_get(want, "performance_score"));
    check(id, "total", s.total, json_object_get(want, "total_score"));
    check(id, "pass rate", s.pass_rate, json_object_get(want, "pass_rate"));
    check(id, "speed-up", s.avg_speedup, json_object_get(want, "avg_speedup"));
    check(id, "passed", s.passed, json_object_get(want, "passed_cases"));
    check(id, "cases", s.total_cases, json_object_get(want, "total_cases"));
    check(id, "failures", s.compile_runtime_failures,
          json_object_get(want, "compile_runtime_fail_cases"));
    if (s.zeroed != json_is_true(json_object_get(want, "zeroed_by_no_npu_perf")))
        fail_msg("%s: zeroed is %d", id, s.zeroed);
    for (i = 0; i < n && i < json_array_size(per); i++) {
        const json_t *v = json_array_get(per, i);

        if (!json_is_null(v))
            check(id, "score of a case", per_case[i], v);
        else if (!isnan(per_case[i]))
            fail_msg("%s: case %zu scores %g, recorded null", id, i, per_case[i]);
    }
    return s.total;
}

static void check_ranking(const json_t *ops, const json_t *ranking, double *total)
{
    size_t place;
    const json_t *id;

    assert_int_equal(json_array_size(ranking), json_array_size(ops));
    json_array_foreach(ranking, place, id)
    {
        size_t best = 0;

        for (size_t i = 1; i < json_array_size(ops); i++)
            if (total[i] > total[best])
                best = i;
        assert_string_equal(json_string_value(json_object_get(json_array_get(ops, best), "id")),
                            json_string_value(id));
        total[best] = -INFINITY;
    }
}

static void replays_every_recorded_score(void **state)
{
    const char *dir = t_vectors(), *level;
    const json_t *ops, *o, *bench, *want;
    double total[MAX_OPS], sum = 0;
    char path[4200];
    json_error_t e;
    json_t *manifest;
    size_t i;

    (void)state;
    if (!dir) {
        printf("skipped: no vectors\n");
        skip();
    }
    snprintf(path, sizeof path, "%s/_scoring/manifest.json", dir);
    manifest = json_load_file(path, 0, &e);
    assert_non_null(manifest);
    ops = json_object_get(manifest, "operators");
    bench = json_object_get(manifest, "benchmark");
    assert_true(json_array_size(ops) >= 21 && json_array_size(ops) <= MAX_OPS);
    json_array_foreach(ops, i, o)
    {
        total[i] = replay(o);
        sum += total[i];
    }
    check("benchmark", "total", sum, json_object_get(bench, "total"));
    check("benchmark", "average", sum / (double)i, json_object_get(bench, "average"));
    json_object_foreach(json_object_get(bench, "levels"), level, want)
    {
        double of_level = 0;

        json_array_foreach(ops, i, o) if (is(o, "level", level)) of_level += total[i];
        check(level, "sum", of_level, want);
    }
    check_ranking(ops, json_object_get(bench, "ranking"), total);
    json_decref(manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_every_recorded_score),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
