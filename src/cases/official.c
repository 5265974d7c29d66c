/* SPDX-License-Identifier: Apache-2.0 */
/* official.c: reads official task trees as they are; docs/cases.md has the rules. */
#include "base/json.h"
#include "cases/case_build.h"
#include "cases/yaml_tree.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LEVEL = 4, PATH = 4096, METADATA_MAX_BYTES = 64 << 20 };
#define HARDWARE "910b2"

/* ---- the parts of a case ------------------------------------------------------------------- */

/* [a, b] of two scalars. */
static bool is_pair(const struct assay__yaml *v)
{
    return v && v->kind == ASSAY__YAML_LIST && v->n == 2 &&
           v->item[0]->kind == ASSAY__YAML_SCALAR && v->item[1]->kind == ASSAY__YAML_SCALAR;
}

static enum assay_status want_list(const struct assay__yaml *v, const char *what, int line,
                                   struct assay_err *err)
{
    if (v && v->kind == ASSAY__YAML_LIST)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_PARSE, "line %d: %s: list expected, got %s", v ? v->line : line,
                      what, assay__yaml_kind_text(v));
}

static enum assay_status read_shape(struct assay_shape *shape, const struct assay__yaml *v,
                                    const char *name, struct assay_err *err)
{
    ASSAY_TRY(want_list(v, name, v->line, err));
    if (v->n > ASSAY_MAX_RANK)
        return assay_fail(err, ASSAY_INVALID, "line %d: %s: rank %d, at most %d is supported",
                          v->line, name, v->n, ASSAY_MAX_RANK);
    shape->rank = v->n;
    for (int i = 0; i < v->n; i++) {
        if (!assay__yaml_int(v->item[i], &shape->dim[i]))
            return assay_fail(err, ASSAY_PARSE, "line %d: %s: extent %d: integer expected, got %s",
                              v->item[i]->line, name, i,
                              v->item[i]->text ? v->item[i]->text
                                               : assay__yaml_kind_text(v->item[i]));
        if (shape->dim[i] < 0)
            return assay_fail(err, ASSAY_INVALID, "line %d: %s: extent %d is %lld",
                              v->item[i]->line, name, i, (long long)shape->dim[i]);
    }
    return ASSAY_OK;
}

/* Shapes of one input: null, [extents], or for a list [[extents], ...]. */
static enum assay_status read_shapes(struct assay_case_in *in, const struct assay_param *p,
                                     const struct assay__yaml *v, struct assay_arena *arena,
                                     struct assay_err *err)
{
    bool list = (p->flags & ASSAY_PARAM_LIST) != 0;

    if (!v || v->kind == ASSAY__YAML_NULL)
        return assay__case_in_init(in, 0, arena, err);
    ASSAY_TRY(want_list(v, p->name, v->line, err));
    if (!list) {
        ASSAY_TRY(assay__case_in_init(in, 1, arena, err));
        return read_shape(&in->shape[0], v, p->name, err);
    }
    if (v->n < 1 || v->n > ASSAY_MAX_LIST)
        return assay_fail(err, ASSAY_INVALID, "line %d: %s: %d tensors, 1 to %d are supported",
                          v->line, p->name, v->n, ASSAY_MAX_LIST);
    ASSAY_TRY(assay__case_in_init(in, v->n, arena, err));
    for (int k = 0; k < v->n; k++)
        ASSAY_TRY(read_shape(&in->shape[k], v->item[k], p->name, err));
    return ASSAY_OK;
}

static enum assay_status read_one_dtype(enum assay_dtype *d, const struct assay_param *p,
                                        const struct assay__yaml *v, struct assay_err *err)
{
    if (v->kind != ASSAY__YAML_SCALAR || !assay_dtype_parse(v->text, d))
        return assay_fail(err, ASSAY_INVALID, "line %d: %s: unknown dtype %s", v->line, p->name,
                          v->text ? v->text : assay__yaml_kind_text(v));
    if (!(p->dtypes & ASSAY_BIT(*d)))
        return assay_fail(err, ASSAY_INVALID, "line %d: %s does not take %s", v->line, p->name,
                          v->text);
    return ASSAY_OK;
}

static enum assay_status read_dtype(struct assay_case_in *in, const struct assay_param *p,
                                    const struct assay__yaml *v, struct assay_err *err)
{
    if (in->n == 0)
        return ASSAY_OK;
    if (v->kind != ASSAY__YAML_LIST)
        return read_one_dtype(&in->dtype, p, v, err);
    if (!(p->flags & ASSAY_PARAM_LIST) || (v->n != 1 && v->n != in->n))
        return assay_fail(err, ASSAY_INVALID, "line %d: %s: %d dtypes for %lld tensors", v->line,
                          p->name, v->n, (long long)in->n);
    for (int k = 0; k < v->n; k++) {
        enum assay_dtype d;

        ASSAY_TRY(read_one_dtype(&d, p, v->item[k], err));
        if (k > 0 && d != in->dtype)
            return assay_fail(err, ASSAY_UNSUPPORTED, "line %d: %s: a list of several dtypes",
                              v->item[k]->line, p->name);
        in->dtype = d;
    }
    return ASSAY_OK;
}

static enum assay_status read_pair(struct assay_range *r, const char *name,
                                   const struct assay__yaml *v, struct assay_err *err)
{
    if (!is_pair(v) || !assay__yaml_number(v->item[0], &r->lo) ||
        !assay__yaml_number(v->item[1], &r->hi))
        return assay_fail(err, ASSAY_PARSE, "line %d: %s: value_range: two numbers expected",
                          v->line, name);
    if (!assay__range_ordered(r))
        return assay_fail(err, ASSAY_INVALID, "line %d: %s: value_range [%g,%g] is empty", v->line,
                          name, r->lo, r->hi);
    return ASSAY_OK;
}

/* One pair for all tensors of the input, or a list of pairs, one for each (or one for all). */
static enum assay_status read_range(struct assay_case_in *in, const char *name,
                                    const struct assay__yaml *v, struct assay_err *err)
{
    bool single = is_pair(v) || (v->kind == ASSAY__YAML_LIST && v->n == 1);

    if (in->n == 0)
        return ASSAY_OK;
    ASSAY_TRY(want_list(v, name, v->line, err));
    if (!single && v->n != in->n)
        return assay_fail(err, ASSAY_INVALID,
                          "line %d: %s: value_range: %d ranges for %lld tensors", v->line, name,
                          v->n, (long long)in->n);
    for (int64_t k = 0; k < in->n; k++)
        ASSAY_TRY(read_pair(&in->range[k], name, is_pair(v) ? v : v->item[single ? 0 : k], err));
    return ASSAY_OK;
}

/* ---- attributes ---------------------------------------------------------------------------- */

static enum assay_status read_attr_list(struct assay_value *to, const struct assay_attr *a,
                                        const struct assay__yaml *v, struct assay_arena *arena,
                                        struct assay_err *err)
{
    bool ints = a->type == ASSAY_ATTR_INTS;
    void *mem;

    ASSAY_TRY(want_list(v, a->name, v->line, err));
    mem = assay_arena_array(arena, (size_t)v->n + 1, 8);
    if (!mem)
        return assay_fail(err, ASSAY_NOMEM, "no memory for attribute %s", a->name);
    for (int i = 0; i < v->n; i++) {
        bool good = ints ? assay__yaml_int(v->item[i], (int64_t *)mem + i)
                         : assay__yaml_number(v->item[i], (double *)mem + i);

        if (!good)
            return assay_fail(err, ASSAY_PARSE, "line %d: attribute %s: item %d: %s expected",
                              v->item[i]->line, a->name, i, ints ? "integer" : "number");
    }
    if (ints)
        to->ints = (struct assay_ints){ mem, v->n };
    else
        to->floats = (struct assay_floats){ mem, v->n };
    return ASSAY_OK;
}

static enum assay_status read_attr(struct assay_value *to, const struct assay_attr *a,
                                   const struct assay__yaml *v, struct assay_arena *arena,
                                   struct assay_err *err)
{
    const char *want = "integer";
    bool good = false, flag = false;

    *to = (struct assay_value){ .set = true };
    switch (a->type) {
    case ASSAY_ATTR_INT:
        good = assay__yaml_int(v, &to->i);
        break;
    case ASSAY_ATTR_FLOAT:
        want = "number";
        good = assay__yaml_number(v, &to->f);
        break;
    case ASSAY_ATTR_BOOL:
        want = "boolean";
        good = assay__yaml_bool(v, &flag);
        to->i = flag;
        break;
    case ASSAY_ATTR_ENUM:
        want = "one of its choices";
        to->i = v->kind == ASSAY__YAML_SCALAR ? assay__attr_choice(a, v->text) : -1;
        good = to->i >= 0;
        break;
    case ASSAY_ATTR_INTS:
    case ASSAY_ATTR_FLOATS:
        return read_attr_list(to, a, v, arena, err);
    }
    if (!good)
        return assay_fail(err, ASSAY_INVALID, "line %d: attribute %s: %s expected, got %s", v->line,
                          a->name, want, v->text ? v->text : assay__yaml_kind_text(v));
    return ASSAY_OK;
}

static enum assay_status read_attrs(struct assay_case *c, const struct assay__yaml *attrs,
                                    struct assay_arena *arena, struct assay_err *err)
{
    const struct assay_op *op = c->op;

    if (attrs && attrs->kind != ASSAY__YAML_NULL && attrs->kind != ASSAY__YAML_MAP)
        return assay_fail(err, ASSAY_PARSE, "line %d: attrs: map expected, got %s", attrs->line,
                          assay__yaml_kind_text(attrs));
    for (int k = 0; attrs && k < attrs->n; k++) {
        const struct assay__yaml *key = attrs->item[2 * k], *value = attrs->item[2 * k + 1];
        int i = assay_attr_find(op->attrs, key->text);

        /* null says "not given"; some files say so of optional inputs, too. */
        if (value->kind == ASSAY__YAML_NULL && (i >= 0 || assay_param_find(op->in, key->text) >= 0))
            continue;
        if (i < 0)
            return assay_fail(err, ASSAY_INVALID, "line %d: %s has no attribute %s", key->line,
                              op->name, key->text);
        ASSAY_TRY(read_attr(&c->attr[i], &op->attrs[i], value, arena, err));
    }
    return ASSAY_OK;
}

/* ---- cases --------------------------------------------------------------------------------- */

static enum assay_status only_known_keys(const struct assay__yaml *map, struct assay_err *err)
{
    static const char *const keys[] = { "operator", "case_id",     "input_shape", "dtype",
                                        "attrs",    "value_range", "note" };

    for (int i = 0; i < map->n; i++) {
        bool known = false;

        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            known = known || strcmp(map->item[2 * i]->text, keys[k]) == 0;
        if (!known)
            return assay_fail(err, ASSAY_PARSE, "line %d: unknown field '%s'",
                              map->item[2 * i]->line, map->item[2 * i]->text);
    }
    return ASSAY_OK;
}

/* "ForeachNorm" names foreach_norm. */
static bool names_op(const char *camel, const char *snake)
{
    while (*snake) {
        if (*snake == '_') {
            snake++;
            continue;
        }
        if (tolower((unsigned char)*camel) != *snake)
            return false;
        camel++;
        snake++;
    }
    return *camel == 0;
}

/* The range that applies to input i: one for all, one for each, or one for each that is present. */
static const struct assay__yaml *range_of(const struct assay__yaml *ranges, int i, int n_shapes,
                                          int before, int n_present)
{
    if (is_pair(ranges))
        return ranges;
    if (ranges->n == n_shapes)
        return ranges->item[i];
    if (ranges->n == n_present)
        return ranges->item[before];
    return ranges->n == 1 ? ranges->item[0] : NULL;
}

static enum assay_status read_inputs(struct assay_case *c, const struct assay__yaml *v,
                                     struct assay_arena *arena, struct assay_err *err)
{
    const struct assay_op *op = c->op;
    const struct assay__yaml *shapes = assay__yaml_get(v, "input_shape");
    const struct assay__yaml *dtypes = assay__yaml_get(v, "dtype");
    const struct assay__yaml *ranges = assay__yaml_get(v, "value_range");
    int n_present = 0, before = 0;

    ASSAY_TRY(want_list(shapes, "input_shape", v->line, err));
    ASSAY_TRY(want_list(dtypes, "dtype", v->line, err));
    ASSAY_TRY(want_list(ranges, "value_range", v->line, err));
    if (shapes->n > assay_op_n_in(op))
        return assay_fail(err, ASSAY_INVALID, "line %d: input_shape: %d inputs, %s has %d",
                          shapes->line, shapes->n, op->name, assay_op_n_in(op));
    if (dtypes->n != 1 && dtypes->n != shapes->n)
        return assay_fail(err, ASSAY_INVALID, "line %d: dtype: %d dtypes for %d inputs",
                          dtypes->line, dtypes->n, shapes->n);
    for (int i = 0; i < shapes->n; i++) {
        ASSAY_TRY(read_shapes(&c->in[i], &op->in[i], shapes->item[i], arena, err));
        n_present += c->in[i].n > 0;
    }
    for (int i = 0; i < shapes->n; i++) {
        const struct assay__yaml *r = range_of(ranges, i, shapes->n, before, n_present);

        if (c->in[i].n == 0)
            continue;
        if (!r)
            return assay_fail(err, ASSAY_INVALID, "line %d: value_range: %d ranges for %d inputs",
                              ranges->line, ranges->n, shapes->n);
        ASSAY_TRY(read_dtype(&c->in[i], &op->in[i], dtypes->item[dtypes->n == 1 ? 0 : i], err));
        ASSAY_TRY(read_range(&c->in[i], op->in[i].name, r, err));
        before++;
    }
    return ASSAY_OK;
}

static enum assay_status read_id(int *id, const struct assay__yaml *v, struct assay_err *err)
{
    const struct assay__yaml *field = assay__yaml_get(v, "case_id");
    int64_t got;

    if (v->kind != ASSAY__YAML_MAP)
        return assay_fail(err, ASSAY_PARSE, "line %d: map expected, got %s", v->line,
                          assay__yaml_kind_text(v));
    if (!assay__yaml_int(field, &got) || got < 1 || got > INT_MAX)
        return assay_fail(err, ASSAY_PARSE, "line %d: case_id: positive integer expected",
                          field ? field->line : v->line);
    *id = (int)got;
    return ASSAY_OK;
}

static enum assay_status read_case(struct assay_suite *s, struct assay_case *c,
                                   const struct assay__yaml *v, struct assay_err *err)
{
    const struct assay__yaml *name = assay__yaml_get(v, "operator");
    const struct assay__yaml *note = assay__yaml_get(v, "note");
    enum assay_status st;

    ASSAY_TRY(only_known_keys(v, err));
    if (name && (name->kind != ASSAY__YAML_SCALAR || !names_op(name->text, c->op->name)))
        return assay_fail(err, ASSAY_INVALID, "line %d: a case of operator %s", name->line,
                          name->text ? name->text : assay__yaml_kind_text(name));
    if (note && note->kind == ASSAY__YAML_SCALAR) {
        c->note = assay_arena_strdup(&s->arena, note->text);
        if (!c->note)
            return assay_fail(err, ASSAY_NOMEM, "no memory for a note");
    }
    ASSAY_TRY(read_inputs(c, v, &s->arena, err));
    ASSAY_TRY(read_attrs(c, assay__yaml_get(v, "attrs"), &s->arena, err));
    c->value_class = assay__case_classify(c);
    st = assay__suite_add(s, c, err);
    return st ? assay_wrap(err, st, "line %d", v->line) : ASSAY_OK;
}

static enum assay_status read_cases(struct assay_suite *s, const struct assay_op *op,
                                    const struct assay__yaml *root, struct assay_err *err)
{
    const struct assay__yaml *list = assay__yaml_get(root, "cases");

    ASSAY_TRY(want_list(list, "cases", root->line, err));
    for (int i = 0; i < list->n; i++) {
        struct assay_case c;
        enum assay_status st;

        assay__case_begin(&c, op);
        st = read_id(&c.id, list->item[i], err);
        if (st)
            return assay_wrap(err, st, "cases[%d]", i);
        st = read_case(s, &c, list->item[i], err);
        if (st)
            return assay_wrap(err, st, "case %d", c.id);
    }
    return ASSAY_OK;
}

enum assay_status assay_cases_parse_yaml(struct assay_suite *s, const struct assay_op *op,
                                         const char *text, size_t len, struct assay_err *err)
{
    struct assay_arena tree = { 0 };
    struct assay__yaml *root;
    int n = s->n;
    enum assay_status st;

    if (len > ASSAY__CASES_MAX_BYTES)
        return assay_fail(err, ASSAY_PARSE, "%zu bytes, at most %d are read", len,
                          ASSAY__CASES_MAX_BYTES);
    st = assay__yaml_parse(&root, text, len, &tree, err);
    if (!st)
        st = read_cases(s, op, root, err);
    assay_arena_release(&tree);
    if (st)
        s->n = n;
    else
        assay__suite_sort(s, n);
    return st;
}

/* ---- the tree ------------------------------------------------------------------------------ */

/* Sets the published figures of cases from position `from` on; a case without any keeps 0. */
static enum assay_status add_published(struct assay_suite *s, int from, const struct assay_op *op,
                                       int level, const char *path, struct assay_err *err)
{
    struct assay_text text = { 0 };
    char name[32];
    json_t *root = NULL;
    const json_t *cases;
    enum assay_status st;
    FILE *f = fopen(path, "rb");

    if (!f)
        return ASSAY_OK; /* a tree without figures is whole, too */
    fclose(f);
    st = assay_file_read(&text, path, METADATA_MAX_BYTES, err);
    if (!st)
        st = assay__json_parse(&root, text.data, text.len, err);
    assay_text_release(&text);
    if (st)
        return assay_wrap(err, st, "%s", path);
    snprintf(name, sizeof name, "level%d", level);
    cases = json_object_get(json_object_get(root, name), op->name);
    for (int i = from; i < s->n; i++) {
        const json_t *figures;

        snprintf(name, sizeof name, "%d", s->cases[i].id);
        figures = json_object_get(cases, name);
        assay__json_as_number(json_object_get(figures, "t_hw_us"), &s->cases[i].published_t_hw_us);
        assay__json_as_number(json_object_get(figures, "baseline_perf_us"),
                              &s->cases[i].published_baseline_us);
    }
    json_decref(root);
    return ASSAY_OK;
}

/* The level whose folder has the operator; 0: none. */
static int find_level(const char *dir, const struct assay_op *op, char path[PATH])
{
    for (int level = 1; level <= MAX_LEVEL; level++) {
        int n = snprintf(path, PATH, "%s/level%d/%s/cases.yaml", dir, level, op->name);
        FILE *f = n > 0 && n < PATH ? fopen(path, "rb") : NULL;

        if (f) {
            fclose(f);
            return level;
        }
    }
    return 0;
}

enum assay_status assay_suite_add_official(struct assay_suite *s, const struct assay_op *op,
                                           const char *dir, struct assay_err *err)
{
    struct assay_text text = { 0 };
    char path[PATH];
    int n = s->n, level = find_level(dir, op, path);
    enum assay_status st;

    if (level == 0)
        return assay_fail(err, ASSAY_UNSUPPORTED, "%s has no operator %s", dir, op->name);
    st = assay_file_read(&text, path, ASSAY__CASES_MAX_BYTES, err);
    if (!st) {
        st = assay_cases_parse_yaml(s, op, text.data, text.len, err);
        if (st)
            assay_wrap(err, st, "%s", path);
    }
    assay_text_release(&text);
    if (!st) {
        snprintf(path, sizeof path, "%s/metadata/" HARDWARE ".json", dir);
        st = add_published(s, n, op, level, path, err);
    }
    if (st)
        s->n = n;
    return st;
}
