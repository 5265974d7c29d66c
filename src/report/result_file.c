/* SPDX-License-Identifier: Apache-2.0 */
/* result_file.c: a finished result file, read whole: builds and cases must belong together. */
#include "report/result_get.h"
#include "report/result_json.h"
#include "report/summary.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHERE_MAX = 64, MAX_ROWS = 1 << 24 };

static enum assay_status find_op(const struct assay_op **op, const json_t *j, const char *where,
                                 assay_op_find_fn find, struct assay_err *err)
{
    const char *name;

    ASSAY_TRY(assay__json_string(j, where, "op", &name, err));
    *op = find(name);
    if (!*op)
        return assay_fail(err, ASSAY_PARSE, "%s: unknown operator '%.64s'", where, name);
    return ASSAY_OK;
}

static enum assay_status parse_builds(struct assay_result *r, const json_t *list,
                                      assay_op_find_fn find, struct assay_err *err)
{
    size_t n = json_array_size(list);
    char where[WHERE_MAX];

    r->builds = assay_arena_array(&r->arena, n + 1, sizeof *r->builds);
    if (!r->builds)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %zu builds", n);
    for (size_t i = 0; i < n; i++) {
        struct assay_build_row *b = &r->builds[i];
        const json_t *j = json_array_get(list, i);

        snprintf(where, sizeof where, "builds[%zu]", i);
        *b = (struct assay_build_row){ 0 };
        ASSAY_TRY(find_op(&b->op, j, where, find, err));
        /* Distinct operators: the loop is bounded by how many there are. */
        for (size_t k = 0; k < i; k++)
            if (r->builds[k].op == b->op)
                return assay_fail(err, ASSAY_PARSE, "%s: operator '%s' twice", where, b->op->name);
        ASSAY_TRY(assay__result_get_build(b, &r->arena, j, where, err));
        r->n_builds++;
    }
    return ASSAY_OK;
}

static int compare_ids(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

/* A case counted twice would change every score. */
static enum assay_status check_distinct(const struct assay_result *r, int first, int end, int *ids,
                                        struct assay_err *err)
{
    for (int i = first; i < end; i++)
        ids[i - first] = r->rows[i].case_id;
    qsort(ids, (size_t)(end - first), sizeof *ids, compare_ids);
    for (int i = 1; i < end - first; i++)
        if (ids[i] == ids[i - 1])
            return assay_fail(err, ASSAY_PARSE, "case %s/%d twice", r->rows[first].op->name,
                              ids[i]);
    return ASSAY_OK;
}

static enum assay_status check_groups(struct assay_result *r, struct assay_err *err)
{
    int *ids = assay_arena_array(&r->arena, (size_t)r->n_rows + 1, sizeof *ids);
    int row = 0;

    if (!ids)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %d cases", r->n_rows);
    for (int b = 0; b < r->n_builds; b++) {
        int first = row;

        while (row < r->n_rows && r->rows[row].op == r->builds[b].op)
            row++;
        ASSAY_TRY(check_distinct(r, first, row, ids, err));
    }
    if (row < r->n_rows)
        return assay_fail(err, ASSAY_PARSE, "cases[%d]: '%s' is not in the order of the builds",
                          row, r->rows[row].op->name);
    return ASSAY_OK;
}

static enum assay_status parse_rows(struct assay_result *r, const json_t *list,
                                    assay_op_find_fn find, struct assay_err *err)
{
    size_t n = json_array_size(list);
    char where[WHERE_MAX];

    if (n > MAX_ROWS)
        return assay_fail(err, ASSAY_PARSE, "%zu cases, at most %d", n, (int)MAX_ROWS);
    r->rows = assay_arena_array(&r->arena, n + 1, sizeof *r->rows);
    if (!r->rows)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %zu cases", n);
    for (size_t i = 0; i < n; i++) {
        const json_t *j = json_array_get(list, i);

        snprintf(where, sizeof where, "cases[%zu]", i);
        ASSAY_TRY(find_op(&r->rows[i].op, j, where, find, err));
        ASSAY_TRY(assay__result_get_row(&r->rows[i], &r->arena, j, where, err));
        r->n_rows++;
    }
    return check_groups(r, err);
}

/* Of an operator that was built, one of each kind. */
static enum assay_status check_control(const struct assay_result *r, const struct assay_control *c,
                                       const char *where, struct assay_err *err)
{
    int b = 0;

    while (b < r->n_builds && r->builds[b].op != c->row.op)
        b++;
    if (b == r->n_builds)
        return assay_fail(err, ASSAY_PARSE, "%s: no build of operator '%s'", where,
                          c->row.op->name);
    for (int i = 0; i < r->n_controls; i++)
        if (r->controls[i].kind == c->kind && r->controls[i].row.op == c->row.op)
            return assay_fail(err, ASSAY_PARSE, "%s: control '%s' of '%s' twice", where,
                              assay__control_name(c->kind), c->row.op->name);
    return ASSAY_OK;
}

static enum assay_status parse_controls(struct assay_result *r, const json_t *list,
                                        assay_op_find_fn find, struct assay_err *err)
{
    size_t n = json_array_size(list);
    char where[WHERE_MAX];

    if (n > MAX_ROWS)
        return assay_fail(err, ASSAY_PARSE, "%zu controls, at most %d", n, (int)MAX_ROWS);
    r->controls = assay_arena_array(&r->arena, n + 1, sizeof *r->controls);
    if (!r->controls)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %zu controls", n);
    for (size_t i = 0; i < n; i++) {
        struct assay_control *c = &r->controls[i];
        const json_t *j = json_array_get(list, i);
        const struct assay_op *op;
        json_t *row;

        snprintf(where, sizeof where, "controls[%zu]", i);
        ASSAY_TRY(assay__json_object(j, where, "row", &row, err));
        ASSAY_TRY(find_op(&op, row, where, find, err));
        ASSAY_TRY(assay__result_get_control(c, &r->arena, j, where, err));
        c->row.op = op;
        ASSAY_TRY(check_control(r, c, where, err));
        r->n_controls++;
    }
    return ASSAY_OK;
}

static enum assay_status parse_part(struct assay_part *p, const struct assay__reader *in,
                                    const json_t *j)
{
    ASSAY_TRY(assay__get_int(in, j, "shard", 1, INT_MAX, &p->shard));
    ASSAY_TRY(assay__get_int(in, j, "cases", 0, INT_MAX, &p->n_cases));
    ASSAY_TRY(assay__get_int(in, j, "cores", 0, INT_MAX, &p->cores));
    ASSAY_TRY(assay__get_string(in, j, "cpu", p->cpu, sizeof p->cpu));
    ASSAY_TRY(assay__get_string(in, j, "kernel", p->kernel, sizeof p->kernel));
    ASSAY_TRY(assay__get_string(in, j, "compiler", p->compiler, sizeof p->compiler));
    ASSAY_TRY(assay__get_string(in, j, "date", p->date, sizeof p->date));
    ASSAY_TRY(assay__get_string(in, j, "harness", p->harness, sizeof p->harness));
    return assay__get_number(in, j, "wall_s", &p->wall_s);
}

/* Only merged results have them. */
static enum assay_status parse_parts(struct assay_result *r, const json_t *root,
                                     struct assay_err *err)
{
    char where[WHERE_MAX];
    struct assay__reader in = { where, NULL, err };
    json_t *list;
    size_t n;

    if (!assay__json_has(root, "parts"))
        return ASSAY_OK;
    ASSAY_TRY(assay__json_array(root, "result", "parts", &list, err));
    n = json_array_size(list);
    if (n > MAX_ROWS)
        return assay_fail(err, ASSAY_PARSE, "%zu parts, at most %d", n, (int)MAX_ROWS);
    r->parts = assay_arena_array(&r->arena, n + 1, sizeof *r->parts);
    if (!r->parts)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %zu parts", n);
    for (size_t i = 0; i < n; i++) {
        snprintf(where, sizeof where, "parts[%zu]", i);
        ASSAY_TRY(parse_part(&r->parts[i], &in, json_array_get(list, i)));
        r->n_parts++;
    }
    return ASSAY_OK;
}

static enum assay_status parse_root(struct assay_result *r, const json_t *root,
                                    assay_op_find_fn find, struct assay_err *err)
{
    json_t *j;

    ASSAY_TRY(assay__result_check_format(root, "result", err));
    ASSAY_TRY(assay__json_bool(root, "result", "interrupted", &r->interrupted, err));
    ASSAY_TRY(assay__json_number(root, "result", "wall_s", &r->wall_s, err));
    ASSAY_TRY(assay__json_object(root, "result", "manifest", &j, err));
    ASSAY_TRY(assay__result_get_manifest(&r->manifest, j, "manifest", err));
    ASSAY_TRY(assay__json_object(root, "result", "machine", &j, err));
    ASSAY_TRY(assay__result_get_machine(&r->machine, j, "machine", err));
    ASSAY_TRY(parse_parts(r, root, err));
    ASSAY_TRY(assay__json_array(root, "result", "builds", &j, err));
    ASSAY_TRY(parse_builds(r, j, find, err));
    ASSAY_TRY(assay__json_array(root, "result", "cases", &j, err));
    ASSAY_TRY(parse_rows(r, j, find, err));
    ASSAY_TRY(assay__json_array(root, "result", "controls", &j, err));
    return parse_controls(r, j, find, err);
}

enum assay_status assay__result_parse(struct assay_result *r, const char *text, size_t len,
                                      assay_op_find_fn find, struct assay_err *err)
{
    json_t *root = NULL;
    enum assay_status st;

    *r = (struct assay_result){ 0 };
    ASSAY_TRY(assay__json_parse(&root, text, len, err));
    st = parse_root(r, root, find, err);
    json_decref(root);
    if (st)
        assay_result_release(r);
    return st;
}

enum assay_status assay_result_read(struct assay_result *r, const char *path, assay_op_find_fn find,
                                    struct assay_err *err)
{
    struct assay_text text = { 0 };
    enum assay_status st;

    *r = (struct assay_result){ 0 };
    st = assay_file_read(&text, path, ASSAY__RESULT_MAX_BYTES, err);
    if (!st) {
        st = assay__result_parse(r, text.data, text.len, find, err);
        if (st)
            assay_wrap(err, st, "%s", path);
    }
    assay_text_release(&text);
    return st;
}
