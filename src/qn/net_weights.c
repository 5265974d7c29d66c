/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_weights.c: parameters of networks into bundles and out of them.
 *
 * Loading makes a plan first - for each parameter what it is filled from - and checks all of it;
 * only then is the net written to, where nothing can fail any more.
 */
#include "qn/bundle_parts.h"
#include "qn/layer.h"
#include "qn/net_names.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- saving ---------------------------------------------------------------------------------- */

/* Levels of the quantiser that a parameter belongs to: of one that is shared, those of any layer.
 */
static const struct qn_levels *levels_of(struct qn_net *net, const struct qn_param *alpha)
{
    const struct qn_quant *q = NULL;

    for (int i = 0; i < qn_net_graph(net)->n_layers; i++) {
        q = qn_net_quant(net, i);
        if (q && q->alpha.raw == alpha->v)
            break;
    }
    return &q->config.levels;
}

static enum assay_status save_levels(struct qn_net *net, const struct qn_param *alpha,
                                     struct qn_bundle *b, struct assay_err *err)
{
    const struct qn_levels *l = levels_of(net, alpha);
    char name[QN_MAX_ENTRY_NAME];
    int64_t n = l->n;

    snprintf(name, sizeof name, "%.*slevels", (int)(strrchr(alpha->name, '.') + 1 - alpha->name),
             alpha->name);
    return qn_bundle_add(b, name, QN_F32, 1, &n, l->y, NULL, err);
}

enum assay_status qn_net_save(struct qn_net *net, struct qn_bundle *b, struct assay_err *err)
{
    for (int i = 0; i < qn_net_n_params(net); i++) {
        const struct qn_param *p = qn_net_param(net, i);

        ASSAY_TRY(qn_bundle_add(b, p->name, QN_F32, p->rank, p->dims, p->v, NULL, err));
        if (p->role == QN_ALPHA)
            ASSAY_TRY(save_levels(net, p, b, err));
    }
    return ASSAY_OK;
}

/* ---- the plan -------------------------------------------------------------------------------- */

enum from {
    NOTHING, /* yet */
    KEPT,
    COPIED, /* entry, less another one */
    CONSTANT
};

struct fill {
    enum from from;
    const struct qn_entry *entry, *less; /* or NULL */
    float constant;
};

struct loading {
    struct qn_net *net;
    const struct qn_bundle *b;
    enum qn_load how;
    const struct qn__name_map *map;
    struct qn_bundle names; /* entry i is parameter i of the net */
    struct fill *fills;     /* [n_params] */
    struct qn_load_report report;
};

static bool of_quantiser(enum qn_role role)
{
    return role == QN_ALPHA || role == QN_BETA || role == QN_THRESHOLD || role == QN_START;
}

static int find_param(const struct loading *l, const char *name)
{
    const struct qn_entry *e = qn_bundle_find(&l->names, name);

    return e ? (int)(e - l->names.entries) : -1;
}

static enum assay_status list_names(struct loading *l, struct assay_err *err)
{
    int n = qn_net_n_params(l->net);

    l->fills = assay_alloc_zero(((size_t)n + 1) * sizeof *l->fills);
    if (!l->fills)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %d parameters", n);
    for (int i = 0; i < n; i++) {
        const struct qn_param *p = qn_net_param(l->net, i);

        ASSAY_TRY(qn__bundle_put(&l->names, p->name, QN_F32, p->rank, p->dims, p->v, err));
    }
    return ASSAY_OK;
}

/* The map under which most parameters are found, the first of those that are equal. */
static void choose_map(struct loading *l)
{
    int most = -1;

    for (const struct qn__name_map *m = qn__name_maps; m->what; m++) {
        int found = 0;

        for (int i = 0; i < l->b->n; i++) {
            struct qn__named to;

            qn__name_translate(m, l->b->entries[i].name, &to);
            found += to.use == QN__FILLS && find_param(l, to.name) >= 0;
        }
        if (found > most) {
            most = found;
            l->map = m;
        }
    }
}

/* ---- arrays of the bundle -------------------------------------------------------------------- */

/* The same shape, or one value in both. */
static bool fits(const struct qn_entry *e, const struct qn_param *p)
{
    bool same = e->rank == p->rank;

    for (int i = 0; same && i < e->rank; i++)
        same = e->dims[i] == p->dims[i];
    return same || (e->n == 1 && p->n == 1);
}

static enum assay_status check_fit(const struct qn_entry *e, const struct qn_param *p,
                                   struct assay_err *err)
{
    char theirs[QN__DIMS_TEXT], ours[QN__DIMS_TEXT];

    if (e->type != QN_F32)
        return assay_fail(err, ASSAY_INVALID, "'%s' holds %s, the net's '%s' f32", e->name,
                          qn_type_name(e->type), p->name);
    if (!fits(e, p))
        return assay_fail(err, ASSAY_INVALID, "'%s' is %s, the net's '%s' is %s", e->name,
                          qn__dims_text(e->rank, e->dims, theirs), p->name,
                          qn__dims_text(p->rank, p->dims, ours));
    return ASSAY_OK;
}

static enum assay_status fail_twice(const struct loading *l, int at, const struct qn_entry *e,
                                    const struct qn_entry *other, struct assay_err *err)
{
    return assay_fail(err, ASSAY_INVALID, "'%s' and '%s' are both for the net's '%s'", other->name,
                      e->name, qn_net_param(l->net, at)->name);
}

static enum assay_status use_entry(struct loading *l, int at, const struct qn_entry *e,
                                   const struct qn__named *to, struct assay_err *err)
{
    struct fill *f = &l->fills[at];
    int raw = to->raw[0] ? find_param(l, to->raw) : -1;

    ASSAY_TRY(check_fit(e, qn_net_param(l->net, at), err));
    if (f->entry)
        return fail_twice(l, at, e, f->entry, err);
    if (raw >= 0 && l->fills[raw].entry)
        return fail_twice(l, raw, e, l->fills[raw].entry, err);
    f->from = COPIED;
    f->entry = e;
    if (raw >= 0)
        l->fills[raw] = (struct fill){ .from = CONSTANT, .entry = e };
    l->report.n_loaded++;
    l->report.n_renamed += strcmp(e->name, to->name) != 0;
    return ASSAY_OK;
}

/* The running mean of the batch norm that alone reads the layer of a bias; -1: there is none. */
static int mean_behind(const struct loading *l, const char *bias)
{
    const struct qn_graph *g = qn_net_graph(l->net);
    char name[QN_MAX_NAME + 16];
    const char *end = strrchr(bias, '.');
    int layer;

    if (!end || strcmp(end, ".bias") != 0 || end - bias >= QN_MAX_NAME)
        return -1;
    snprintf(name, sizeof name, "%.*s", (int)(end - bias), bias);
    layer = qn_graph_find(g, name);
    if (layer < 0 || g->layers[layer].n_users != 1)
        return -1;
    for (int i = layer + 1; i < g->n_layers; i++)
        if (g->layers[i].type == &qn_layer_batch_norm && g->layers[i].in[0] == layer) {
            snprintf(name, sizeof name, "%s.running_mean", g->layers[i].name);
            return find_param(l, name);
        }
    return -1;
}

/* Whether a parameter is one that this way of loading does not touch. */
static bool left_alone(const struct loading *l, const struct qn_param *p)
{
    return of_quantiser(p->role) &&
           (l->how == QN_LOAD_FLOAT || (l->how == QN_LOAD_WEIGHTS && p->of_activations));
}

/* Whether a name begins as the net's do. */
static bool is_ours(const struct loading *l, const char *name)
{
    const struct qn_graph *g = qn_net_graph(l->net);
    size_t n = strcspn(name, ".");

    for (int i = 0; name[n] && i < g->n_layers; i++)
        if (strcspn(g->layers[i].name, ".") == n && strncmp(g->layers[i].name, name, n) == 0)
            return true;
    return false;
}

static void note_unused(struct loading *l, const struct qn_entry *e)
{
    if (!l->report.n_unused++)
        snprintf(l->report.unused, sizeof l->report.unused, "%.*s",
                 (int)sizeof l->report.unused - 1, e->name);
}

/* An array that is no parameter of the net. */
static enum assay_status use_other(struct loading *l, const struct qn_entry *e,
                                   const struct qn__named *to, struct assay_err *err)
{
    int mean = l->map->foreign ? mean_behind(l, to->name) : -1;

    if (mean >= 0) {
        ASSAY_TRY(check_fit(e, qn_net_param(l->net, mean), err));
        if (l->fills[mean].less)
            return fail_twice(l, mean, e, l->fills[mean].less, err);
        l->fills[mean].less = e;
        l->report.n_folded++;
        return ASSAY_OK;
    }
    if (is_ours(l, to->name) && !(l->how != QN_LOAD_STRICT && qn__name_is_quantiser(to->name)))
        return assay_fail(err, ASSAY_INVALID, "'%s': the net has no '%s'", e->name, to->name);
    note_unused(l, e);
    return ASSAY_OK;
}

/* Levels, or the steps between them, against those of the net's quantiser. */
static enum assay_status check_levels(struct loading *l, const struct qn_entry *e,
                                      const struct qn__named *to, struct assay_err *err)
{
    char name[sizeof to->name + 8];
    bool steps = to->use == QN__STEPS;
    const struct qn_levels *y;
    const float *v = e->data;
    bool same;
    int at;

    snprintf(name, sizeof name, "%.*salpha", (int)(strrchr(to->name, '.') + 1 - to->name),
             to->name);
    at = find_param(l, name);
    if (at < 0 || left_alone(l, qn_net_param(l->net, at)))
        return use_other(l, e, to, err);
    y = levels_of(l->net, qn_net_param(l->net, at));
    same = e->type == QN_F32 && e->n == y->n - steps;
    for (int64_t i = 0; same && i < e->n; i++)
        same = v[i] == (steps ? y->y[i + 1] - y->y[i] : y->y[i]);
    if (!same)
        return assay_fail(err, ASSAY_INVALID,
                          "'%s' has other levels than the net's quantiser: %d from %g to %g",
                          e->name, y->n, (double)y->y[0], (double)y->y[y->n - 1]);
    return ASSAY_OK;
}

static enum assay_status use_entries(struct loading *l, struct assay_err *err)
{
    for (int i = 0; i < l->b->n; i++) {
        const struct qn_entry *e = &l->b->entries[i];
        struct qn__named to;
        int at;

        qn__name_translate(l->map, e->name, &to);
        at = find_param(l, to.name);
        if (to.use == QN__IGNORED)
            continue;
        if (to.use != QN__FILLS)
            ASSAY_TRY(check_levels(l, e, &to, err));
        else if (at < 0)
            ASSAY_TRY(use_other(l, e, &to, err));
        else if (left_alone(l, qn_net_param(l->net, at)))
            note_unused(l, e);
        else
            ASSAY_TRY(use_entry(l, at, e, &to, err));
    }
    return ASSAY_OK;
}

/* ---- what the bundle does not have ----------------------------------------------------------- */

/* Of a batch norm that is to pass values on: (x - 0) * 1 / sqrt(variance + eps) + 0. */
static float identity(const struct loading *l, const struct qn_param *p)
{
    const struct qn_attrs *a = &qn_net_graph(l->net)->layers[p->layer].attrs;

    if (p->role == QN_VARIANCE)
        return (float)(1 - a->eps);
    return p->role == QN_GAMMA ? 1 : 0;
}

/* Whether nothing of a layer was found. */
static bool all_missing(const struct loading *l, int layer)
{
    for (int i = 0; i < qn_net_n_params(l->net); i++)
        if (qn_net_param(l->net, i)->layer == layer && l->fills[i].from == COPIED)
            return false;
    return true;
}

static void fill_rest(struct loading *l)
{
    bool pass = l->how != QN_LOAD_STRICT && l->map->lacks_batch_norm;

    for (int i = 0; i < qn_net_n_params(l->net); i++) {
        const struct qn_param *p = qn_net_param(l->net, i);
        struct fill *f = &l->fills[i];

        if (f->from != NOTHING)
            continue;
        if (left_alone(l, p)) {
            f->from = KEPT;
        } else if (p->role >= QN_GAMMA && p->role <= QN_VARIANCE && pass &&
                   all_missing(l, p->layer)) {
            f->from = CONSTANT;
            f->constant = identity(l, p);
            l->report.n_identity += p->role == QN_GAMMA;
        }
    }
}

static enum assay_status check_missing(const struct loading *l, struct assay_err *err)
{
    const struct qn_param *first = NULL;
    char hint[QN_MAX_ENTRY_NAME + 64] = "";
    int n = 0;

    for (int i = 0; i < qn_net_n_params(l->net); i++)
        if (l->fills[i].from == NOTHING) {
            first = first ? first : qn_net_param(l->net, i);
            n++;
        }
    if (!first)
        return ASSAY_OK;
    if (of_quantiser(first->role))
        snprintf(hint, sizeof hint, "; load it as float weights to keep the net's");
    else if (!l->b->n)
        snprintf(hint, sizeof hint, "; there are no arrays");
    else if (!l->report.n_loaded)
        snprintf(hint, sizeof hint, "; the first array is '%s'", l->b->entries[0].name);
    return assay_fail(err, ASSAY_INVALID, "%d of %d parameters are missing, the first is '%s'%s", n,
                      qn_net_n_params(l->net), first->name, hint);
}

/* ---- values ---------------------------------------------------------------------------------- */

static float value_of(const struct fill *f, int64_t i)
{
    double v = f->from == COPIED ? (double)((const float *)f->entry->data)[i] : (double)f->constant;

    return (float)(f->less ? v - (double)((const float *)f->less->data)[i] : v);
}

/* What is wrong with value i, or NULL. */
static const char *fault(const struct fill *f, enum qn_role role, int64_t i)
{
    float v = value_of(f, i);

    if (!isfinite(v))
        return "which is not finite";
    if (role == QN_VARIANCE && v < 0)
        return "but a variance is not below 0";
    if (role == QN_START && v <= 0)
        return "but scales are above 0";
    if (role == QN_THRESHOLD && i > 0 && v < value_of(f, i - 1))
        return "but thresholds do not decrease";
    return NULL;
}

static enum assay_status check_values(const struct loading *l, struct assay_err *err)
{
    for (int k = 0; k < qn_net_n_params(l->net); k++) {
        const struct qn_param *p = qn_net_param(l->net, k);
        const struct fill *f = &l->fills[k];

        if (f->from == KEPT)
            continue;
        for (int64_t i = 0; i < p->n; i++) {
            const char *text = fault(f, p->role, i);

            if (text)
                return assay_fail(err, ASSAY_INVALID, "'%s': value %lld is %g, %s",
                                  f->entry ? f->entry->name : p->name, (long long)i,
                                  (double)value_of(f, i), text);
        }
    }
    return ASSAY_OK;
}

static void write_net(const struct loading *l)
{
    for (int k = 0; k < qn_net_n_params(l->net); k++) {
        const struct qn_param *p = qn_net_param(l->net, k);

        if (l->fills[k].from != KEPT)
            for (int64_t i = 0; i < p->n; i++)
                p->v[i] = value_of(&l->fills[k], i);
    }
}

static enum assay_status load(struct loading *l, struct assay_err *err)
{
    ASSAY_TRY(list_names(l, err));
    choose_map(l);
    assert(l->map); /* the table is not empty */
    l->report.names = l->map->what;
    ASSAY_TRY(use_entries(l, err));
    fill_rest(l);
    ASSAY_TRY(check_missing(l, err));
    ASSAY_TRY(check_values(l, err));
    write_net(l);
    return ASSAY_OK;
}

enum assay_status qn_net_load(struct qn_net *net, const struct qn_bundle *b, enum qn_load how,
                              struct qn_load_report *report, struct assay_err *err)
{
    struct loading l = { .net = net, .b = b, .how = how };
    enum assay_status st = load(&l, err);

    if (!st && report)
        *report = l.report;
    qn_bundle_release(&l.names);
    free(l.fills);
    return st;
}
