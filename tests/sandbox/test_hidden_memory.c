/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hidden_memory.c: looks through all memory of the process that a kernel runs in, again and
 * again while hidden cases are run: the shape of its own case is there, that of a later one is not,
 * nor is the secret seed.
 */
#include "t.h"
#include "kernel_processes.h"

#include "assay/bench.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N_CASES = 4, MAX_CHILDREN = 64, PIECE = 1 << 20, OVERLAP = 256 };

/* What is looked for: the extents as they stand in a call, and as a file of cases has them. */
struct mark {
    int id;
    int64_t dims[ASSAY_MAX_RANK];
    size_t n_dims;
    char text[128];
};

/* Large memory that is shared holds tensors: no text is looked for in there. */
static struct mark marks[N_CASES];
static struct assay_hidden_seed seed;
static char seed_hex[65];
static atomic_int current, done;
static int n_looks, n_own, n_later, n_secret; /* of the watcher alone */
static bool refused;

/* ---- the cases ------------------------------------------------------------------------------- */

/* The first of at least two dimensions, small as they are: kernels of these take no time. */
static void choose(const struct assay_suite *s)
{
    int n = 0;

    for (int i = 0; i < s->n && n < N_CASES; i++) {
        const struct assay_shape *shape = s->cases[i].in[0].shape;
        struct mark *m = &marks[n];
        size_t len = 0;

        if (shape->rank < 2 || shape->rank > ASSAY_MAX_RANK)
            continue;
        *m = (struct mark){ .id = s->cases[i].id, .n_dims = (size_t)shape->rank };
        for (int d = 0; d < shape->rank; d++) {
            m->dims[d] = shape->dim[d];
            len += (size_t)snprintf(m->text + len, sizeof m->text - len, "%s%lld", d ? ", " : "[",
                                    (long long)shape->dim[d]);
        }
        n++;
    }
    assert_int_equal(n, N_CASES);
}

/* ---- the watcher ----------------------------------------------------------------------------- */

struct found {
    bool own, later, secret;
};

static void saw(struct found *f, const struct mark *m, int now)
{
    f->own = f->own || m->id == now;
    f->later = f->later || m->id > now;
}

/* Extents stand on whole words; text, and bytes of the seed, anywhere. */
static void look_at(struct found *f, const int64_t *p, size_t n, bool text_too, int now)
{
    for (size_t k = 0; k + ASSAY_MAX_RANK <= n / sizeof *p; k++)
        for (int i = 0; i < N_CASES; i++)
            if (p[k] == marks[i].dims[0] &&
                !memcmp(p + k, marks[i].dims, marks[i].n_dims * sizeof *p))
                saw(f, &marks[i], now);
    if (!text_too)
        return;
    f->secret = f->secret || memmem(p, n, seed.b, sizeof seed.b) || memmem(p, n, seed_hex, 64);
    for (int i = 0; i < N_CASES; i++)
        if (memmem(p, n, marks[i].text, strlen(marks[i].text)))
            saw(f, &marks[i], now);
}

static void look_through(struct found *f, pid_t pid, int now)
{
    static int64_t piece[(PIECE + OVERLAP) / sizeof(int64_t)];
    char path[64], line[512];
    FILE *maps;
    int mem;

    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    mem = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    maps = fopen(path, "r");
    if (mem < 0 && access(path, F_OK) == 0)
        refused = true;
    while (mem >= 0 && maps && fgets(line, sizeof line, maps)) {
        unsigned long from, end;
        char mode[5];

        if (sscanf(line, "%lx-%lx %4s", &from, &end, mode) != 3 || mode[0] != 'r' ||
            strstr(line, "[v"))
            continue;
        for (unsigned long at = from; at < end; at += PIECE) {
            ssize_t n = pread(mem, piece, sizeof piece, (off_t)at);

            if (n <= 0)
                break;
            look_at(f, piece, (size_t)n, mode[3] != 's' || end - from <= PIECE, now);
        }
    }
    if (maps)
        fclose(maps);
    if (mem >= 0)
        close(mem);
}

/* What was seen counts when the case was the same before and after. */
static void *watch(void *ctx)
{
    pid_t child[MAX_CHILDREN];

    (void)ctx;
    while (!atomic_load(&done)) {
        int now = atomic_load(&current);
        int n = now ? t_kernel_processes(child, MAX_CHILDREN) : 0;

        for (int i = 0; i < n; i++) {
            struct found f = { 0 };

            look_through(&f, child[i], now);
            if (atomic_load(&current) != now)
                continue;
            n_looks++;
            n_own += f.own;
            n_later += f.later;
            n_secret += f.secret;
        }
        usleep(1000);
    }
    return NULL;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void note(void *cookie, const struct assay_progress *p)
{
    (void)cookie;
    atomic_store(&current, strcmp(p->stage, "measure") == 0 ? p->case_id : 0);
}

/* Long enough to be looked at, however slow this machine is, and at no clock. */
static const char kernel[] = "#include <assay/exp.h>\n"
                             "int assay_exp(const struct assay_call *c)\n"
                             "{\n"
                             "    volatile long i = 0;\n"
                             "    (void)c;\n"
                             "    while (i < 400000000)\n"
                             "        i = i + 1;\n"
                             "    return 1;\n"
                             "}\n";

static void run(const char *dir)
{
    static struct assay_home home;
    const struct assay_op *const ops[] = { assay_op_find("exp"), NULL };
    char cases[128];
    const struct assay_run_options o = { .home = &home,
                                         .submission = dir,
                                         .ops = ops,
                                         .cases = cases,
                                         .hidden = &seed,
                                         .n_hidden = ASSAY_HIDDEN_MIN,
                                         .threads = 1,
                                         .bare = true,
                                         .progress = note };
    struct assay_result r;
    struct assay_err err = { "" };

    snprintf(home.cases, sizeof home.cases, "%s/data/cases", ASSAY_SOURCE_DIR);
    snprintf(home.kernels, sizeof home.kernels, "%s/kernels", ASSAY_SOURCE_DIR);
    snprintf(home.include, sizeof home.include, "%s/include", ASSAY_SOURCE_DIR);
    snprintf(home.child, sizeof home.child, "%s/assay-child", ASSAY_BUILD_DIR);
    snprintf(cases, sizeof cases, "exp/%d,exp/%d,exp/%d,exp/%d", marks[0].id, marks[1].id,
             marks[2].id, marks[3].id);
    T_OK(assay_bench_run(&r, &o, NULL, 0, NULL, &err));
    assert_int_equal(r.n_rows, N_CASES);
    for (int i = 0; i < N_CASES; i++)
        assert_int_equal(r.rows[i].code, ASSAY_REASON_RETURNED);
    assay_result_release(&r);
}

static void a_kernel_finds_its_own_case_and_no_other(void **state)
{
    char dir[] = "/tmp/assay-hidden-XXXXXX", path[64];
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };
    pthread_t watcher;

    (void)state;
    for (size_t i = 0; i < sizeof seed.b; i++) {
        seed.b[i] = (uint8_t)(17 + 7 * i);
        snprintf(seed_hex + 2 * i, 3, "%02x", seed.b[i]);
    }
    T_OK(assay_hidden_draw(&s, assay_op_find("exp"), &seed, ASSAY_HIDDEN_MIN, &err));
    choose(&s);
    assert_non_null(mkdtemp(dir));
    assert_int_equal(chmod(dir, 0755), 0);
    snprintf(path, sizeof path, "%s/exp.c", dir);
    T_OK(assay_file_write(path, kernel, sizeof kernel - 1, &err));
    assert_int_equal(pthread_create(&watcher, NULL, watch, NULL), 0);
    run(dir);
    atomic_store(&done, 1);
    pthread_join(watcher, NULL);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
    assay_suite_release(&s);
    printf("%d looks, %d of them saw the case at hand\n", n_looks, n_own);
    assert_int_equal(n_later, 0);
    assert_int_equal(n_secret, 0);
    if (refused || n_looks == 0) { /* others' memory may not be read here */
        printf("skipped: no look at the process\n");
        skip();
    }
    assert_true(n_own > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_finds_its_own_case_and_no_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
