/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result_journal.c: the JSON sink. PATH.partial grows line by line while the run goes on, so that a
 * run that is cut off can be resumed; PATH itself appears whole at the end.
 */
#include "report/result_json.h"

#include "base/file.h"
#include "report/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct journal {
    char *path;
    char *partial; /* NULL: the result goes to stdout, without a journal */
    FILE *file;    /* of partial, NULL when closed */
    bool empty;
    bool level_told; /* the manifest that was written last says how kernels were locked in */
    struct timespec synced;
};

static bool to_stdout(const char *path)
{
    return !strcmp(path, "-");
}

static char *partial_path(const char *path)
{
    static const char suffix[] = ".partial";
    size_t n = strlen(path);
    char *s = assay_alloc(n + sizeof suffix);

    if (s) {
        memcpy(s, path, n);
        memcpy(s + n, suffix, sizeof suffix);
    }
    return s;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The disk is asked at most once a second: a case often takes less time than it does. */
static void sync_now_and_then(struct journal *j)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - j->synced.tv_sec < 1)
        return;
    (void)fsync(fileno(j->file)); /* not every file can: what counts is that the line was written */
    j->synced = now;
}

/* Ends the line and writes it in one piece; takes the text. */
static enum assay_status write_line(struct journal *j, struct assay_text *line,
                                    struct assay_err *err)
{
    enum assay_status st = ASSAY_OK;

    assay_text_add_n(line, "\n", 1);
    if (line->failed)
        st = assay_fail(err, ASSAY_NOMEM, "out of memory for a line of %s", j->partial);
    else if (fwrite(line->data, 1, line->len, j->file) != line->len || fflush(j->file))
        st = assay_fail(err, ASSAY_IO, "cannot write %s: %s", j->partial, strerror(errno));
    else
        sync_now_and_then(j);
    j->empty = false;
    assay_text_release(line);
    return st;
}

static enum assay_status write_manifest(struct journal *j, const struct assay_result *r,
                                        struct assay_err *err)
{
    struct assay_text line = { 0 };

    assay_text_add(&line,
                   "{\"format\":%d,\"kind\":\"manifest\",\"manifest\":", ASSAY_RESULT_FORMAT);
    assay__result_put_manifest(&line, &r->manifest);
    assay_text_add(&line, "}");
    j->level_told = r->manifest.trust[0] != 0;
    return write_line(j, &line, err);
}

static enum assay_status on_build(void *self, const struct assay_result *r, int build,
                                  struct assay_err *err)
{
    struct journal *j = self;
    struct assay_text line = { 0 };

    if (!j->file)
        return ASSAY_OK;
    assay_text_add(&line, "{\"kind\":\"build\",\"build\":");
    assay__result_put_build(&line, &r->builds[build]);
    assay_text_add(&line, "}");
    return write_line(j, &line, err);
}

static enum assay_status on_row(void *self, const struct assay_result *r, int row,
                                struct assay_err *err)
{
    struct journal *j = self;
    struct assay_text line = { 0 };

    if (!j->file)
        return ASSAY_OK;
    if (!j->level_told && r->manifest.trust[0]) /* known since the first process */
        ASSAY_TRY(write_manifest(j, r, err));
    assay_text_add(&line, "{\"kind\":\"case\",\"case\":");
    assay__result_put_row(&line, &r->rows[row]);
    assay_text_add(&line, "}");
    return write_line(j, &line, err);
}

static enum assay_status on_control(void *self, const struct assay_result *r, int control,
                                    struct assay_err *err)
{
    struct journal *j = self;
    struct assay_text line = { 0 };

    if (!j->file)
        return ASSAY_OK;
    assay_text_add(&line, "{\"kind\":\"control\",\"control\":");
    assay__result_put_control(&line, &r->controls[control]);
    assay_text_add(&line, "}");
    return write_line(j, &line, err);
}

static enum assay_status write_known(struct journal *j, const struct assay_result *r, bool fresh,
                                     struct assay_err *err)
{
    ASSAY_TRY(write_manifest(j, r, err));
    for (int i = 0; fresh && i < r->n_builds; i++)
        if (r->builds[i].done)
            ASSAY_TRY(on_build(j, r, i, err));
    for (int i = 0; fresh && i < r->n_rows; i++)
        if (r->rows[i].done)
            ASSAY_TRY(on_row(j, r, i, err));
    for (int i = 0; fresh && i < r->n_controls; i++)
        ASSAY_TRY(on_control(j, r, i, err));
    return ASSAY_OK;
}

/* A resumed run whose rows came from a finished file starts its journal with them. Where there is
 * no room for all of them the file is what counts, and half a journal must not stand before it. */
static enum assay_status on_begin(void *self, const struct assay_result *r, struct assay_err *err)
{
    struct journal *j = self;
    bool fresh = j->empty;
    enum assay_status st;

    if (!j->file)
        return ASSAY_OK;
    st = write_known(j, r, fresh, err);
    if (st && fresh)
        j->empty = !ftruncate(fileno(j->file), 0);
    return st;
}

static void close_file(struct journal *j)
{
    if (!j->file)
        return;
    (void)fsync(fileno(j->file));
    (void)fclose(j->file);
    j->file = NULL;
}

static enum assay_status write_stdout(const struct assay_text *t, struct assay_err *err)
{
    if (fwrite(t->data, 1, t->len, stdout) != t->len || fflush(stdout))
        return assay_fail(err, ASSAY_IO, "cannot write the result to standard output: %s",
                          strerror(errno));
    return ASSAY_OK;
}

static enum assay_status on_end(void *self, const struct assay_result *r, struct assay_err *err)
{
    struct journal *j = self;
    struct assay_text t = { 0 };
    enum assay_status st;

    if (r->interrupted && j->partial) { /* to be resumed */
        close_file(j);
        return ASSAY_OK;
    }
    assay__result_put_result(&t, r);
    if (t.failed)
        st = assay_fail(err, ASSAY_NOMEM, "out of memory for the result of %d cases", r->n_rows);
    else
        st = j->partial ? assay_file_write(j->path, t.data, t.len, err) : write_stdout(&t, err);
    assay_text_release(&t);
    close_file(j);
    if (!st && j->partial)
        (void)unlink(j->partial);
    return st;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Cuts off a last line that was being written when the run died, so that the next one starts clean.
 */
static enum assay_status drop_torn_line(const char *path, int fd, struct assay_err *err)
{
    off_t end = lseek(fd, 0, SEEK_END);
    char block[4096];

    while (end > 0) {
        off_t start = end > (off_t)sizeof block ? end - (off_t)sizeof block : 0;
        ssize_t n = pread(fd, block, (size_t)(end - start), start);
        const char *nl;

        if (n != end - start)
            return assay_fail(err, ASSAY_IO, "cannot read %s: %s", path, strerror(errno));
        nl = memrchr(block, '\n', (size_t)n);
        if (nl) {
            end = start + (nl - block) + 1;
            break;
        }
        end = start;
    }
    if (ftruncate(fd, end))
        return assay_fail(err, ASSAY_IO, "cannot shorten %s: %s", path, strerror(errno));
    return ASSAY_OK;
}

static enum assay_status open_partial(struct journal *j, bool resume, struct assay_err *err)
{
    struct stat s;
    enum assay_status st = ASSAY_OK;
    int fd;

    if (!stat(j->path, &s) && !S_ISREG(s.st_mode))
        return assay_fail(err, ASSAY_IO, "cannot write %s: not a regular file", j->path);
    fd = open(j->partial, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (resume ? 0 : O_TRUNC), 0666);
    if (fd < 0)
        return assay_fail(err, ASSAY_IO, "cannot write %s: %s", j->partial, strerror(errno));
    if (fstat(fd, &s) || !S_ISREG(s.st_mode))
        st = assay_fail(err, ASSAY_IO, "cannot write %s: not a regular file", j->partial);
    if (!st)
        st = drop_torn_line(j->partial, fd, err);
    if (!st) {
        j->empty = lseek(fd, 0, SEEK_END) == 0;
        j->file = fdopen(fd, "a");
        if (!j->file)
            st = assay_fail(err, ASSAY_NOMEM, "out of memory to open %s", j->partial);
        else /* a line that a full disk took half of must not be tried again behind our back */
            (void)setvbuf(j->file, NULL, _IONBF, 0);
    }
    if (st)
        close(fd);
    return st;
}

enum assay_status assay_report_json_open(struct assay_sink *sink, const char *path, bool resume,
                                         struct assay_err *err)
{
    struct journal *j = assay_alloc_zero(sizeof *j);
    enum assay_status st = ASSAY_OK;

    *sink = (struct assay_sink){ .name = "json",
                                 .self = j,
                                 .begin = on_begin,
                                 .build = on_build,
                                 .row = on_row,
                                 .control = on_control,
                                 .end = on_end };
    if (!j)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for a report");
    j->path = assay_strdup(path);
    if (j->path && !to_stdout(path))
        j->partial = partial_path(path);
    if (!j->path || (!j->partial && !to_stdout(path)))
        st = assay_fail(err, ASSAY_NOMEM, "out of memory for a report");
    if (!st && j->partial)
        st = open_partial(j, resume, err);
    if (!st && j->partial)
        assay__file_left_over(path);
    if (st)
        assay_report_json_close(sink);
    return st;
}

void assay_report_json_close(struct assay_sink *sink)
{
    struct journal *j = sink->self;

    if (j) {
        close_file(j);
        if (j->partial && j->empty)
            (void)unlink(j->partial); /* nothing was measured */
        free(j->path);
        free(j->partial);
        free(j);
    }
    *sink = (struct assay_sink){ 0 };
}
