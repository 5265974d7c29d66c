/* SPDX-License-Identifier: Apache-2.0 */
/* submission.c: reads submission.json, which a stranger wrote. */
#include "assay/submission.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX_BYTES = 65536, PATH_CAP = 4096 };

/* Flags change how fast the sources of a kernel become, never what the harness does. */
static const char *const allowed[] = {
    "-O1",
    "-O2",
    "-O3",
    "-ffast-math",
    "-fno-tree-vectorize",
    "-fopenmp-simd",
    "-funroll-loops",
    "-mprefer-vector-width=128",
    "-mprefer-vector-width=256",
    "-mprefer-vector-width=512",
    NULL,
};

const char *const *assay_submission_flags(void)
{
    return allowed;
}

static enum assay_status get_flags(struct assay_submission *s, const json_t *root,
                                   struct assay_err *err)
{
    json_t *list;

    if (!assay__json_has(root, "flags"))
        return ASSAY_OK;
    ASSAY_TRY(assay__json_array(root, "", "flags", &list, err));
    if (json_array_size(list) > ASSAY_SUBMISSION_FLAGS)
        return assay_fail(err, ASSAY_PARSE, "field 'flags': more than %d",
                          (int)ASSAY_SUBMISSION_FLAGS);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *flag;
        int k = 0;

        if (!assay__json_as_string(json_array_get(list, i), &flag))
            return assay_fail(err, ASSAY_PARSE, "flags[%zu]: string expected, got %s", i,
                              assay__json_type_text(json_array_get(list, i)));
        while (allowed[k] && strcmp(allowed[k], flag) != 0)
            k++;
        if (!allowed[k])
            return assay_fail(err, ASSAY_PARSE, "flags[%zu]: '%.40s' is not allowed", i, flag);
        s->flags[s->n_flags++] = allowed[k];
    }
    return ASSAY_OK;
}

static enum assay_status parse(struct assay_submission *s, const json_t *root,
                               struct assay_err *err)
{
    static const char *const keys[] = { "name", "author", "model", "flags", NULL };

    ASSAY_TRY(assay__json_only(root, "", keys, err));
    ASSAY_TRY(assay__json_text(root, "", "name", s->name, sizeof s->name, err));
    ASSAY_TRY(assay__json_text(root, "", "author", s->author, sizeof s->author, err));
    ASSAY_TRY(assay__json_text(root, "", "model", s->model, sizeof s->model, err));
    return get_flags(s, root, err);
}

enum assay_status assay_submission_read(struct assay_submission *s, const char *folder,
                                        struct assay_err *err)
{
    char path[PATH_CAP];
    struct stat info;
    json_t *root = NULL;
    enum assay_status st;

    memset(s, 0, sizeof *s);
    if ((size_t)snprintf(path, sizeof path, "%s/submission.json", folder) >= sizeof path)
        return assay_fail(err, ASSAY_PARSE, "%.200s...: path too long", folder);
    if (lstat(path, &info))
        return ASSAY_OK;
    if (!S_ISREG(info.st_mode))
        return assay_fail(err, ASSAY_PARSE, "submission.json: not a regular file");
    st = assay__json_read(&root, path, FILE_MAX_BYTES, err);
    if (!st)
        st = parse(s, root, err);
    json_decref(root);
    if (!st)
        return ASSAY_OK;
    memset(s, 0, sizeof *s);
    return assay_wrap(err, ASSAY_PARSE, "submission.json");
}
