/* SPDX-License-Identifier: Apache-2.0 */
/* json.c: typed fields, non-finite numbers and shortest printing over Jansson. */
#include "base/json.h"

#include "base/printable.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum assay_status fail_at(struct assay_err *err, const char *where, const char *key,
                                 const char *want, const json_t *got)
{
    const char *sep = where[0] ? ": " : "";

    if (!got)
        return assay_fail(err, ASSAY_PARSE, "%s%sfield '%s' missing", where, sep, key);
    return assay_fail(err, ASSAY_PARSE, "%s%sfield '%s': %s expected, got %s", where, sep, key,
                      want, assay__json_type_text(got));
}

/*
 * Jansson's memory comes from where all of ours does. Whether some was refused is noted here, for
 * Jansson does not tell: it drops the byte that its buffer had no room for and reads on.
 */
static _Thread_local bool refused;

static void *note_alloc(size_t bytes)
{
    void *p = assay_alloc(bytes);

    refused = refused || !p;
    return p;
}

static void set_alloc(void)
{
    json_set_alloc_funcs(note_alloc, free);
}

enum assay_status assay__json_parse(json_t **root, const char *text, size_t len,
                                    struct assay_err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    json_error_t je;
    json_t *v;

    pthread_once(&once, set_alloc);
    refused = false;
    v = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
    if (refused) {
        json_decref(v);
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %zu bytes of JSON", len);
    }
    if (!v)
        return assay_fail(err, ASSAY_PARSE, "line %d, column %d: %s", je.line, je.column, je.text);
    *root = v;
    return ASSAY_OK;
}

enum assay_status assay__json_read(json_t **root, const char *path, size_t max_bytes,
                                   struct assay_err *err)
{
    struct assay_text text = { 0 };
    enum assay_status st = assay_file_read(&text, path, max_bytes, err);

    if (!st) {
        st = assay__json_parse(root, text.data, text.len, err);
        if (st)
            assay_wrap(err, st, "%s", path);
    }
    assay_text_release(&text);
    return st;
}

char *assay__json_dump(const json_t *v)
{
    char *text;

    refused = false;
    text = v ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    if (!refused)
        return text;
    free(text);
    return NULL;
}

bool assay__json_has(const json_t *obj, const char *key)
{
    const json_t *v = json_object_get(obj, key);

    return v && !json_is_null(v);
}

/* The value of a key; a value that is no object has no fields, so that the caller says "missing".
 */
static json_t *field(const json_t *obj, const char *key)
{
    return json_object_get(obj, key);
}

enum assay_status assay__json_object(const json_t *obj, const char *where, const char *key,
                                     json_t **out, struct assay_err *err)
{
    json_t *v = field(obj, key);

    if (!json_is_object(v))
        return fail_at(err, where, key, "object", v);
    *out = v;
    return ASSAY_OK;
}

enum assay_status assay__json_array(const json_t *obj, const char *where, const char *key,
                                    json_t **out, struct assay_err *err)
{
    json_t *v = field(obj, key);

    if (!json_is_array(v))
        return fail_at(err, where, key, "array", v);
    *out = v;
    return ASSAY_OK;
}

enum assay_status assay__json_string(const json_t *obj, const char *where, const char *key,
                                     const char **out, struct assay_err *err)
{
    const json_t *v = field(obj, key);

    if (!assay__json_as_string(v, out))
        return fail_at(err, where, key, "string", v);
    return ASSAY_OK;
}

enum assay_status assay__json_int(const json_t *obj, const char *where, const char *key,
                                  int64_t *out, struct assay_err *err)
{
    const json_t *v = field(obj, key);

    if (!assay__json_as_int(v, out))
        return fail_at(err, where, key, "integer", v);
    return ASSAY_OK;
}

enum assay_status assay__json_number(const json_t *obj, const char *where, const char *key,
                                     double *out, struct assay_err *err)
{
    const json_t *v = field(obj, key);

    if (!assay__json_as_number(v, out))
        return fail_at(err, where, key, "number", v);
    return ASSAY_OK;
}

enum assay_status assay__json_bool(const json_t *obj, const char *where, const char *key, bool *out,
                                   struct assay_err *err)
{
    const json_t *v = field(obj, key);

    if (!json_is_boolean(v))
        return fail_at(err, where, key, "true or false", v);
    *out = json_is_true(v);
    return ASSAY_OK;
}

enum assay_status assay__json_text(const json_t *obj, const char *where, const char *key, char *out,
                                   size_t size, struct assay_err *err)
{
    const char *text = NULL;

    if (!assay__json_has(obj, key))
        return ASSAY_OK;
    ASSAY_TRY(assay__json_string(obj, where, key, &text, err));
    snprintf(out, size, "%s", text);
    return ASSAY_OK;
}

bool assay__json_as_int(const json_t *v, int64_t *out)
{
    if (!json_is_integer(v))
        return false;
    *out = json_integer_value(v);
    return true;
}

bool assay__json_as_number(const json_t *v, double *out)
{
    const char *s;

    if (json_is_number(v)) {
        *out = json_number_value(v);
        return true;
    }
    if (!assay__json_as_string(v, &s))
        return false;
    if (!strcmp(s, "inf"))
        *out = INFINITY;
    else if (!strcmp(s, "-inf"))
        *out = -INFINITY;
    else if (!strcmp(s, "nan"))
        *out = NAN;
    else
        return false;
    return true;
}

bool assay__json_as_string(const json_t *v, const char **out)
{
    if (!json_is_string(v))
        return false;
    *out = json_string_value(v);
    return true;
}

const char *assay__json_type_text(const json_t *v)
{
    if (!v)
        return "nothing";
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return "object";
    case JSON_ARRAY:
        return "array";
    case JSON_STRING:
        return "string";
    case JSON_INTEGER:
        return "integer";
    case JSON_REAL:
        return "number";
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        break;
    }
    return "null";
}

enum assay_status assay__json_only(const json_t *obj, const char *where, const char *const *keys,
                                   struct assay_err *err)
{
    const char *sep = where[0] ? ": " : "";

    if (!json_is_object(obj))
        return assay_fail(err, ASSAY_PARSE, "%s%sobject expected, got %s", where, sep,
                          assay__json_type_text(obj));
    /* The iterator functions do not change the object; they only lack a const. */
    for (void *it = json_object_iter((json_t *)obj); it;
         it = json_object_iter_next((json_t *)obj, it)) {
        const char *key = json_object_iter_key(it);
        const char *const *known = keys;

        while (*known && strcmp(*known, key))
            known++;
        if (!*known)
            return assay_fail(err, ASSAY_PARSE, "%s%sunknown field '%s'", where, sep, key);
    }
    return ASSAY_OK;
}

const char *assay__number_text(double v, char buf[ASSAY__NUMBER_MAX])
{
    if (isnan(v))
        return memcpy(buf, "nan", 4);
    if (isinf(v))
        return v > 0 ? memcpy(buf, "inf", 4) : memcpy(buf, "-inf", 5);
    if (v == 0) /* "-0" would be read back as the integer 0 */
        return signbit(v) ? memcpy(buf, "-0.0", 5) : memcpy(buf, "0", 2);
    if (fabs(v) < 1e15 && v == rint(v)) { /* %g would write 20 as 2e+01 */
        snprintf(buf, ASSAY__NUMBER_MAX, "%.0f", v);
        return buf;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buf, ASSAY__NUMBER_MAX, "%.*g", digits, v);
        if (strtod(buf, NULL) == v)
            break;
    }
    return buf;
}

void assay__json_add_number(struct assay_text *t, double v)
{
    char buf[ASSAY__NUMBER_MAX];

    assay_text_add(t, isfinite(v) ? "%s" : "\"%s\"", assay__number_text(v, buf));
}

void assay__json_add_string(struct assay_text *t, const char *s)
{
    const unsigned char *p = (const unsigned char *)s;

    if (!s) {
        assay_text_add_n(t, "null", 4);
        return;
    }
    assay_text_add_n(t, "\"", 1);
    while (*p) {
        size_t n = assay__utf8_len(p);

        if (*p == '"' || *p == '\\')
            assay_text_add(t, "\\%c", *p);
        else if (*p == '\n')
            assay_text_add_n(t, "\\n", 2);
        else if (*p < 0x20)
            assay_text_add(t, "\\u%04x", (unsigned)*p);
        else if (!n)
            assay_text_add_n(t, "?", 1);
        else
            assay_text_add_n(t, (const char *)p, n);
        p += n ? n : 1;
    }
    assay_text_add_n(t, "\"", 1);
}
