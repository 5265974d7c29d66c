/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_verdicts.c: small submissions that misbehave, each with the verdict and the words that it
 * must get, through the whole path: build, lock, run, judge.
 */
#include "t.h"

#include "assay/bench.h"
#include "assay/op.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/assay-test-XXXXXX";
static struct assay_home home;

/* One small case for each operator that a submission here implements. */
static const struct {
    const char *op, *inputs, *attrs;
} contracts[] = {
    { "exp", "{\"dtype\": \"float32\", \"shape\": [4099], \"range\": [-1, 1]}", "" },
    { "sigmoid", "{\"dtype\": \"float32\", \"shape\": [4099], \"range\": [-1, 1]}", "" },
    { "masked_scale",
      "{\"dtype\": \"float16\", \"shape\": [41, 1009], \"range\": [-1, 1]}, "
      "{\"dtype\": \"uint8\", \"shape\": [41, 1009], \"range\": [0, 1]}",
      "\"scale\": 2" },
    { "foreach_norm",
      "{\"dtype\": \"bfloat16\", \"list\": [{\"shape\": [4099], \"range\": [-1, 1]}, "
      "{\"shape\": [3, 5], \"range\": [-1, 1]}]}",
      "\"scalar\": 2" },
};
enum { N_CONTRACTS = sizeof contracts / sizeof *contracts };

static int make_cases(void **state)
{
    struct assay_err err;
    char path[128], text[1024];

    (void)state;
    if (!mkdtemp(folder) || chmod(folder, 0755))
        return -1;
    for (int i = 0; i < N_CONTRACTS; i++) {
        snprintf(text, sizeof text,
                 "{\"format\": 1, \"op\": \"%s\", \"cases\": [\n {\"id\": 1, \"class\": \"small\", "
                 "\"inputs\": [%s], \"attrs\": {%s}, \"note\": \"one\"}\n]}\n",
                 contracts[i].op, contracts[i].inputs, contracts[i].attrs);
        snprintf(path, sizeof path, "%s/%s.json", folder, contracts[i].op);
        if (assay_file_write(path, text, strlen(text), &err))
            return -1;
    }
    snprintf(home.cases, sizeof home.cases, "%s", folder);
    snprintf(home.kernels, sizeof home.kernels, "%s/kernels", ASSAY_SOURCE_DIR);
    snprintf(home.include, sizeof home.include, "%s/include", ASSAY_SOURCE_DIR);
    snprintf(home.child, sizeof home.child, "%s/assay-child", ASSAY_BUILD_DIR);
    return 0;
}

static int drop_cases(void **state)
{
    char path[128];

    (void)state;
    for (int i = 0; i < N_CONTRACTS; i++) {
        snprintf(path, sizeof path, "%s/%s.json", folder, contracts[i].op);
        unlink(path);
    }
    return rmdir(folder);
}

/* Runs the one case of an operator on a submission under tests/candidates; the row is copied out.
 */
static void run_op(struct assay_row *row, char diagnostics[8192], const char *submission,
                   const char *op, int threads, bool timing)
{
    const struct assay_op *ops[] = { assay_op_find(op), NULL };
    struct assay_machine machine = { .name = "test", .threads = threads };
    struct assay_result r;
    struct assay_err err;
    char path[4096];
    struct assay_run_options o = {
        .home = &home,
        .submission = path,
        .ops = ops,
        .threads = threads,
        .timing = timing,
        .budget_s = 0.3,
        .machine = &machine,
    };

    snprintf(path, sizeof path, "%s/tests/candidates/%s", ASSAY_SOURCE_DIR, submission);
    T_OK(assay_bench_run(&r, &o, NULL, 0, NULL, &err));
    assert_int_equal(r.n_rows, 1);
    assert_true(r.rows[0].done);
    *row = r.rows[0];
    row->pairs = NULL;
    snprintf(diagnostics, 8192, "%s", r.builds[0].diagnostics ? r.builds[0].diagnostics : "");
    assay_result_release(&r);
}

static void run(struct assay_row *row, char diagnostics[8192], const char *submission, bool timing)
{
    run_op(row, diagnostics, submission, "exp", 1, timing);
}

struct expectation {
    const char *submission;
    enum assay_verdict verdict;
    const char *words; /* in the reason */
};

static void check(const struct expectation *e, size_t n, bool timing)
{
    char diagnostics[8192];
    struct assay_row row;

    for (size_t i = 0; i < n; i++) {
        run(&row, diagnostics, e[i].submission, timing);
        print_message("%-28s %-14s %s\n", e[i].submission, assay_verdict_name(row.verdict),
                      row.reason);
        assert_false(row.failed_here);
        assert_string_equal(assay_verdict_name(row.verdict), assay_verdict_name(e[i].verdict));
        assert_non_null(strstr(row.reason, e[i].words));
    }
}

static void crashes(void **state)
{
    static const struct expectation e[] = {
        { "bad/null_pointer", ASSAY_CRASHED, "null pointer" },
        { "bad/writes_input", ASSAY_CRASHED, "wrote to input x" },
        { "bad/exits", ASSAY_CRASHED, "called exit with status 0" },
        { "bad/aborts", ASSAY_CRASHED, "abort" },
#if defined(__x86_64__)
        { "bad/divides_by_zero", ASSAY_CRASHED, "arithmetic" },
#endif
        { "bad/recurses", ASSAY_CRASHED, "segmentation fault" },
        { "bad/crashes_in_constructor", ASSAY_CRASHED, "while the library was loaded" },
    };

    (void)state;
    check(e, sizeof e / sizeof *e, false);
}

static void forbidden(void **state)
{
    static const struct expectation e[] = {
        { "bad/opens_file", ASSAY_FORBIDDEN, "open" },
        { "bad/opens_socket", ASSAY_FORBIDDEN, "socket" },
        { "bad/forks", ASSAY_FORBIDDEN, "clone" },
        { "bad/makes_thread", ASSAY_FORBIDDEN, "system call" },
        { "bad/runs_program", ASSAY_FORBIDDEN, "execve" },
        { "bad/maps_code", ASSAY_FORBIDDEN, "mmap" },
        { "bad/punches_holes", ASSAY_FORBIDDEN, "madvise" },
    };

    (void)state;
    check(e, sizeof e / sizeof *e, false);
}

static void memory(void **state)
{
    static const struct expectation e[] = {
        { "bad/takes_much_memory", ASSAY_OUT_OF_MEMORY, "budget" },
        { "bad/leaks_memory", ASSAY_OUT_OF_MEMORY, "budget" },
    };

    (void)state;
    check(e, sizeof e / sizeof *e, false);
}

static void wrong(void **state)
{
    static const struct expectation e[] = {
        { "bad/past_end", ASSAY_WRONG, "wrote 8 bytes past output y" },
        { "bad/before_start", ASSAY_WRONG, "wrote 4 bytes before output y" },
        { "bad/gives_up", ASSAY_WRONG, "returned 7" },
        { "bad/does_nothing", ASSAY_WRONG, "output y" },
        { "bad/remembers", ASSAY_WRONG, "output y" },
    };

    (void)state;
    check(e, sizeof e / sizeof *e, false);
}

static void does_not_build(void **state)
{
    static const struct {
        const char *submission, *diagnostic;
    } e[] = {
        { "bad/syntax_error", "exp.c:7:13: error" },
        { "bad/undefined_symbol", "write_the_answer" },
        { "bad/foreign_include", "/etc/passwd" },
        { "bad/forbidden_flag", "flags[0]: '-fplugin=./evil.so' is not allowed" },
    };
    char diagnostics[8192];
    struct assay_row row;

    (void)state;
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) {
        run(&row, diagnostics, e[i].submission, false);
        assert_int_equal(row.verdict, ASSAY_COMPILE_FAILED);
        assert_non_null(strstr(diagnostics, e[i].diagnostic));
        assert_null(strstr(diagnostics, "root:")); /* what the file says */
        assert_null(strstr(diagnostics, "/tmp/assay"));
    }
    run(&row, diagnostics, "bad/other_name", false);
    assert_int_equal(row.verdict, ASSAY_COMPILE_FAILED);
    assert_non_null(strstr(row.reason, "no function assay_exp"));
}

/* What changes its ways after the first calls is caught by the timed ones: there is no other phase.
 */
static void timed(void **state)
{
    static const struct expectation e[] = {
        { "bad/tires", ASSAY_WRONG, "output y" },
        { "bad/remembers", ASSAY_WRONG, "output y" },
    };

    (void)state;
    check(e, sizeof e / sizeof *e, true);
}

static void hangs(void **state)
{
    static const struct expectation e[] = { { "bad/hangs", ASSAY_TIMED_OUT, "more than 10 s" } };

    (void)state;
    check(e, 1, false);
}

/* Honest kernels that use what the interface offers; two threads where there are two cores. */
static void good(void **state)
{
    static const struct {
        const char *submission, *op;
    } e[] = {
        { "good/prints", "exp" },
        { "good/flags", "exp" },
        { "good/cxx", "exp" },
        { "good/c_scratch", "sigmoid" },
        { "good/c_parallel", "masked_scale" },
        { "good/list", "foreach_norm" },
    };
    int most = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;
    char diagnostics[8192];
    struct assay_row row;

    (void)state;
    for (size_t i = 0; i < sizeof e / sizeof *e; i++)
        for (int threads = 1; threads <= most; threads++)
            for (int timing = 0; timing < 2; timing++) {
                run_op(&row, diagnostics, e[i].submission, e[i].op, threads, timing);
                print_message("%-28s %d threads, timing %d: %s %s%s\n", e[i].submission, threads,
                              timing, assay_verdict_name(row.verdict), row.reason, diagnostics);
                assert_false(row.failed_here);
                assert_int_equal(row.verdict, ASSAY_PASS);
                assert_int_equal(row.timed, timing);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crashes), cmocka_unit_test(forbidden),      cmocka_unit_test(memory),
        cmocka_unit_test(wrong),   cmocka_unit_test(does_not_build), cmocka_unit_test(timed),
        cmocka_unit_test(hangs),   cmocka_unit_test(good),
    };

    return cmocka_run_group_tests(tests, make_cases, drop_cases);
}
