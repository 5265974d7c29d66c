/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared.c: memory that this process shares with a candidate's.
 *
 * Made once a run and reused by all cases, since touching it first is far slower than writing it
 * again. A candidate's process gets a descriptor of the inputs that cannot write, or, where the
 * memory is a memfd, one that is sealed against new writable mappings.
 */
#include "runner/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, HUGE_PAGE = 2 << 20 };

static void touch(void *ctx, int64_t begin, int64_t end)
{
    for (int64_t page = begin; page < end; page++)
        ((volatile char *)ctx)[page * PAGE] = 0;
}

/* The size is fixed by seals; a file without them is protected by what a process may call. */
static enum assay_status seal(struct assay_shared *m, bool read_only, struct assay_err *err)
{
    int seals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL | (read_only ? F_SEAL_FUTURE_WRITE : 0);

    if (m->huge || !fcntl(m->fd, F_ADD_SEALS, seals))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_UNSUPPORTED,
                      "cannot seal shared memory (Linux 5.1 or newer is needed): %s",
                      strerror(errno));
}

/* Exchanges the descriptor for one that cannot write. */
static bool reopen_read_only(struct assay_shared *m)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "/proc/self/fd/%d", m->fd);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    close(m->fd);
    m->fd = fd;
    return true;
}

/* Did it get the pages that were asked for? Memory in pieces or a system that denies them leave
 * small ones. */
static bool has_huge_pages(const struct assay_shared *m)
{
    unsigned long long begin, end, kib = 0;
    bool inside = false;
    char line[512];
    FILE *f = fopen("/proc/self/smaps", "r");

    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%llx-%llx ", &begin, &end) == 2)
            inside = begin == (unsigned long long)(uintptr_t)m->base;
        else if (inside && sscanf(line, "ShmemPmdMapped: %llu kB", &kib) == 1)
            break;
    }
    if (f)
        fclose(f);
    return kib * 1024 >= m->bytes;
}

static enum assay_status make(struct assay_shared *m, size_t bytes, bool read_only,
                              struct assay_err *err)
{
    const size_t page = m->huge ? HUGE_PAGE : PAGE;
    size_t n;

    if (!assay_add_size(bytes, page - 1, &n))
        return assay_fail(err, ASSAY_NOMEM, "cannot make %zu bytes of shared memory", bytes);
    n = n / page * page;
    if (m->fd < 0 || ftruncate(m->fd, (off_t)n))
        return assay_fail(err, ASSAY_NOMEM, "cannot make %zu bytes of shared memory: %s", n,
                          strerror(errno));
    m->base = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
    if (m->base == MAP_FAILED) {
        m->base = NULL;
        return assay_fail(err, ASSAY_NOMEM, "cannot map %zu bytes of shared memory: %s", n,
                          strerror(errno));
    }
    m->bytes = n;
    if (m->huge)
        madvise(m->base, n, MADV_HUGEPAGE); /* worth some trouble to the kernel */
    ASSAY_TRY(seal(m, read_only, err));
    if (m->huge && read_only && !reopen_read_only(m))
        return assay_fail(err, ASSAY_UNSUPPORTED, "cannot reopen shared memory for reading: %s",
                          strerror(errno));
    assay_parallel((int64_t)(n / PAGE), 1024, 0, touch, m->base);
    if (m->huge && !has_huge_pages(m))
        return assay_fail(err, ASSAY_NOMEM, "no pages of 2 MiB");
    return ASSAY_OK;
}

enum assay_status assay__shared_make(struct assay_shared *m, size_t bytes, bool read_only,
                                     struct assay_err *err)
{
    enum assay_status st;

    assay__shared_release(m);
    m->fd = assay__huge_file();
    m->huge = m->fd >= 0;
    if (m->huge && !make(m, bytes, read_only, NULL))
        return ASSAY_OK;
    assay__shared_release(m);
    m->fd =
        memfd_create(read_only ? "assay-inputs" : "assay-outputs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    st = make(m, bytes, read_only, err);
    if (st) /* what is not sealed must not be mistaken for an arena */
        assay__shared_release(m);
    return st;
}

void assay__shared_release(struct assay_shared *m)
{
    if (m->base)
        munmap(m->base, m->bytes);
    if (m->fd >= 0)
        close(m->fd);
    *m = (struct assay_shared){ .fd = -1 };
}
