/* SPDX-License-Identifier: Apache-2.0 */
/* file.c: whole files, in and out. */
#include "base/file.h"
#include "assay/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_PIECE = 1 << 16, NAME_TRIES = 100 };

static enum assay_status too_large(struct assay_err *err, const char *path, size_t max_bytes)
{
    return assay_fail(err, ASSAY_INVALID, "%s is larger than the %zu bytes allowed", path,
                      max_bytes);
}

/* Reads on until the end: the size that fstat() told is only a hint, pipes have none. */
static enum assay_status read_all(struct assay_text *t, int fd, const char *path, size_t max_bytes,
                                  struct assay_err *err)
{
    char *piece = assay_alloc(READ_PIECE);
    enum assay_status st = ASSAY_OK;
    ssize_t n;

    if (!piece)
        return assay_fail(err, ASSAY_NOMEM, "out of memory reading %s", path);
    for (;;) {
        n = read(fd, piece, READ_PIECE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            st = assay_fail(err, ASSAY_IO, "cannot read %s: %s", path, strerror(errno));
        if (n <= 0)
            break;
        if ((size_t)n > max_bytes - t->len) {
            st = too_large(err, path, max_bytes);
            break;
        }
        assay_text_add_n(t, piece, (size_t)n);
        if (t->failed) {
            st = assay_fail(err, ASSAY_NOMEM, "out of memory reading %s", path);
            break;
        }
    }
    free(piece);
    return st;
}

enum assay_status assay_file_read_fd(struct assay_text *t, int fd, const char *name,
                                     size_t max_bytes, struct assay_err *err)
{
    struct stat sb;
    enum assay_status st;

    assay_text_release(t);
    assay_text_add_n(t, "", 0); /* an empty file gives an empty text, not NULL */
    if (t->failed)
        st = assay_fail(err, ASSAY_NOMEM, "out of memory reading %s", name);
    else if (!fstat(fd, &sb) && S_ISREG(sb.st_mode) && (uint64_t)sb.st_size > max_bytes)
        st = too_large(err, name, max_bytes);
    else
        st = read_all(t, fd, name, max_bytes, err);
    if (st)
        assay_text_release(t);
    return st;
}

enum assay_status assay_file_read(struct assay_text *t, const char *path, size_t max_bytes,
                                  struct assay_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum assay_status st;

    if (fd < 0)
        return assay_fail(err, ASSAY_IO, "cannot open %s: %s", path, strerror(errno));
    st = assay_file_read_fd(t, fd, path, max_bytes, err);
    close(fd);
    return st;
}

/* 0, or -1 with errno. */
static int write_all(int fd, const struct assay__part *parts, int n)
{
    for (int i = 0; i < n; i++) {
        const char *p = parts[i].data;
        size_t left = parts[i].len;

        while (left) {
            ssize_t done = write(fd, p, left);

            if (done < 0 && errno == EINTR)
                continue;
            if (done < 0)
                return -1;
            p += done;
            left -= (size_t)done;
        }
    }
    return 0;
}

/* Devices and pipes cannot be replaced by a rename; they are written in place. */
static enum assay_status write_direct(const char *path, const struct assay__part *parts, int n,
                                      struct assay_err *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    enum assay_status st = ASSAY_OK;

    if (fd < 0)
        return assay_fail(err, ASSAY_IO, "cannot open %s: %s", path, strerror(errno));
    if (write_all(fd, parts, n))
        st = assay_fail(err, ASSAY_IO, "cannot write %s: %s", path, strerror(errno));
    close(fd);
    return st;
}

/* A new file beside path: in the same folder, so that the rename stays within one file system.
 * Several names are tried, for another thread or an earlier process may have left one behind. */
static int open_beside(const char *path, char *name, size_t size, mode_t mode)
{
    int fd = -1;

    for (int i = 0; i < NAME_TRIES && fd < 0; i++) {
        snprintf(name, size, "%s.%ld.%d.tmp", path, (long)getpid(), i);
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

static enum assay_status write_and_rename(const char *path, const struct assay__part *parts, int n,
                                          mode_t mode, struct assay_err *err)
{
    size_t size = strlen(path) + 64;
    char *name = assay_alloc(size);
    enum assay_status st = ASSAY_OK;
    int fd;

    if (!name)
        return assay_fail(err, ASSAY_NOMEM, "out of memory writing %s", path);
    fd = open_beside(path, name, size, mode);
    if (fd < 0) {
        st = assay_fail(err, ASSAY_IO, "cannot create %s: %s", name, strerror(errno));
        goto out;
    }
    /* fsync before the rename: after a power cut the name holds the old bytes or the new ones. */
    if (write_all(fd, parts, n) || fsync(fd))
        st = assay_fail(err, ASSAY_IO, "cannot write %s: %s", name, strerror(errno));
    if (close(fd) && !st)
        st = assay_fail(err, ASSAY_IO, "cannot close %s: %s", name, strerror(errno));
    if (!st && rename(name, path))
        st = assay_fail(err, ASSAY_IO, "cannot rename %s to %s: %s", name, path, strerror(errno));
    if (st)
        unlink(name);
out:
    free(name);
    return st;
}

enum assay_status assay__file_write_parts(const char *path, const struct assay__part *parts, int n,
                                          struct assay_err *err)
{
    struct stat sb;
    char *real;
    enum assay_status st;

    if (stat(path, &sb))
        return write_and_rename(path, parts, n, 0666, err);
    if (!S_ISREG(sb.st_mode))
        return write_direct(path, parts, n, err);
    /* Through links, so that a link to a result stays one; permissions stay what they were. */
    real = realpath(path, NULL);
    st = write_and_rename(real ? real : path, parts, n, sb.st_mode & 0777, err);
    free(real);
    return st;
}

enum assay_status assay_file_write(const char *path, const void *data, size_t len,
                                   struct assay_err *err)
{
    struct assay__part part = { data, len };

    return assay__file_write_parts(path, &part, 1, err);
}

/* ".1234.0.tmp" after the name of the file, of a process that is no more. */
static bool is_left_over(const char *name, const char *file)
{
    size_t n = strlen(file);
    char end[8] = "";
    long pid;
    int i;

    if (strncmp(name, file, n) != 0 || sscanf(name + n, ".%ld.%d.%7s", &pid, &i, end) != 3)
        return false;
    return !strcmp(end, "tmp") && pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH;
}

void assay__file_left_over(const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    char *dir = assay_strdup(path);
    const struct dirent *e;
    DIR *d;

    if (!dir)
        return;
    dir[file - path] = 0;
    d = opendir(dir[0] ? dir : ".");
    while (d && (e = readdir(d)) != NULL)
        if (is_left_over(e->d_name, file))
            (void)unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    free(dir);
}
