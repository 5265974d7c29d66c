/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_tree.c: builds the tree from libyaml's events; the parser's own loader has no limits. */
#include "cases/yaml_tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef ASSAY_HAVE_YAML
#include <yaml.h>

enum { MAX_ANCHORS = 256 };

struct anchor {
    const char *name;
    struct assay__yaml *node;
    bool open; /* an alias within its own node would make a cycle */
};

/* Items collected so far of one open list or map. */
struct level {
    struct assay__yaml *node;
    struct assay__yaml **item;
    int n, cap;
    int anchor; /* -1: none */
};

struct builder {
    yaml_parser_t parser;
    struct assay_arena *arena;
    struct assay_err *err;
    struct level level[ASSAY__YAML_MAX_DEPTH];
    int depth;
    struct anchor anchors[MAX_ANCHORS];
    int n_anchors, n_nodes;
    struct assay__yaml *root;
};

static enum assay_status no_memory(struct builder *b)
{
    return assay_fail(b->err, ASSAY_NOMEM, "no memory for a YAML document");
}

static enum assay_status new_node(struct builder *b, const yaml_event_t *e,
                                  enum assay__yaml_kind kind, struct assay__yaml **out)
{
    int line = (int)e->start_mark.line + 1;

    if (++b->n_nodes > ASSAY__YAML_MAX_NODES)
        return assay_fail(b->err, ASSAY_PARSE, "line %d: more than %d nodes", line,
                          ASSAY__YAML_MAX_NODES);
    *out = assay_arena_zero(b->arena, sizeof **out);
    if (!*out)
        return no_memory(b);
    (*out)->kind = kind;
    (*out)->line = line;
    (*out)->expanded = 1;
    return ASSAY_OK;
}

static enum assay_status name_anchor(struct builder *b, const yaml_char_t *name,
                                     struct assay__yaml *node, bool open, int *at)
{
    *at = -1;
    if (!name)
        return ASSAY_OK;
    if (b->n_anchors == MAX_ANCHORS)
        return assay_fail(b->err, ASSAY_PARSE, "line %d: more than %d anchors", node->line,
                          MAX_ANCHORS);
    *at = b->n_anchors++;
    b->anchors[*at].name = assay_arena_strdup(b->arena, (const char *)name);
    b->anchors[*at].node = node;
    b->anchors[*at].open = open;
    return b->anchors[*at].name ? ASSAY_OK : no_memory(b);
}

/* Hangs a finished node below the innermost open one; line is where it (or its alias) stands. */
static enum assay_status attach(struct builder *b, struct assay__yaml *node, int line)
{
    struct level *l;

    if (b->depth == 0) {
        b->root = node;
        return ASSAY_OK;
    }
    l = &b->level[b->depth - 1];
    l->node->expanded += node->expanded;
    if (l->node->expanded > ASSAY__YAML_MAX_NODES)
        return assay_fail(b->err, ASSAY_PARSE, "line %d: aliases unfold to more than %d nodes",
                          line, ASSAY__YAML_MAX_NODES);
    if (l->n == l->cap) {
        int cap = l->cap ? 2 * l->cap : 8;
        struct assay__yaml **item = assay_arena_array(b->arena, (size_t)cap, sizeof *item);

        if (!item)
            return no_memory(b);
        if (l->n)
            memcpy(item, l->item, (size_t)l->n * sizeof *item);
        l->item = item;
        l->cap = cap;
    }
    l->item[l->n++] = node;
    return ASSAY_OK;
}

static enum assay_status open_node(struct builder *b, const yaml_event_t *e,
                                   enum assay__yaml_kind kind, const yaml_char_t *anchor)
{
    struct assay__yaml *node;
    struct level *l;

    if (b->depth == ASSAY__YAML_MAX_DEPTH)
        return assay_fail(b->err, ASSAY_PARSE, "line %d: nested deeper than %d",
                          (int)e->start_mark.line + 1, ASSAY__YAML_MAX_DEPTH);
    ASSAY_TRY(new_node(b, e, kind, &node));
    l = &b->level[b->depth++];
    *l = (struct level){ .node = node };
    return name_anchor(b, anchor, node, true, &l->anchor);
}

static enum assay_status check_keys(struct builder *b, const struct level *l)
{
    for (int i = 0; i < l->n; i += 2) {
        if (l->item[i]->kind != ASSAY__YAML_SCALAR)
            return assay_fail(b->err, ASSAY_PARSE, "line %d: a key must be a word, got %s",
                              l->item[i]->line, assay__yaml_kind_text(l->item[i]));
        /* Maps of case files have a handful of keys; a hostile one ends at the first repeated pair.
         */
        if (l->n > 2 * 64)
            return assay_fail(b->err, ASSAY_PARSE, "line %d: a map with %d keys", l->node->line,
                              l->n / 2);
        for (int k = 0; k < i; k += 2)
            if (strcmp(l->item[i]->text, l->item[k]->text) == 0)
                return assay_fail(b->err, ASSAY_PARSE, "line %d: duplicate key '%s'",
                                  l->item[i]->line, l->item[i]->text);
    }
    return ASSAY_OK;
}

static enum assay_status close_node(struct builder *b)
{
    struct level *l = &b->level[--b->depth];

    l->node->item = l->item;
    l->node->n = l->n;
    if (l->node->kind == ASSAY__YAML_MAP) {
        ASSAY_TRY(check_keys(b, l));
        l->node->n = l->n / 2;
    }
    if (l->anchor >= 0)
        b->anchors[l->anchor].open = false;
    return attach(b, l->node, l->node->line);
}

static bool is_null(const yaml_event_t *e)
{
    static const char *const words[] = { "", "~", "null", "Null", "NULL" };

    if (e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp((const char *)e->data.scalar.value, words[i]) == 0)
            return true;
    return false;
}

static enum assay_status add_scalar(struct builder *b, const yaml_event_t *e)
{
    const char *text = (const char *)e->data.scalar.value;
    struct assay__yaml *node;
    int anchor;

    if (memchr(text, 0, e->data.scalar.length))
        return assay_fail(b->err, ASSAY_PARSE, "line %d: a zero byte in a text",
                          (int)e->start_mark.line + 1);
    ASSAY_TRY(new_node(b, e, is_null(e) ? ASSAY__YAML_NULL : ASSAY__YAML_SCALAR, &node));
    if (node->kind == ASSAY__YAML_SCALAR) {
        node->text = assay_arena_strdup(b->arena, text);
        if (!node->text)
            return no_memory(b);
    }
    ASSAY_TRY(name_anchor(b, e->data.scalar.anchor, node, false, &anchor));
    return attach(b, node, node->line);
}

static enum assay_status add_alias(struct builder *b, const yaml_event_t *e)
{
    const char *name = (const char *)e->data.alias.anchor;
    int line = (int)e->start_mark.line + 1;

    for (int i = b->n_anchors - 1; i >= 0; i--) {
        if (strcmp(b->anchors[i].name, name) != 0)
            continue;
        if (b->anchors[i].open)
            return assay_fail(b->err, ASSAY_PARSE, "line %d: alias '%s' stands within itself", line,
                              name);
        return attach(b, b->anchors[i].node, line);
    }
    return assay_fail(b->err, ASSAY_PARSE, "line %d: unknown alias '%s'", line, name);
}

static enum assay_status take(struct builder *b, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return add_scalar(b, e);
    case YAML_ALIAS_EVENT:
        return add_alias(b, e);
    case YAML_SEQUENCE_START_EVENT:
        return open_node(b, e, ASSAY__YAML_LIST, e->data.sequence_start.anchor);
    case YAML_MAPPING_START_EVENT:
        return open_node(b, e, ASSAY__YAML_MAP, e->data.mapping_start.anchor);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_node(b);
    case YAML_DOCUMENT_START_EVENT:
        if (b->root)
            return assay_fail(b->err, ASSAY_PARSE, "line %d: a second document",
                              (int)e->start_mark.line + 1);
        return ASSAY_OK;
    default:
        return ASSAY_OK;
    }
}

static enum assay_status build(struct builder *b)
{
    enum assay_status st = ASSAY_OK;
    bool done = false;

    while (!st && !done) {
        yaml_event_t event;

        if (!yaml_parser_parse(&b->parser, &event)) {
            if (b->parser.error == YAML_MEMORY_ERROR)
                return assay_fail(b->err, ASSAY_NOMEM, "no memory for a YAML document");
            return assay_fail(b->err, ASSAY_PARSE, "line %zu: %s", b->parser.problem_mark.line + 1,
                              b->parser.problem ? b->parser.problem : "malformed YAML");
        }
        done = event.type == YAML_STREAM_END_EVENT;
        st = take(b, &event);
        yaml_event_delete(&event);
    }
    return st;
}

enum assay_status assay__yaml_parse(struct assay__yaml **root, const char *text, size_t len,
                                    struct assay_arena *arena, struct assay_err *err)
{
    struct builder *b = assay_alloc_zero(sizeof *b);
    enum assay_status st;

    if (!b)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a YAML document");
    if (!yaml_parser_initialize(&b->parser)) {
        free(b);
        return assay_fail(err, ASSAY_NOMEM, "no memory for a YAML document");
    }
    b->arena = arena;
    b->err = err;
    yaml_parser_set_input_string(&b->parser, (const unsigned char *)text, len);
    st = build(b);
    if (!st && !b->root)
        st = assay_fail(err, ASSAY_PARSE, "line 1: no document");
    if (!st)
        *root = b->root;
    yaml_parser_delete(&b->parser);
    free(b);
    return st;
}

#else

enum assay_status assay__yaml_parse(struct assay__yaml **root, const char *text, size_t len,
                                    struct assay_arena *arena, struct assay_err *err)
{
    (void)root;
    (void)text;
    (void)len;
    (void)arena;
    return assay_fail(err, ASSAY_UNSUPPORTED,
                      "official suites need libyaml, this was built without it");
}

#endif

struct assay__yaml *assay__yaml_get(const struct assay__yaml *map, const char *key)
{
    if (!map || map->kind != ASSAY__YAML_MAP)
        return NULL;
    for (int i = 0; i < map->n; i++)
        if (strcmp(map->item[2 * i]->text, key) == 0)
            return map->item[2 * i + 1];
    return NULL;
}

bool assay__yaml_int(const struct assay__yaml *v, int64_t *out)
{
    const char *digits;
    char *end;
    long long got;

    if (!v || v->kind != ASSAY__YAML_SCALAR)
        return false;
    digits = v->text + (v->text[0] == '-' || v->text[0] == '+');
    if (!digits[0] || strspn(digits, "0123456789") != strlen(digits))
        return false;
    errno = 0;
    got = strtoll(v->text, &end, 10);
    if (errno || *end)
        return false;
    *out = got;
    return true;
}

static bool special_number(const char *s, double *out)
{
    static const char *const infs[] = { "inf", "Inf", "INF" };
    static const char *const nans[] = { "nan", "NaN", "NAN" };
    double sign = s[0] == '-' ? -1 : 1;

    s += s[0] == '-' || s[0] == '+';
    s += s[0] == '.';
    for (int i = 0; i < 3; i++) {
        if (strcmp(s, infs[i]) == 0) {
            *out = sign * INFINITY;
            return true;
        }
        if (strcmp(s, nans[i]) == 0) {
            *out = NAN;
            return true;
        }
    }
    return false;
}

bool assay__yaml_number(const struct assay__yaml *v, double *out)
{
    char *end;
    double got;

    if (!v || v->kind != ASSAY__YAML_SCALAR)
        return false;
    if (special_number(v->text, out))
        return true;
    /* Decimal digits only: strtod alone would take hexadecimal and its own words. */
    if (!v->text[0] || strspn(v->text, "0123456789+-.eE") != strlen(v->text))
        return false;
    got = strtod(v->text, &end);
    if (end == v->text || *end || isinf(got))
        return false;
    *out = got;
    return true;
}

bool assay__yaml_bool(const struct assay__yaml *v, bool *out)
{
    static const char *const words[] = { "false", "true", "False", "True", "FALSE", "TRUE" };

    if (!v || v->kind != ASSAY__YAML_SCALAR)
        return false;
    for (int i = 0; i < 6; i++)
        if (strcmp(v->text, words[i]) == 0) {
            *out = i % 2;
            return true;
        }
    return false;
}

const char *assay__yaml_kind_text(const struct assay__yaml *v)
{
    static const char *const names[] = { "null", "scalar", "list", "map" };

    return v ? names[v->kind] : "nothing";
}
