/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c: reads the description of a network, a JSON object. */
#include "qn/graph.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FILE_CAP = 4 << 20, WHERE = 160, MAX_KEYS = 24, FORMAT = 1 };

static const double max_extent = 1 << 20, max_classes = 1 << 20;

struct reader {
    struct qn_graph *g;
    const struct qn_graph_size *size;
    int64_t classes; /* 0: the description names none */
    struct qn__listed *listed;
    int n;
};

/* ---- attributes of a layer ------------------------------------------------------------------- */

static enum assay_status in_range(double v, const struct qn_attr *a, const char *where,
                                  struct assay_err *err)
{
    if (!(v >= a->min && v <= a->max))
        return assay_fail(err, ASSAY_PARSE, "%s: field '%s': %g is outside [%g, %g]", where, a->key,
                          v, a->min, a->max);
    return ASSAY_OK;
}

static enum assay_status get_int(const struct reader *r, const json_t *v, const char *where,
                                 const struct qn_attr *a, int64_t *out, struct assay_err *err)
{
    const char *text;

    if (assay__json_as_string(v, &text) && strcmp(text, "classes") == 0) {
        if (!r->classes)
            return assay_fail(err, ASSAY_PARSE,
                              "%s: field '%s' is 'classes', but the network has no such field",
                              where, a->key);
        *out = r->classes;
    } else if (!assay__json_as_int(v, out)) {
        return assay_fail(err, ASSAY_PARSE, "%s: field '%s': integer expected, got %s", where,
                          a->key, assay__json_type_text(v));
    }
    return in_range((double)*out, a, where, err);
}

/* A number for all places, or one each. */
static enum assay_status get_ints(const struct reader *r, const json_t *v, const char *where,
                                  const struct qn_attr *a, int n, int64_t *out,
                                  struct assay_err *err)
{
    size_t given = json_is_array(v) ? json_array_size(v) : 0;

    if (!json_is_array(v)) {
        ASSAY_TRY(get_int(r, v, where, a, out, err));
        for (int i = 1; i < n; i++)
            out[i] = out[0];
        return ASSAY_OK;
    }
    if (given != 2 && given != (size_t)n)
        return assay_fail(err, ASSAY_PARSE, "%s: field '%s': %s expected, got a list of %zu", where,
                          a->key,
                          n == 2 ? "a number or [height, width]"
                                 : "a number, [height, width] or [top, left, bottom, right]",
                          given);
    for (int i = 0; i < n; i++)
        ASSAY_TRY(get_int(r, json_array_get(v, (size_t)i % given), where, a, &out[i], err));
    return ASSAY_OK;
}

static void set_start(const struct qn_attr *a, char *at)
{
    int n = a->kind == QN_ATTR_PAD ? 4 : a->kind == QN_ATTR_PAIR ? 2 : 1;

    if (a->kind == QN_ATTR_BOOL) {
        *(bool *)(void *)at = a->start != 0;
    } else if (a->kind == QN_ATTR_NUMBER) {
        *(double *)(void *)at = a->start;
    } else {
        for (int i = 0; i < n; i++)
            ((int64_t *)(void *)at)[i] = (int64_t)a->start;
    }
}

static enum assay_status get_attr(const struct reader *r, const json_t *obj, const char *where,
                                  const struct qn_attr *a, struct qn_attrs *attrs,
                                  struct assay_err *err)
{
    char *at = (char *)attrs + a->at;
    const json_t *v = json_object_get(obj, a->key);

    set_start(a, at);
    if (!v && a->required)
        return assay_fail(err, ASSAY_PARSE, "%s: field '%s' missing", where, a->key);
    if (!v)
        return ASSAY_OK;
    switch (a->kind) {
    case QN_ATTR_INT:
        return get_int(r, v, where, a, (int64_t *)(void *)at, err);
    case QN_ATTR_PAIR:
        return get_ints(r, v, where, a, 2, (int64_t *)(void *)at, err);
    case QN_ATTR_PAD:
        return get_ints(r, v, where, a, 4, (int64_t *)(void *)at, err);
    case QN_ATTR_BOOL:
        return assay__json_bool(obj, where, a->key, (bool *)(void *)at, err);
    case QN_ATTR_NUMBER:
        ASSAY_TRY(assay__json_number(obj, where, a->key, (double *)(void *)at, err));
        return in_range(*(double *)(void *)at, a, where, err);
    }
    return ASSAY_OK;
}

/* Windows of layers that have no such field are of one value. */
static struct qn_attrs plain_attrs(void)
{
    return (struct qn_attrs){
        .kernel = { 1, 1 }, .stride = { 1, 1 }, .dilation = { 1, 1 }, .groups = 1, .quantise = true
    };
}

static enum assay_status get_attrs(const struct reader *r, const json_t *obj, const char *where,
                                   struct qn_layer *l, struct assay_err *err)
{
    const char *keys[MAX_KEYS + 4] = { "type", "name", "from" };
    int n = 3;

    l->attrs = plain_attrs();
    for (const struct qn_attr *a = l->type->attrs; a && a->key && n < MAX_KEYS; a++)
        keys[n++] = a->key;
    ASSAY_TRY(assay__json_only(obj, where, keys, err));
    for (const struct qn_attr *a = l->type->attrs; a && a->key; a++)
        ASSAY_TRY(get_attr(r, obj, where, a, &l->attrs, err));
    /* a stride that is not given is the kernel's extent, for pools */
    for (int i = 0; i < 2; i++)
        if (l->attrs.stride[i] == 0)
            l->attrs.stride[i] = l->attrs.kernel[i];
    return ASSAY_OK;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static enum assay_status set_name(char name[QN_MAX_NAME], const char *text, const char *where,
                                  struct assay_err *err)
{
    size_t n = strlen(text);

    if (n == 0 || n >= QN_MAX_NAME)
        return assay_fail(err, ASSAY_PARSE, "%s: field 'name': 1 to %d characters expected", where,
                          QN_MAX_NAME - 1);
    for (size_t i = 0; i < n; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return assay_fail(err, ASSAY_PARSE,
                              "%s: field 'name': a character that is no printable ASCII", where);
    memcpy(name, text, n + 1);
    return ASSAY_OK;
}

/* Without a name: its kind and place in the list. */
static enum assay_status get_name(const json_t *obj, const char *where, int index,
                                  struct qn_layer *l, struct assay_err *err)
{
    const char *text;

    if (!assay__json_has(obj, "name")) {
        snprintf(l->name, sizeof l->name, "%s%d", l->type->name, index);
        return ASSAY_OK;
    }
    ASSAY_TRY(assay__json_string(obj, where, "name", &text, err));
    return set_name(l->name, text, where, err);
}

static enum assay_status get_from(struct reader *r, const json_t *obj, const char *where,
                                  struct qn__listed *to, struct assay_err *err)
{
    const json_t *from = json_object_get(obj, "from");
    size_t n = json_is_array(from) ? json_array_size(from) : 1;

    if (n > QN_MAX_INPUTS)
        return assay_fail(err, ASSAY_PARSE, "%s: field 'from': %zu inputs, at most %d", where, n,
                          QN_MAX_INPUTS);
    to->layer.n_in = (int)n;
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_is_array(from) ? json_array_get(from, i) : from;

        if (!from)
            to->from[0] = r->listed[r->n - 1].layer.name;
        else if (!assay__json_as_string(v, &to->from[i]))
            return assay_fail(err, ASSAY_PARSE,
                              "%s: field 'from': name of a layer expected, got %s", where,
                              assay__json_type_text(v));
    }
    if ((int)n < to->layer.type->min_in || (int)n > to->layer.type->max_in)
        return assay_fail(err, ASSAY_PARSE, "%s: %zu inputs, %s %d expected", where, n,
                          to->layer.type->min_in < to->layer.type->max_in ? "at least" : "exactly",
                          to->layer.type->min_in);
    return ASSAY_OK;
}

static enum assay_status get_layer(struct reader *r, const json_t *obj, struct assay_err *err)
{
    struct qn__listed *to = &r->listed[r->n];
    char where[WHERE];
    const char *kind;

    snprintf(where, sizeof where, "layers[%d]", r->n - 1);
    if (!json_is_object(obj))
        return assay_fail(err, ASSAY_PARSE, "%s: object expected, got %s", where,
                          assay__json_type_text(obj));
    ASSAY_TRY(assay__json_string(obj, where, "type", &kind, err));
    to->layer.type = qn__layer_type(kind);
    if (!to->layer.type)
        return assay_fail(err, ASSAY_PARSE, "%s: unknown layer '%.40s'; %s expected", where, kind,
                          qn__layer_names());
    ASSAY_TRY(get_name(obj, where, r->n, &to->layer, err));
    snprintf(where, sizeof where, "layers[%d] (%s)", r->n - 1, to->layer.name);
    ASSAY_TRY(get_attrs(r, obj, where, &to->layer, err));
    ASSAY_TRY(get_from(r, obj, where, to, err));
    r->n++;
    return ASSAY_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum assay_status get_input(struct reader *r, const json_t *root, struct assay_err *err)
{
    static const struct qn_attr extent = { "input", QN_ATTR_INT, 0, true, 0, 1, 1 << 20 };
    struct qn_layer *l = &r->listed[0].layer;
    int64_t v[3];
    json_t *list;

    l->type = &qn_layer_input;
    l->attrs = plain_attrs();
    snprintf(l->name, sizeof l->name, "input");
    r->n = 1;
    ASSAY_TRY(assay__json_array(root, "", "input", &list, err));
    if (json_array_size(list) != 3)
        return assay_fail(err, ASSAY_PARSE,
                          "field 'input': [channels, height, width] expected, got a list of %zu",
                          json_array_size(list));
    for (size_t i = 0; i < 3; i++)
        ASSAY_TRY(get_int(r, json_array_get(list, i), "network", &extent, &v[i], err));
    l->shape = (struct qn_shape){ v[0], v[1], v[2] };
    if (r->size && r->size->input.c > 0)
        l->shape = r->size->input;
    if ((double)l->shape.c > max_extent || (double)l->shape.h > max_extent ||
        (double)l->shape.w > max_extent || l->shape.h < 1 || l->shape.w < 1)
        return assay_fail(err, ASSAY_PARSE, "an input of %lldx%lldx%lld", (long long)l->shape.c,
                          (long long)l->shape.h, (long long)l->shape.w);
    return ASSAY_OK;
}

static enum assay_status get_head(struct reader *r, const json_t *root, struct assay_err *err)
{
    static const char *const keys[] = { "format",  "name",   "about", "input",
                                        "classes", "layers", NULL };
    static const struct qn_attr classes = { "classes", QN_ATTR_INT, 0, false, 0, 1, 1 << 20 };
    int64_t format;
    const char *name;

    ASSAY_TRY(assay__json_only(root, "network", keys, err));
    ASSAY_TRY(assay__json_int(root, "", "format", &format, err));
    if (format != FORMAT)
        return assay_fail(err, ASSAY_PARSE, "network of format %lld; this program reads format %d",
                          (long long)format, FORMAT);
    ASSAY_TRY(assay__json_string(root, "", "name", &name, err));
    ASSAY_TRY(set_name(r->g->name, name, "network", err));
    if (assay__json_has(root, "classes"))
        ASSAY_TRY(
            get_int(r, json_object_get(root, "classes"), "network", &classes, &r->classes, err));
    if (r->size && r->size->classes > 0)
        r->classes = r->size->classes;
    if ((double)r->classes > max_classes)
        return assay_fail(err, ASSAY_PARSE, "%lld classes", (long long)r->classes);
    return get_input(r, root, err);
}

static enum assay_status get_graph(struct reader *r, const json_t *root, struct assay_err *err)
{
    json_t *layers;
    size_t n;

    ASSAY_TRY(assay__json_array(root, "", "layers", &layers, err));
    n = json_array_size(layers);
    if (n == 0 || n >= QN_MAX_LAYERS)
        return assay_fail(err, ASSAY_PARSE, "%zu layers, 1 to %d expected", n, QN_MAX_LAYERS - 1);
    r->listed = assay_arena_zero(&r->g->arena, (n + 1) * sizeof *r->listed);
    if (!r->listed)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %zu layers", n);
    ASSAY_TRY(get_head(r, root, err));
    for (size_t i = 0; i < n; i++)
        ASSAY_TRY(get_layer(r, json_array_get(layers, i), err));
    return qn__graph_link(r->g, r->listed, r->n, err);
}

static enum assay_status from_root(struct qn_graph *g, json_t *root,
                                   const struct qn_graph_size *size, struct assay_err *err)
{
    struct reader r = { .g = g, .size = size };
    enum assay_status st;

    if (json_is_object(root))
        st = get_graph(&r, root, err);
    else
        st = assay_fail(err, ASSAY_PARSE, "a network is an object, got %s",
                        assay__json_type_text(root));
    json_decref(root);
    if (st)
        qn_graph_release(g);
    return st;
}

enum assay_status qn_graph_parse(struct qn_graph *g, const char *text, size_t len,
                                 const struct qn_graph_size *size, struct assay_err *err)
{
    json_t *root;

    ASSAY_TRY(assay__json_parse(&root, text, len, err));
    return from_root(g, root, size, err);
}

enum assay_status qn_graph_read(struct qn_graph *g, const char *path,
                                const struct qn_graph_size *size, struct assay_err *err)
{
    enum assay_status st;
    json_t *root;

    ASSAY_TRY(assay__json_read(&root, path, FILE_CAP, err));
    st = from_root(g, root, size, err);
    return st ? assay_wrap(err, st, "%s", path) : ASSAY_OK;
}

void qn_graph_release(struct qn_graph *g)
{
    assay_arena_release(&g->arena);
    *g = (struct qn_graph){ 0 };
}

int qn_graph_find(const struct qn_graph *g, const char *name)
{
    for (int i = 0; i < g->n_layers; i++)
        if (strcmp(g->layers[i].name, name) == 0)
            return i;
    return -1;
}
