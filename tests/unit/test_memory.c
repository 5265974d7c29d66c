/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory.c: checked sizes, the allocation hook, arenas, text, files, parallel loops. */
#include "t.h"

#include "assay/memory.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- allocation ------------------------------------------------------------------------------ */

static void checked_sizes(void **state)
{
    size_t v = 7;

    (void)state;
    assert_true(assay_mul_size(6, 7, &v) && v == 42);
    assert_true(assay_mul_size(0, SIZE_MAX, &v) && v == 0);
    assert_true(assay_mul_size(SIZE_MAX, 1, &v) && v == SIZE_MAX);
    assert_true(assay_mul_size(SIZE_MAX / 2, 2, &v) && v == SIZE_MAX - 1);
    assert_false(assay_mul_size(SIZE_MAX / 2 + 1, 2, &v));
    assert_true(v == SIZE_MAX - 1);
    assert_true(assay_add_size(SIZE_MAX - 1, 1, &v) && v == SIZE_MAX);
    assert_false(assay_add_size(SIZE_MAX, 1, &v));
    assert_true(v == SIZE_MAX);
}

/* Lets `left` allocations pass, fails the next and counts all. */
struct budget {
    int left, asked;
};

static bool budget_hook(void *cookie, size_t bytes)
{
    struct budget *b = cookie;

    (void)bytes;
    b->asked++;
    return b->left-- > 0;
}

static void hook_fails_the_nth(void **state)
{
    struct budget b = { 2, 0 };
    void *p, *q;

    (void)state;
    assay_alloc_hook_set(budget_hook, &b);
    p = assay_alloc(10);
    q = assay_alloc_zero(10);
    assert_non_null(p);
    assert_non_null(q);
    assert_null(assay_alloc(10));
    assert_null(assay_alloc_zero(10));
    assert_null(assay_realloc(p, 20)); /* p stays valid */
    assert_null(assay_strdup("x"));
    assay_alloc_hook_set(NULL, NULL);
    assert_int_equal(b.asked, 6);
    for (int i = 0; i < 10; i++)
        assert_int_equal(((char *)q)[i], 0);
    p = assay_realloc(p, 20);
    assert_non_null(p);
    free(p);
    free(q);
    p = assay_strdup("copy");
    assert_string_equal(p, "copy");
    free(p);
    p = assay_alloc(0);
    assert_non_null(p);
    free(p);
}

/* ---- arena ----------------------------------------------------------------------------------- */

/* Pieces of all sizes are aligned and do not overlap: each keeps its own byte. */
static void arena_pieces(void **state)
{
    static const size_t size[] = { 0, 1, 63, 64, 65, 1000, 70000, 600000, 1 << 20, 3 << 20, 17 };
    enum { N = 2000 };
    struct assay_arena a = { 0 };
    unsigned char *p[N];
    size_t n = sizeof size / sizeof *size, used = 0;
    int made = 0;

    (void)state;
    for (; made < N && used < (size_t)64 << 20; made++) {
        size_t bytes = size[(size_t)made % n];

        p[made] = assay_arena_alloc(&a, bytes);
        assert_non_null(p[made]);
        assert_int_equal((uintptr_t)p[made] % 64, 0);
        memset(p[made], made % 251, bytes);
        used += bytes;
    }
    for (int i = 0; i < made; i++)
        for (size_t k = 0; k < size[(size_t)i % n]; k++)
            if (p[i][k] != i % 251)
                fail_msg("piece %d, byte %zu: overwritten", i, k);
    assay_arena_release(&a);
    assert_null(a.blocks);
    assert_null(a.spare);
}

/* After a reset the same requests are served without asking the system. */
static void arena_reset_keeps_the_pages(void **state)
{
    struct budget b = { 1000, 0 };
    struct assay_arena a = { 0 };
    int first;

    (void)state;
    assay_alloc_hook_set(budget_hook, &b);
    for (int round = 0; round < 3; round++) {
        assert_non_null(assay_arena_alloc(&a, 100));
        assert_non_null(assay_arena_alloc(&a, (size_t)5 << 20));
        assert_non_null(assay_arena_alloc(&a, 300000));
        assert_non_null(assay_arena_alloc(&a, (size_t)2 << 20));
        if (round == 0)
            first = b.asked;
        assert_int_equal(b.asked, first);
        assay_arena_reset(&a);
    }
    assay_alloc_hook_set(NULL, NULL);
    assert_in_range(first, 1, 4);
    assay_arena_release(&a);
}

/* Pages mapped by this process. */
static long mapped_pages(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long pages = -1;

    if (f) {
        if (fscanf(f, "%ld", &pages) != 1)
            pages = -1;
        fclose(f);
    }
    return pages;
}

/* Cases that grow do not leave a block of each size behind: 40 rounds of 4 .. 43 MiB sum to
 * 940 MiB, but only the last may remain. */
static void arena_growing_cases(void **state)
{
    struct assay_arena a = { 0 };
    long before = mapped_pages(), page = sysconf(_SC_PAGESIZE);

    (void)state;
    for (size_t i = 4; i < 44; i++) {
        assert_non_null(assay_arena_alloc(&a, i << 20));
        assay_arena_reset(&a);
    }
    if (before > 0)
        assert_true((mapped_pages() - before) * page < (long)64 << 20);
    assay_arena_release(&a);
}

static void arena_helpers(void **state)
{
    struct assay_arena a = { 0 };
    unsigned char *z;
    size_t n = 5000;

    (void)state;
    memset(assay_arena_alloc(&a, n), 0xff, n);
    assay_arena_reset(&a);
    z = assay_arena_zero(&a, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(z[i], 0);
    assert_string_equal(assay_arena_strdup(&a, "abc"), "abc");
    assert_string_equal(assay_arena_printf(&a, "%s/%d", "exp", 3), "exp/3");
    assert_non_null(assay_arena_array(&a, 10, 8));
    assert_null(assay_arena_array(&a, SIZE_MAX / 2, 3));
    assert_null(assay_arena_alloc(&a, SIZE_MAX));
    assert_null(assay_arena_alloc(&a, SIZE_MAX - 100));
    assert_null(assay_arena_alloc(&a, PTRDIFF_MAX));
    assay_arena_release(&a);
}

static void arena_out_of_memory(void **state)
{
    struct budget b = { 0, 0 };
    struct assay_arena a = { 0 };

    (void)state;
    assay_alloc_hook_set(budget_hook, &b);
    assert_null(assay_arena_alloc(&a, 100));
    assert_null(assay_arena_zero(&a, 100));
    assert_null(assay_arena_alloc(&a, (size_t)4 << 20));
    assert_null(assay_arena_array(&a, 4, 4));
    assert_null(assay_arena_strdup(&a, "abc"));
    assert_null(assay_arena_printf(&a, "%d", 1));
    assay_alloc_hook_set(NULL, NULL);
    assert_int_equal(b.asked, 6);
    assay_arena_release(&a);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void text_grows(void **state)
{
    struct assay_text t = { 0 };
    char want[6000] = "";

    (void)state;
    for (int i = 0; i < 1000; i++) {
        assay_text_add(&t, "%d,", i);
        snprintf(want + strlen(want), sizeof want - strlen(want), "%d,", i);
    }
    assert_false(t.failed);
    assert_string_equal(t.data, want);
    assert_int_equal(t.len, strlen(want));
    assay_text_add_n(&t, "a\0b", 3);
    assay_text_add_n(&t, NULL, 0);
    assert_int_equal(t.len, strlen(want) + 3);
    assert_memory_equal(t.data + t.len - 3, "a\0b", 4);
    assay_text_release(&t);
    assert_null(t.data);
    assay_text_add_n(&t, "", 0);
    assert_string_equal(t.data, "");
    assay_text_release(&t);
}

/* Past the ceiling of 1 GiB nothing is asked for, and the text stays failed. */
static void text_has_a_ceiling(void **state)
{
    struct assay_text t = { 0 };

    (void)state;
    assay_text_add(&t, "begin");
    assay_text_add_n(&t, "never read", (size_t)1 << 30);
    assert_true(t.failed);
    assay_text_add(&t, "more");
    assay_text_add_n(&t, "more", 4);
    assert_true(t.failed);
    assert_string_equal(t.data, "begin");
    assay_text_release(&t);
    assay_text_add_n(&t, "never read", SIZE_MAX);
    assert_true(t.failed);
    assay_text_release(&t);
}

/* Whichever allocation fails, the text ends on a whole addition and says so. */
static void text_out_of_memory(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        struct budget b = { n, 0 };
        struct assay_text t = { 0 };

        assay_alloc_hook_set(budget_hook, &b);
        for (int i = 0; i < 500; i++)
            assay_text_add(&t, "%04d,", i);
        assay_alloc_hook_set(NULL, NULL);
        assert_true(t.failed);
        assert_int_equal(b.asked, n + 1);
        assert_int_equal(t.len % 5, 0);
        if (n)
            assert_int_equal(t.data[t.len], 0);
        assay_text_release(&t);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static char dir[64], path[96];

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/assay-test-memory-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/file", dir);
    return 0;
}

static int n_files(void)
{
    DIR *d = opendir(dir);
    int n = 0;

    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static int remove_dir(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

static void file_round_trip(void **state)
{
    struct assay_err err;
    struct assay_text t = { 0 };
    char *big = malloc(200001);

    (void)state;
    assert_non_null(big);
    for (int i = 0; i < 200001; i++)
        big[i] = (char)(i * 7 % 256); /* NUL bytes too */
    T_OK(assay_file_write(path, big, 200001, &err));
    T_OK(assay_file_read(&t, path, 200001, &err));
    assert_int_equal(t.len, 200001);
    assert_memory_equal(t.data, big, 200001);
    assert_int_equal(t.data[t.len], 0);
    T_OK(assay_file_write(path, "", 0, &err));
    T_OK(assay_file_read(&t, path, 0, &err)); /* what t held before is released */
    assert_int_equal(t.len, 0);
    assert_string_equal(t.data, "");
    assert_int_equal(n_files(), 1); /* no temporary file is left */
    assay_text_release(&t);
    free(big);
}

static void file_errors_say_why(void **state)
{
    struct assay_err err;
    struct assay_text t = { 0 };
    char missing[128];

    (void)state;
    snprintf(missing, sizeof missing, "%s/none/file", dir);
    assert_int_equal(assay_file_read(&t, missing, 10, &err), ASSAY_IO);
    assert_non_null(strstr(err.text, missing));
    assert_non_null(strstr(err.text, "No such file or directory"));
    assert_int_equal(assay_file_write(missing, "x", 1, &err), ASSAY_IO);
    assert_non_null(strstr(err.text, "No such file or directory"));
    assert_int_equal(assay_file_read(&t, dir, 10, &err), ASSAY_IO);
    assert_non_null(strstr(err.text, "Is a directory"));
    assert_int_equal(assay_file_write(dir, "x", 1, &err), ASSAY_IO);
    T_OK(assay_file_write(path, "12345", 5, &err));
    assert_int_equal(assay_file_read(&t, path, 4, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "larger than the 4 bytes allowed"));
    assert_null(t.data);
    /* A device has no size that could be checked first, and is written in place. */
    assert_int_equal(assay_file_read(&t, "/dev/zero", 100000, &err), ASSAY_INVALID);
    T_OK(assay_file_write("/dev/null", "x", 1, &err));
    assert_int_equal(assay_file_write("/dev/full", "x", 1, &err), ASSAY_IO);
    assert_non_null(strstr(err.text, "No space left"));
}

/* A failed write leaves the old bytes and nothing beside them. */
static void file_stays_whole(void **state)
{
    struct assay_err err;
    struct assay_text t = { 0 };
    struct budget b = { 0, 0 };

    (void)state;
    T_OK(assay_file_write(path, "old", 3, &err));
    assay_alloc_hook_set(budget_hook, &b);
    assert_int_equal(assay_file_write(path, "new", 3, &err), ASSAY_NOMEM);
    assert_int_equal(assay_file_read(&t, path, 10, &err), ASSAY_NOMEM);
    b.left = 1;
    assert_int_equal(assay_file_read(&t, path, 10, &err), ASSAY_NOMEM);
    assay_alloc_hook_set(NULL, NULL);
    T_OK(assay_file_read(&t, path, 10, &err));
    assert_string_equal(t.data, "old");
    assert_int_equal(n_files(), 1);
    assay_text_release(&t);
}

static void file_keeps_mode_and_links(void **state)
{
    struct assay_err err;
    struct assay_text t = { 0 };
    struct stat sb;
    char link[128];

    (void)state;
    snprintf(link, sizeof link, "%s/link", dir);
    T_OK(assay_file_write(path, "old", 3, &err));
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(symlink(path, link), 0);
    T_OK(assay_file_write(link, "new", 3, &err));
    T_OK(assay_file_read(&t, path, 10, &err));
    assert_string_equal(t.data, "new");
    assert_int_equal(lstat(link, &sb), 0);
    assert_true(S_ISLNK(sb.st_mode));
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0600);
    unlink(link);
    assay_text_release(&t);
}

/* ---- parallel loops -------------------------------------------------------------------------- */

enum { CELLS = 1003 };

struct marks {
    int64_t end_of[CELLS]; /* by the first index of a piece */
    int times[CELLS];
    pthread_t caller;
    bool elsewhere;
};

static void mark(void *ctx, int64_t begin, int64_t end)
{
    struct marks *m = ctx;

    m->end_of[begin] = end;
    for (int64_t i = begin; i < end; i++)
        m->times[i]++;
    if (!pthread_equal(pthread_self(), m->caller))
        m->elsewhere = true;
}

/* Every index once, in the same pieces for any number of threads. */
static void parallel_covers_all(void **state)
{
    static const int64_t grain[] = { 1, 10, 59, 1002, 1003, 5000 };
    static const int n_threads[] = { 0, 1, 2, 3, 8, 1000 };

    (void)state;
    for (size_t g = 0; g < sizeof grain / sizeof *grain; g++)
        for (size_t k = 0; k < sizeof n_threads / sizeof *n_threads; k++) {
            struct marks m = { .caller = pthread_self() };

            assay_parallel(CELLS, grain[g], n_threads[k], mark, &m);
            for (int64_t i = 0; i < CELLS; i++) {
                int64_t end = i + grain[g] < CELLS ? i + grain[g] : CELLS;

                assert_int_equal(m.times[i], 1);
                assert_int_equal(m.end_of[i], i % grain[g] ? 0 : end);
            }
            if (n_threads[k] == 1 || grain[g] >= CELLS)
                assert_false(m.elsewhere);
        }
}

static void parallel_of_nothing(void **state)
{
    struct marks m = { .caller = pthread_self() };

    (void)state;
    assay_parallel(0, 10, 2, mark, &m);
    assay_parallel(-5, 10, 2, mark, &m);
    assert_int_equal(m.times[0], 0);
    assay_parallel(3, 0, 1, mark, &m); /* a grain below 1 counts as 1 */
    assert_int_equal(m.end_of[2], 3);
}

/* Two pieces that wait for each other can only end on two threads. */
static void meet(void *ctx, int64_t begin, int64_t end)
{
    (void)begin;
    (void)end;
    pthread_barrier_wait(ctx);
}

static void parallel_is_parallel(void **state)
{
    pthread_barrier_t barrier;

    (void)state;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
    assay_parallel(2, 1, 2, meet, &barrier);
    pthread_barrier_destroy(&barrier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checked_sizes),
        cmocka_unit_test(hook_fails_the_nth),
        cmocka_unit_test(arena_pieces),
        cmocka_unit_test(arena_reset_keeps_the_pages),
        cmocka_unit_test(arena_growing_cases),
        cmocka_unit_test(arena_helpers),
        cmocka_unit_test(arena_out_of_memory),
        cmocka_unit_test(text_grows),
        cmocka_unit_test(text_has_a_ceiling),
        cmocka_unit_test(text_out_of_memory),
        cmocka_unit_test_setup_teardown(file_round_trip, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(file_errors_say_why, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(file_stays_whole, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(file_keeps_mode_and_links, make_dir, remove_dir),
        cmocka_unit_test(parallel_covers_all),
        cmocka_unit_test(parallel_of_nothing),
        cmocka_unit_test(parallel_is_parallel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
