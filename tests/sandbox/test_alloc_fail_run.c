/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_alloc_fail_run.c: a whole run of one small case, builds and locked process included, with
 * allocations failing: one by one, and all from some point on. The run says that memory is short,
 * or the row does (our fault, never the candidate's), or it is judged as ever. No process,
 * descriptor or folder stays behind, and the report is whole or not there.
 */
#include "alloc_fail.h"

#include "assay/bench.h"
#include "assay/op.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/assay-test-XXXXXX";
static struct assay_home home;

static int make_case(void **state)
{
    static const char text[] =
        "{\"format\": 1, \"op\": \"exp\", \"cases\": [\n {\"id\": 1, \"class\": \"small\", "
        "\"inputs\": [{\"dtype\": \"float32\", \"shape\": [4099], \"range\": [-1, 1]}], "
        "\"attrs\": {}, \"note\": \"one\"}\n]}\n";
    struct assay_err err;
    char path[64];

    (void)state;
    if (!mkdtemp(folder) || chmod(folder, 0755))
        return -1;
    snprintf(path, sizeof path, "%s/exp.json", folder);
    snprintf(home.cases, sizeof home.cases, "%s", folder);
    snprintf(home.kernels, sizeof home.kernels, "%s/kernels", ASSAY_SOURCE_DIR);
    snprintf(home.include, sizeof home.include, "%s/include", ASSAY_SOURCE_DIR);
    snprintf(home.child, sizeof home.child, "%s/assay-child", ASSAY_BUILD_DIR);
    return assay_file_write(path, text, strlen(text), &err) ? -1 : 0;
}

static int drop_case(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* A session that lives holds a lock on its folder. */
static bool is_left_over(const char *name, time_t since)
{
    char path[320];
    struct stat st;
    int fd;
    bool left;

    snprintf(path, sizeof path, "/tmp/%s", name);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    left = !fstat(fd, &st) && st.st_mtime >= since && !flock(fd, LOCK_EX | LOCK_NB);
    close(fd);
    return left;
}

/* Folders of builds that nobody needs. Runs beside this one may be about to lock theirs: what is
 * seen once may be gone the next time. */
static int left_over(time_t since)
{
    int n = 1;

    for (int look = 0; n && look < 5; look++) {
        DIR *d = opendir("/tmp");
        const struct dirent *e;

        assert_non_null(d);
        for (n = 0; (e = readdir(d)) != NULL;)
            n += !strncmp(e->d_name, "assay-build-", 12) && is_left_over(e->d_name, since);
        closedir(d);
        if (n)
            usleep(100000);
    }
    return n;
}

static const char *report_path(const char *suffix)
{
    static char path[2][96];
    char *p = path[suffix[0] != 0];

    snprintf(p, sizeof path[0], "%s/report.json%s", folder, suffix);
    return p;
}

/* The run as the command does it, with a report. */
static enum assay_status run(struct assay_result *r, struct assay_err *err)
{
    const struct assay_op *ops[] = { assay_op_find("exp"), NULL };
    struct assay_machine machine = { .name = "test", .threads = 1 };
    const struct assay_run_options o = {
        .home = &home,
        .submission = ASSAY_SOURCE_DIR "/examples/first",
        .ops = ops,
        .bare = true,
        .threads = 1,
        .machine = &machine,
    };
    struct assay_sink sink;
    enum assay_status st = assay_report_json_open(&sink, report_path(""), false, err);

    if (st) {
        memset(r, 0, sizeof *r);
        return st;
    }
    st = assay_bench_run(r, &o, &sink, 1, NULL, err);
    assay_report_json_close(&sink);
    return st;
}

/* What a run may be when memory was short: the candidate is right, whatever happens to us. */
static void check_row(const struct assay_result *r)
{
    assert_int_equal(r->n_rows, 1);
    assert_true(r->rows[0].done);
    if (r->rows[0].failed_here || r->builds[0].failed_here)
        assert_true(strlen(r->rows[0].reason) > 0);
    else
        assert_int_equal(r->rows[0].verdict, ASSAY_PASS);
}

static void check_report(enum assay_status st)
{
    struct assay_result again;
    struct assay_err err;

    if (st) {
        assert_int_equal(access(report_path(""), F_OK), -1);
    } else {
        T_OK(assay_result_read(&again, report_path(""), assay_op_find, &err));
        check_row(&again);
        assay_result_release(&again);
        assert_int_equal(access(report_path(".partial"), F_OK), -1);
    }
    unlink(report_path(""));
    unlink(report_path(".partial"));
}

static void fail_in_turn(struct t_fail f)
{
    int n_here = 0, n_turns = 0;
    time_t start = time(NULL);

    while (t_fail_next(&f)) {
        struct assay_err err = { "" };
        struct assay_result r;
        enum assay_status st = run(&r, &err);

        if (st != ASSAY_OK && st != ASSAY_NOMEM)
            fail_msg("allocation %d: %s: %s", f.nth, assay_status_text(st), err.text);
        t_fail_done(&f, st == ASSAY_OK);
        if (!st) {
            check_row(&r);
            n_here += r.rows[0].failed_here;
            if (f.over)
                assert_int_equal(r.rows[0].verdict, ASSAY_PASS);
        }
        assay_result_release(&r);
        check_report(st);
        assert_int_equal(left_over(start), 0);
        n_turns++;
    }
    print_message("%d runs, %d ended with an error, %d with a fault of ours in the row\n", n_turns,
                  f.n_failed, n_here);
    assert_true(f.n_failed > 0);
    /* one failure is survived by the row; when all fail there is no report either */
    assert_true(f.lasts || n_here > 0);
}

static void one_fails(void **state)
{
    (void)state;
    fail_in_turn((struct t_fail){ .step = 1 });
}

static void all_fail_from_there_on(void **state)
{
    (void)state;
    fail_in_turn((struct t_fail){ .step = 3, .lasts = 1 << 20 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_fails),
        cmocka_unit_test(all_fail_from_there_on),
    };

    return cmocka_run_group_tests(tests, make_case, drop_case);
}
