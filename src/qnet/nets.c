/* SPDX-License-Identifier: Apache-2.0 */
/* nets.c: where descriptions of nets and recipes lie, and what data are called. */
#include "qnet/qnet.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

enum { MAX_TEXT = 1 << 22 };

/* What is ready-made: a folder of files NAME.json. */
struct shelf {
    const char *folder, *thing;
};
static const struct shelf nets = { "nets", "net" }, recipes = { "recipes", "recipe" };

enum assay_status qnet__join(char out[QNET__PATH], const char *dir, const char *name,
                             struct assay_err *err)
{
    int n = snprintf(out, QNET__PATH, "%s/%s", dir, name);

    if (n < 0 || n >= QNET__PATH)
        return assay_fail(err, ASSAY_INVALID, "path too long: %.200s/%s", dir, name);
    return ASSAY_OK;
}

/* share/assay/FOLDER beside an installed program, or that of the source tree. */
static enum assay_status find_folder(char out[QNET__PATH], const char *folder,
                                     struct assay_err *err)
{
    char dir[QNET__PATH], rest[64];
    char *slash;

    ASSAY_TRY(assay__program_folder(dir, sizeof dir, err));
    slash = strrchr(dir, '/');
    if (slash) {
        *slash = 0;
        snprintf(rest, sizeof rest, "share/assay/%s", folder);
        ASSAY_TRY(qnet__join(out, dir, rest, err));
        if (assay__is_dir(out))
            return ASSAY_OK;
    }
    snprintf(rest, sizeof rest, "data/%s", folder);
    return qnet__join(out, ASSAY_SOURCE_DIR, rest, err);
}

static int is_json(const struct dirent *e)
{
    size_t n = strlen(e->d_name);

    return n > 5 && !strcmp(e->d_name + n - 5, ".json");
}

static enum assay_status not_there(const struct shelf *shelf, const char *dir, const char *name,
                                   struct assay_err *err)
{
    struct assay_text names = { 0 };
    struct dirent **list = NULL;
    int n = scandir(dir, &list, is_json, alphasort);
    enum assay_status st;

    for (int i = 0; i < n; i++) {
        assay_text_add(&names, " %.*s", (int)strlen(list[i]->d_name) - 5, list[i]->d_name);
        free(list[i]);
    }
    free(list);
    st = assay_fail(err, ASSAY_INVALID, "no %s '%.60s': a file, or one of these expected:%s",
                    shelf->thing, name, n > 0 && !names.failed ? names.data : " (none found)");
    assay_text_release(&names);
    return st;
}

static enum assay_status read_text(const struct shelf *shelf, struct assay_text *text,
                                   const char *name, struct assay_err *err)
{
    char dir[QNET__PATH], path[QNET__PATH], file[128];
    enum assay_status st;

    if (strpbrk(name, "/."))
        return assay_file_read(text, name, MAX_TEXT, err);
    ASSAY_TRY(find_folder(dir, shelf->folder, err));
    snprintf(file, sizeof file, "%.100s.json", name);
    ASSAY_TRY(qnet__join(path, dir, file, err));
    st = assay_file_read(text, path, MAX_TEXT, err);
    return st == ASSAY_IO ? not_there(shelf, dir, name, err) : st;
}

enum assay_status qnet__net_text(struct assay_text *text, const char *name, struct assay_err *err)
{
    return read_text(&nets, text, name, err);
}

enum assay_status qnet__recipe_text(struct assay_text *text, const char *name,
                                    struct assay_err *err)
{
    return read_text(&recipes, text, name, err);
}

void qnet__put_data(struct assay_text *t, const struct qn_data_info *info)
{
    assay_text_add(t, "%lld pictures", (long long)info->n);
    if (info->shape.h > 0)
        assay_text_add(t, " %lldx%lldx%lld", (long long)info->shape.c, (long long)info->shape.h,
                       (long long)info->shape.w);
    assay_text_add(t, " of %lld classes", (long long)info->classes);
}
