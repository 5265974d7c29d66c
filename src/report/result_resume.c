/* SPDX-License-Identifier: Apache-2.0 */
/* result_resume.c: takes over what an earlier, unfinished run has measured, when it is the same
 * run. */
#include "report/result_json.h"

#include "report/same_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WHERE_MAX = 96 };

struct resume {
    struct assay_result *r;
    const char *path; /* of the file being read */
    bool *found;      /* per row of r */
    bool seen_manifest;
    struct assay_err *err;
};

/* What the machine is called may change, the cases may be others. */
static enum assay_status check_same_run(const struct resume *u, const struct assay_manifest *m)
{
    const struct assay_manifest *now = &u->r->manifest;
    struct assay__difference d = { .what = NULL };

    assay__compare_runs(&d, m, now);
    assay__compare_text(&d, "submission", m->submission, now->submission);
    assay__compare_number(&d, "shard", (uint64_t)m->shard, (uint64_t)now->shard);
    assay__compare_number(&d, "shards", (uint64_t)m->n_shards, (uint64_t)now->n_shards);
    if (m->timing)
        assay__compare_text(&d, "baseline", m->baseline, now->baseline);
    return d.what ? assay_fail(u->err, ASSAY_INVALID,
                               "belongs to another run: %s '%s' there, '%s' here", d.what, d.a, d.b)
                  : ASSAY_OK;
}

/* How the kernels of the earlier run were locked in counts for this one, too: the worst of all. */
static void take_level(struct assay_manifest *now, const struct assay_manifest *then)
{
    if (!then->trust[0])
        return;
    now->trusted = then->trusted && (!now->trust[0] || now->trusted);
    memcpy(now->trust, then->trust, sizeof now->trust);
}

static enum assay_status take_manifest(struct resume *u, const json_t *j, const char *where)
{
    struct assay_manifest m;

    ASSAY_TRY(assay__result_get_manifest(&m, j, where, u->err));
    ASSAY_TRY(check_same_run(u, &m));
    take_level(&u->r->manifest, &m);
    u->seen_manifest = true;
    return ASSAY_OK;
}

/* What was measured of another library says nothing about this one. */
static void forget(struct resume *u, const struct assay_op *op)
{
    struct assay_result *r = u->r;

    for (int i = 0; i < r->n_rows; i++)
        if (r->rows[i].op == op) {
            r->rows[i] =
                (struct assay_row){ .op = op, .case_id = r->rows[i].case_id, .hap = (double)NAN };
            u->found[i] = false;
        }
    for (int i = r->n_controls - 1; i >= 0; i--)
        if (r->controls[i].row.op == op)
            r->controls[i] = r->controls[--r->n_controls];
}

static enum assay_status take_build(struct resume *u, const json_t *j, const char *where)
{
    struct assay_build_row b = { 0 };
    const char *name;

    ASSAY_TRY(assay__json_string(j, where, "op", &name, u->err));
    ASSAY_TRY(assay__result_get_build(&b, &u->r->arena, j, where, u->err));
    for (int i = 0; i < u->r->n_builds; i++)
        if (b.done && !b.failed_here && !strcmp(u->r->builds[i].op->name, name)) {
            b.op = u->r->builds[i].op;
            if (u->r->builds[i].done && strcmp(u->r->builds[i].hash, b.hash) != 0)
                forget(u, b.op);
            u->r->builds[i] = b;
        }
    return ASSAY_OK;
}

/* What failed through our own fault is run again. */
static enum assay_status take_row(struct resume *u, const json_t *j, const char *where)
{
    struct assay_row row = { 0 };
    const char *name;

    ASSAY_TRY(assay__json_string(j, where, "op", &name, u->err));
    ASSAY_TRY(assay__result_get_row(&row, &u->r->arena, j, where, u->err));
    if (!row.done || row.failed_here)
        return ASSAY_OK;
    for (int i = 0; i < u->r->n_rows; i++) {
        struct assay_row *dst = &u->r->rows[i];

        if (dst->case_id != row.case_id || strcmp(dst->op->name, name))
            continue;
        row.op = dst->op;
        *dst = row;
        u->found[i] = true;
    }
    return ASSAY_OK;
}

/* A later one replaces an earlier one. */
static void put_control(struct assay_result *r, const struct assay_control *c)
{
    for (int i = 0; i < r->n_controls; i++)
        if (r->controls[i].kind == c->kind && r->controls[i].row.op == c->row.op) {
            r->controls[i] = *c;
            return;
        }
    if (r->controls && r->n_controls < r->n_builds * ASSAY_N_CONTROLS)
        r->controls[r->n_controls++] = *c;
}

/* Those of operators that are planned; what failed through our own fault is measured again. */
static enum assay_status take_control(struct resume *u, const json_t *j, const char *where)
{
    struct assay_control c;
    struct assay_result *r = u->r;
    const char *name;
    json_t *row;

    ASSAY_TRY(assay__json_object(j, where, "row", &row, u->err));
    ASSAY_TRY(assay__json_string(row, where, "op", &name, u->err));
    ASSAY_TRY(assay__result_get_control(&c, &r->arena, j, where, u->err));
    if (!c.row.done || c.row.failed_here)
        return ASSAY_OK;
    for (int i = 0; i < r->n_builds; i++)
        if (!strcmp(r->builds[i].op->name, name)) {
            c.row.op = r->builds[i].op;
            put_control(r, &c);
            break;
        }
    return ASSAY_OK;
}

static const struct {
    const char *kind;
    enum assay_status (*take)(struct resume *u, const json_t *j, const char *where);
} lines[] = { { "build", take_build }, { "case", take_row }, { "control", take_control } };

static enum assay_status take_other(struct resume *u, const json_t *root, const char *kind,
                                    const char *where)
{
    json_t *j;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strcmp(kind, lines[i].kind)) {
            ASSAY_TRY(assay__json_object(root, where, kind, &j, u->err));
            return lines[i].take(u, j, where);
        }
    return assay_fail(u->err, ASSAY_PARSE, "%s: unknown kind '%.40s'", where, kind);
}

static enum assay_status take_line(struct resume *u, const char *line, size_t len, int number)
{
    json_t *root = NULL, *j;
    const char *kind;
    char where[WHERE_MAX];
    enum assay_status st;

    snprintf(where, sizeof where, "line %d", number);
    st = assay__json_parse(&root, line, len, u->err);
    if (st)
        return assay_wrap(u->err, st, "line %d", number);
    st = assay__json_string(root, where, "kind", &kind, u->err);
    if (!st && !strcmp(kind, "manifest")) {
        st = assay__result_check_format(root, where, u->err);
        if (!st)
            st = assay__json_object(root, where, "manifest", &j, u->err);
        if (!st)
            st = take_manifest(u, j, where);
    } else if (!st && !u->seen_manifest) {
        st = assay_fail(u->err, ASSAY_PARSE, "%s: no manifest before it", where);
    } else if (!st) {
        st = take_other(u, root, kind, where);
    }
    json_decref(root);
    return st;
}

/* A last line without its end was cut off while being written: its case runs again. */
static enum assay_status take_journal(struct resume *u, const struct assay_text *text)
{
    const char *p = text->data, *end = text->data + text->len;
    int number = 1;

    for (;; number++) {
        const char *nl = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;

        if (!nl)
            return ASSAY_OK;
        ASSAY_TRY(take_line(u, p, (size_t)(nl - p), number));
        p = nl + 1;
    }
}

static enum assay_status take_items(struct resume *u, const json_t *root, const char *key,
                                    enum assay_status (*take)(struct resume *u, const json_t *j,
                                                              const char *where))
{
    json_t *list;
    char where[WHERE_MAX];

    ASSAY_TRY(assay__json_array(root, "result", key, &list, u->err));
    for (size_t i = 0; i < json_array_size(list); i++) {
        snprintf(where, sizeof where, "%s[%zu]", key, i);
        ASSAY_TRY(take(u, json_array_get(list, i), where));
    }
    return ASSAY_OK;
}

static enum assay_status take_finished(struct resume *u, const struct assay_text *text)
{
    json_t *root = NULL, *j;
    enum assay_status st;

    ASSAY_TRY(assay__json_parse(&root, text->data, text->len, u->err));
    st = assay__result_check_format(root, "result", u->err);
    if (!st)
        st = assay__json_object(root, "result", "manifest", &j, u->err);
    if (!st)
        st = take_manifest(u, j, "manifest");
    if (!st)
        st = take_items(u, root, "builds", take_build);
    if (!st)
        st = take_items(u, root, "cases", take_row);
    if (!st)
        st = take_items(u, root, "controls", take_control);
    json_decref(root);
    return st;
}

static bool has_bytes(const char *path)
{
    struct stat s;

    return !stat(path, &s) && s.st_size > 0;
}

static enum assay_status take_file(struct resume *u, bool journal)
{
    struct assay_text text = { 0 };
    enum assay_status st = assay_file_read(&text, u->path, ASSAY__RESULT_MAX_BYTES, u->err);

    if (!st) {
        st = journal ? take_journal(u, &text) : take_finished(u, &text);
        if (st)
            assay_wrap(u->err, st, "%s", u->path);
    }
    assay_text_release(&text);
    return st;
}

enum assay_status assay_report_json_resume(struct assay_result *r, const char *path, int *n_found,
                                           struct assay_err *err)
{
    struct assay_text partial = { 0 };
    struct resume u = { .r = r, .err = err };
    enum assay_status st = ASSAY_OK;

    *n_found = 0;
    assay_text_add(&partial, "%s.partial", path);
    u.found = assay_alloc_zero((size_t)r->n_rows + 1);
    if (partial.failed || !u.found) {
        st = assay_fail(err, ASSAY_NOMEM, "out of memory to resume %s", path);
        goto out;
    }
    if (has_bytes(partial.data)) {
        u.path = partial.data;
        st = take_file(&u, true);
    } else if (has_bytes(path)) {
        u.path = path;
        st = take_file(&u, false);
    }
    for (int i = 0; !st && i < r->n_rows; i++)
        *n_found += u.found[i];
out:
    free(u.found);
    assay_text_release(&partial);
    return st;
}
