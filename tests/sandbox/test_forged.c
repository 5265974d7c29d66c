/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_forged.c: candidates that write the page which their process shares with the harness. They
 * get a verdict, and the harness comes to no harm.
 */
#include "t.h"

#include "assay/bench.h"
#include "assay/op.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/assay-test-XXXXXX";
static char case_file[64];
static struct assay_home home;

static int make_case(void **state)
{
    static const char text[] =
        "{\"format\": 1, \"op\": \"exp\", \"cases\": [\n {\"id\": 1, \"class\": \"small\", "
        "\"inputs\": [{\"dtype\": \"float32\", \"shape\": [4099], \"range\": [-1, 1]}], "
        "\"attrs\": {}, \"note\": \"one\"}\n]}\n";
    struct assay_err err;

    (void)state;
    if (!mkdtemp(folder) || chmod(folder, 0755))
        return -1;
    snprintf(case_file, sizeof case_file, "%s/exp.json", folder);
    snprintf(home.cases, sizeof home.cases, "%s", folder);
    snprintf(home.kernels, sizeof home.kernels, "%s/kernels", ASSAY_SOURCE_DIR);
    snprintf(home.include, sizeof home.include, "%s/include", ASSAY_SOURCE_DIR);
    snprintf(home.child, sizeof home.child, "%s/assay-child", ASSAY_BUILD_DIR);
    return assay_file_write(case_file, text, strlen(text), &err) ? -1 : 0;
}

static int drop_case(void **state)
{
    (void)state;
    unlink(case_file);
    return rmdir(folder);
}

static struct assay_row run(const char *submission)
{
    const struct assay_op *ops[] = { assay_op_find("exp"), NULL };
    struct assay_machine machine = { .name = "test", .threads = 1 };
    struct assay_run_options o = { .home = &home, .ops = ops, .threads = 1, .machine = &machine };
    struct assay_result r;
    struct assay_row row;
    struct assay_err err;
    char path[4096];

    snprintf(path, sizeof path, "%s/tests/candidates/%s", ASSAY_SOURCE_DIR, submission);
    o.submission = path;
    T_OK(assay_bench_run(&r, &o, NULL, 0, NULL, &err));
    assert_int_equal(r.n_rows, 1);
    row = r.rows[0];
    assay_result_release(&r);
    print_message("%s: %s %s\n", submission, assay_verdict_name(row.verdict), row.reason);
    assert_true(row.done);
    assert_false(row.failed_here);
    return row;
}

/* What the harness needs to name the input it keeps to itself. */
static void offsets(void **state)
{
    struct assay_row row = run("bad/forges_offsets");

    (void)state;
    assert_int_equal(row.verdict, ASSAY_CRASHED);
    assert_string_equal(row.reason, "wrote to input x, which is read-only");
}

/* It has nothing to gain: whatever the words, it failed, and they can be printed. */
static void the_whole_page(void **state)
{
    struct assay_row row = run("bad/forges_page");

    (void)state;
    assert_true(row.verdict == ASSAY_CRASHED || row.verdict == ASSAY_OUT_OF_MEMORY ||
                row.verdict == ASSAY_FORBIDDEN);
    assert_true(strlen(row.reason) > 0);
    for (const char *p = row.reason; *p; p++)
        assert_in_range(*p, 0x20, 0x7e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets),
        cmocka_unit_test(the_whole_page),
    };

    return cmocka_run_group_tests(tests, make_case, drop_case);
}
