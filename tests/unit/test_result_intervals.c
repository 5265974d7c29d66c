/* SPDX-License-Identifier: Apache-2.0 */
/* test_result_intervals.c: intervals of cases, operators and the headline in result files: written,
 * read back, resumed, null where there are none, refused where they cannot be. */
#include "t.h"

#include "assay/result.h"
#include "report/result_json.h"
#include "result_ops.h"

#include <math.h>
#include <unistd.h>

enum { N_ROWS = 4, N_BUILDS = 2, PATH_CHARS = 64 };

struct example {
    struct assay_result r;
    struct assay_build_row builds[N_BUILDS];
    struct assay_row rows[N_ROWS];
};

/* Nothing run: alpha with three cases, beta with one. */
static void plan(struct example *e)
{
    *e = (struct example){ 0 };
    e->r.manifest =
        (struct assay_manifest){ .version = "1", .policy = "case", .threads = 1, .timing = true };
    e->r.machine.threads = 1;
    for (int i = 0; i < N_BUILDS; i++)
        e->builds[i].op = &ops[i];
    for (int i = 0; i < N_ROWS; i++)
        e->rows[i] = (struct assay_row){ .op = &ops[i / 3], .case_id = i % 3 + 1, .hap = NAN };
    e->r.builds = e->builds;
    e->r.n_builds = N_BUILDS;
    e->r.rows = e->rows;
    e->r.n_rows = N_ROWS;
}

/* alpha: one case timed, one right without a time, one wrong; beta does not compile. Times in
 * powers of two, so that quotients are exact. */
static void fill(struct example *e)
{
    plan(e);
    for (int i = 0; i < N_BUILDS; i++) {
        e->builds[i].done = e->builds[i].present = true;
        e->builds[i].compiled = i == 0;
        e->builds[i].verdict = i == 0 ? ASSAY_PASS : ASSAY_COMPILE_FAILED;
    }
    for (int i = 0; i < N_ROWS; i++)
        e->rows[i].done = true;
    e->rows[0].timed = true;
    e->rows[0].time = (struct assay_time){
        .n_pairs = 8,
        .n_calls = 8,
        .n_rounds = 6,
        .base_ns = 1024,
        .base_lo = 1020.1,
        .base_hi = 1030.3,
        .cand_ns = 128,
        .ratio = 0.125,
        .ratio_lo = 0.0625,
        .ratio_hi = 0.25,
    };
    e->rows[0].t_hw_ns = 100.0 / 3;
    e->rows[0].t_hw_spread = 0.1 / 3;
    e->rows[0].hap = 0.3;
    e->rows[0].hap_lo = 0.1;
    e->rows[0].hap_hi = 0.6;
    e->rows[0].hap_limit = 0.05;
    e->rows[2].verdict = ASSAY_WRONG;
    e->rows[3].verdict = ASSAY_COMPILE_FAILED;
}

static void check_timed_row(const struct assay_row *a, const struct assay_row *b)
{
    assert_true(a->done && a->timed);
    assert_true(a->hap == b->hap && a->hap_lo == b->hap_lo && a->hap_hi == b->hap_hi);
    assert_true(a->hap_limit == b->hap_limit);
    assert_true(a->t_hw_ns == b->t_hw_ns && a->t_hw_spread == b->t_hw_spread);
    assert_true(a->time.base_lo == b->time.base_lo && a->time.base_hi == b->time.base_hi);
    assert_true(a->time.ratio_lo == b->time.ratio_lo && a->time.ratio_hi == b->time.ratio_hi);
}

static void check_no_interval(const struct assay_row *a)
{
    assert_true(isnan(a->hap) && isnan(a->hap_lo) && isnan(a->hap_hi) && isnan(a->hap_limit));
}

static void same(double a, double b)
{
    assert_true(isnan(b) ? isnan(a) : a == b);
}

/* Scores derived from what was read are those of what was written. */
static void check_scores(const struct assay_result *a, const struct assay_result *b)
{
    struct assay_total_score s, t;

    assay_result_total(a, 0, &s);
    assay_result_total(b, 0, &t);
    same(s.mean_lo, t.mean_lo);
    same(s.mean_hi, t.mean_hi);
    same(s.sum_lo, t.sum_lo);
    same(s.hap_lo, t.hap_lo);
    same(s.hap_hi, t.hap_hi);
    assert_true(t.mean_lo < t.mean && t.mean < t.mean_hi);
}

static void read_back_as_written(void **state)
{
    struct example e;
    struct assay_text t = { 0 };
    struct assay_result got;
    struct assay_err err;

    (void)state;
    fill(&e);
    assay__result_put_result(&t, &e.r);
    T_OK(assay__result_parse(&got, t.data, t.len, find, &err));
    check_timed_row(&got.rows[0], &e.rows[0]);
    for (int i = 1; i < N_ROWS; i++)
        check_no_interval(&got.rows[i]);
    check_scores(&got, &e.r);
    assay_result_release(&got);
    assay_text_release(&t);
}

static void temp_file(char path[PATH_CHARS])
{
    char dir[] = "/tmp/assay-test-XXXXXX";

    assert_non_null(mkdtemp(dir));
    snprintf(path, PATH_CHARS, "%s/r.json", dir);
}

static void remove_file(const char *path)
{
    char other[PATH_CHARS + 8];

    snprintf(other, sizeof other, "%s.partial", path);
    unlink(other);
    snprintf(other, sizeof other, "%s", path);
    *strrchr(other, '/') = 0;
    assert_int_equal(rmdir(other), 0);
}

static void resume_takes_them_over(void **state)
{
    struct example whole, e;
    struct assay_sink sink;
    struct assay_err err;
    char path[PATH_CHARS];
    int n;

    (void)state;
    fill(&whole);
    temp_file(path);
    plan(&e);
    T_OK(assay_report_json_open(&sink, path, false, &err));
    T_OK(sink.begin(sink.self, &e.r, &err));
    for (int i = 0; i < N_BUILDS; i++)
        T_OK(sink.build(sink.self, &whole.r, i, &err));
    for (int i = 0; i < N_ROWS; i++)
        T_OK(sink.row(sink.self, &whole.r, i, &err));
    assay_report_json_close(&sink);
    T_OK(assay_report_json_resume(&e.r, path, &n, &err));
    assert_int_equal(n, N_ROWS);
    check_timed_row(&e.rows[0], &whole.rows[0]);
    check_no_interval(&e.rows[1]);
    check_scores(&e.r, &whole.r);
    assay_arena_release(&e.r.arena);
    remove_file(path);
}

/* ---- the summary ----------------------------------------------------------------------------- */

static void check_field(const json_t *object, const char *key, double want)
{
    const json_t *v = json_object_get(object, key);

    if (isnan(want) && !json_is_null(v))
        fail_msg("'%s' is not null", key);
    if (!isnan(want) && !json_is_number(v))
        fail_msg("'%s' is no number", key);
    if (!isnan(want) && !(fabs(json_number_value(v) - want) <= 1e-12 * fabs(want)))
        fail_msg("'%s' is %.17g, not %.17g", key, json_number_value(v), want);
}

struct summary {
    json_t *root;
    const json_t *op[N_BUILDS], *tier_1, *tier_2, *headline, *row[N_ROWS];
};

static void summarize(struct summary *s, const struct example *e)
{
    struct assay_text t = { 0 };
    struct assay_err err;
    const json_t *all;

    assay__result_put_result(&t, &e->r);
    T_OK(assay__json_parse(&s->root, t.data, t.len, &err));
    assay_text_release(&t);
    all = json_object_get(s->root, "summary");
    for (size_t i = 0; i < N_BUILDS; i++)
        s->op[i] = json_array_get(json_object_get(all, "operators"), i);
    s->tier_1 = json_array_get(json_object_get(all, "tiers"), 0);
    s->tier_2 = json_array_get(json_object_get(all, "tiers"), 1);
    s->headline = json_object_get(all, "headline");
    for (size_t i = 0; i < N_ROWS; i++)
        s->row[i] = json_array_get(json_object_get(s->root, "cases"), i);
}

/*
 * By hand: of alpha's three cases one has a HAP, 0.3 in [0.1, 0.6], and 0.05 on account of the
 * limit. Two are right: its score is 20 + 20 + 50/3 * 0.3 = 45, from 45 - 50/3 sqrt(0.2^2 + 0.05^2)
 * to 45 + 50/3 sqrt(0.3^2 + 0.05^2). beta scores 0 for certain, so the headline is half of that.
 */
static void summary_has_intervals(void **state)
{
    const double below = sqrt(0.2 * 0.2 + 0.05 * 0.05), above = sqrt(0.3 * 0.3 + 0.05 * 0.05);
    const double lo = 45 - 50.0 / 3 * below, hi = 45 + 50.0 / 3 * above;
    struct example e;
    struct summary s;

    (void)state;
    fill(&e);
    summarize(&s, &e);
    check_field(s.root, "format", 2);
    check_field(s.op[0], "score", 45);
    check_field(s.op[0], "score_lo", lo);
    check_field(s.op[0], "score_hi", hi);
    check_field(s.op[0], "hap", 0.3);
    check_field(s.op[0], "hap_lo", 0.3 - below);
    check_field(s.op[0], "hap_hi", 0.3 + above);
    check_field(s.op[0], "speedup", 8);
    check_field(s.op[0], "speedup_lo", 4);
    check_field(s.op[0], "speedup_hi", 16);
    check_field(s.op[1], "score", 0);
    check_field(s.op[1], "score_lo", NAN);
    check_field(s.op[1], "hap_hi", NAN);
    check_field(s.tier_1, "mean_lo", lo);
    check_field(s.tier_1, "mean_hi", hi);
    check_field(s.tier_1, "sum_lo", lo);
    check_field(s.tier_2, "mean_lo", NAN);
    check_field(s.headline, "mean", 45 / 2.0);
    check_field(s.headline, "mean_lo", lo / 2);
    check_field(s.headline, "mean_hi", hi / 2);
    check_field(s.headline, "sum_lo", lo);
    check_field(s.headline, "sum_hi", hi);
    check_field(s.headline, "hap_lo", 0.3 - below);
    check_field(s.headline, "hap_hi", 0.3 + above);
    json_decref(s.root);
}

/* Without timing nothing is a number that was not measured: not in the rows, whose fields are 0 in
 * memory, nor above them. */
static void null_without_timing(void **state)
{
    static const char *const of_row[] = { "hap", "hap_lo", "hap_hi", "hap_limit" };
    static const char *const of_total[] = { "mean_lo", "mean_hi", "sum_lo", "sum_hi",
                                            "hap",     "hap_lo",  "hap_hi" };
    static const char *const of_op[] = { "score_lo", "score_hi", "hap",        "hap_lo",
                                         "hap_hi",   "speedup",  "speedup_lo", "speedup_hi" };
    struct example e;
    struct summary s;

    (void)state;
    fill(&e);
    e.r.manifest.timing = false;
    e.rows[0].timed = false;
    e.rows[0].hap = NAN;
    e.rows[0].t_hw_ns = NAN;
    summarize(&s, &e);
    for (size_t i = 0; i < sizeof of_row / sizeof *of_row; i++)
        check_field(s.row[0], of_row[i], NAN);
    check_field(s.row[0], "t_hw_spread", NAN);
    for (size_t i = 0; i < sizeof of_total / sizeof *of_total; i++)
        check_field(s.headline, of_total[i], NAN);
    for (size_t i = 0; i < sizeof of_op / sizeof *of_op; i++)
        check_field(s.op[0], of_op[i], NAN);
    check_field(s.op[0], "score", 40);
    json_decref(s.root);
}

/* ---- refused --------------------------------------------------------------------------------- */

static void refuses_what_cannot_be(void **state)
{
    static const struct {
        const char *from, *to, *word;
    } bad[] = {
        { "\"hap\":0.3,\"hap_lo\":0.1", "\"hap\":1.25,\"hap_lo\":0.1",
          "'hap': 1.25 outside [0, 1]" },
        { "\"hap\":0.3,\"hap_lo\":0.1", "\"hap\":0.05,\"hap_lo\":0.1",
          "field 'hap': 0.05 outside its interval [0.1, 0.6]" },
        { "\"hap_hi\":0.6,\"hap_limit\"", "\"hap_hi\":0.2,\"hap_limit\"",
          "field 'hap': 0.3 outside its interval [0.1, 0.2]" },
        { "\"hap_hi\":0.6,\"hap_limit\"", "\"hap_hi\":\"inf\",\"hap_limit\"", "'hap_hi': inf" },
        { "\"hap_hi\":0.6,\"hap_limit\"", "\"hap_limit\"", "field 'hap_hi' missing" },
        { "\"hap_limit\":0.05", "\"hap_limit\":-0.05", "field 'hap_limit': -0.05 outside [0, 1]" },
        { "\"t_hw_spread\":0.0", "\"t_hw_spread\":-0.0", "field 't_hw_spread': -0.0333" },
        { "\"t_hw_spread\":", "\"t_hw_sprawl\":", "field 't_hw_spread' missing" },
        { "\"base_lo\":", "\"base_low\":", "field 'base_lo' missing" },
    };
    struct example e;
    struct assay_text t = { 0 };

    (void)state;
    fill(&e);
    assay__result_put_result(&t, &e.r);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *cases = strstr(t.data, "\"cases\":["), *at = strstr(cases, bad[i].from);
        struct assay_text altered = { 0 };
        struct assay_result r;
        struct assay_err err = { "" };

        if (!at)
            fail_msg("'%s' is not in the text", bad[i].from);
        assay_text_add_n(&altered, t.data, (size_t)(at - t.data));
        assay_text_add(&altered, "%s%s", bad[i].to, at + strlen(bad[i].from));
        assert_int_equal(assay__result_parse(&r, altered.data, altered.len, find, &err),
                         ASSAY_PARSE);
        if (!strstr(err.text, bad[i].word))
            fail_msg("'%s' does not name '%s'", err.text, bad[i].word);
        assay_text_release(&altered);
    }
    assay_text_release(&t);
}

/* Files of another format say what to do about it; those before this one lack intervals. */
static void refuses_other_formats(void **state)
{
    static const char old[] = "{\"format\":1,\"kind\":\"manifest\",\"manifest\":{}}\n";
    char path[PATH_CHARS], partial[PATH_CHARS + 8];
    struct assay_result r;
    struct assay_err err = { "" };
    struct example e;
    int n;

    (void)state;
    assert_int_equal(assay__result_parse(&r, "{\"format\":1}", 12, find, &err), ASSAY_UNSUPPORTED);
    assert_string_equal(err.text, "result: result format 1, this program reads format 2: measure "
                                  "again, without --resume");
    assert_int_equal(assay__result_parse(&r, "{\"format\":3}", 12, find, &err), ASSAY_UNSUPPORTED);
    assert_string_equal(
        err.text, "result: result format 3, this program reads format 2: a newer one is needed");

    plan(&e);
    temp_file(path);
    snprintf(partial, sizeof partial, "%s.partial", path);
    T_OK(assay_file_write(partial, old, sizeof old - 1, &err));
    assert_int_equal(assay_report_json_resume(&e.r, path, &n, &err), ASSAY_UNSUPPORTED);
    assert_non_null(strstr(err.text, "r.json.partial: line 1: result format 1, this program reads "
                                     "format 2: measure again, without --resume"));
    assay_arena_release(&e.r.arena);
    remove_file(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_back_as_written),   cmocka_unit_test(resume_takes_them_over),
        cmocka_unit_test(summary_has_intervals),  cmocka_unit_test(null_without_timing),
        cmocka_unit_test(refuses_what_cannot_be), cmocka_unit_test(refuses_other_formats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
