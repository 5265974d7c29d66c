/* SPDX-License-Identifier: Apache-2.0 */
/* scratch.h: a folder of its own for a fuzz target whose reader takes paths; in memory where there
 * is such a place, gone at the end. */
#ifndef ASSAY_FUZZ_SCRATCH_H
#define ASSAY_FUZZ_SCRATCH_H

#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[64];

static int scratch_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void scratch_remove(void)
{
    if (scratch[0])
        nftw(scratch, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Makes it at the first call. */
static void scratch_make(void)
{
    if (scratch[0])
        return;
    strcpy(scratch, "/dev/shm/assay-fuzz-XXXXXX");
    if (!mkdtemp(scratch)) {
        strcpy(scratch, "/tmp/assay-fuzz-XXXXXX");
        if (!mkdtemp(scratch))
            abort();
    }
    atexit(scratch_remove);
}

/* SCRATCH/name into buf; returns buf. */
static const char *scratch_path(const char *name, char buf[128])
{
    snprintf(buf, 128, "%.48s/%.64s", scratch, name);
    return buf;
}

static void scratch_write(const char *name, const void *data, size_t size)
{
    char path[128];
    int fd = open(scratch_path(name, path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size) || close(fd))
        abort();
}

#endif
