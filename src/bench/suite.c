/* SPDX-License-Identifier: Apache-2.0 */
/* suite.c: the cases that a command is about. */
#include "assay/bench.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME = 80, MAX_LEVEL = 4 };

enum assay_status assay_bench_load(struct assay_suite *s, const struct assay_home *home,
                                   const char *suite, const struct assay_op *const *ops,
                                   bool ops_as_found, struct assay_err *err)
{
    char path[ASSAY_PATH_MAX + 64];
    bool missing = false;

    for (int i = 0; ops[i]; i++) {
        if (suite) {
            enum assay_status st = assay_suite_add_official(s, ops[i], suite, err);

            missing |= st == ASSAY_UNSUPPORTED;
            if (st && !(st == ASSAY_UNSUPPORTED && ops_as_found))
                return st == ASSAY_UNSUPPORTED ? ASSAY_INVALID : st;
            continue;
        }
        snprintf(path, sizeof path, "%s/%s.json", home->cases, ops[i]->name);
        ASSAY_TRY(assay_suite_add_own(s, ops[i], path, err));
    }
    if (s->n)
        return ASSAY_OK;
    return missing ? ASSAY_INVALID : assay_fail(err, ASSAY_INVALID, "no cases to run");
}

static bool is_foreign(const char *level, const char *name)
{
    char path[ASSAY_PATH_MAX + 300];

    if (name[0] == '.' || assay_op_find(name))
        return false;
    snprintf(path, sizeof path, "%s/%s/cases.yaml", level, name);
    return !access(path, R_OK);
}

int assay_bench_n_foreign(const char *suite)
{
    char level[ASSAY_PATH_MAX];
    int n = 0;

    for (int i = 1; i <= MAX_LEVEL; i++) {
        const struct dirent *e;
        DIR *d;

        snprintf(level, sizeof level, "%.4000s/level%d", suite, i);
        d = opendir(level);
        while (d && (e = readdir(d)) != NULL)
            n += is_foreign(level, e->d_name);
        if (d)
            closedir(d);
    }
    return n;
}

static bool is_every(const char *selection)
{
    return !selection || !strcmp(selection, "public") || !strcmp(selection, "hidden") ||
           !strcmp(selection, "all");
}

/* Is this word of a selection the name of the case? */
static bool names(const char *word, const struct assay_case *c)
{
    char name[NAME];
    size_t n = (size_t)snprintf(name, sizeof name, "%s/%d", c->op->name, c->id);

    return strcspn(word, ",") == n && !strncmp(word, name, n);
}

bool assay_bench_selected(const char *selection, const struct assay_case *c)
{
    if (is_every(selection))
        return true;
    for (const char *p = selection; *p; p += strcspn(p, ","), p += *p == ',')
        if (names(p, c))
            return true;
    return false;
}

enum assay_status assay_bench_check_selection(const char *selection, const struct assay_suite *s,
                                              struct assay_err *err)
{
    if (is_every(selection))
        return ASSAY_OK;
    for (const char *p = selection; *p; p += strcspn(p, ","), p += *p == ',') {
        size_t n = strcspn(p, ",");
        bool found = false;

        for (int i = 0; i < s->n && !found; i++)
            found = names(p, &s->cases[i]);
        if (!found)
            return assay_fail(err, ASSAY_INVALID, "no case '%.*s' in the suite",
                              (int)(n < NAME ? n : NAME), p);
    }
    return ASSAY_OK;
}
