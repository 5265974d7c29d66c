/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_folder.c: JPEG and PNG files in one folder for each class:
 *
 *     FOLDER/train/CLASS/.../picture.jpg     and test/ or val/
 */
#include "qn/data_type.h"
#include "qn/decode.h"
#include "qn/walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_FILE_BYTES = 1 << 29 };

/* Of an open data set. */
struct folder {
    const char *root; /* FOLDER/train */
    struct qn__paths paths;
};

static const char *const parts[2][3] = { [QN_TRAIN] = { "train" }, [QN_TEST] = { "test", "val" } };
static const char *const endings[] = { ".jpg", ".jpeg", ".png", NULL };

static bool is_picture(const char *name)
{
    const char *dot = strrchr(name, '.');

    for (int i = 0; dot && endings[i]; i++)
        if (!strcasecmp(dot, endings[i]))
            return true;
    return false;
}

/* ---- classes --------------------------------------------------------------------------------- */

/* "train", "test" or "val", whichever has folders for classes; NULL: none. */
static const char *find_part(const char *folder, enum qn_part part)
{
    for (int i = 0; parts[part][i]; i++) {
        char path[4096];
        int n = snprintf(path, sizeof path, "%s/%s", folder, parts[part][i]);

        if (n > 0 && (size_t)n < sizeof path && qn__has_folders(path))
            return parts[part][i];
    }
    return NULL;
}

static bool lies_in(const char *folder)
{
    return find_part(folder, QN_TRAIN) || find_part(folder, QN_TEST);
}

/* Those of the training part where there is one, so that both parts number them alike. */
static enum assay_status read_classes(struct qn_data *d, const char *folder, const char *part,
                                      struct assay_err *err)
{
    const char *train = find_part(folder, QN_TRAIN);
    const char *root = qn__data_path(d, folder, train ? train : part), **names = NULL;
    struct qn__paths p = { 0 };
    enum assay_status st;

    if (!root)
        return assay_fail(err, ASSAY_NOMEM, "out of memory opening %s", folder);
    st = qn__list_folders(&p, root, err);
    if (!st && p.n > QN_MAX_CLASSES)
        st = assay_fail(err, ASSAY_INVALID, "%s has %zu classes, at most %d are allowed", root, p.n,
                        QN_MAX_CLASSES);
    if (!st) {
        names = assay_arena_array(&d->arena, p.n, sizeof *names);
        for (size_t i = 0; i < p.n && names; i++) {
            names[i] = assay_arena_strdup(&d->arena, qn__path_at(&p, i));
            if (!names[i])
                names = NULL;
        }
        st = names ? ASSAY_OK
                   : assay_fail(err, ASSAY_NOMEM, "out of memory for %zu classes of %s", p.n, root);
    }
    d->info.names = names;
    d->info.classes = (int64_t)p.n;
    qn__paths_release(&p);
    return st;
}

static int compare_names(const void *name, const void *of)
{
    return strcmp(name, *(const char *const *)of);
}

/* The label of a path CLASS/...; -1: no such class, -2: a file that lies in none. */
static int32_t label_of(const struct qn_data *d, const char *path)
{
    char name[256];
    const char *slash = strchr(path, '/');
    const char *const *found;

    if (!slash)
        return -2;
    if ((size_t)(slash - path) >= sizeof name)
        return -1;
    memcpy(name, path, (size_t)(slash - path));
    name[slash - path] = 0;
    found = bsearch(name, d->info.names, (size_t)d->info.classes, sizeof *found, compare_names);
    return found ? (int32_t)(found - d->info.names) : -1;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Leaves the files that lie in no class out of the list, and labels the others. */
static enum assay_status label_files(struct qn_data *d, struct folder *f, int32_t *labels,
                                     struct assay_err *err)
{
    size_t n = 0;

    for (size_t i = 0; i < f->paths.n; i++) {
        const char *path = qn__path_at(&f->paths, i);
        int32_t label = label_of(d, path);

        if (label == -1)
            return assay_fail(err, ASSAY_INVALID, "%s/%s: the training part has no such class",
                              f->root, path);
        if (label < 0)
            continue;
        f->paths.at[n] = f->paths.at[i];
        labels[n++] = label;
    }
    f->paths.n = n;
    return n ? ASSAY_OK
             : assay_fail(err, ASSAY_INVALID, "%s: its classes hold no files .jpg, .jpeg or .png",
                          f->root);
}

/* How many pictures of each class remain when every class in turn gives one, until there are
 * `limit`. */
static void share_out(int64_t limit, int64_t classes, const int64_t *has, int64_t *keeps)
{
    int64_t before = -1;

    for (int64_t sum = 0; sum < limit && sum != before;) {
        before = sum;
        for (int64_t c = 0; c < classes && sum < limit; c++)
            if (keeps[c] < has[c]) {
                keeps[c]++;
                sum++;
            }
    }
}

static enum assay_status apply_limit(struct qn_data *d, struct folder *f, int32_t *labels,
                                     struct assay_err *err)
{
    struct assay_arena scratch = { 0 };
    int64_t *has = assay_arena_zero(&scratch, (size_t)d->info.classes * sizeof *has);
    int64_t *keeps = assay_arena_zero(&scratch, (size_t)d->info.classes * sizeof *keeps);
    size_t n = 0;

    if (!has || !keeps) {
        assay_arena_release(&scratch);
        return assay_fail(err, ASSAY_NOMEM, "out of memory opening %s", f->root);
    }
    for (size_t i = 0; i < f->paths.n; i++)
        has[labels[i]]++;
    share_out(d->options.limit, d->info.classes, has, keeps);
    for (size_t i = 0; i < f->paths.n; i++) /* sorted by classes: the first ones of each */
        if (keeps[labels[i]]-- > 0) {
            f->paths.at[n] = f->paths.at[i];
            labels[n++] = labels[i];
        }
    f->paths.n = n;
    assay_arena_release(&scratch);
    return ASSAY_OK;
}

/* A class to be learned from nothing is a mistake; test sets may lack some. */
static enum assay_status check_all_there(const struct qn_data *d, const struct folder *f,
                                         const int32_t *labels, struct assay_err *err)
{
    int32_t next = 0;

    for (size_t i = 0; i < f->paths.n; i++) {
        if (labels[i] > next)
            break;
        if (i + 1 == f->paths.n || labels[i + 1] != labels[i])
            next++;
    }
    if (next < d->info.classes)
        return assay_fail(err, ASSAY_INVALID, "%s/%s holds no files .jpg, .jpeg or .png", f->root,
                          d->info.names[next]);
    return ASSAY_OK;
}

static enum assay_status read_files(struct qn_data *d, struct folder *f, enum qn_part part,
                                    struct assay_err *err)
{
    int32_t *labels;

    ASSAY_TRY(qn__walk(&f->paths, f->root, is_picture, err));
    labels = assay_arena_array(&d->arena, f->paths.n, sizeof *labels);
    if (!labels)
        return qn__data_no_memory((int64_t)f->paths.n, f->root, err);
    ASSAY_TRY(label_files(d, f, labels, err));
    if (part == QN_TRAIN)
        ASSAY_TRY(check_all_there(d, f, labels, err));
    if (d->options.limit)
        ASSAY_TRY(apply_limit(d, f, labels, err));
    d->labels = labels;
    d->info.n = (int64_t)f->paths.n;
    return ASSAY_OK;
}

static enum assay_status open_folder(struct qn_data *d, const char *folder, enum qn_part part,
                                     struct assay_err *err)
{
    struct folder *f = assay_alloc_zero(sizeof *f);
    const char *name = find_part(folder, part);

    d->own = f;
    if (!f)
        return assay_fail(err, ASSAY_NOMEM, "out of memory opening %s", folder);
    if (!name)
        return assay_fail(err, ASSAY_INVALID, "%s has no folder %s with a folder for each class",
                          folder, part == QN_TRAIN ? "train" : "test or val");
    f->root = qn__data_path(d, folder, name);
    if (!f->root)
        return assay_fail(err, ASSAY_NOMEM, "out of memory opening %s", folder);
    d->info.shape = (struct qn_shape){ 3, 0, 0 };
    ASSAY_TRY(read_classes(d, folder, name, err));
    return read_files(d, f, part, err);
}

static void release(struct qn_data *d)
{
    struct folder *f = d->own;

    if (f)
        qn__paths_release(&f->paths);
    free(f);
}

static enum assay_status get(const struct qn_data *d, int64_t i, struct qn_picture *p,
                             struct assay_arena *scratch, struct assay_err *err)
{
    const struct folder *f = d->own;
    const char *path =
        assay_arena_printf(scratch, "%s/%s", f->root, qn__path_at(&f->paths, (size_t)i));
    struct assay_text file = { 0 };
    struct qn__coded coded;
    enum assay_status st;

    if (!path)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for picture %" PRId64 " of %s", i,
                          f->root);
    ASSAY_TRY(assay_file_read(&file, path, MAX_FILE_BYTES, err));
    coded = (struct qn__coded){ .bytes = (const uint8_t *)file.data,
                                .len = file.len,
                                .name = path,
                                .least_side = d->options.least_side };
    st = qn__decode(&coded, p, scratch, err);
    assay_text_release(&file);
    return st;
}

const struct qn_data_type qn_data_folder = {
    .name = "folder",
    .looks_for = "train/ with a folder for each class",
    .lies_in = lies_in,
    .open = open_folder,
    .get = get,
    .release = release,
};
