/* SPDX-License-Identifier: Apache-2.0 */
/* gallery.c: the table of the gallery. */
#include "assay/gallery.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 4 << 20, WHERE = 64 };

struct reader {
    struct assay_gallery *g;
    assay_op_find_fn find;
    struct assay_err *err;
    char where[WHERE];
};

static enum assay_status wrong(const struct reader *in, const char *key, const char *what)
{
    return assay_fail(in->err, ASSAY_PARSE, "%s: field '%s': %s", in->where, key, what);
}

static enum assay_status get_text(const struct reader *in, const json_t *j, const char *key,
                                  const char **out)
{
    const char *s;

    ASSAY_TRY(assay__json_string(j, in->where, key, &s, in->err));
    *out = assay_arena_strdup(&in->g->arena, s);
    return *out ? ASSAY_OK : assay_fail(in->err, ASSAY_NOMEM, "out of memory");
}

/* [1, "37b"] as "1, 37b". */
static enum assay_status get_entries(const struct reader *in, const json_t *j, const char **out)
{
    struct assay_text t = { 0 };
    enum assay_status st = ASSAY_OK;
    json_t *list;

    ASSAY_TRY(assay__json_array(j, in->where, "entries", &list, in->err));
    for (size_t i = 0; i < json_array_size(list) && !st; i++) {
        const json_t *item = json_array_get(list, i);
        const char *s;
        int64_t n;

        if (assay__json_as_int(item, &n))
            assay_text_add(&t, "%s%lld", i ? ", " : "", (long long)n);
        else if (assay__json_as_string(item, &s))
            assay_text_add(&t, "%s%.8s", i ? ", " : "", s);
        else
            st = wrong(in, "entries", "neither a number nor a string");
    }
    *out = assay_arena_strdup(&in->g->arena, t.data ? t.data : "");
    if (!st && (t.failed || !*out))
        st = assay_fail(in->err, ASSAY_NOMEM, "out of memory");
    assay_text_release(&t);
    return st;
}

/* "exp/6" */
static enum assay_status get_case(const struct reader *in, const json_t *j, struct assay_exhibit *e)
{
    char name[64], *end;
    const char *s, *slash;
    long id;

    ASSAY_TRY(assay__json_string(j, in->where, "case", &s, in->err));
    slash = strchr(s, '/');
    if (!slash || (size_t)(slash - s) >= sizeof name)
        return wrong(in, "case", "OP/ID expected");
    snprintf(name, sizeof name, "%.*s", (int)(slash - s), s);
    id = strtol(slash + 1, &end, 10);
    if (slash[1] < '0' || slash[1] > '9' || *end || id > 1000000)
        return wrong(in, "case", "OP/ID expected");
    e->op = in->find(name);
    e->case_id = (int)id;
    return e->op ? ASSAY_OK : wrong(in, "case", "no such operator");
}

static enum assay_status get_verdict(const struct reader *in, const json_t *j,
                                     struct assay_exhibit *e)
{
    static const enum assay_verdict verdicts[] = {
#define X(name, number, text) ASSAY_##name,
        ASSAY_VERDICT_MAP(X)
#undef X
    };
    const char *verdict, *code;
    size_t v = 0;
    int c = 0;

    ASSAY_TRY(assay__json_string(j, in->where, "verdict", &verdict, in->err));
    ASSAY_TRY(assay__json_string(j, in->where, "code", &code, in->err));
    while (v < sizeof verdicts / sizeof *verdicts &&
           strcmp(assay_verdict_name(verdicts[v]), verdict) != 0)
        v++;
    if (v == sizeof verdicts / sizeof *verdicts)
        return wrong(in, "verdict", "unknown");
    while (c < ASSAY_N_REASONS && strcmp(assay_reason_name((enum assay_reason)c), code) != 0)
        c++;
    if (c == ASSAY_N_REASONS)
        return wrong(in, "code", "unknown");
    e->verdict = verdicts[v];
    e->code = (enum assay_reason)c;
    return ASSAY_OK;
}

static enum assay_status get_exhibit(const struct reader *in, const json_t *j,
                                     struct assay_exhibit *e)
{
    static const char *const keys[] = { "kernel",      "case",     "entries", "verdict",
                                        "code",        "timed",    "threads", "what",
                                        "slower_than", "budget_s", NULL };
    int64_t threads;

    *e = (struct assay_exhibit){ .budget_s = 0.3 };
    ASSAY_TRY(assay__json_only(j, in->where, keys, in->err));
    ASSAY_TRY(get_text(in, j, "kernel", &e->kernel));
    /* a folder below that of the table */
    if (e->kernel[0] == '/' || strstr(e->kernel, ".."))
        return wrong(in, "kernel", "a folder of the gallery expected");
    ASSAY_TRY(get_case(in, j, e));
    ASSAY_TRY(get_entries(in, j, &e->entries));
    ASSAY_TRY(get_verdict(in, j, e));
    ASSAY_TRY(assay__json_bool(j, in->where, "timed", &e->timed, in->err));
    ASSAY_TRY(assay__json_int(j, in->where, "threads", &threads, in->err));
    if (threads < 1 || threads > 64)
        return wrong(in, "threads", "1 to 64 expected");
    e->threads = (int)threads;
    if (assay__json_has(j, "slower_than"))
        ASSAY_TRY(assay__json_number(j, in->where, "slower_than", &e->slower_than, in->err));
    if (assay__json_has(j, "budget_s"))
        ASSAY_TRY(assay__json_number(j, in->where, "budget_s", &e->budget_s, in->err));
    if (!(e->budget_s >= 0.1 && e->budget_s <= 10))
        return wrong(in, "budget_s", "0.1 to 10 expected");
    if (e->slower_than > 0 && !e->timed)
        return wrong(in, "slower_than", "only where it is timed");
    return get_text(in, j, "what", &e->what);
}

static enum assay_status get_absence(const struct reader *in, const json_t *j,
                                     struct assay_absence *a)
{
    static const char *const keys[] = { "entries", "why", NULL };

    ASSAY_TRY(assay__json_only(j, in->where, keys, in->err));
    ASSAY_TRY(get_entries(in, j, &a->entries));
    return get_text(in, j, "why", &a->why);
}

static enum assay_status get_all(struct reader *in, const json_t *root)
{
    static const char *const keys[] = { "format", "kernels", "cannot_exist", NULL };
    struct assay_gallery *g = in->g;
    json_t *kernels, *absences;
    int64_t format;

    ASSAY_TRY(assay__json_only(root, "", keys, in->err));
    ASSAY_TRY(assay__json_int(root, "", "format", &format, in->err));
    if (format != 1)
        return assay_fail(in->err, ASSAY_PARSE, "gallery format %lld, this program reads 1",
                          (long long)format);
    ASSAY_TRY(assay__json_array(root, "", "kernels", &kernels, in->err));
    ASSAY_TRY(assay__json_array(root, "", "cannot_exist", &absences, in->err));
    g->exhibits = assay_arena_array(&g->arena, json_array_size(kernels) + 1, sizeof *g->exhibits);
    g->absences = assay_arena_array(&g->arena, json_array_size(absences) + 1, sizeof *g->absences);
    if (!g->exhibits || !g->absences)
        return assay_fail(in->err, ASSAY_NOMEM, "out of memory");
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        snprintf(in->where, sizeof in->where, "kernels[%zu]", i);
        ASSAY_TRY(get_exhibit(in, json_array_get(kernels, i), &g->exhibits[i]));
        g->n++;
    }
    for (size_t i = 0; i < json_array_size(absences); i++) {
        snprintf(in->where, sizeof in->where, "cannot_exist[%zu]", i);
        ASSAY_TRY(get_absence(in, json_array_get(absences, i), &g->absences[i]));
        g->n_absences++;
    }
    return ASSAY_OK;
}

enum assay_status assay_gallery_parse(struct assay_gallery *g, const char *text, size_t len,
                                      assay_op_find_fn find, struct assay_err *err)
{
    struct reader in = { .g = g, .find = find, .err = err };
    json_t *root = NULL;
    enum assay_status st;

    *g = (struct assay_gallery){ 0 };
    ASSAY_TRY(assay__json_parse(&root, text, len, err));
    st = get_all(&in, root);
    json_decref(root);
    if (st)
        assay_gallery_release(g);
    return st;
}

enum assay_status assay_gallery_read(struct assay_gallery *g, const char *path,
                                     assay_op_find_fn find, struct assay_err *err)
{
    struct assay_text text = { 0 };
    enum assay_status st;

    *g = (struct assay_gallery){ 0 };
    st = assay_file_read(&text, path, MAX_BYTES, err);
    if (!st) {
        st = assay_gallery_parse(g, text.data ? text.data : "", text.len, find, err);
        if (st)
            assay_wrap(err, st, "%s", path);
    }
    assay_text_release(&text);
    return st;
}

void assay_gallery_release(struct assay_gallery *g)
{
    assay_arena_release(&g->arena);
    *g = (struct assay_gallery){ 0 };
}
