/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared.c: memory that this process shares with a candidate's.
 *
 * Made once a run and reused by all cases, since touching it first is far slower than writing it
 * again. Sealed: its size is fixed, and for inputs no new writable mapping can be made, so that a
 * candidate can only read them.
 */
#include "runner/session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void touch(void *ctx, int64_t begin, int64_t end)
{
    for (int64_t page = begin; page < end; page++)
        ((volatile char *)ctx)[page * 4096] = 0;
}

enum assay_status assay__shared_make(struct assay_shared *m, size_t bytes, bool read_only,
                                     struct assay_err *err)
{
    int seals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL | (read_only ? F_SEAL_FUTURE_WRITE : 0);
    size_t n = (bytes + 4095) / 4096 * 4096;

    assay__shared_release(m);
    m->fd =
        memfd_create(read_only ? "assay-inputs" : "assay-outputs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
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
    if (fcntl(m->fd, F_ADD_SEALS, seals))
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "cannot seal shared memory (Linux 5.1 or newer is needed): %s",
                          strerror(errno));
    assay_parallel((int64_t)(n / 4096), 1024, 0, touch, m->base);
    return ASSAY_OK;
}

void assay__shared_release(struct assay_shared *m)
{
    if (m->base) {
        munmap(m->base, m->bytes);
        close(m->fd);
    }
    *m = (struct assay_shared){ .fd = -1 };
}
