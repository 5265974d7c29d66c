/* SPDX-License-Identifier: Apache-2.0 */
/* identity.c: which programs measured, and what. */
#include "bench/identity.h"

#include "assay/memory.h"

#include <dirent.h>
#include <errno.h>
#include <sha2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PIECE = 1 << 14, PATH = 4096, MAX_FILES = 4096, MAX_DEPTH = 16 };
#define MAX_BYTES ((off_t)256 << 20)

static enum assay_status add_file(SHA2_CTX *ctx, const char *path, struct assay_err *err)
{
    uint8_t piece[PIECE];
    FILE *f = fopen(path, "rb");
    bool failed;
    size_t n;

    if (!f)
        return assay_fail(err, ASSAY_IO, "%s: %s", path, strerror(errno));
    while ((n = fread(piece, 1, sizeof piece, f)) > 0)
        SHA256Update(ctx, piece, n);
    failed = ferror(f) != 0;
    fclose(f);
    return failed ? assay_fail(err, ASSAY_IO, "%s: cannot be read", path) : ASSAY_OK;
}

enum assay_status assay__harness_hash(char hash[65], const char *child, struct assay_err *err)
{
    SHA2_CTX ctx;

    SHA256Init(&ctx);
    ASSAY_TRY(add_file(&ctx, "/proc/self/exe", err));
    ASSAY_TRY(add_file(&ctx, child, err));
    SHA256End(&ctx, hash);
    return ASSAY_OK;
}

/* ---- a submission ---------------------------------------------------------------------------- */

struct walk {
    SHA2_CTX ctx;
    size_t root; /* characters of the path before those that are hashed */
    int n_files;
    off_t bytes;
    bool too_many; /* files, bytes or folders within folders */
    struct assay_err *err;
};

static int no_dot(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* By bytes, in any locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum assay_status walk_dir(struct walk *w, const char *dir, int depth);

static enum assay_status walk_entry(struct walk *w, const char *path, int depth)
{
    struct stat s;
    char size[32];

    if (lstat(path, &s))
        return assay_fail(w->err, ASSAY_IO, "%s: %s", path, strerror(errno));
    if (S_ISDIR(s.st_mode))
        return walk_dir(w, path, depth + 1);
    if (!S_ISREG(s.st_mode))
        return ASSAY_OK;
    w->bytes += s.st_size;
    w->too_many = w->too_many || ++w->n_files > MAX_FILES || w->bytes > MAX_BYTES;
    if (w->too_many)
        return ASSAY_OK;
    snprintf(size, sizeof size, "%lld", (long long)s.st_size);
    SHA256Update(&w->ctx, (const uint8_t *)path + w->root, strlen(path + w->root) + 1);
    SHA256Update(&w->ctx, (const uint8_t *)size, strlen(size) + 1);
    return add_file(&w->ctx, path, w->err);
}

static enum assay_status walk_dir(struct walk *w, const char *dir, int depth)
{
    struct dirent **names = NULL;
    enum assay_status st = ASSAY_OK;
    int n;

    w->too_many = w->too_many || depth > MAX_DEPTH;
    if (w->too_many)
        return ASSAY_OK;
    n = scandir(dir, &names, no_dot, by_name);
    if (n < 0)
        return assay_fail(w->err, ASSAY_IO, "%s: %s", dir, strerror(errno));
    for (int i = 0; i < n; i++) {
        char path[PATH];

        w->too_many =
            w->too_many || snprintf(path, sizeof path, "%s/%s", dir, names[i]->d_name) >= PATH;
        if (!st && !w->too_many)
            st = walk_entry(w, path, depth);
        free(names[i]);
    }
    free(names);
    return st;
}

enum assay_status assay__submission_hash(char hash[65], const char *dir, struct assay_err *err)
{
    struct walk w = { .root = strlen(dir) + 1, .err = err };

    SHA256Init(&w.ctx);
    ASSAY_TRY(walk_dir(&w, dir, 0));
    SHA256End(&w.ctx, hash);
    if (w.too_many)
        hash[0] = 0;
    return ASSAY_OK;
}
