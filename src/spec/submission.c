/* SPDX-License-Identifier: Apache-2.0 */
/* submission.c: reads submission.json, which a stranger wrote. */
#include "assay/submission.h"

#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

    memset(s, 0, sizeof *s);
    ASSAY_TRY(assay__json_only(root, "", keys, err));
    ASSAY_TRY(assay__json_text(root, "", "name", s->name, sizeof s->name, err));
    ASSAY_TRY(assay__json_text(root, "", "author", s->author, sizeof s->author, err));
    ASSAY_TRY(assay__json_text(root, "", "model", s->model, sizeof s->model, err));
    return get_flags(s, root, err);
}

/* Takes root. */
static enum assay_status finish(struct assay_submission *s, json_t *root, enum assay_status st,
                                struct assay_err *err)
{
    if (!st)
        st = parse(s, root, err);
    json_decref(root);
    if (!st)
        return ASSAY_OK;
    memset(s, 0, sizeof *s);
    return assay_wrap(err, st == ASSAY_NOMEM ? st : ASSAY_PARSE, "submission.json");
}

enum assay_status assay_submission_parse(struct assay_submission *s, const char *text, size_t len,
                                         struct assay_err *err)
{
    json_t *root = NULL;
    enum assay_status st = assay__json_parse(&root, text, len, err);

    return finish(s, root, st, err);
}

enum assay_status assay_submission_read(struct assay_submission *s, const char *folder,
                                        struct assay_err *err)
{
    struct assay_text text = { 0 };
    char path[PATH_CAP];
    struct stat info;
    enum assay_status st;
    int fd;

    memset(s, 0, sizeof *s);
    if ((size_t)snprintf(path, sizeof path, "%s/submission.json", folder) >= sizeof path)
        return assay_fail(err, ASSAY_PARSE, "%.200s...: path too long", folder);
    if (lstat(path, &info))
        return ASSAY_OK;
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno != ELOOP && errno != ENXIO)
        return assay_fail(err, ASSAY_PARSE, "submission.json: %s", strerror(errno));
    if (fd < 0 || fstat(fd, &info) || !S_ISREG(info.st_mode))
        st = assay_fail(err, ASSAY_PARSE, "submission.json: not a regular file");
    else
        st = assay_file_read_fd(&text, fd, "submission.json", FILE_MAX_BYTES, err);
    if (fd >= 0)
        close(fd);
    if (!st)
        st = assay_submission_parse(s, text.data, text.len, err);
    assay_text_release(&text);
    return st;
}
