/* SPDX-License-Identifier: Apache-2.0 */
/* objects.c: a store of compiled objects. */
#include "targets/cpu/objects.h"

#include "assay/memory.h"

#include <dirent.h>
#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SOURCE = 64 << 20, MAX_OBJECT = 1 << 30, PATH_CAP = 4352 };

/* A text and where it ends. */
static void add(SHA2_CTX *hash, const char *text)
{
    SHA256Update(hash, (const uint8_t *)text, strlen(text) + 1);
}

static enum assay_status add_file(SHA2_CTX *hash, const char *path, bool *alone,
                                  struct assay_err *err)
{
    static const char *const asks[] = { "__has_include", "__has_embed" };
    struct assay_text text = { 0 };
    char size[32];

    ASSAY_TRY(assay_file_read(&text, path, MAX_SOURCE, err));
    snprintf(size, sizeof size, "%zu", text.len);
    add(hash, size);
    if (text.len) {
        SHA256Update(hash, (const uint8_t *)text.data, text.len);
        for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
            *alone = *alone && !memmem(text.data, text.len, asks[i], strlen(asks[i]));
    }
    assay_text_release(&text);
    return ASSAY_OK;
}

/* Names and contents of common/; a folder that is not there is empty. */
static enum assay_status add_folder(SHA2_CTX *hash, const char *folder, bool *alone,
                                    struct assay_err *err)
{
    struct dirent **list = NULL;
    enum assay_status st = ASSAY_OK;
    int n = scandir(folder, &list, NULL, alphasort);
    char path[PATH_CAP + 260];

    if (n < 0)
        return errno == ENOENT ? ASSAY_OK
                               : assay_fail(err, ASSAY_IO, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (!st && list[i]->d_name[0] != '.') {
            add(hash, list[i]->d_name);
            snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
            st = add_file(hash, path, alone, err);
        }
        free(list[i]);
    }
    free(list);
    return st;
}

static enum assay_status make_folder(const char *path, struct assay_err *err)
{
    if (mkdir(path, 0700) && errno != EEXIST)
        return assay_fail(err, ASSAY_IO, "%s: %s", path, strerror(errno));
    return ASSAY_OK;
}

enum assay_status cpu_objects_open(struct cpu_objects *o, const char *root, const char *src,
                                   const char *kernel_h, const char *const *args, int n,
                                   struct assay_err *err)
{
    char path[PATH_CAP], key[65];
    bool alone = true;
    SHA2_CTX hash;

    o->folder[0] = 0;
    SHA256Init(&hash);
    for (int i = 0; i < n; i++)
        add(&hash, args[i]);
    ASSAY_TRY(add_file(&hash, kernel_h, &alone, err));
    alone = true; /* kernel.h is ours */
    snprintf(path, sizeof path, "%s/common", src);
    ASSAY_TRY(add_folder(&hash, path, &alone, err));
    SHA256End(&hash, key);
    if (!alone)
        return ASSAY_OK;
    ASSAY_TRY(make_folder(root, err));
    if ((size_t)snprintf(o->folder, sizeof o->folder, "%s/%s", root, key) >= sizeof o->folder)
        return assay_fail(err, ASSAY_INVALID, "%s: path too long", root);
    return make_folder(o->folder, err);
}

static void name_object(const struct cpu_objects *o, const char *source, char path[PATH_CAP])
{
    snprintf(path, PATH_CAP, "%s/%s.o", o->folder, strrchr(source, '/') + 1);
}

static enum assay_status copy(const char *from, const char *to, struct assay_err *err)
{
    struct assay_text bytes = { 0 };
    enum assay_status st = assay_file_read(&bytes, from, MAX_OBJECT, err);

    if (!st)
        st = assay_file_write(to, bytes.data, bytes.len, err);
    if (!st && chmod(to, 0644))
        st = assay_fail(err, ASSAY_IO, "%s: %s", to, strerror(errno));
    assay_text_release(&bytes);
    return st;
}

enum assay_status cpu_objects_take(const struct cpu_objects *o, const char *source, const char *to,
                                   bool *found, struct assay_err *err)
{
    char path[PATH_CAP];

    *found = false;
    if (!o->folder[0] || strncmp(source, "common/", 7) != 0)
        return ASSAY_OK;
    name_object(o, source, path);
    if (access(path, R_OK))
        return ASSAY_OK;
    *found = true;
    return copy(path, to, err);
}

enum assay_status cpu_objects_keep(const struct cpu_objects *o, const char *source,
                                   const char *from, struct assay_err *err)
{
    char path[PATH_CAP];

    name_object(o, source, path);
    return copy(from, path, err);
}
