/* SPDX-License-Identifier: Apache-2.0 */
/* sources.c: copies the sources of one operator out of a submission, trusting nothing about them.
 */
#include "targets/cpu/build.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 1000, MAX_TOTAL = 64 << 20, PATH_CAP = 4096 };

struct copy {
    struct cpu_sources *s;
    struct assay_text *refusal;
    struct assay_err *err;
    int files;
    size_t total;
    SHA2_CTX common;
};

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n > m && !strcmp(name + n - m, end);
}

static bool is_cxx(const char *name)
{
    return ends_with(name, ".cc") || ends_with(name, ".cpp") || ends_with(name, ".cxx");
}

static bool plain_name(const char *name)
{
    if (*name == '.' || *name == '-')
        return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+") ==
           strlen(name);
}

static void remember(struct copy *c, const char *relative)
{
    struct cpu_sources *s = c->s;

    if (!ends_with(relative, ".c") && !is_cxx(relative))
        return;
    if (s->n == 64 || strlen(relative) >= sizeof s->name[0]) {
        assay_text_add(c->refusal, "%s: more than 64 source files, or a name that is too long\n",
                       relative);
        return;
    }
    snprintf(s->name[s->n++], sizeof s->name[0], "%s", relative);
    s->cxx |= is_cxx(relative);
}

/* A file of common/ as it was copied. */
static void add_common(struct copy *c, const char *relative, const struct assay_text *data)
{
    static const char *const asks[] = { "__has_include", "__has_embed" };
    char size[32];

    snprintf(size, sizeof size, "%zu", data->len);
    SHA256Update(&c->common, (const uint8_t *)relative, strlen(relative) + 1);
    SHA256Update(&c->common, (const uint8_t *)size, strlen(size) + 1);
    if (!data->data) /* an empty file */
        return;
    SHA256Update(&c->common, (const uint8_t *)data->data, data->len);
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
        if (memmem(data->data, data->len, asks[i], strlen(asks[i])))
            c->s->common_asks = true;
}

/* Copies one regular file of an open folder; what is not one is refused. It is opened once, without
 * following links, and what is copied is what was looked at. */
static enum assay_status copy_file(struct copy *c, int folder, const char *name, const char *to,
                                   const char *relative)
{
    static const struct timespec epoch[2] = { { 0, 0 }, { 0, 0 } };
    struct assay_text data = { 0 };
    enum assay_status st = ASSAY_OK;
    struct stat info;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0 && (errno == ELOOP || errno == ENXIO)) {
        assay_text_add(c->refusal, "%s: %s\n", relative,
                       errno == ELOOP ? "links are not followed" : "not a regular file");
        return ASSAY_OK;
    }
    if (fd < 0)
        return assay_fail(c->err, ASSAY_IO, "%s: %s", relative, strerror(errno));
    if (fstat(fd, &info) || !S_ISREG(info.st_mode)) {
        assay_text_add(c->refusal, "%s: not a regular file\n", relative);
    } else if (++c->files > MAX_FILES || (c->total += (size_t)info.st_size) > MAX_TOTAL) {
        assay_text_add(c->refusal, "%s: the submission has more than %d files or %d MiB\n",
                       relative, (int)MAX_FILES, (int)(MAX_TOTAL >> 20));
    } else {
        st = assay_file_read_fd(&data, fd, relative, MAX_TOTAL, c->err);
        if (!st)
            st = assay_file_write(to, data.data ? data.data : "", data.len, c->err);
        /* always as old: a source can ask for that, and libraries shall not differ by it */
        if (!st && (chmod(to, 0644) || utimensat(AT_FDCWD, to, epoch, 0)))
            st = assay_fail(c->err, ASSAY_IO, "%s: %s", to, strerror(errno));
        if (!st)
            remember(c, relative);
        if (!st && !strncmp(relative, "common/", 7))
            add_common(c, relative, &data);
    }
    close(fd);
    assay_text_release(&data);
    return st;
}

/* All plain files of a folder, one level deep. */
static enum assay_status copy_files(struct copy *c, int folder, const char *dst, const char *name)
{
    enum assay_status st = ASSAY_OK;
    char to[PATH_CAP], relative[512];
    struct dirent **list = NULL;
    int n = scandirat(folder, ".", &list, NULL, alphasort);

    if (n < 0)
        return assay_fail(c->err, errno == ENOMEM ? ASSAY_NOMEM : ASSAY_IO, "%s: %s", name,
                          strerror(errno));
    snprintf(to, sizeof to, "%s/%s", dst, name);
    if (mkdir(to, 0755) && errno != EEXIST)
        st = assay_fail(c->err, ASSAY_IO, "%s: %s", to, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (!st && plain_name(list[i]->d_name)) {
            snprintf(to, sizeof to, "%s/%s/%s", dst, name, list[i]->d_name);
            snprintf(relative, sizeof relative, "%.200s/%.200s", name, list[i]->d_name);
            st = copy_file(c, folder, list[i]->d_name, to, relative);
        }
        free(list[i]);
    }
    free(list);
    return st;
}

/* A folder of the submission; one that does not exist is empty, and a link is none. */
static enum assay_status copy_folder(struct copy *c, int root, const char *dst, const char *name)
{
    enum assay_status st;
    struct stat info;
    int folder;

    if (fstatat(root, name, &info, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? ASSAY_OK
                               : assay_fail(c->err, ASSAY_IO, "%s: %s", name, strerror(errno));
    if (S_ISLNK(info.st_mode)) {
        assay_text_add(c->refusal, "%s: links are not followed\n", name);
        return ASSAY_OK;
    }
    if (!S_ISDIR(info.st_mode))
        return ASSAY_OK;
    folder = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return assay_fail(c->err, ASSAY_IO, "%s: %s", name, strerror(errno));
    st = copy_files(c, folder, dst, name);
    close(folder);
    return st;
}

/* <op>.c or another ending, else <op>/; then common/. */
static enum assay_status copy_all(struct copy *c, int root, const char *op, const char *dst)
{
    static const char *const ends[] = { ".c", ".cc", ".cpp", ".cxx" };
    char to[PATH_CAP], name[256];
    struct stat info;

    for (size_t i = 0; i < sizeof ends / sizeof *ends && !c->s->n; i++) {
        snprintf(name, sizeof name, "%s%s", op, ends[i]);
        snprintf(to, sizeof to, "%s/%s", dst, name);
        if (!fstatat(root, name, &info, AT_SYMLINK_NOFOLLOW))
            ASSAY_TRY(copy_file(c, root, name, to, name));
    }
    if (!c->s->n)
        ASSAY_TRY(copy_folder(c, root, dst, op));
    return c->s->n ? copy_folder(c, root, dst, "common") : ASSAY_OK;
}

enum assay_status cpu_sources_copy(struct cpu_sources *s, const char *submission, const char *op,
                                   const char *dst, struct assay_text *refusal,
                                   struct assay_err *err)
{
    struct copy c = { .s = s, .refusal = refusal, .err = err };
    int root = open(submission, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum assay_status st;

    memset(s, 0, sizeof *s);
    SHA256Init(&c.common);
    if (root < 0)
        return assay_fail(err, ASSAY_INVALID, "%s: no such folder", submission);
    st = copy_all(&c, root, op, dst);
    SHA256End(&c.common, s->common);
    close(root);
    return st;
}
