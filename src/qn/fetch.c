/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.c: gets data sets. Files are made in a temporary folder beside the target,
 * FOLDER.PID.fetch, checked there, and moved in the end; what a killed process left is removed by
 * the next one.
 */
#include "qn/fetch.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <sha2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHA256_TEXT = 65, MAX_OPEN = 16 };

const struct qn_source qn_sources[] = {
    { "fashion-mnist", "70000 pictures of clothes, 28 x 28, grey, 10 classes",
      &qn__fetch_fashion_mnist },
    { "mnist", "70000 handwritten digits, 28 x 28, grey", &qn__fetch_mnist },
    { "digits", "1797 handwritten digits, 8 x 8, grey: trains in seconds", &qn__fetch_digits },
    { "colour-mnist", "70000 digits of mnist before coloured textures, 32 x 32, made here",
      &qn__fetch_colour_mnist },
    { 0 },
};

void qn__fetch_say(const struct qn__fetching *f, const char *fmt, ...)
{
    char line[512];
    va_list args;

    if (!f->how->say)
        return;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    f->how->say(f->how->cookie, line);
}

/* ---- folders --------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *sb, int type, struct FTW *ftw)
{
    (void)sb;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void remove_tree(const char *path)
{
    (void)nftw(path, remove_one, MAX_OPEN, FTW_DEPTH | FTW_PHYS);
}

/* ".1234.fetch" after the name of the folder, of a process that is no more, or of this one: after a
 * restart of the machine numbers begin anew. */
static bool is_left_over(const char *name, const char *folder)
{
    size_t n = strlen(folder);
    char end[8] = "";
    long pid;

    if (strncmp(name, folder, n) != 0 || sscanf(name + n, ".%ld.%7s", &pid, end) != 2 ||
        strcmp(end, "fetch") != 0 || pid <= 0)
        return false;
    return pid == getpid() || (kill((pid_t)pid, 0) && errno == ESRCH);
}

/* parent: the folder in which `base` lies. */
static void remove_left_overs(const char *parent, const char *base)
{
    DIR *d = opendir(parent);
    const struct dirent *e;

    while (d && (e = readdir(d)) != NULL)
        if (is_left_over(e->d_name, base)) {
            char path[4096];
            int n = snprintf(path, sizeof path, "%s/%s", parent, e->d_name);

            if (n > 0 && (size_t)n < sizeof path)
                remove_tree(path);
        }
    if (d)
        closedir(d);
}

/* Makes a folder and those above it. path is written to, and is as it was in the end. */
static enum assay_status make_folders(char *path, struct assay_err *err)
{
    for (char *p = path + 1;; p++) {
        char c = *p;
        int failed;

        if (c && c != '/')
            continue;
        *p = 0;
        failed = mkdir(path, 0777) && errno != EEXIST;
        if (failed)
            return assay_fail(err, ASSAY_IO, "cannot make folder %s: %s", path, strerror(errno));
        *p = c;
        if (!c)
            return ASSAY_OK;
    }
}

/* Parent and temporary folder. */
static enum assay_status begin(struct qn__fetching *f, const char *target, struct assay_err *err)
{
    char *parent = assay_arena_strdup(&f->arena, target), *temporary, *real;
    const char *slash = strrchr(target, '/');

    if (!parent)
        return assay_fail(err, ASSAY_NOMEM, "out of memory fetching %s", target);
    if (slash)
        parent[slash == target ? 1 : slash - target] = 0;
    if (slash && slash != target)
        ASSAY_TRY(make_folders(parent, err));
    remove_left_overs(slash ? parent : ".", slash ? slash + 1 : target);
    temporary = assay_arena_printf(&f->arena, "%s.%ld.fetch", target, (long)getpid());
    if (!temporary)
        return assay_fail(err, ASSAY_NOMEM, "out of memory fetching %s", target);
    if (mkdir(temporary, 0777))
        return assay_fail(err, ASSAY_IO, "cannot make folder %s: %s", temporary, strerror(errno));
    f->temporary = temporary;
    real = realpath(temporary, NULL); /* programs run within it */
    if (real)
        f->temporary = assay_arena_strdup(&f->arena, real);
    free(real);
    if (f->temporary)
        f->out = assay_arena_printf(&f->arena, "%s/out", f->temporary);
    if (!f->temporary || !f->out) {
        f->temporary = temporary;
        return assay_fail(err, ASSAY_NOMEM, "out of memory fetching %s", target);
    }
    if (mkdir(f->out, 0777))
        return assay_fail(err, ASSAY_IO, "cannot make folder %s: %s", f->out, strerror(errno));
    return ASSAY_OK;
}

/* ---- checking and moving --------------------------------------------------------------------- */

/* The digits of FOLDER/name, or "" when it cannot be read. */
static void sum_of(const char *folder, const char *name, char sum[static SHA256_TEXT])
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);

    if (n < 0 || (size_t)n >= sizeof path || !SHA256File(path, sum))
        sum[0] = 0;
}

static bool sums_known(const struct qn__recipe *r, const struct qn_fetch *how)
{
    return !r->seeded || how->seed == 0;
}

static bool is_there(const struct qn__recipe *r, const char *folder)
{
    for (int i = 0; r->files[i].name; i++) {
        char sum[SHA256_TEXT];

        sum_of(folder, r->files[i].name, sum);
        if (strcmp(sum, r->files[i].sha256) != 0)
            return false;
    }
    return true;
}

static enum assay_status check(const struct qn__recipe *r, const struct qn__fetching *f,
                               struct assay_err *err)
{
    for (int i = 0; r->files[i].name; i++) {
        char sum[SHA256_TEXT];

        sum_of(f->out, r->files[i].name, sum);
        if (!sum[0])
            return assay_fail(err, ASSAY_IO, "%s was not made", r->files[i].name);
        if (sums_known(r, f->how) && strcmp(sum, r->files[i].sha256) != 0)
            return assay_fail(err, ASSAY_IO,
                              "%s has SHA-256 %s, not %s: it is damaged or another version",
                              r->files[i].name, sum, r->files[i].sha256);
    }
    return ASSAY_OK;
}

static enum assay_status move_file(const struct qn__fetching *f, const char *target,
                                   const char *name, struct assay_err *err)
{
    char from[4096], to[4096];
    int n = snprintf(from, sizeof from, "%s/%s", f->out, name);
    int m = snprintf(to, sizeof to, "%s/%s", target, name);

    if (n < 0 || (size_t)n >= sizeof from || m < 0 || (size_t)m >= sizeof to)
        return assay_fail(err, ASSAY_INVALID, "the name of folder %s is too long", target);
    if (rename(from, to))
        return assay_fail(err, ASSAY_IO, "cannot move %s to %s: %s", from, to, strerror(errno));
    return ASSAY_OK;
}

/* Where there is no folder, or an empty one, it appears whole. Otherwise wrong files go first, so
 * that a set is never mixed of two. */
static enum assay_status move_in(const struct qn__recipe *r, const struct qn__fetching *f,
                                 const char *target, struct assay_err *err)
{
    bool right[16] = { false };

    if (!rename(f->out, target))
        return ASSAY_OK;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return assay_fail(err, ASSAY_IO, "cannot move %s to %s: %s", f->out, target,
                          strerror(errno));
    for (int i = 0; r->files[i].name; i++) {
        char ours[SHA256_TEXT], theirs[SHA256_TEXT], path[4096];
        int n = snprintf(path, sizeof path, "%s/%s", target, r->files[i].name);

        sum_of(f->out, r->files[i].name, ours);
        sum_of(target, r->files[i].name, theirs);
        right[i] = !strcmp(ours, theirs);
        if (!right[i] && n > 0 && (size_t)n < sizeof path)
            (void)unlink(path);
    }
    for (int i = 0; r->files[i].name; i++)
        if (!right[i])
            ASSAY_TRY(move_file(f, target, r->files[i].name, err));
    return ASSAY_OK;
}

/* ---- fetching -------------------------------------------------------------------------------- */

static enum assay_status make_and_move(const struct qn__recipe *r, struct qn__fetching *f,
                                       const char *target, struct assay_err *err)
{
    enum assay_status st = begin(f, target, err);

    if (!st)
        st = r->make(f, err);
    if (!st) {
        qn__fetch_say(f, "checking");
        st = check(r, f, err);
    }
    if (!st)
        st = move_in(r, f, target, err);
    if (f->temporary)
        remove_tree(f->temporary);
    return st;
}

enum assay_status qn__fetch(const struct qn__recipe *r, const char *name, const char *folder,
                            const struct qn_fetch *how, struct assay_err *err)
{
    static const struct qn_fetch plain = { 0 };
    struct qn__fetching f = { .how = how ? how : &plain };
    char *target = assay_arena_strdup(&f.arena, folder);
    enum assay_status st = ASSAY_OK;

    if (!target)
        return assay_fail(err, ASSAY_NOMEM, "out of memory fetching %s", name);
    for (size_t n = strlen(target); n > 1 && target[n - 1] == '/'; n--)
        target[n - 1] = 0;
    if (!target[0] || !strcmp(target, "/"))
        st = assay_fail(err, ASSAY_INVALID, "'%s' is no folder for a data set", folder);
    else if (sums_known(r, f.how) && is_there(r, target))
        qn__fetch_say(&f, "%s is in %s already", name, target);
    else
        st = make_and_move(r, &f, target, err);
    assay_arena_release(&f.arena);
    return st ? assay_wrap(err, st, "data set %s", name) : ASSAY_OK;
}

enum assay_status qn_data_fetch(const char *name, const char *folder, const struct qn_fetch *f,
                                struct assay_err *err)
{
    struct assay_text t = { 0 };
    enum assay_status st;

    for (int i = 0; qn_sources[i].name; i++)
        if (!strcmp(qn_sources[i].name, name))
            return qn__fetch(qn_sources[i].recipe, name, folder, f, err);
    for (int i = 0; qn_sources[i].name; i++)
        assay_text_add(&t, "%s%s", i ? ", " : "", qn_sources[i].name);
    st = assay_fail(err, ASSAY_INVALID, "no data set '%s' is known; known are %s", name,
                    t.data ? t.data : "some");
    assay_text_release(&t);
    return st;
}
