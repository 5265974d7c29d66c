/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c: folders, read depth first. */
#include "qn/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_CAP = 64 };

struct walk {
    struct qn__paths *paths;
    bool (*takes)(const char *name); /* NULL: folders are wanted, of one level */
    const char *folder;              /* for messages */
    struct stat above[QN__MAX_DEPTH];
    struct assay_text path; /* relative, of where we are */
};

const char *qn__path_at(const struct qn__paths *p, size_t i)
{
    return p->text.data + p->at[i];
}

void qn__paths_release(struct qn__paths *p)
{
    assay_text_release(&p->text);
    free(p->at);
    *p = (struct qn__paths){ 0 };
}

static enum assay_status no_memory(const struct walk *w, struct assay_err *err)
{
    return assay_fail(err, ASSAY_NOMEM, "out of memory listing %s", w->folder);
}

static enum assay_status add(struct walk *w, struct assay_err *err)
{
    struct qn__paths *p = w->paths;

    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap : FIRST_CAP, size;
        size_t *at = NULL;

        if (assay_mul_size(cap, 2 * sizeof *at, &size))
            at = assay_realloc(p->at, size);
        if (!at)
            return no_memory(w, err);
        p->at = at;
        p->cap = 2 * cap;
    }
    p->at[p->n] = p->text.len;
    assay_text_add_n(&p->text, w->path.data, w->path.len + 1); /* with its end */
    if (p->text.failed)
        return no_memory(w, err);
    p->n++;
    return ASSAY_OK;
}

static enum assay_status walk_folder(struct walk *w, int fd, int depth, struct assay_err *err);

/* What an entry is, links followed: 0 when it is gone or leads nowhere. */
static mode_t mode_at(int fd, const struct dirent *e)
{
    struct stat sb;

    if (e->d_type == DT_REG)
        return S_IFREG;
    return fstatat(fd, e->d_name, &sb, 0) ? 0 : sb.st_mode;
}

static enum assay_status enter(struct walk *w, int parent, const char *name, int depth,
                               struct assay_err *err)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return assay_fail(err, ASSAY_IO, "cannot open folder %s/%s: %s", w->folder, w->path.data,
                          strerror(errno));
    return walk_folder(w, fd, depth, err);
}

static enum assay_status visit(struct walk *w, int fd, const struct dirent *e, int depth,
                               struct assay_err *err)
{
    size_t len = w->path.len;
    mode_t mode = mode_at(fd, e);
    enum assay_status st = ASSAY_OK;

    assay_text_add(&w->path, "%s%s", len ? "/" : "", e->d_name);
    if (w->path.failed)
        return no_memory(w, err);
    if (!w->takes)
        st = S_ISDIR(mode) ? add(w, err) : ASSAY_OK;
    else if (S_ISDIR(mode))
        st = enter(w, fd, e->d_name, depth + 1, err);
    else if (S_ISREG(mode) && w->takes(e->d_name))
        st = add(w, err);
    w->path.len = len;
    w->path.data[len] = 0;
    return st;
}

/* Takes fd. */
static enum assay_status walk_folder(struct walk *w, int fd, int depth, struct assay_err *err)
{
    const char *here = w->path.len ? w->path.data : ".";
    DIR *d = NULL;
    const struct dirent *e;
    enum assay_status st = ASSAY_OK;

    if (depth >= QN__MAX_DEPTH)
        st = assay_fail(err, ASSAY_INVALID, "%s/%s: folders are more than %d deep", w->folder, here,
                        QN__MAX_DEPTH);
    else if (fstat(fd, &w->above[depth]) || !(d = fdopendir(fd)))
        st = assay_fail(err, ASSAY_IO, "cannot read folder %s/%s: %s", w->folder, here,
                        strerror(errno));
    for (int i = 0; i < depth && !st; i++)
        if (w->above[i].st_ino == w->above[depth].st_ino &&
            w->above[i].st_dev == w->above[depth].st_dev)
            st = assay_fail(err, ASSAY_INVALID, "%s/%s leads back to a folder that it lies in",
                            w->folder, here);
    while (!st && (errno = 0, e = readdir(d)) != NULL)
        if (e->d_name[0] != '.')
            st = visit(w, dirfd(d), e, depth, err);
    if (!st && errno)
        st = assay_fail(err, ASSAY_IO, "cannot read folder %s/%s: %s", w->folder, here,
                        strerror(errno));
    if (d)
        closedir(d);
    else
        close(fd);
    return st;
}

/* Name by name: what lies in folder "a" comes before "a-b", so that folders stay together. */
static int compare(const void *a, const void *b, void *text)
{
    const unsigned char *p = (const unsigned char *)text + *(const size_t *)a;
    const unsigned char *q = (const unsigned char *)text + *(const size_t *)b;
    int c, d;

    while (*p && *p == *q) {
        p++;
        q++;
    }
    c = *p == '/' ? 0 : *p;
    d = *q == '/' ? 0 : *q;
    return c != d ? c - d : (*p == '/') - (*q == '/');
}

static enum assay_status walk(struct qn__paths *p, const char *folder,
                              bool (*takes)(const char *name), struct assay_err *err)
{
    struct walk w = { .paths = p, .takes = takes, .folder = folder };
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum assay_status st;

    if (fd < 0)
        return assay_fail(err, ASSAY_IO, "cannot open folder %s: %s", folder, strerror(errno));
    st = walk_folder(&w, fd, 0, err);
    assay_text_release(&w.path);
    if (!st && p->n > 1)
        qsort_r(p->at, p->n, sizeof *p->at, compare, p->text.data);
    return st;
}

enum assay_status qn__walk(struct qn__paths *p, const char *folder, bool (*takes)(const char *name),
                           struct assay_err *err)
{
    return walk(p, folder, takes, err);
}

enum assay_status qn__list_folders(struct qn__paths *p, const char *folder, struct assay_err *err)
{
    return walk(p, folder, NULL, err);
}

bool qn__has_folders(const char *folder)
{
    DIR *d = opendir(folder);
    const struct dirent *e;
    bool some = false;

    while (d && !some && (e = readdir(d)) != NULL)
        some = e->d_name[0] != '.' && S_ISDIR(mode_at(dirfd(d), e));
    if (d)
        closedir(d);
    return some;
}
