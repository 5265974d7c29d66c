/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h: a folder of a test's own, and files in it.
 *
 *     struct t_folder f;
 *     t_folder_make(&f);
 *     t_file(&f, "a/b.bin", bytes, n);          folders above it are made
 *     open_it(t_in(&f, "a"));
 *     t_folder_remove(&f);
 */
#ifndef ASSAY_T_FILES_H
#define ASSAY_T_FILES_H

#include "t.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

struct t_folder {
    char path[64];
};

static inline void t_folder_make(struct t_folder *f)
{
    *f = (struct t_folder){ .path = "/tmp/assay-test-XXXXXX" };
    assert_non_null(mkdtemp(f->path));
}

/* FOLDER/name, good for eight calls. */
static inline const char *t_in(const struct t_folder *f, const char *name)
{
    static char buf[8][512];
    static int turn;

    turn = (turn + 1) % 8;
    snprintf(buf[turn], sizeof buf[0], "%s/%s", f->path, name);
    return buf[turn];
}

static inline void t_file(const struct t_folder *f, const char *name, const void *bytes, size_t n)
{
    char path[512];
    FILE *out;

    snprintf(path, sizeof path, "%s/%s", f->path, name);
    for (char *p = path + strlen(f->path) + 1; *p; p++)
        if (*p == '/') {
            *p = 0;
            (void)mkdir(path, 0777);
            *p = '/';
        }
    out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
}

static inline int t_remove_one(const char *path, const struct stat *sb, int type, struct FTW *ftw)
{
    (void)sb;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline void t_folder_remove(struct t_folder *f)
{
    nftw(f->path, t_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
