/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c: files that may be packed. */
#include "qn/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef QN_HAVE_ZLIB
#include <zlib.h>
#endif

/* A deflated byte stands for at most 1032: a run of 258 takes two bits at the least (RFC 1951). */
enum { DEFLATE_MOST = 1032, PIECE = 1 << 30 };

#ifdef QN_HAVE_ZLIB
static enum assay_status open_gz(struct qn__stream *s, struct assay_err *err)
{
    s->gz = gzdopen(s->fd, "rb"); /* closes fd in the end */
    if (!s->gz)
        return assay_fail(err, ASSAY_NOMEM, "out of memory reading %s", s->path);
    s->fd = -1;
    (void)gzbuffer(s->gz, 1 << 17);
    return ASSAY_OK;
}

static enum assay_status read_gz(struct qn__stream *s, char *to, size_t n, size_t *got,
                                 struct assay_err *err)
{
    while (*got < n) {
        size_t want = n - *got < PIECE ? n - *got : PIECE;
        int done = gzread(s->gz, to + *got, (unsigned)want), why;
        const char *text = gzerror(s->gz, &why);

        if (why == Z_ERRNO)
            return assay_fail(err, ASSAY_IO, "cannot read %s: %s", s->path, strerror(errno));
        if (why == Z_MEM_ERROR)
            return assay_fail(err, ASSAY_NOMEM, "out of memory reading %s", s->path);
        if (why == Z_BUF_ERROR)
            return assay_fail(err, ASSAY_PARSE, "%s is truncated: it ends within packed data",
                              s->path);
        if (done < 0 || (why != Z_OK && why != Z_STREAM_END))
            return assay_fail(err, ASSAY_PARSE, "%s: packed data is wrong: %s", s->path, text);
        if (gzdirect(s->gz) && (done > 0 || s->file_bytes > 0))
            return assay_fail(err, ASSAY_PARSE, "%s is not packed by gzip, as its name says",
                              s->path);
        if (done == 0)
            break;
        *got += (size_t)done;
    }
    return ASSAY_OK;
}
#else
static enum assay_status open_gz(struct qn__stream *s, struct assay_err *err)
{
    return assay_fail(err, ASSAY_UNSUPPORTED,
                      "%s is packed, and this build has no zlib: unpack it with gunzip", s->path);
}
#endif

enum assay_status qn__stream_open(struct qn__stream *s, const char *path, struct assay_err *err)
{
    size_t len = strlen(path);
    struct stat sb;
    enum assay_status st = ASSAY_OK;

    *s = (struct qn__stream){ .path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
    if (s->fd < 0)
        return assay_fail(err, ASSAY_IO, "cannot open %s: %s", path, strerror(errno));
    if (fstat(s->fd, &sb) || !S_ISREG(sb.st_mode))
        st = assay_fail(err, ASSAY_IO, "%s is no ordinary file", path);
    if (!st) {
        s->file_bytes = (uint64_t)sb.st_size;
        if (len > 3 && !strcmp(path + len - 3, ".gz"))
            st = open_gz(s, err);
    }
    if (st)
        qn__stream_close(s);
    return st;
}

enum assay_status qn__stream_read(struct qn__stream *s, void *to, size_t n, size_t *got,
                                  struct assay_err *err)
{
    *got = 0;
#ifdef QN_HAVE_ZLIB
    if (s->gz)
        return read_gz(s, to, n, got, err);
#endif
    while (*got < n) {
        size_t want = n - *got < PIECE ? n - *got : PIECE;
        ssize_t done = read(s->fd, (char *)to + *got, want);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return assay_fail(err, ASSAY_IO, "cannot read %s: %s", s->path, strerror(errno));
        if (done == 0)
            break;
        *got += (size_t)done;
    }
    return ASSAY_OK;
}

uint64_t qn__stream_most(const struct qn__stream *s)
{
    if (!s->gz)
        return s->file_bytes;
    return s->file_bytes > UINT64_MAX / DEFLATE_MOST ? UINT64_MAX : s->file_bytes * DEFLATE_MOST;
}

void qn__stream_close(struct qn__stream *s)
{
#ifdef QN_HAVE_ZLIB
    if (s->gz)
        (void)gzclose(s->gz);
#endif
    if (s->fd >= 0)
        close(s->fd);
    s->gz = NULL;
    s->fd = -1;
}
