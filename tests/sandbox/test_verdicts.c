/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_verdicts.c: the words of verdicts, and honest kernels, through the whole path: build, lock,
 * run, judge. That each hostile kernel gets its verdict is the gallery's: `assay selftest`.
 */
#include "t.h"

#include "assay/bench.h"
#include "assay/op.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/assay-test-XXXXXX";
static struct assay_home home;

/* An operator that no suite has: how much it gives depends on the data. */
enum { PICK_X };
static const struct assay_param pick_in[] = { { "x", ASSAY_BIT(ASSAY_F32), 0, "[n]", NULL },
                                              { 0 } };
static const struct assay_param pick_out[] = {
    { "y", ASSAY_BIT(ASSAY_F32), ASSAY_PARAM_DYNAMIC, "[<=n]", NULL }, { 0 }
};
static const struct assay_attr no_attrs[] = { { 0 } };

static enum assay_status pick_golden(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[PICK_X].t[0];
    struct assay_tensor *y = &a->out[0].t[0];
    int64_t used = 0;

    (void)err;
    for (int64_t i = 0; i < x->shape[0]; i++)
        if (assay_load(x, i) > 0)
            assay_store(y, used++, assay_load(x, i));
    y->shape[0] = used;
    return ASSAY_OK;
}

static void pick_work(const struct assay_args *a, struct assay_work *w)
{
    (void)a;
    (void)w;
}

static const struct assay_op pick = {
    .name = "pick",
    .tier = 1,
    .formula = "y = the positive elements of x",
    .in = pick_in,
    .out = pick_out,
    .attrs = no_attrs,
    .golden = pick_golden,
    .work = pick_work,
    .source = "made for tests",
};

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
    { "pick", "{\"dtype\": \"float32\", \"shape\": [4099], \"range\": [-1, 1]}", "" },
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
    const struct assay_op *ops[] = { strcmp(op, pick.name) ? assay_op_find(op) : &pick, NULL };
    struct assay_machine machine = { .name = "test", .threads = threads };
    struct assay_result r;
    struct assay_err err;
    char path[4096];
    struct assay_run_options o = {
        .home = &home,
        .submission = path,
        .baseline = ops[0] == &pick ? path : NULL, /* which has no other */
        .ops = ops,
        .threads = threads,
        .timing = timing,
        .bare = true,
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

struct expectation {
    const char *submission, *op;
    enum assay_verdict verdict;
    enum assay_reason code;
    const char *words; /* in the reason */
};

static void check(const struct expectation *e, size_t n)
{
    char diagnostics[8192];
    struct assay_row row;

    for (size_t i = 0; i < n; i++) {
        run_op(&row, diagnostics, e[i].submission, e[i].op, 1, false);
        print_message("%-28s %-14s %s\n", e[i].submission, assay_verdict_name(row.verdict),
                      row.reason);
        assert_false(row.failed_here);
        assert_string_equal(assay_verdict_name(row.verdict), assay_verdict_name(e[i].verdict));
        assert_string_equal(assay_reason_name(row.code), assay_reason_name(e[i].code));
        assert_non_null(strstr(row.reason, e[i].words));
    }
}

/* The reason says what, and where. */
static void words(void **state)
{
    static const struct expectation e[] = {
        { "bad/null_pointer", "exp", ASSAY_CRASHED, ASSAY_REASON_NULL_POINTER, "null pointer" },
        { "bad/writes_input", "exp", ASSAY_CRASHED, ASSAY_REASON_INPUT, "wrote to input x" },
        { "bad/exits", "exp", ASSAY_CRASHED, ASSAY_REASON_EXIT, "called exit with status 0" },
        { "bad/aborts", "exp", ASSAY_CRASHED, ASSAY_REASON_ABORT, "abort" },
        { "bad/opens_file", "exp", ASSAY_FORBIDDEN, ASSAY_REASON_IMPORT, "imports open" },
        { "bad/crashes_in_constructor", "exp", ASSAY_FORBIDDEN, ASSAY_REASON_AT_LOAD,
          "would run when the library is loaded" },
        { "bad/punches_holes_raw", "exp", ASSAY_FORBIDDEN, ASSAY_REASON_SYSCALL,
          "forbidden system call: madvise" },
        { "bad/takes_much_memory", "exp", ASSAY_OUT_OF_MEMORY, ASSAY_REASON_MEMORY, "budget" },
        { "bad/past_end", "exp", ASSAY_WRONG, ASSAY_REASON_GUARD, "wrote 8 bytes past output y" },
        { "bad/before_start", "exp", ASSAY_WRONG, ASSAY_REASON_GUARD,
          "wrote 4 bytes before output y" },
        { "bad/gives_up", "exp", ASSAY_WRONG, ASSAY_REASON_RETURNED, "returned 7" },
        { "bad/other_name", "exp", ASSAY_COMPILE_FAILED, ASSAY_REASON_NO_ENTRY, "assay_exp" },
        { "bad/dynamic_lies", "pick", ASSAY_WRONG, ASSAY_REASON_SIZE, "beyond the capacity" },
        { "bad/dynamic_short", "pick", ASSAY_WRONG, ASSAY_REASON_SHAPE, "got float32 [3], want" },
    };

    (void)state;
    check(e, sizeof e / sizeof *e);
}

static void does_not_build(void **state)
{
    static const struct {
        const char *submission, *diagnostic;
        enum assay_reason code;
    } e[] = {
        { "bad/syntax_error", "exp.c:7:13: error", ASSAY_REASON_COMPILER },
        { "bad/undefined_symbol", "write_the_answer", ASSAY_REASON_COMPILER },
        { "bad/foreign_include", "/etc/passwd", ASSAY_REASON_COMPILER },
        { "bad/forbidden_flag", "flags[0]: '-fplugin=./evil.so' is not allowed",
          ASSAY_REASON_SUBMISSION },
    };
    char diagnostics[8192];
    struct assay_row row;

    (void)state;
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) {
        run_op(&row, diagnostics, e[i].submission, "exp", 1, false);
        assert_int_equal(row.verdict, ASSAY_COMPILE_FAILED);
        assert_int_equal(row.code, e[i].code);
        assert_non_null(strstr(diagnostics, e[i].diagnostic));
        assert_null(strstr(diagnostics, "root:")); /* what the file says */
        assert_null(strstr(diagnostics, "/tmp/assay"));
    }
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
        { "good/dynamic", "pick" },
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
        cmocka_unit_test(words),
        cmocka_unit_test(does_not_build),
        cmocka_unit_test(good),
    };

    return cmocka_run_group_tests(tests, make_cases, drop_cases);
}
