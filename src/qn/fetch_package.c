/* SPDX-License-Identifier: Apache-2.0 */
/* fetch_package.c: packages of Debian and npm, by the programs that are made for them. */
#include "qn/fetch.h"

#include "qn/data_type.h"
#include "qn/stream.h"
#include "qn/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_LOG = 1 << 20, MAX_FILE_BYTES = 1 << 28, PIECE = 1 << 20, LAST_WORDS = 400 };

extern char **environ;

/* ---- programs -------------------------------------------------------------------------------- */

/* The end of what a program printed, in one line; cuts it out. */
static const char *last_words(char *text)
{
    size_t n = strlen(text);

    while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
        text[--n] = 0;
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\n')
            text[i] = ' ';
    return n > LAST_WORDS ? text + n - LAST_WORDS : text;
}

static enum assay_status failed(const char *program, int status, const char *log,
                                struct assay_err *err)
{
    struct assay_text t = { 0 };
    const char *said = "";
    enum assay_status st;

    if (!assay_file_read(&t, log, MAX_LOG, NULL))
        said = last_words(t.data);
    if (WIFSIGNALED(status))
        st = assay_fail(err, ASSAY_IO, "%s was ended by signal %d", program, WTERMSIG(status));
    else
        st = assay_fail(err, ASSAY_IO, "%s ended with status %d: %s", program, WEXITSTATUS(status),
                        said);
    assay_text_release(&t);
    return st;
}

/* Runs a program in the temporary folder, without input; what it prints goes into a file there. */
static enum assay_status run(const struct qn__fetching *f, const char *const *argv,
                             struct assay_err *err)
{
    posix_spawn_file_actions_t actions;
    char log[4096];
    pid_t pid, got;
    int bad, status;

    if ((size_t)snprintf(log, sizeof log, "%s/log", f->temporary) >= sizeof log)
        return assay_fail(err, ASSAY_INVALID, "the name of folder %s is too long", f->temporary);
    if (posix_spawn_file_actions_init(&actions))
        return assay_fail(err, ASSAY_NOMEM, "out of memory running %s", argv[0]);
    bad = posix_spawn_file_actions_addchdir_np(&actions, f->temporary);
    bad |= posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    bad |= posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    bad |= posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!bad)
        bad = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (bad)
        return assay_fail(err, ASSAY_IO, "cannot run %s: %s", argv[0], strerror(bad));
    do
        got = waitpid(pid, &status, 0);
    while (got < 0 && errno == EINTR);
    if (got != pid)
        return assay_fail(err, ASSAY_IO, "cannot wait for %s: %s", argv[0], strerror(errno));
    return status ? failed(argv[0], status, log, err) : ASSAY_OK;
}

/* ---- packages -------------------------------------------------------------------------------- */

static bool ends_in(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n >= m && !strcmp(s + n - m, end);
}

static bool is_package(const char *name)
{
    return ends_in(name, ".deb") || ends_in(name, ".tgz");
}

/* The package that a program has just put into the temporary folder. */
static enum assay_status find_package(struct qn__fetching *f, const char **path,
                                      struct assay_err *err)
{
    struct qn__paths p = { 0 };
    enum assay_status st = qn__walk(&p, f->temporary, is_package, err);

    if (!st && p.n != 1)
        st = assay_fail(err, ASSAY_IO, "%zu packages came instead of one", p.n);
    if (!st) {
        *path = assay_arena_printf(&f->arena, "%s/%s", f->temporary, qn__path_at(&p, 0));
        st = *path ? ASSAY_OK : assay_fail(err, ASSAY_NOMEM, "out of memory for a name");
    }
    qn__paths_release(&p);
    return st;
}

static enum assay_status download(struct qn__fetching *f, const struct qn__package *p,
                                  const char **path, struct assay_err *err)
{
    const char *apt[] = { "apt-get", "download", p->name, NULL };
    const char *npm[] = { "npm", "pack", "--ignore-scripts", NULL, NULL, NULL };
    bool debian = p->kind == QN__DEBIAN;
    enum assay_status st;

    qn__fetch_say(f, "fetching package %s of %s", p->name, debian ? "Debian" : "npm");
    if (debian && f->how->mirror)
        return assay_fail(err, ASSAY_INVALID,
                          "package %s comes from where apt-get is set to, not from a mirror",
                          p->name);
    if (!debian) {
        npm[3] = assay_arena_printf(&f->arena, "%s@%s", p->name, p->version);
        npm[4] =
            f->how->mirror ? assay_arena_printf(&f->arena, "--registry=%s", f->how->mirror) : NULL;
        if (!npm[3] || (f->how->mirror && !npm[4]))
            return assay_fail(err, ASSAY_NOMEM, "out of memory for a name");
    }
    st = run(f, debian ? apt : npm, err);
    if (st)
        return assay_wrap(
            err, st,
            "cannot fetch package %s%s%s of %s; get it by hand and say where its file, "
            "or a folder with its files, is",
            p->name, debian ? "" : " ", debian ? "" : p->version, debian ? "Debian" : "npm");
    return find_package(f, path, err);
}

static enum assay_status unpack(struct qn__fetching *f, const struct qn__package *p,
                                const char *path, const char **folder, struct assay_err *err)
{
    const char *into = assay_arena_printf(&f->arena, "%s/unpacked", f->temporary);
    const char *deb[] = { "dpkg-deb", "-x", path, into, NULL };
    const char *tgz[] = { "tar", "-xzf", path, "-C", into, NULL };

    *folder = into ? assay_arena_printf(&f->arena, "%s/%s", into, p->within) : NULL;
    if (!*folder)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for a name");
    if (mkdir(into, 0777))
        return assay_fail(err, ASSAY_IO, "cannot make folder %s: %s", into, strerror(errno));
    qn__fetch_say(f, "unpacking %s", path);
    if (ends_in(path, ".deb"))
        return run(f, deb, err);
    if (ends_in(path, ".tgz") || ends_in(path, ".tar.gz"))
        return run(f, tgz, err);
    return assay_fail(err, ASSAY_INVALID, "%s is neither a folder nor a file .deb or .tgz", path);
}

enum assay_status qn__fetch_package(struct qn__fetching *f, const struct qn__package *p,
                                    const char **folder, struct assay_err *err)
{
    const char *from = f->how->from, *path = NULL;

    if (from) {
        char *real = realpath(from, NULL);

        if (!real)
            return assay_fail(err, ASSAY_IO, "cannot open %s: %s", from, strerror(errno));
        path = assay_arena_strdup(&f->arena, real);
        *folder = assay_arena_printf(&f->arena, "%s/%s", real, p->within);
        free(real);
        if (!path || !*folder)
            return assay_fail(err, ASSAY_NOMEM, "out of memory for a name");
        if (qn__is_folder(path, p->within))
            return ASSAY_OK;
        *folder = path;
        if (qn__is_folder(path, "."))
            return ASSAY_OK;
    } else if (p->kind == QN__DEBIAN && qn__is_folder("", p->within)) {
        *folder = assay_arena_printf(&f->arena, "/%s", p->within);
        return *folder ? ASSAY_OK : assay_fail(err, ASSAY_NOMEM, "out of memory for a name");
    } else {
        ASSAY_TRY(download(f, p, &path, err));
    }
    return unpack(f, p, path, folder, err);
}

/* ---- files ----------------------------------------------------------------------------------- */

static enum assay_status read_stream(struct qn__stream *s, struct assay_text *t,
                                     struct assay_err *err)
{
    char *piece = assay_alloc(PIECE);
    enum assay_status st =
        piece ? ASSAY_OK : assay_fail(err, ASSAY_NOMEM, "out of memory reading %s", s->path);
    size_t got = 1;

    assay_text_release(t);
    assay_text_add_n(t, "", 0);
    while (!st && got) {
        st = qn__stream_read(s, piece, PIECE, &got, err);
        if (!st)
            assay_text_add_n(t, piece, got);
        if (!st && t->failed)
            st = assay_fail(err, ASSAY_NOMEM, "out of memory reading %s", s->path);
        if (!st && t->len > MAX_FILE_BYTES)
            st =
                assay_fail(err, ASSAY_PARSE, "%s is larger than %d bytes", s->path, MAX_FILE_BYTES);
    }
    free(piece);
    return st;
}

enum assay_status qn__fetch_read(struct qn__fetching *f, const char *folder, const char *name,
                                 struct assay_text *t, struct assay_err *err)
{
    bool plain = qn__is_file(folder, name);
    const char *path = assay_arena_printf(&f->arena, "%s/%s%s", folder, name, plain ? "" : ".gz");
    struct qn__stream s;
    enum assay_status st;

    if (!path)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for a name");
    if (!plain && access(path, F_OK))
        return assay_fail(err, ASSAY_IO, "%s holds neither %s nor %s.gz", folder, name, name);
    ASSAY_TRY(qn__stream_open(&s, path, err));
    st = read_stream(&s, t, err);
    qn__stream_close(&s);
    return st;
}

enum assay_status qn__fetch_put(struct qn__fetching *f, const char *name, const void *data,
                                size_t len, struct assay_err *err)
{
    const char *path = assay_arena_printf(&f->arena, "%s/%s", f->out, name);

    if (!path)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for a name");
    return assay_file_write(path, data, len, err);
}
