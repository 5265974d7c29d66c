/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cores.c: each thread of a kernel's process stays on a core of its own, with as many threads
 * as there are cores and with fewer. Where the scheduler may move them, some processes cost several
 * times as much to wake as others.
 */
#include "t.h"
#include "kernel_processes.h"

#include "assay/bench.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int done;
static int n_looks, n_bad; /* of the watcher alone */
static int n_threads;

/* A second in each call, so that it can be looked at; then the case is over. */
static const char kernel[] = "#include <assay/exp.h>\n"
                             "int assay_exp(const struct assay_call *c)\n"
                             "{\n"
                             "    volatile long i = 0;\n"
                             "    (void)c;\n"
                             "    while (i < 2000000000)\n"
                             "        i = i + 1;\n"
                             "    return 1;\n"
                             "}\n";

/* Threads of a process that have one core each; -1 where two have the same, or one has several. */
static int settled(pid_t pid)
{
    char path[64];
    cpu_set_t all, own;
    struct dirent *e;
    int n = 0;
    DIR *d;

    CPU_ZERO(&all);
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    d = opendir(path);
    while (d && n >= 0 && (e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.' ||
            sched_getaffinity((pid_t)strtol(e->d_name, NULL, 10), sizeof own, &own))
            continue;
        n++;
        CPU_OR(&all, &all, &own);
        if (CPU_COUNT(&own) != 1 || CPU_COUNT(&all) != n)
            n = -1;
    }
    if (d)
        closedir(d);
    return n;
}

/* A process counts from its second look on, 50 ms after the first; on a busy machine it may still
 * begin then, or end while it is looked at, and is not settled. */
static void *watch(void *ctx)
{
    pid_t last = 0;

    (void)ctx;
    while (!atomic_load(&done)) {
        pid_t pid = 0;

        t_kernel_processes(&pid, 1);
        if (pid && pid == last) {
            int n = settled(pid);

            if (t_is_kernel_process(pid)) {
                n_looks++;
                n_bad += n != n_threads;
            }
        }
        last = pid;
        usleep(50000);
    }
    return NULL;
}

static void run(const char *dir)
{
    static struct assay_home home;
    const struct assay_op *const ops[] = { assay_op_find("exp"), NULL };
    const struct assay_run_options o = { .home = &home,
                                         .submission = dir,
                                         .ops = ops,
                                         .cases = "exp/1",
                                         .threads = n_threads,
                                         .bare = true };
    struct assay_result r;
    struct assay_err err = { "" };

    snprintf(home.cases, sizeof home.cases, "%s/data/cases", ASSAY_SOURCE_DIR);
    snprintf(home.kernels, sizeof home.kernels, "%s/kernels", ASSAY_SOURCE_DIR);
    snprintf(home.include, sizeof home.include, "%s/include", ASSAY_SOURCE_DIR);
    snprintf(home.child, sizeof home.child, "%s/assay-child", ASSAY_BUILD_DIR);
    T_OK(assay_bench_run(&r, &o, NULL, 0, NULL, &err));
    assert_int_equal(r.n_rows, 1);
    assert_int_equal(r.rows[0].code, ASSAY_REASON_RETURNED);
    assay_result_release(&r);
}

static void threads_have_a_core_each(void **state)
{
    char dir[] = "/tmp/assay-cores-XXXXXX", path[64];
    struct assay_err err = { "" };
    cpu_set_t cores;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof cores, &cores), 0);
    assert_non_null(mkdtemp(dir));
    assert_int_equal(chmod(dir, 0755), 0);
    snprintf(path, sizeof path, "%s/exp.c", dir);
    T_OK(assay_file_write(path, kernel, strlen(kernel), &err));
    for (n_threads = 1; n_threads <= 2 && n_threads <= CPU_COUNT(&cores); n_threads++) {
        pthread_t watcher;

        n_looks = n_bad = 0;
        atomic_store(&done, 0);
        assert_int_equal(pthread_create(&watcher, NULL, watch, NULL), 0);
        run(dir);
        atomic_store(&done, 1);
        pthread_join(watcher, NULL);
        print_message("%d thread%s: %d looks, %d unsettled\n", n_threads, n_threads > 1 ? "s" : "",
                      n_looks, n_bad);
        assert_true(n_looks > 0);
        assert_true(2 * n_bad < n_looks);
    }
    unlink(path);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(threads_have_a_core_each) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
