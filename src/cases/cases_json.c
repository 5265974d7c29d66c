/* SPDX-License-Identifier: Apache-2.0 */
/* cases_json.c: our own case files, one case a line: a strict reader and the printer that it reads
 * back.
 */
#include "base/json.h"
#include "cases/case_build.h"
#include "spec/number.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

enum { FORMAT = 1, WHERE = 128 };

/* ---- reading ------------------------------------------------------------------------------- */

static enum assay_status read_shape(struct assay_shape *shape, const json_t *obj, const char *where,
                                    struct assay_err *err)
{
    json_t *dims;
    size_t n;

    ASSAY_TRY(assay__json_array(obj, where, "shape", &dims, err));
    n = json_array_size(dims);
    if (n > ASSAY_MAX_RANK)
        return assay_fail(err, ASSAY_INVALID,
                          "%s: field 'shape': rank %zu, at most %d is supported", where, n,
                          ASSAY_MAX_RANK);
    shape->rank = (int)n;
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(dims, i);

        if (!assay__json_as_int(v, &shape->dim[i]))
            return assay_fail(err, ASSAY_PARSE,
                              "%s: field 'shape': extent %zu: integer expected, got %s", where, i,
                              assay__json_type_text(v));
        if (shape->dim[i] < 0)
            return assay_fail(err, ASSAY_INVALID, "%s: field 'shape': extent %zu is %lld", where, i,
                              (long long)shape->dim[i]);
    }
    return ASSAY_OK;
}

static enum assay_status read_range(struct assay_range *range, enum assay_dtype d,
                                    const json_t *obj, const char *where, struct assay_err *err)
{
    json_t *ends;
    double *to[2] = { &range->lo, &range->hi };

    ASSAY_TRY(assay__json_array(obj, where, "range", &ends, err));
    if (json_array_size(ends) != 2)
        return assay_fail(err, ASSAY_PARSE, "%s: field 'range': two ends expected, got %zu", where,
                          json_array_size(ends));
    for (size_t i = 0; i < 2; i++) {
        const json_t *v = json_array_get(ends, i);

        if (!assay__json_as_number(v, to[i]))
            return assay_fail(err, ASSAY_PARSE, "%s: field 'range': number expected, got %s", where,
                              assay__json_type_text(v));
        if (!isfinite(*to[i]) && !assay_dtype_is_float(d))
            return assay_fail(err, ASSAY_INVALID, "%s: field 'range': %g is no value of %s", where,
                              *to[i], assay_dtype_name(d));
        if (isfinite(*to[i]) && (*to[i] < assay_dtype_min(d) || *to[i] > assay_dtype_max(d)))
            return assay_fail(err, ASSAY_INVALID, "%s: field 'range': %g is beyond %s", where,
                              *to[i], assay_dtype_name(d));
    }
    if (!assay__range_ordered(range))
        return assay_fail(err, ASSAY_INVALID, "%s: field 'range': [%g,%g] is empty", where,
                          range->lo, range->hi);
    return ASSAY_OK;
}

static enum assay_status read_dtype(enum assay_dtype *d, const struct assay_param *p,
                                    const json_t *obj, const char *where, struct assay_err *err)
{
    const char *name;

    ASSAY_TRY(assay__json_string(obj, where, "dtype", &name, err));
    if (!assay_dtype_parse(name, d))
        return assay_fail(err, ASSAY_INVALID, "%s: field 'dtype': unknown dtype '%s'", where, name);
    if (!(p->dtypes & ASSAY_BIT(*d)))
        return assay_fail(err, ASSAY_INVALID, "%s: field 'dtype': %s is not allowed here", where,
                          name);
    return ASSAY_OK;
}

static enum assay_status read_list(struct assay_case_in *in, const struct assay_param *p,
                                   const json_t *obj, const char *where, struct assay_arena *arena,
                                   struct assay_err *err)
{
    static const char *const keys[] = { "dtype", "list", NULL };
    static const char *const item_keys[] = { "shape", "range", NULL };
    enum assay_dtype d;
    json_t *items;
    size_t n;

    ASSAY_TRY(assay__json_only(obj, where, keys, err));
    ASSAY_TRY(read_dtype(&d, p, obj, where, err));
    ASSAY_TRY(assay__json_array(obj, where, "list", &items, err));
    n = json_array_size(items);
    if (n < 1 || n > ASSAY_MAX_LIST)
        return assay_fail(err, ASSAY_INVALID,
                          "%s: field 'list': %zu tensors, 1 to %d are supported", where, n,
                          ASSAY_MAX_LIST);
    ASSAY_TRY(assay__case_in_init(in, (int64_t)n, arena, err));
    in->dtype = d;
    for (size_t k = 0; k < n; k++) {
        const json_t *item = json_array_get(items, k);
        char at[WHERE + 16];

        snprintf(at, sizeof at, "%s[%zu]", where, k);
        ASSAY_TRY(assay__json_only(item, at, item_keys, err));
        ASSAY_TRY(read_shape(&in->shape[k], item, at, err));
        ASSAY_TRY(read_range(&in->range[k], d, item, at, err));
    }
    return ASSAY_OK;
}

static enum assay_status read_input(struct assay_case_in *in, const struct assay_param *p,
                                    const json_t *obj, struct assay_arena *arena,
                                    struct assay_err *err)
{
    static const char *const keys[] = { "dtype", "shape", "range", NULL };
    enum assay_dtype d;
    char where[WHERE];

    snprintf(where, sizeof where, "input %s", p->name);
    if (json_is_null(obj)) {
        if (!(p->flags & ASSAY_PARAM_OPTIONAL))
            return assay_fail(err, ASSAY_INVALID, "%s is null but not optional", where);
        return assay__case_in_init(in, 0, arena, err);
    }
    if (p->flags & ASSAY_PARAM_LIST)
        return read_list(in, p, obj, where, arena, err);
    ASSAY_TRY(assay__json_only(obj, where, keys, err));
    ASSAY_TRY(read_dtype(&d, p, obj, where, err));
    ASSAY_TRY(assay__case_in_init(in, 1, arena, err));
    in->dtype = d;
    ASSAY_TRY(read_shape(&in->shape[0], obj, where, err));
    return read_range(&in->range[0], d, obj, where, err);
}

static enum assay_status read_attr_list(struct assay_value *v, const struct assay_attr *a,
                                        const json_t *array, struct assay_arena *arena,
                                        struct assay_err *err)
{
    size_t n = json_array_size(array);
    bool ints = a->type == ASSAY_ATTR_INTS;
    void *to = assay_arena_array(arena, n ? n : 1, 8);

    if (!json_is_array(array))
        return assay_fail(err, ASSAY_PARSE, "attribute '%s': array expected, got %s", a->name,
                          assay__json_type_text(array));
    if (!to)
        return assay_fail(err, ASSAY_NOMEM, "no memory for attribute '%s'", a->name);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(array, i);
        bool good = ints ? assay__json_as_int(item, (int64_t *)to + i)
                         : assay__json_as_number(item, (double *)to + i);

        if (!good)
            return assay_fail(err, ASSAY_PARSE, "attribute '%s': item %zu: %s expected, got %s",
                              a->name, i, ints ? "integer" : "number", assay__json_type_text(item));
    }
    if (ints)
        v->ints = (struct assay_ints){ to, (int64_t)n };
    else
        v->floats = (struct assay_floats){ to, (int64_t)n };
    return ASSAY_OK;
}

static enum assay_status read_attr(struct assay_value *v, const struct assay_attr *a,
                                   const json_t *j, struct assay_arena *arena,
                                   struct assay_err *err)
{
    const char *want = "integer", *text = NULL;
    bool good = false;

    *v = (struct assay_value){ .set = true };
    switch (a->type) {
    case ASSAY_ATTR_INT:
        good = assay__json_as_int(j, &v->i);
        break;
    case ASSAY_ATTR_FLOAT:
        want = "number";
        good = assay__json_as_number(j, &v->f);
        break;
    case ASSAY_ATTR_BOOL:
        want = "boolean";
        good = json_is_boolean(j);
        v->i = json_is_true(j);
        break;
    case ASSAY_ATTR_ENUM:
        want = "string";
        good = assay__json_as_string(j, &text);
        v->i = good ? assay__attr_choice(a, text) : 0;
        if (v->i < 0)
            return assay_fail(err, ASSAY_INVALID, "attribute '%s': '%s' is not one of its choices",
                              a->name, text);
        break;
    case ASSAY_ATTR_INTS:
    case ASSAY_ATTR_FLOATS:
        return read_attr_list(v, a, j, arena, err);
    }
    if (!good)
        return assay_fail(err, ASSAY_PARSE, "attribute '%s': %s expected, got %s", a->name, want,
                          assay__json_type_text(j));
    return ASSAY_OK;
}

static enum assay_status read_attrs(struct assay_case *c, json_t *attrs, struct assay_arena *arena,
                                    struct assay_err *err)
{
    const struct assay_op *op = c->op;
    const char *name;
    json_t *value;

    json_object_foreach(attrs, name, value)
    {
        int i = assay_attr_find(op->attrs, name);

        if (i < 0)
            return assay_fail(err, ASSAY_INVALID, "%s has no attribute '%s'", op->name, name);
        ASSAY_TRY(read_attr(&c->attr[i], &op->attrs[i], value, arena, err));
    }
    for (int i = 0; i < assay_op_n_attr(op); i++)
        if ((op->attrs[i].flags & ASSAY_ATTR_REQUIRED) && !c->attr[i].set)
            return assay_fail(err, ASSAY_INVALID, "attribute '%s' is missing", op->attrs[i].name);
    return ASSAY_OK;
}

static enum assay_status read_words(struct assay_case *c, const json_t *obj,
                                    struct assay_arena *arena, struct assay_err *err)
{
    const char *text;
    int k = 0;

    ASSAY_TRY(assay__json_string(obj, "", "class", &text, err));
    while (k < ASSAY_N_CLASSES && strcmp(assay_class_name((enum assay_class)k), text) != 0)
        k++;
    if (k == ASSAY_N_CLASSES)
        return assay_fail(err, ASSAY_INVALID, "field 'class': unknown class '%s'", text);
    c->value_class = (enum assay_class)k;
    if (json_object_get(obj, "policy")) {
        ASSAY_TRY(assay__json_string(obj, "", "policy", &text, err));
        if (strcmp(text, "warm") != 0 && strcmp(text, "cold") != 0)
            return assay_fail(err, ASSAY_INVALID, "field 'policy': unknown policy '%s'", text);
        c->policy = text[0] == 'w' ? ASSAY_WARM : ASSAY_COLD;
    }
    if (json_object_get(obj, "note")) {
        ASSAY_TRY(assay__json_string(obj, "", "note", &text, err));
        c->note = assay_arena_strdup(arena, text);
        if (!c->note)
            return assay_fail(err, ASSAY_NOMEM, "no memory for a note");
    }
    return ASSAY_OK;
}

static enum assay_status read_case(struct assay_suite *s, struct assay_case *c, const json_t *obj,
                                   struct assay_err *err)
{
    static const char *const keys[] = { "id", "class", "inputs", "attrs", "policy", "note", NULL };
    const struct assay_op *op = c->op;
    int n_in = assay_op_n_in(op);
    json_t *inputs, *attrs = NULL;

    ASSAY_TRY(assay__json_only(obj, "", keys, err));
    ASSAY_TRY(read_words(c, obj, &s->arena, err));
    ASSAY_TRY(assay__json_array(obj, "", "inputs", &inputs, err));
    if (json_array_size(inputs) != (size_t)n_in)
        return assay_fail(err, ASSAY_INVALID, "field 'inputs': %s has %d inputs, got %zu", op->name,
                          n_in, json_array_size(inputs));
    for (int i = 0; i < n_in; i++)
        ASSAY_TRY(
            read_input(&c->in[i], &op->in[i], json_array_get(inputs, (size_t)i), &s->arena, err));
    if (json_object_get(obj, "attrs"))
        ASSAY_TRY(assay__json_object(obj, "", "attrs", &attrs, err));
    ASSAY_TRY(read_attrs(c, attrs, &s->arena, err));
    return assay__suite_add(s, c, err);
}

static enum assay_status read_id(int *id, const json_t *obj, struct assay_err *err)
{
    int64_t v;

    ASSAY_TRY(assay__json_int(obj, "", "id", &v, err));
    if (v < 1 || v > INT_MAX)
        return assay_fail(err, ASSAY_INVALID, "field 'id': %lld is not positive and small",
                          (long long)v);
    *id = (int)v;
    return ASSAY_OK;
}

static enum assay_status read_cases(struct assay_suite *s, const struct assay_op *op,
                                    const json_t *root, struct assay_err *err)
{
    static const char *const keys[] = { "format", "op", "cases", NULL };
    const char *name;
    int64_t format;
    json_t *list;

    ASSAY_TRY(assay__json_only(root, "", keys, err));
    ASSAY_TRY(assay__json_int(root, "", "format", &format, err));
    if (format != FORMAT)
        return assay_fail(err, ASSAY_UNSUPPORTED, "field 'format': version %lld, this reads %d",
                          (long long)format, FORMAT);
    ASSAY_TRY(assay__json_string(root, "", "op", &name, err));
    if (strcmp(name, op->name) != 0)
        return assay_fail(err, ASSAY_INVALID, "field 'op': cases of %s, expected %s", name,
                          op->name);
    ASSAY_TRY(assay__json_array(root, "", "cases", &list, err));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *obj = json_array_get(list, i);
        struct assay_case c;
        enum assay_status st;

        assay__case_begin(&c, op);
        st = read_id(&c.id, obj, err);
        if (st)
            return assay_wrap(err, st, "cases[%zu]", i);
        st = read_case(s, &c, obj, err);
        if (st)
            return assay_wrap(err, st, "case %d", c.id);
    }
    return ASSAY_OK;
}

enum assay_status assay_cases_parse_json(struct assay_suite *s, const struct assay_op *op,
                                         const char *text, size_t len, struct assay_err *err)
{
    json_t *root;
    int n = s->n;
    enum assay_status st;

    if (len > ASSAY__CASES_MAX_BYTES)
        return assay_fail(err, ASSAY_PARSE, "%zu bytes, at most %d are read", len,
                          ASSAY__CASES_MAX_BYTES);
    ASSAY_TRY(assay__json_parse(&root, text, len, err));
    st = read_cases(s, op, root, err);
    json_decref(root);
    if (st)
        s->n = n;
    else
        assay__suite_sort(s, n);
    return st;
}

enum assay_status assay_suite_add_own(struct assay_suite *s, const struct assay_op *op,
                                      const char *path, struct assay_err *err)
{
    struct assay_text text = { 0 };
    enum assay_status st = assay_file_read(&text, path, ASSAY__CASES_MAX_BYTES, err);

    if (!st) {
        st = assay_cases_parse_json(s, op, text.data, text.len, err);
        if (st)
            assay_wrap(err, st, "%s", path);
    }
    assay_text_release(&text);
    return st;
}

/* ---- printing ------------------------------------------------------------------------------ */

static void put_number(struct assay_text *out, double v)
{
    if (isfinite(v))
        assay__add_number(out, v);
    else
        assay__json_add_number(out, v);
}

static void put_tensor(struct assay_text *out, const struct assay_case_in *in, int64_t k)
{
    assay_text_add(out, "\"shape\": [");
    for (int i = 0; i < in->shape[k].rank; i++)
        assay_text_add(out, "%s%lld", i ? ", " : "", (long long)in->shape[k].dim[i]);
    assay_text_add(out, "], \"range\": [");
    put_number(out, in->range[k].lo);
    assay_text_add(out, ", ");
    put_number(out, in->range[k].hi);
    assay_text_add(out, "]");
}

static void put_input(struct assay_text *out, const struct assay_param *p,
                      const struct assay_case_in *in)
{
    if (in->n == 0) {
        assay_text_add(out, "null");
        return;
    }
    assay_text_add(out, "{\"dtype\": \"%s\", ", assay_dtype_name(in->dtype));
    if (p->flags & ASSAY_PARAM_LIST) {
        assay_text_add(out, "\"list\": [");
        for (int64_t k = 0; k < in->n; k++) {
            assay_text_add(out, "%s{", k ? ", " : "");
            put_tensor(out, in, k);
            assay_text_add(out, "}");
        }
        assay_text_add(out, "]");
    } else {
        put_tensor(out, in, 0);
    }
    assay_text_add(out, "}");
}

static void put_value(struct assay_text *out, const struct assay_attr *a,
                      const struct assay_value *v)
{
    switch (a->type) {
    case ASSAY_ATTR_INT:
        assay_text_add(out, "%lld", (long long)v->i);
        break;
    case ASSAY_ATTR_FLOAT:
        put_number(out, v->f);
        break;
    case ASSAY_ATTR_BOOL:
        assay_text_add(out, "%s", v->i ? "true" : "false");
        break;
    case ASSAY_ATTR_ENUM:
        assay__json_add_string(out, a->choices[v->i]);
        break;
    case ASSAY_ATTR_INTS:
        assay_text_add(out, "[");
        for (int64_t k = 0; k < v->ints.n; k++)
            assay_text_add(out, "%s%lld", k ? ", " : "", (long long)v->ints.v[k]);
        assay_text_add(out, "]");
        break;
    case ASSAY_ATTR_FLOATS:
        assay_text_add(out, "[");
        for (int64_t k = 0; k < v->floats.n; k++) {
            assay_text_add(out, "%s", k ? ", " : "");
            put_number(out, v->floats.v[k]);
        }
        assay_text_add(out, "]");
        break;
    }
}

void assay_case_json(const struct assay_case *c, struct assay_text *out)
{
    const struct assay_op *op = c->op;
    int n_attrs = 0;

    assay_text_add(out, "{\"id\": %d, \"class\": \"%s\", \"inputs\": [", c->id,
                   assay_class_name(c->value_class));
    for (int i = 0; i < assay_op_n_in(op); i++) {
        assay_text_add(out, "%s", i ? ", " : "");
        put_input(out, &op->in[i], &c->in[i]);
    }
    assay_text_add(out, "]");
    /* Every attribute is written, defaults too: a case must not change when a default does. */
    for (int i = 0; i < assay_op_n_attr(op); i++)
        if (c->attr[i].set) {
            assay_text_add(out,
                           n_attrs++ ? ", \"%s\": " : ", \"attrs\": {\"%s\": ", op->attrs[i].name);
            put_value(out, &op->attrs[i], &c->attr[i]);
        }
    assay_text_add(out, "%s", n_attrs ? "}" : "");
    if (c->policy == ASSAY_WARM)
        assay_text_add(out, ", \"policy\": \"warm\"");
    if (c->note[0]) {
        assay_text_add(out, ", \"note\": ");
        assay__json_add_string(out, c->note);
    }
    assay_text_add(out, "}");
}

enum assay_status assay_cases_print(struct assay_text *out, const struct assay_suite *s,
                                    const struct assay_op *op, struct assay_err *err)
{
    bool first = true;

    assay_text_add(out, "{\"format\": %d, \"op\": \"%s\", \"cases\": [", FORMAT, op->name);
    for (int i = 0; i < s->n; i++) {
        if (s->cases[i].op != op)
            continue;
        assay_text_add(out, first ? "\n " : ",\n ");
        assay_case_json(&s->cases[i], out);
        first = false;
    }
    assay_text_add(out, "\n]}\n");
    if (out->failed)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the text of the cases of %s", op->name);
    return ASSAY_OK;
}
