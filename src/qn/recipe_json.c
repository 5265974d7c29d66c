/* SPDX-License-Identifier: Apache-2.0 */
/* recipe_json.c: recipes as JSON objects. */
#include "qn/recipe_fields.h"

#include "base/json.h"

#include <string.h>

/* ---- reading --------------------------------------------------------------------------------- */

/* The text that qn_recipe_set() would take for a value; a list with commas. */
static bool text_of(const json_t *v, struct assay_text *t)
{
    char number[ASSAY__NUMBER_MAX];
    double d;

    if (json_is_string(v)) {
        if (strlen(json_string_value(v)) != json_string_length(v))
            return false;
        assay_text_add(t, "%s", json_string_value(v));
    } else if (json_is_boolean(v)) {
        assay_text_add(t, "%s", json_is_true(v) ? "true" : "false");
    } else if (json_is_integer(v)) {
        assay_text_add(t, "%lld", (long long)json_integer_value(v));
    } else if (assay__json_as_number(v, &d)) {
        assay_text_add(t, "%s", assay__number_text(d, number));
    } else {
        return false;
    }
    return true;
}

static bool text_of_list(const json_t *v, struct assay_text *t)
{
    for (size_t i = 0; i < json_array_size(v); i++) {
        if (i > 0)
            assay_text_add(t, ",");
        if (!json_is_number(json_array_get(v, i)) || !text_of(json_array_get(v, i), t))
            return false;
    }
    return true;
}

static enum assay_status read_field(struct qn_recipe *r, const char *name, const json_t *v,
                                    struct assay_err *err)
{
    const struct qn__section *s;
    const struct qn__field *f;
    struct assay_text t = { 0 };
    enum assay_status st;
    bool is_list = json_is_array(v);

    if (!qn__field_find(name, &s, &f))
        return assay_fail(err, ASSAY_INVALID,
                          "no field '%.60s' in a recipe; docs/qnet-recipes.md lists them", name);
    assay_text_add(&t, "%s", "");
    if (is_list != (f->type == QN__LIST) || !(is_list ? text_of_list(v, &t) : text_of(v, &t)))
        st = assay_fail(err, ASSAY_INVALID, "field '%s': %s expected, got %s", name,
                        f->type == QN__LIST ? "a list of numbers" : "one value",
                        assay__json_type_text(v));
    else if (t.failed)
        st = assay_fail(err, ASSAY_NOMEM, "out of memory");
    else
        st = qn__field_set(r, s, f, t.data, err);
    assay_text_release(&t);
    return st;
}

static enum assay_status read_section(struct qn_recipe *r, const char *section, json_t *object,
                                      struct assay_err *err)
{
    const char *key;
    json_t *v;

    json_object_foreach(object, key, v)
    {
        char name[128];

        snprintf(name, sizeof name, "%.60s.%.60s", section, key);
        ASSAY_TRY(read_field(r, name, v, err));
    }
    return ASSAY_OK;
}

enum assay_status qn_recipe_read(struct qn_recipe *r, const json_t *object, struct assay_err *err)
{
    struct qn_recipe with = *r;
    const char *key;
    json_t *v;

    if (!json_is_object(object))
        return assay_fail(err, ASSAY_INVALID, "a recipe is an object, got %s",
                          assay__json_type_text(object));
    json_object_foreach((json_t *)(uintptr_t)object, key, v)
    {
        if (!strcmp(key, "about") && json_is_string(v))
            continue;
        if (json_is_object(v))
            ASSAY_TRY(read_section(&with, key, v, err));
        else
            ASSAY_TRY(read_field(&with, key, v, err));
    }
    *r = with;
    return ASSAY_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static json_t *word_json(const char *words, int i)
{
    while (i-- > 0)
        words += strcspn(words, "|") + 1;
    return json_stringn(words, strcspn(words, "|"));
}

static json_t *list_json(const double *v, int n)
{
    json_t *list = json_array();

    for (int i = 0; i < n; i++)
        if (json_array_append_new(list, json_real(v[i]))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* Seeds are texts: readers of JSON tend to have no integers past 2^53. */
static json_t *value_json(const struct qn__field *f, const char *base)
{
    const void *at = base + f->offset;
    char text[24];

    switch (f->type) {
    case QN__U64:
        snprintf(text, sizeof text, "%llu", (unsigned long long)*(const uint64_t *)at);
        return json_string(text);
    case QN__INT:
        return json_integer(*(const int64_t *)at);
    case QN__NUMBER:
        return json_real(*(const double *)at);
    case QN__BOOL:
        return json_boolean(*(const bool *)at);
    case QN__TEXT:
    case QN__CHOICE_TEXT:
        return json_string(at);
    case QN__CHOICE:
        return word_json(f->words, *(const int *)at);
    case QN__LIST:
        break;
    }
    return list_json(at, *(const int *)(const void *)(base + f->n));
}

json_t *qn_recipe_json(const struct qn_recipe *r)
{
    json_t *all = json_object();
    bool good = all != NULL;

    for (const struct qn__section *s = qn__sections; good && s->name; s++) {
        json_t *section = *s->name ? json_object() : all;

        for (const struct qn__field *f = s->fields; good && f->name; f++)
            good =
                !json_object_set_new(section, f->name, value_json(f, (const char *)r + s->offset));
        if (section != all)
            good = !json_object_set_new(all, s->name, section) && good;
    }
    if (!good) {
        json_decref(all);
        return NULL;
    }
    return all;
}
