/* SPDX-License-Identifier: Apache-2.0 */
/* objects.c: a store of compiled objects. */
#include "targets/cpu/objects.h"

#include "assay/memory.h"

#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_OBJECT = 1 << 30, PATH_CAP = 4352 };

/* A text and where it ends. */
static void add(SHA2_CTX *hash, const char *text)
{
    SHA256Update(hash, (const uint8_t *)text, strlen(text) + 1);
}

static enum assay_status make_folder(const char *path, struct assay_err *err)
{
    if (mkdir(path, 0700) && errno != EEXIST)
        return assay_fail(err, ASSAY_IO, "%s: %s", path, strerror(errno));
    return ASSAY_OK;
}

enum assay_status cpu_objects_open(struct cpu_objects *o, const char *root,
                                   const struct cpu_sources *sources, const char *kernel_h,
                                   const char *const *args, int n, struct assay_err *err)
{
    char key[65], header[65];
    SHA2_CTX hash;

    o->folder[0] = 0;
    if (sources->common_asks)
        return ASSAY_OK;
    if (!SHA256File(kernel_h, header))
        return assay_fail(err, ASSAY_IO, "%s: %s", kernel_h, strerror(errno));
    SHA256Init(&hash);
    for (int i = 0; i < n; i++)
        add(&hash, args[i]);
    add(&hash, header);
    add(&hash, sources->common);
    SHA256End(&hash, key);
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
