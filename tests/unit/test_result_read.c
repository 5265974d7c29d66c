/* SPDX-License-Identifier: Apache-2.0 */
/* test_result_read.c: result files and journals: written and read back, resumed, refused. */
#include "t.h"

#include "assay/result.h"
#include "report/result_json.h"
#include "result_ops.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N_ROWS = 5, N_BUILDS = 2, PATH_CHARS = 128 };

struct example {
    struct assay_result r;
    struct assay_build_row builds[N_BUILDS];
    struct assay_row rows[N_ROWS];
    struct assay_pair pairs[3];
    char diagnostics[64];
};

static struct assay_match odd_match(void)
{
    return (struct assay_match){
        .reason = ASSAY_REASON_NAN,
        .output = 2,
        .dtype = ASSAY_BF16,
        .tau = 0x1p-7,
        .mere = 0.1,
        .mare = INFINITY,
        .max_diff = (double)NAN,
        .mean_diff = 5e-324,
        .total = INT64_MAX,
        .mismatches = 3,
        .small_value = { 1, 2, 3, true },
        .cancel = { 4, 5, 6, false },
        .normal = { 7, 8, 9, true },
        .first_tensor = 1,
        .first_index = 17,
        .worst_index = -1,
        .first_got = (double)NAN,
        .first_want = -0.0,
        .worst_got = -INFINITY,
        .worst_want = 1.0 / 3,
        .ulp = { 1, 2, 3, 4, 5, 6, 7, 8 },
        .text = "a \"word\" and \\",
    };
}

/* A plan of five cases, nothing run. */
static void plan(struct example *e)
{
    *e = (struct example){ 0 };
    e->r.manifest = (struct assay_manifest){
        .version = "0.1.0",
        .submission = "mine",
        .name = "first \"try\"",
        .author = "me",
        .baseline = "base",
        .suite = "own",
        .compiler = "gcc",
        .cpu = "a cpu",
        .kernel = "Linux",
        .date = "2026-01-02",
        .target = "cpu",
        .trust = "B: seccomp",
        .trusted = true,
        .rules = ASSAY_RULES_UPSTREAM,
        .threads = 3,
        .timing = true,
        .cases = "public",
        .policy = "case",
    };
    e->r.machine = (struct assay_machine){ .name = "this", .threads = 3 };
    e->r.machine.peak[ASSAY_UNIT_DRAM] = 1.0e10 / 3;
    e->r.machine.spread[ASSAY_UNIT_DRAM] = 0.01;
    for (int i = 0; i < N_BUILDS; i++)
        e->builds[i].op = &ops[i];
    for (int i = 0; i < N_ROWS; i++)
        e->rows[i] = (struct assay_row){
            .op = &ops[i / 3], .case_id = i % 3 + 1, .hap = (double)NAN, .t_hw_ns = (double)NAN
        };
    e->r.builds = e->builds;
    e->r.n_builds = N_BUILDS;
    e->r.rows = e->rows;
    e->r.n_rows = N_ROWS;
    e->r.wall_s = 0.1;
}

/* The plan with every kind of outcome: timed, wrong with an odd match, our fault, crashed, not run.
 */
static void fill(struct example *e)
{
    plan(e);
    snprintf(e->diagnostics, sizeof e->diagnostics, "x.c:1: \xc3\xa9\n\ttab \001");
    e->builds[0] = (struct assay_build_row){
        .op = &ops[0],
        .done = true,
        .present = true,
        .compiled = true,
        .diagnostics = e->diagnostics,
        .hash = "abc",
        .wall_s = 0.7,
    };
    e->builds[1] = (struct assay_build_row){ .op = &ops[1], .done = true, .failed_here = true };
    e->pairs[0] = (struct assay_pair){ 100.0 / 3, 200.0 / 7, 5, true, false, 0 };
    e->pairs[1] = (struct assay_pair){ 1e-300, 1e300, INT32_MAX, false, true, 1 };
    e->pairs[2] = (struct assay_pair){ 0.1, (double)NAN, 0, true, true, INT32_MAX };
    e->rows[0] = (struct assay_row){
        .op = &ops[0],
        .case_id = 1,
        .done = true,
        .verdict = ASSAY_PASS,
        .match = { .passed = true, .output = -1, .total = 9 },
        .timed = true,
        .time = { .n_pairs = 3,
                  .n_calls = 10,
                  .n_rounds = 2,
                  .n_discarded = 1,
                  .base_ns = 100.0 / 3,
                  .base_lo = 99.0 / 3,
                  .base_hi = 101.0 / 3,
                  .cand_ns = 20.2,
                  .ratio = 0.1,
                  .ratio_lo = 0.05,
                  .ratio_hi = 0.2,
                  .null_ns = 1.5,
                  .flags = ASSAY_TIME_COARSE | ASSAY_TIME_UNRESOLVED },
        .pairs = e->pairs,
        .t_hw_ns = 1e3 / 7,
        .t_hw_spread = 0.1 / 3,
        .bottleneck = ASSAY_UNIT_TRANS,
        .hap = 0.3,
        .hap_lo = 0.2 / 3,
        .hap_hi = 1,
        .hap_limit = 0.01 / 7,
        .sets_checked = 4,
        .sets_golden = 2,
        .sets_escalated = 1,
        .seed = UINT64_MAX,
        .wall_s = 1.25,
    };
    e->rows[1].done = true;
    e->rows[1].verdict = ASSAY_WRONG;
    e->rows[1].match = odd_match();
    snprintf(e->rows[1].reason, sizeof e->rows[1].reason, "not \xff UTF-8");
    e->rows[2].done = e->rows[2].failed_here = true;
    e->rows[2].verdict = ASSAY_WRONG;
    e->rows[3].done = true;
    e->rows[3].verdict = ASSAY_CRASHED;
}

static void check_number(double a, double b)
{
    if (isnan(b))
        assert_true(isnan(a));
    else
        assert_true(a == b && signbit(a) == signbit(b));
}

static void check_match(const struct assay_match *a, const struct assay_match *b)
{
    assert_int_equal(a->passed, b->passed);
    assert_int_equal(a->reason, b->reason);
    assert_int_equal(a->output, b->output);
    assert_int_equal(a->dtype, b->dtype);
    check_number(a->tau, b->tau);
    check_number(a->mere, b->mere);
    check_number(a->mare, b->mare);
    check_number(a->max_diff, b->max_diff);
    check_number(a->mean_diff, b->mean_diff);
    assert_true(a->total == b->total && a->mismatches == b->mismatches);
    assert_true(a->small_value.errors == b->small_value.errors &&
                a->small_value.passed == b->small_value.passed);
    assert_true(a->cancel.total == b->cancel.total && a->cancel.passed == b->cancel.passed);
    assert_true(a->normal.native_errors == b->normal.native_errors);
    assert_true(a->first_tensor == b->first_tensor && a->first_index == b->first_index &&
                a->worst_index == b->worst_index);
    check_number(a->first_got, b->first_got);
    check_number(a->first_want, b->first_want);
    check_number(a->worst_got, b->worst_got);
    check_number(a->worst_want, b->worst_want);
    assert_memory_equal(a->ulp, b->ulp, sizeof a->ulp);
    assert_string_equal(a->text, b->text);
}

static void check_row(const struct assay_row *a, const struct assay_row *b)
{
    assert_string_equal(a->op->name, b->op->name);
    assert_int_equal(a->case_id, b->case_id);
    assert_int_equal(a->done, b->done);
    check_number(a->hap, b->hap);
    check_number(a->t_hw_ns, b->t_hw_ns);
    if (!b->done)
        return;
    check_number(a->hap_lo, isnan(b->hap) ? (double)NAN : b->hap_lo);
    check_number(a->hap_hi, isnan(b->hap) ? (double)NAN : b->hap_hi);
    check_number(a->hap_limit, isnan(b->hap) ? (double)NAN : b->hap_limit);
    check_number(a->t_hw_spread, isnan(b->t_hw_ns) ? (double)NAN : b->t_hw_spread);
    assert_int_equal(a->failed_here, b->failed_here);
    assert_int_equal(a->verdict, b->verdict);
    assert_int_equal(a->timed, b->timed);
    assert_int_equal(a->bottleneck, b->bottleneck);
    assert_true(a->sets_checked == b->sets_checked && a->sets_golden == b->sets_golden &&
                a->sets_escalated == b->sets_escalated);
    assert_true(a->seed == b->seed);
    check_number(a->wall_s, b->wall_s);
    check_match(&a->match, &b->match);
    assert_int_equal(a->time.n_pairs, b->time.n_pairs);
    assert_int_equal(a->time.n_rounds, b->time.n_rounds);
    assert_int_equal(a->time.n_calls, b->time.n_calls);
    assert_int_equal(a->time.n_discarded, b->time.n_discarded);
    assert_int_equal(a->time.flags, b->time.flags);
    check_number(a->time.base_ns, b->time.base_ns);
    check_number(a->time.base_lo, b->time.base_lo);
    check_number(a->time.base_hi, b->time.base_hi);
    check_number(a->time.cand_ns, b->time.cand_ns);
    check_number(a->time.ratio, b->time.ratio);
    check_number(a->time.ratio_lo, b->time.ratio_lo);
    check_number(a->time.ratio_hi, b->time.ratio_hi);
    check_number(a->time.null_ns, b->time.null_ns);
    assert_int_equal(a->pairs != NULL, b->pairs != NULL);
    for (int i = 0; b->pairs && i < b->time.n_pairs; i++) {
        check_number(a->pairs[i].base_ns, b->pairs[i].base_ns);
        check_number(a->pairs[i].cand_ns, b->pairs[i].cand_ns);
        assert_int_equal(a->pairs[i].n_calls, b->pairs[i].n_calls);
        assert_int_equal(a->pairs[i].cand_first, b->pairs[i].cand_first);
        assert_int_equal(a->pairs[i].disturbed, b->pairs[i].disturbed);
        assert_int_equal(a->pairs[i].round, b->pairs[i].round);
    }
}

static void check_manifest(const struct assay_manifest *a, const struct assay_manifest *b)
{
    assert_string_equal(a->version, b->version);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->author, b->author);
    assert_string_equal(a->model, b->model);
    assert_string_equal(a->submission, b->submission);
    assert_string_equal(a->baseline, b->baseline);
    assert_string_equal(a->suite, b->suite);
    assert_string_equal(a->compiler, b->compiler);
    assert_string_equal(a->cpu, b->cpu);
    assert_string_equal(a->kernel, b->kernel);
    assert_string_equal(a->date, b->date);
    assert_string_equal(a->target, b->target);
    assert_string_equal(a->trust, b->trust);
    assert_string_equal(a->cases, b->cases);
    assert_true(a->trusted == b->trusted && a->rules == b->rules && a->threads == b->threads);
    assert_true(a->timing == b->timing && a->seed_given == b->seed_given && a->seed == b->seed);
}

/* A folder of its own for each test. */
static void temp_file(char path[PATH_CHARS], const char *name)
{
    char dir[] = "/tmp/assay-test-XXXXXX";

    assert_non_null(mkdtemp(dir));
    snprintf(path, PATH_CHARS, "%s/%s", dir, name);
}

static void remove_file(const char *path)
{
    char other[PATH_CHARS + 8];

    snprintf(other, sizeof other, "%s.partial", path);
    unlink(other);
    unlink(path);
    snprintf(other, sizeof other, "%s", path);
    *strrchr(other, '/') = 0;
    assert_int_equal(rmdir(other), 0); /* nothing else was left behind */
}

static bool exists(const char *path, const char *suffix)
{
    char other[PATH_CHARS + 8];

    snprintf(other, sizeof other, "%s%s", path, suffix);
    return !access(other, F_OK);
}

/* Plays a run: nothing is done when it begins; then come the builds of e and its first n rows. */
static void play(struct assay_sink *sink, const struct example *e, int n)
{
    struct example before;
    struct assay_err err;

    plan(&before);
    T_OK(sink->begin(sink->self, &before.r, &err));
    for (int i = 0; i < N_BUILDS; i++)
        if (e->builds[i].done)
            T_OK(sink->build(sink->self, &e->r, i, &err));
    for (int i = 0; i < n; i++)
        if (e->rows[i].done)
            T_OK(sink->row(sink->self, &e->r, i, &err));
}

/* Writes a journal that breaks off: n rows, and then the first bytes of a line. */
static void break_off(const char *path, const struct example *e, int n, const char *torn)
{
    char partial[PATH_CHARS + 8];
    struct assay_sink sink;
    struct assay_err err;
    FILE *f;

    T_OK(assay_report_json_open(&sink, path, false, &err));
    play(&sink, e, n);
    assay_report_json_close(&sink);
    assert_false(exists(path, ""));
    snprintf(partial, sizeof partial, "%s.partial", path);
    f = fopen(partial, "a");
    assert_non_null(f);
    fputs(torn, f);
    fclose(f);
}

static void reads_what_it_wrote(void **state)
{
    struct example e;
    struct assay_result got;
    struct assay_sink sink;
    struct assay_err err;
    char path[PATH_CHARS];

    (void)state;
    fill(&e);
    temp_file(path, "r.json");
    T_OK(assay_report_json_open(&sink, path, false, &err));
    play(&sink, &e, N_ROWS);
    assert_false(exists(path, ""));
    assert_true(exists(path, ".partial"));
    T_OK(sink.end(sink.self, &e.r, &err));
    assay_report_json_close(&sink);
    assert_false(exists(path, ".partial"));

    T_OK(assay_result_read(&got, path, find, &err));
    check_manifest(&got.manifest, &e.r.manifest);
    assert_string_equal(got.machine.name, "this");
    check_number(got.machine.peak[ASSAY_UNIT_DRAM], 1.0e10 / 3);
    check_number(got.machine.spread[ASSAY_UNIT_DRAM], 0.01);
    check_number(got.machine.peak[ASSAY_UNIT_ALU], 0);
    assert_int_equal(got.n_builds, N_BUILDS);
    assert_string_equal(got.builds[0].diagnostics, e.diagnostics);
    assert_string_equal(got.builds[0].hash, "abc");
    assert_true(got.builds[0].compiled && got.builds[0].present && !got.builds[0].failed_here);
    assert_true(got.builds[1].done && got.builds[1].failed_here);
    assert_null(got.builds[1].diagnostics);
    assert_int_equal(got.n_rows, N_ROWS);
    for (int i = 0; i < N_ROWS; i++)
        check_row(&got.rows[i], &e.rows[i]);
    assert_string_equal(got.rows[1].reason, "not ? UTF-8");
    check_number(got.wall_s, 0.1);
    assert_false(got.interrupted);
    assay_result_release(&got);
    remove_file(path);
}

/* What is missing is null in the text, and nothing but a JSON reader is needed to see it. */
static void missing_is_null(void **state)
{
    struct example e;
    struct assay_text t = { 0 };
    struct assay_err err;
    json_t *root = NULL, *summary, *op, *row;
    static const char *const unknown[] = { "score",      "score_lo",  "score_hi", "hap",
                                           "hap_lo",     "hap_hi",    "speedup",  "speedup_lo",
                                           "speedup_hi", "bottleneck" };

    (void)state;
    fill(&e);
    e.builds[1] = (struct assay_build_row){ .op = &ops[1] };
    e.rows[3] = (struct assay_row){ .op = &ops[1], .case_id = 1, .hap = (double)NAN };
    assay__result_put_result(&t, &e.r);
    assert_false(t.failed);
    T_OK(assay__json_parse(&root, t.data, t.len, &err));
    assert_int_equal(json_integer_value(json_object_get(root, "format")), 2);
    summary = json_object_get(root, "summary");
    op = json_array_get(json_object_get(summary, "operators"), 1);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (!json_is_null(json_object_get(op, unknown[i])))
            fail_msg("'%s' is not null", unknown[i]);
    /* tier 2 has no operator here: no mean, rather than a mean of 0 */
    assert_true(json_is_null(
        json_object_get(json_array_get(json_object_get(summary, "tiers"), 1), "mean")));
    row = json_array_get(json_object_get(root, "cases"), 2);
    assert_true(json_is_true(json_object_get(row, "failed_here")));
    assert_true(json_is_null(json_object_get(row, "verdict")));
    assert_true(json_is_null(json_object_get(row, "seed")));
    /* 0 in memory, but there is no HAP that it could be about */
    assert_true(json_is_null(json_object_get(row, "hap_lo")));
    assert_true(json_is_null(json_object_get(row, "hap_limit")));
    assert_true(json_is_null(json_object_get(row, "t_hw_spread")));
    row = json_array_get(json_object_get(root, "cases"), 3);
    assert_true(json_is_false(json_object_get(row, "done")));
    assert_null(json_object_get(row, "verdict"));
    json_decref(root);
    assay_text_release(&t);
}

static void resumes_after_a_torn_line(void **state)
{
    struct example whole, e;
    struct assay_result got;
    struct assay_sink sink;
    struct assay_err err;
    char path[PATH_CHARS];
    int n = -1;

    (void)state;
    fill(&whole);
    temp_file(path, "r.json");
    break_off(path, &whole, 3, "{\"kind\":\"case\",\"case\":{\"op\":\"beta\",\"ca");

    /* rows 0 and 1 count; row 2 failed through our fault and runs again; the torn line is nothing
     */
    plan(&e);
    T_OK(assay_report_json_open(&sink, path, true, &err));
    T_OK(assay_report_json_resume(&e.r, path, &n, &err));
    assert_int_equal(n, 2);
    check_row(&e.rows[0], &whole.rows[0]);
    check_row(&e.rows[1], &whole.rows[1]);
    assert_ptr_equal(e.rows[0].op, &ops[0]);
    assert_false(e.rows[2].done || e.rows[3].done || e.rows[4].done);
    assert_true(e.builds[0].done);
    assert_string_equal(e.builds[0].hash, "abc");
    assert_false(e.builds[1].done); /* our fault */

    /* the resumed run goes on in the same journal, and is cut off once more */
    T_OK(sink.begin(sink.self, &e.r, &err));
    e.rows[3] = whole.rows[3];
    T_OK(sink.row(sink.self, &e.r, 3, &err));
    assay_report_json_close(&sink);
    assay_arena_release(&e.r.arena);
    plan(&e);
    T_OK(assay_report_json_resume(&e.r, path, &n, &err));
    assert_int_equal(n, 3);
    check_row(&e.rows[3], &whole.rows[3]);

    /* and ends */
    T_OK(assay_report_json_open(&sink, path, true, &err));
    T_OK(sink.begin(sink.self, &e.r, &err));
    T_OK(sink.end(sink.self, &e.r, &err));
    assay_report_json_close(&sink);
    assert_false(exists(path, ".partial"));
    T_OK(assay_result_read(&got, path, find, &err));
    check_row(&got.rows[1], &whole.rows[1]);
    assay_result_release(&got);
    assay_arena_release(&e.r.arena);
    remove_file(path);
}

/* A finished file serves too; a journal begun from it holds its rows, for the next time. */
static void resumes_from_a_finished_file(void **state)
{
    struct example whole, e;
    struct assay_sink sink;
    struct assay_err err;
    char path[PATH_CHARS];
    int n = -1;

    (void)state;
    fill(&whole);
    temp_file(path, "r.json");
    T_OK(assay_report_json_open(&sink, path, false, &err));
    play(&sink, &whole, N_ROWS);
    T_OK(sink.end(sink.self, &whole.r, &err));
    assay_report_json_close(&sink);

    for (int round = 0; round < 2; round++) {
        plan(&e);
        T_OK(assay_report_json_open(&sink, path, true, &err));
        T_OK(assay_report_json_resume(&e.r, path, &n, &err));
        assert_int_equal(n, 3);
        check_row(&e.rows[0], &whole.rows[0]);
        T_OK(sink.begin(sink.self, &e.r, &err));
        assay_report_json_close(&sink);
        assert_true(exists(path, ".partial"));
        assay_arena_release(&e.r.arena);
    }
    remove_file(path);
}

static void starts_when_there_is_nothing(void **state)
{
    struct example e;
    struct assay_sink sink;
    struct assay_err err;
    char path[PATH_CHARS];
    int n = -1;

    (void)state;
    plan(&e);
    temp_file(path, "r.json");
    T_OK(assay_report_json_open(&sink, path, true, &err));
    T_OK(assay_report_json_resume(&e.r, path, &n, &err));
    assert_int_equal(n, 0);
    assay_report_json_close(&sink);
    assert_false(exists(path, ".partial")); /* nothing was measured, nothing is left */
    remove_file(path);
}

static void interrupted_keeps_the_journal(void **state)
{
    struct example e;
    struct assay_sink sink;
    struct assay_err err;
    char path[PATH_CHARS];

    (void)state;
    fill(&e);
    temp_file(path, "r.json");
    T_OK(assay_report_json_open(&sink, path, false, &err));
    play(&sink, &e, 2);
    e.r.interrupted = true;
    T_OK(sink.end(sink.self, &e.r, &err));
    assay_report_json_close(&sink);
    assert_true(exists(path, ".partial"));
    assert_false(exists(path, ""));
    remove_file(path);
}

static void check_refused(const char *path, void (*change)(struct assay_manifest *m),
                          const char *word)
{
    struct example e;
    struct assay_err err = { "" };
    int n;

    plan(&e);
    change(&e.r.manifest);
    assert_int_equal(assay_report_json_resume(&e.r, path, &n, &err), ASSAY_INVALID);
    if (!strstr(err.text, "belongs to another run: ") || !strstr(err.text, word))
        fail_msg("'%s' does not name '%s'", err.text, word);
    for (int i = 0; i < N_ROWS; i++)
        assert_false(e.rows[i].done);
    assay_arena_release(&e.r.arena);
}

static void other_submission(struct assay_manifest *m)
{
    snprintf(m->submission, sizeof m->submission, "yours");
}
static void other_suite(struct assay_manifest *m)
{
    snprintf(m->suite, sizeof m->suite, "tasks");
}
static void other_rules(struct assay_manifest *m)
{
    m->rules = ASSAY_RULES_PAPER;
}
static void other_version(struct assay_manifest *m)
{
    snprintf(m->version, sizeof m->version, "0.2.0");
}
static void other_threads(struct assay_manifest *m)
{
    m->threads = 4;
}
static void other_timing(struct assay_manifest *m)
{
    m->timing = false;
}
static void other_seed(struct assay_manifest *m)
{
    m->seed_given = true;
}

static void refuses_the_journal_of_another_run(void **state)
{
    struct example e;
    char path[PATH_CHARS];

    (void)state;
    fill(&e);
    temp_file(path, "r.json");
    break_off(path, &e, N_ROWS, "");
    check_refused(path, other_submission, "submission");
    check_refused(path, other_suite, "suite");
    check_refused(path, other_rules, "rules");
    check_refused(path, other_version, "version");
    check_refused(path, other_threads, "threads '3' there, '4' here");
    check_refused(path, other_timing, "timing");
    check_refused(path, other_seed, "seed");
    remove_file(path);
}

/* A broken line in the middle is damage, not a torn end. */
static void refuses_a_damaged_journal(void **state)
{
    struct example e;
    struct assay_err err = { "" };
    char path[PATH_CHARS];
    int n;

    (void)state;
    fill(&e);
    temp_file(path, "r.json");
    break_off(path, &e, 1, "{\"kind\":\"case\",\n{\"kind\":\"case\"}\n");
    plan(&e);
    assert_int_equal(assay_report_json_resume(&e.r, path, &n, &err), ASSAY_PARSE);
    assert_non_null(strstr(err.text, "r.json.partial: line 5: "));
    assay_arena_release(&e.r.arena);
    remove_file(path);
}

static void finds_an_unwritable_path_at_once(void **state)
{
    struct assay_sink sink;
    struct assay_err err = { "" };

    (void)state;
    assert_int_equal(assay_report_json_open(&sink, "/nosuchfolder/r.json", false, &err), ASSAY_IO);
    assert_string_equal(err.text,
                        "cannot write /nosuchfolder/r.json.partial: No such file or directory");
    assert_null(sink.self);
    assert_int_equal(assay_report_json_open(&sink, "/tmp", false, &err), ASSAY_IO);
    assert_string_equal(err.text, "cannot write /tmp: not a regular file");
}

/* ---- hostile input --------------------------------------------------------------------------- */

/* The text of the example with the first `from` replaced by `to`. */
static char *altered(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    size_t head, n = strlen(text) + strlen(to) + 1;
    char *out = malloc(n);

    if (!at)
        fail_msg("'%s' is not in the text", from);
    assert_non_null(out);
    head = (size_t)(at - text);
    snprintf(out, n, "%.*s%s%s", (int)head, text, to, at + strlen(from));
    return out;
}

static void check_hostile(const char *text, const char *from, const char *to, const char *word)
{
    char *bad = altered(text, from, to);
    struct assay_result r;
    struct assay_err err = { "" };
    enum assay_status st = assay__result_parse(&r, bad, strlen(bad), find, &err);

    if (st != ASSAY_PARSE && st != ASSAY_UNSUPPORTED)
        fail_msg("'%s' for '%s' gives %s", to, from, assay_status_text(st));
    if (!strstr(err.text, word))
        fail_msg("'%s' for '%s': '%s' does not name '%s'", to, from, err.text, word);
    assert_null(r.rows);
    free(bad);
}

static void refuses_what_is_wrong(void **state)
{
    struct example e;
    struct assay_text t = { 0 };
    char longer[400];

    (void)state;
    fill(&e);
    assay__result_put_result(&t, &e.r);
    assert_false(t.failed);
    memset(longer, 'x', sizeof longer);
    snprintf(longer + 300, 100, "%s", "\"");
    memcpy(longer, "\"submission\":\"", 14);

    check_hostile(t.data, "\"format\":2", "\"format\":3", "result format 3");
    check_hostile(t.data, "\"format\":2", "\"format\":\"2\"", "integer expected, got string");
    check_hostile(t.data, "\"interrupted\":false", "\"interrupted\":0", "interrupted");
    check_hostile(t.data, "\"manifest\":", "\"mannifest\":", "field 'manifest' missing");
    check_hostile(t.data, "\"submission\":\"mine\"", longer,
                  "field 'submission': 286 bytes, at most 255");
    check_hostile(t.data, "\"threads\":3", "\"threads\":0", "threads");
    check_hostile(t.data, "\"threads\":3", "\"threads\":99999999999", "threads");
    check_hostile(t.data, "\"seed\":\"18446744073709551615\"", "\"seed\":\"18446744073709551616\"",
                  "seed");
    check_hostile(t.data, "\"seed\":\"18446744073709551615\"", "\"seed\":\"-1\"", "seed");
    check_hostile(t.data, "\"rules\":\"upstream\"", "\"rules\":\"mine\"", "unknown value 'mine'");
    check_hostile(t.data, "{\"op\":\"beta\",\"done\"", "{\"op\":\"alpha\",\"done\"",
                  "operator 'alpha' twice");
    check_hostile(t.data, "{\"op\":\"beta\",\"done\"", "{\"op\":\"gamma\",\"done\"",
                  "unknown operator 'gamma'");
    check_hostile(t.data, "{\"op\":\"beta\",\"case\":1", "{\"op\":\"alpha\",\"case\":1",
                  "case alpha/1 twice");
    check_hostile(t.data, "{\"op\":\"alpha\",\"case\":2", "{\"op\":\"beta\",\"case\":3",
                  "not in the order of the builds");
    check_hostile(t.data, "\"case\":1", "\"case\":-1", "case");
    check_hostile(t.data, "\"verdict\":\"PASS\"", "\"verdict\":\"FINE\"", "unknown value 'FINE'");
    check_hostile(t.data, "\"verdict\":\"PASS\"", "\"verdict\":null", "verdict");
    check_hostile(t.data, "\"n_pairs\":3", "\"n_pairs\":4", "3 pairs, not the 4");
    check_hostile(t.data, "\"n_pairs\":3", "\"n_pairs\":-1", "n_pairs");
    check_hostile(t.data, ",5,1,0,0]", ",5,2,0,0]", "pair 0 malformed");
    check_hostile(t.data, ",5,1,0,0]", ",5,1,0]", "pair 0 malformed");
    check_hostile(t.data, ",2147483647,0,1,1]", ",2147483648,0,1,1]", "pair 1 malformed");
    check_hostile(t.data, "\"UNRESOLVED\"", "\"PERFECT\"", "unknown value 'PERFECT'");
    check_hostile(t.data, "\"ulp\":[1,2,", "\"ulp\":[1,", "'ulp': 7 entries, not 8");
    check_hostile(t.data, "\"ulp\":[1,", "\"ulp\":[-1,", "ulp");
    check_hostile(t.data, "\"output\":2", "\"output\":6", "output");
    check_hostile(t.data, "\"dtype\":\"bfloat16\"", "\"dtype\":\"bfloat17\"", "bfloat17");
    check_hostile(t.data, "\"reason\":\"nan_positions_differ\"", "\"reason\":\"mood\"", "mood");
    check_hostile(t.data, "\"bottleneck\":\"trans\",\"sets", "\"bottleneck\":\"luck\",\"sets",
                  "luck");
    check_hostile(t.data, "\"reason\":\"\",\"hap\":0.3", "\"reason\":\"\",\"hap\":\"0.3\"", "hap");
    check_hostile(t.data, "\"reason\":\"\",\"hap\":0.3", "\"reason\":\"\"", "field 'hap' missing");
    check_hostile(t.data, "\"sets_golden\":2", "\"sets_golden\":2,\"sets_golden\":2", "duplicate");
    check_hostile(t.data, "\"reason\":\"\"", "\"reason\":\"\\u0000\"", "\\u0000");
    assay_text_release(&t);
}

/* Every beginning of a file but the whole is refused, and none does harm (sanitizers watch). */
static void refuses_every_prefix(void **state)
{
    struct example e;
    struct assay_text t = { 0 };
    struct assay_result r;

    (void)state;
    fill(&e);
    assay__result_put_result(&t, &e.r);
    assert_false(t.failed);
    for (size_t n = 0; n + 2 <= t.len; n++)
        assert_int_equal(assay__result_parse(&r, t.data, n, find, NULL), ASSAY_PARSE);
    assert_int_equal(assay__result_parse(&r, t.data, t.len, find, NULL), ASSAY_OK);
    assay_result_release(&r);
    assay_text_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_it_wrote),
        cmocka_unit_test(missing_is_null),
        cmocka_unit_test(resumes_after_a_torn_line),
        cmocka_unit_test(resumes_from_a_finished_file),
        cmocka_unit_test(starts_when_there_is_nothing),
        cmocka_unit_test(interrupted_keeps_the_journal),
        cmocka_unit_test(refuses_the_journal_of_another_run),
        cmocka_unit_test(refuses_a_damaged_journal),
        cmocka_unit_test(finds_an_unwritable_path_at_once),
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(refuses_every_prefix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
