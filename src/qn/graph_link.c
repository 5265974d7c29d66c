/* SPDX-License-Identifier: Apache-2.0 */
/* graph_link.c: names become indices, the list an order, and each layer gets its shape. */
#include "qn/graph.h"

#include <stdlib.h>
#include <string.h>

/* Products and memory are counted in int and size_t: no tensor of a sample is larger. */
static const double max_values = 2147483647.0;

struct name {
    const char *text;
    int at;
};

struct linker {
    struct qn_graph *g;
    const struct qn__listed *listed;
    int n;
    struct name *names;       /* sorted */
    int (*in)[QN_MAX_INPUTS]; /* indices in the list */
    int *place;               /* index in the order; -1: not yet */
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static enum assay_status sort_names(struct linker *k, struct assay_err *err)
{
    for (int i = 0; i < k->n; i++)
        k->names[i] = (struct name){ k->listed[i].layer.name, i };
    qsort(k->names, (size_t)k->n, sizeof *k->names, by_text);
    for (int i = 1; i < k->n; i++)
        if (strcmp(k->names[i].text, k->names[i - 1].text) == 0)
            return assay_fail(err, ASSAY_PARSE, "two layers are called '%s'", k->names[i].text);
    return ASSAY_OK;
}

static enum assay_status resolve(struct linker *k, struct assay_err *err)
{
    for (int i = 0; i < k->n; i++)
        for (int j = 0; j < k->listed[i].layer.n_in; j++) {
            struct name want = { k->listed[i].from[j], 0 };
            const struct name *found =
                bsearch(&want, k->names, (size_t)k->n, sizeof *k->names, by_text);

            if (!found)
                return assay_fail(err, ASSAY_PARSE, "layers[%d] (%s): there is no layer '%.60s'",
                                  i - 1, k->listed[i].layer.name, want.text);
            k->in[i][j] = found->at;
        }
    return ASSAY_OK;
}

static bool ready(const struct linker *k, int i)
{
    for (int j = 0; j < k->listed[i].layer.n_in; j++)
        if (k->place[k->in[i][j]] < 0)
            return false;
    return true;
}

/* Some layer of a cycle: going back along inputs that have no place leads into one. */
static enum assay_status fail_cycle(const struct linker *k, struct assay_err *err)
{
    int at = 0, other = 0;

    while (k->place[at] >= 0)
        at++;
    for (int step = 0; step <= k->n; step++) {
        int j = 0;

        while (k->place[k->in[at][j]] >= 0)
            j++;
        other = at;
        at = k->in[at][j];
    }
    return assay_fail(err, ASSAY_PARSE,
                      "the layers form a cycle, of which '%s' that reads '%s' is a part",
                      k->listed[other].layer.name, k->listed[at].layer.name);
}

/* In listed order as far as inputs allow. */
static enum assay_status order(struct linker *k, struct assay_err *err)
{
    struct qn_graph *g = k->g;
    bool moved = true;

    for (int i = 0; i < k->n; i++)
        k->place[i] = -1;
    while (moved && g->n_layers < k->n) {
        moved = false;
        for (int i = 0; i < k->n; i++) {
            struct qn_layer *l = &g->layers[g->n_layers];

            if (k->place[i] >= 0 || !ready(k, i))
                continue;
            *l = k->listed[i].layer;
            for (int j = 0; j < l->n_in; j++)
                l->in[j] = k->place[k->in[i][j]];
            k->place[i] = g->n_layers++;
            moved = true;
        }
    }
    return g->n_layers < k->n ? fail_cycle(k, err) : ASSAY_OK;
}

/* One layer alone is not read by others: the result. It moves to the end. */
static enum assay_status check_users(struct qn_graph *g, struct assay_err *err)
{
    for (int i = 0; i < g->n_layers; i++)
        for (int j = 0; j < g->layers[i].n_in; j++)
            g->layers[g->layers[i].in[j]].n_users++;
    for (int i = 0; i + 1 < g->n_layers; i++)
        if (!g->layers[i].n_users)
            return assay_fail(err, ASSAY_PARSE,
                              "nothing reads layer '%s', and it is not the last one ('%s')",
                              g->layers[i].name, g->layers[g->n_layers - 1].name);
    return ASSAY_OK;
}

static enum assay_status check_size(const struct qn_layer *l, const struct qn_shape *const *in,
                                    struct assay_err *err)
{
    double values = (double)l->shape.c * (double)l->shape.h * (double)l->shape.w;
    struct qn_decl d[QN_MAX_LAYER_PARAMS];
    int n = l->type->params ? l->type->params(l, in, d) : 0;

    if (values > max_values)
        return assay_fail(err, ASSAY_PARSE, "%lldx%lldx%lld values are too many for one layer",
                          (long long)l->shape.c, (long long)l->shape.h, (long long)l->shape.w);
    for (int i = 0; i < n; i++) {
        double size = 1;

        for (int j = 0; j < d[i].rank; j++)
            size *= (double)d[i].dims[j];
        if (size > max_values)
            return assay_fail(err, ASSAY_PARSE, "%.0f values are too many for a %s", size,
                              d[i].suffix);
    }
    return ASSAY_OK;
}

static enum assay_status shapes(struct qn_graph *g, struct assay_err *err)
{
    for (int i = 0; i < g->n_layers; i++) {
        struct qn_layer *l = &g->layers[i];
        const struct qn_shape *in[QN_MAX_INPUTS];
        enum assay_status st = ASSAY_OK;

        for (int j = 0; j < l->n_in; j++)
            in[j] = &g->layers[l->in[j]].shape;
        if (i)
            st = l->type->shape(l, in, err);
        if (!st)
            st = check_size(l, in, err);
        if (st)
            return assay_wrap(err, st, "layer '%s'", l->name);
    }
    return ASSAY_OK;
}

enum assay_status qn__graph_link(struct qn_graph *g, const struct qn__listed *listed, int n,
                                 struct assay_err *err)
{
    struct linker k = { .g = g, .listed = listed, .n = n };

    g->layers = assay_arena_array(&g->arena, (size_t)n, sizeof *g->layers);
    k.names = assay_arena_array(&g->arena, (size_t)n, sizeof *k.names);
    k.in = assay_arena_array(&g->arena, (size_t)n, sizeof *k.in);
    k.place = assay_arena_array(&g->arena, (size_t)n, sizeof *k.place);
    if (!g->layers || !k.names || !k.in || !k.place)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %d layers", n);
    ASSAY_TRY(sort_names(&k, err));
    ASSAY_TRY(resolve(&k, err));
    ASSAY_TRY(order(&k, err));
    ASSAY_TRY(check_users(g, err));
    return shapes(g, err);
}
