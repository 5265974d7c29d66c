/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_shared.c: the memory that is shared with a candidate, in pages of 2 MiB and, after this
 * process has given up mounting, as a memfd: what a holder of the descriptor of the inputs can do
 * with it, sizes, and that nothing is left behind.
 */
#include "t.h"

#include "assay/memory.h"
#include "runner/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, HUGE_PAGE = 2 << 20, SOME = 3 * PAGE };

static bool mounts_refused; /* from then on it is a memfd */

static struct assay_shared make(size_t bytes, bool read_only)
{
    struct assay_shared m = { .fd = -1 };
    struct assay_err err;

    T_OK(assay__shared_make(&m, bytes, read_only, &err));
    assert_true(m.fd >= 0);
    assert_non_null(m.base);
    if (mounts_refused)
        assert_false(m.huge);
    return m;
}

static size_t page_of(const struct assay_shared *m)
{
    return m->huge ? HUGE_PAGE : PAGE;
}

static int count_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static int count_mappings(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    int n = 0;

    assert_non_null(f);
    for (int c; (c = getc(f)) != EOF;)
        n += c == '\n';
    fclose(f);
    return n;
}

/* ---- what it is ------------------------------------------------------------------------------ */

/* Whole pages, all of them there and zero; the file is as large as the mapping. */
static void whole_pages(void **state)
{
    static const size_t bytes[] = { 1, PAGE, PAGE + 1, HUGE_PAGE - 1, HUGE_PAGE, HUGE_PAGE + 1 };

    (void)state;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        for (int read_only = 0; read_only < 2; read_only++) {
            struct assay_shared m = make(bytes[i], read_only);
            static unsigned char there[2 * HUGE_PAGE / PAGE];
            size_t page = page_of(&m);
            struct stat st;

            assert_true(m.bytes >= bytes[i] && m.bytes < bytes[i] + page);
            assert_int_equal(m.bytes % page, 0);
            assert_int_equal(fstat(m.fd, &st), 0);
            assert_int_equal(st.st_size, m.bytes);
            assert_int_equal(mincore(m.base, m.bytes, there), 0);
            for (size_t p = 0; p < m.bytes / PAGE; p++)
                assert_int_equal(there[p] & 1, 1);
            for (size_t b = 0; b < m.bytes; b++)
                assert_int_equal(((const char *)m.base)[b], 0);
            assay__shared_release(&m);
        }
}

static void closed_on_exec(void **state)
{
    (void)state;
    for (int read_only = 0; read_only < 2; read_only++) {
        struct assay_shared m = make(SOME, read_only);

        assert_int_equal(fcntl(m.fd, F_GETFD), FD_CLOEXEC);
        assay__shared_release(&m);
    }
}

/* The descriptor leads to the same memory. */
static void one_memory(void **state)
{
    (void)state;
    for (int read_only = 0; read_only < 2; read_only++) {
        struct assay_shared m = make(SOME, read_only);
        char *mine = m.base, *there = mmap(NULL, m.bytes, PROT_READ, MAP_SHARED, m.fd, 0);

        assert_true(there != MAP_FAILED);
        mine[0] = 1;
        mine[m.bytes - 1] = 2;
        assert_true(there[0] == 1 && there[m.bytes - 1] == 2);
        assert_int_equal(munmap(there, m.bytes), 0);
        assay__shared_release(&m);
    }
}

/* Outputs are written there and read here. */
static void outputs_can_be_written(void **state)
{
    struct assay_shared m = make(SOME, false);
    char *there = mmap(NULL, m.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m.fd, 0);

    (void)state;
    assert_true(there != MAP_FAILED);
    there[PAGE] = 7;
    assert_int_equal(((const char *)m.base)[PAGE], 7);
    assert_int_equal(munmap(there, m.bytes), 0);
    assay__shared_release(&m);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Nobody who has the descriptor gets writable pages, at once or later. */
static void inputs_cannot_be_mapped_for_writing(void **state)
{
    struct assay_shared m = make(SOME, true);
    char *p;

    (void)state;
    errno = 0;
    p = mmap(NULL, m.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m.fd, 0);
    assert_true(p == MAP_FAILED && (errno == EACCES || errno == EPERM));
    p = mmap(NULL, m.bytes, PROT_WRITE, MAP_SHARED, m.fd, 0);
    assert_true(p == MAP_FAILED);
    p = mmap(NULL, m.bytes, PROT_READ, MAP_SHARED, m.fd, 0);
    assert_true(p != MAP_FAILED);
    assert_int_equal(mprotect(p, m.bytes, PROT_READ | PROT_WRITE), -1);
    assert_int_equal(mprotect(p, PAGE, PROT_WRITE), -1);
    assert_int_equal(munmap(p, m.bytes), 0);
    /* a private copy may be changed; the inputs do not */
    p = mmap(NULL, m.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, m.fd, 0);
    if (p != MAP_FAILED) {
        p[0] = 9;
        assert_int_equal(((const char *)m.base)[0], 0);
        assert_int_equal(munmap(p, m.bytes), 0);
    }
    assay__shared_release(&m);
}

static void inputs_cannot_be_changed_otherwise(void **state)
{
    struct assay_shared m = make(SOME, true);
    struct stat st;
    char *p;

    (void)state;
    memset(m.base, 5, m.bytes);
    assert_int_equal(pwrite(m.fd, "x", 1, 0), -1);
    assert_int_equal(ftruncate(m.fd, 0), -1);
    assert_int_equal(ftruncate(m.fd, (off_t)(2 * m.bytes)), -1);
    assert_int_equal(fallocate(m.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE), -1);
    assert_int_equal(fstat(m.fd, &st), 0);
    assert_int_equal(st.st_size, m.bytes);
    /* nor through a mapping */
    p = mmap(NULL, m.bytes, PROT_READ, MAP_SHARED, m.fd, 0);
    assert_true(p != MAP_FAILED);
    assert_int_equal(madvise(p, PAGE, MADV_REMOVE), -1);
    assert_int_equal(munmap(p, m.bytes), 0);
    for (size_t b = 0; b < m.bytes; b++)
        assert_int_equal(((const char *)m.base)[b], 5);
    assay__shared_release(&m);
}

/* A memfd keeps its size, whoever asks. Pages of 2 MiB come without seals. */
static void size_of_a_memfd_is_sealed(void **state)
{
    struct assay_shared m = make(SOME, false);

    (void)state;
    if (!m.huge) {
        assert_int_equal(ftruncate(m.fd, 0), -1);
        assert_int_equal(ftruncate(m.fd, (off_t)(2 * m.bytes)), -1);
        assert_int_equal(fcntl(m.fd, F_ADD_SEALS, F_SEAL_WRITE), -1); /* no more of them */
    }
    assay__shared_release(&m);
}

/* ---- several, and none ----------------------------------------------------------------------- */

static void several_at_once(void **state)
{
    enum { N = 4 };
    struct assay_shared m[N];

    (void)state;
    for (int i = 0; i < N; i++) {
        m[i] = make((size_t)(i + 1) * SOME, i % 2);
        memset(m[i].base, i + 1, m[i].bytes);
    }
    for (int i = 0; i < N; i++) {
        const char *there = mmap(NULL, m[i].bytes, PROT_READ, MAP_SHARED, m[i].fd, 0);

        assert_true(there != MAP_FAILED);
        for (size_t b = 0; b < m[i].bytes; b++)
            assert_int_equal(there[b], i + 1);
        assert_int_equal(munmap((void *)(uintptr_t)there, m[i].bytes), 0);
    }
    for (int i = 0; i < N; i++)
        assay__shared_release(&m[i]);
}

/* What was there before goes; so does everything in the end: descriptors, mappings, processes. */
static void leaves_nothing_behind(void **state)
{
    struct assay_shared m = { .fd = -1 };
    int descriptors = count_descriptors(), mappings;
    struct assay_err err;

    (void)state;
    /* the threads that touch the pages leave stacks in the allocator's cache once */
    T_OK(assay__shared_make(&m, 64 * HUGE_PAGE, true, &err));
    assay__shared_release(&m);
    mappings = count_mappings();
    for (int i = 1; i <= 3; i++) {
        T_OK(assay__shared_make(&m, (size_t)i * SOME, i % 2, &err));
        assert_int_equal(count_descriptors(), descriptors + 1);
    }
    assay__shared_release(&m);
    assert_true(m.fd == -1 && !m.base && m.bytes == 0);
    assay__shared_release(&m);
    assert_int_equal(count_descriptors(), descriptors);
    assert_int_equal(count_mappings(), mappings);
    assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

/* No memory for it: an error, and no half of an arena. */
static void failure_leaves_nothing(void **state)
{
    static const size_t bytes[] = { 0, SIZE_MAX, SIZE_MAX / 2, (size_t)1 << 62 };
    int descriptors = count_descriptors();

    (void)state;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        for (int read_only = 0; read_only < 2; read_only++) {
            struct assay_shared m = make(SOME, false);
            struct assay_err err = { "" };

            assert_int_equal(assay__shared_make(&m, bytes[i], read_only, &err), ASSAY_NOMEM);
            assert_non_null(strstr(err.text, "shared memory"));
            assert_true(m.fd == -1 && !m.base && m.bytes == 0);
            assert_int_equal(count_descriptors(), descriptors);
        }
}

/* ---- pages of 2 MiB -------------------------------------------------------------------------- */

/* Says what it found: systems may have none to give. */
static void pages_of_2_mib(void **state)
{
    struct assay_shared m = make(HUGE_PAGE, true);
    bool huge = m.huge;

    (void)state;
    if (huge) {
        assert_int_equal((uintptr_t)m.base % HUGE_PAGE, 0);
        assert_int_equal(fcntl(m.fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    }
    assay__shared_release(&m);
    if (!huge) {
        print_message("skipped: no memory in pages of 2 MiB here\n");
        skip();
    }
}

/* From now on this process and its children cannot mount, as in most containers. The filter looks
 * at the number of the call alone: an honest one of this architecture is made. */
static int refuse_mounts(void **state)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mount, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { sizeof code / sizeof *code, code };

    (void)state;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0))
        return -1;
    mounts_refused = true;
    return 0;
}

static void no_pages_of_2_mib(void **state)
{
    (void)state;
    assert_int_equal(assay__huge_file(), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_pages),
        cmocka_unit_test(closed_on_exec),
        cmocka_unit_test(one_memory),
        cmocka_unit_test(outputs_can_be_written),
        cmocka_unit_test(inputs_cannot_be_mapped_for_writing),
        cmocka_unit_test(inputs_cannot_be_changed_otherwise),
        cmocka_unit_test(size_of_a_memfd_is_sealed),
        cmocka_unit_test(several_at_once),
        cmocka_unit_test(leaves_nothing_behind),
        cmocka_unit_test(failure_leaves_nothing),
    };
    const struct CMUnitTest here[] = { cmocka_unit_test(pages_of_2_mib) };
    const struct CMUnitTest without[] = { cmocka_unit_test(no_pages_of_2_mib) };

    return cmocka_run_group_tests_name("as the system allows", tests, NULL, NULL) +
           cmocka_run_group_tests_name("pages of 2 MiB", here, NULL, NULL) +
           cmocka_run_group_tests_name("no mounts", without, refuse_mounts, NULL) +
           cmocka_run_group_tests_name("memfd", tests, NULL, NULL);
}
