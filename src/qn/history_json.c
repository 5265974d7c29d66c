/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history_json.c: a history as one JSON object, one epoch a line, and the same read back.
 *
 *     {"format":1,"net":"lenet-s","data":"mnist","weights":"sigmoid ternary","activations":"float",
 *     "seed":"1",
 *     "phases":[{"name":"float","epochs":3},...],
 *     "warnings":["..."],
 *     "epochs":[
 *     {"epoch":1,"phase":0,"rate":0.1,...,"quantisers":[{"layer":"conv2","activations":false,
 *      "alpha":0.04,"beta":12.5,"levels":[-1,0,1],"shares":[0.25,0.5,0.25]},...]},
 *     ...]}
 *
 * The seed is a text, since 64 bits do not fit the integers of JSON readers.
 */
#include "qn/history.h"

#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1, WHERE = 64, MAX_USAGES = 1 << 16 };

/* The numbers of an epoch, in the order of the file. */
static const struct measure {
    const char *key;
    size_t at; /* of a double in struct qn_epoch */
    bool fraction;
} measures[] = {
    { "rate", offsetof(struct qn_epoch, rate), false },
    { "t_weights", offsetof(struct qn_epoch, t_weights), false },
    { "t_activations", offsetof(struct qn_epoch, t_activations), false },
    { "train_loss", offsetof(struct qn_epoch, train_loss), false },
    { "train_accuracy", offsetof(struct qn_epoch, train_accuracy), true },
    { "test_loss", offsetof(struct qn_epoch, test_loss), false },
    { "soft_accuracy", offsetof(struct qn_epoch, soft_accuracy), true },
    { "hard_accuracy", offsetof(struct qn_epoch, hard_accuracy), true },
    { "gradient_norm", offsetof(struct qn_epoch, gradient_norm), false },
    { "took_s", offsetof(struct qn_epoch, took_s), false },
};

enum { N_MEASURES = sizeof measures / sizeof *measures };

/* ---- put ------------------------------------------------------------------------------------- */

static void put_number(struct assay_text *t, double v)
{
    if (isnan(v))
        assay_text_add_n(t, "null", 4);
    else
        assay__json_add_number(t, v);
}

/* The fewest digits that read back as the same float; nine are always enough. */
static void put_float(struct assay_text *t, float v)
{
    char buf[ASSAY__NUMBER_MAX];

    if (!isfinite(v) || (v == rintf(v) && fabsf(v) < 1e15F)) {
        put_number(t, (double)v);
        return;
    }
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, (double)v);
        if ((float)strtod(buf, NULL) == v)
            break;
    }
    assay_text_add(t, "%s", buf);
}

static void put_floats(struct assay_text *t, const char *key, const float *v, int n)
{
    assay_text_add(t, ",\"%s\":[", key);
    for (int i = 0; i < n; i++) {
        if (i)
            assay_text_add_n(t, ",", 1);
        put_float(t, v[i]);
    }
    assay_text_add_n(t, "]", 1);
}

static void put_text(struct assay_text *t, const char *key, const char *s)
{
    assay_text_add(t, "\"%s\":", key);
    assay__json_add_string(t, s);
}

static void put_usage(struct assay_text *t, const struct qn_usage *u)
{
    assay_text_add(t, "{");
    put_text(t, "layer", u->layer);
    assay_text_add(t, ",\"activations\":%s,\"alpha\":", u->activations ? "true" : "false");
    put_float(t, u->alpha);
    assay_text_add(t, ",\"beta\":");
    put_float(t, u->beta);
    put_floats(t, "levels", u->level, u->n_levels);
    put_floats(t, "shares", u->share, u->n_levels);
    assay_text_add(t, "}");
}

static void put_epoch(struct assay_text *t, const struct qn_epoch *e)
{
    assay_text_add(t, "{\"epoch\":%" PRId64 ",\"phase\":%d", e->epoch, e->phase);
    for (int i = 0; i < N_MEASURES; i++) {
        assay_text_add(t, ",\"%s\":", measures[i].key);
        put_number(t, *(const double *)(const void *)((const char *)e + measures[i].at));
    }
    assay_text_add(t, ",\"quantisers\":[");
    for (int i = 0; i < e->n_usages; i++) {
        if (i)
            assay_text_add_n(t, ",", 1);
        put_usage(t, &e->usages[i]);
    }
    assay_text_add(t, "]}");
}

void qn_history_put_json(const struct qn_history *h, struct assay_text *t)
{
    assay_text_add(t, "{\"format\":%d,", FORMAT);
    put_text(t, "net", h->net);
    assay_text_add(t, ",");
    put_text(t, "data", h->data);
    assay_text_add(t, ",");
    put_text(t, "weights", h->weights);
    assay_text_add(t, ",");
    put_text(t, "activations", h->activations);
    assay_text_add(t, ",\n\"seed\":\"%" PRIu64 "\",\n\"phases\":[", h->seed);
    for (int i = 0; i < h->n_phases; i++) {
        assay_text_add(t, i ? ",{" : "{");
        put_text(t, "name", h->phases[i].name);
        assay_text_add(t, ",\"epochs\":%" PRId64 "}", h->phases[i].n_epochs);
    }
    assay_text_add(t, "],\n\"warnings\":[");
    for (int i = 0; i < h->n_warnings; i++) {
        if (i)
            assay_text_add_n(t, ",", 1);
        assay__json_add_string(t, h->warnings[i]);
    }
    assay_text_add(t, "],\n\"epochs\":[");
    for (int64_t i = 0; i < h->n_epochs; i++) {
        assay_text_add(t, i ? ",\n" : "\n");
        put_epoch(t, &h->epochs[i]);
    }
    assay_text_add(t, "]}\n");
}

/* ---- parse: fields --------------------------------------------------------------------------- */

static enum assay_status get_text(const json_t *obj, const char *where, const char *key, char *out,
                                  size_t size, struct assay_err *err)
{
    const char *sep = where[0] ? ": " : "", *text;
    size_t n;

    ASSAY_TRY(assay__json_string(obj, where, key, &text, err));
    n = strlen(text);
    if (n >= size)
        return assay_fail(err, ASSAY_PARSE, "%s%sfield '%s': %zu bytes, at most %zu", where, sep,
                          key, n, size - 1);
    memcpy(out, text, n + 1);
    return ASSAY_OK;
}

/* null is NaN. */
static bool as_number(const json_t *v, double *out)
{
    if (json_is_null(v)) {
        *out = NAN;
        return true;
    }
    return assay__json_as_number(v, out);
}

static enum assay_status get_number(const json_t *obj, const char *where, const char *key,
                                    bool fraction, double *out, struct assay_err *err)
{
    const json_t *v = json_object_get(obj, key);

    if (!v)
        return assay_fail(err, ASSAY_PARSE, "%s: field '%s' missing", where, key);
    if (!as_number(v, out))
        return assay_fail(err, ASSAY_PARSE, "%s: field '%s': number or null expected, got %s",
                          where, key, assay__json_type_text(v));
    if (fraction && (*out < 0 || *out > 1))
        return assay_fail(err, ASSAY_PARSE, "%s: field '%s': %g is outside [0, 1]", where, key,
                          *out);
    return ASSAY_OK;
}

static enum assay_status get_float(const json_t *obj, const char *where, const char *key,
                                   float *out, struct assay_err *err)
{
    double v = 0;

    ASSAY_TRY(get_number(obj, where, key, false, &v, err));
    *out = (float)v;
    if (isinf(*out) && isfinite(v))
        return assay_fail(err, ASSAY_PARSE, "%s: field '%s': %g is no 32-bit float", where, key, v);
    return ASSAY_OK;
}

static enum assay_status get_range(const json_t *obj, const char *where, const char *key,
                                   int64_t min, int64_t max, int64_t *out, struct assay_err *err)
{
    ASSAY_TRY(assay__json_int(obj, where, key, out, err));
    if (*out < min || *out > max)
        return assay_fail(err, ASSAY_PARSE,
                          "%s: field '%s': %" PRId64 " is outside [%" PRId64 ", %" PRId64 "]",
                          where, key, *out, min, max);
    return ASSAY_OK;
}

/* Decimal, of 64 bits, as it is printed. */
static enum assay_status get_seed(const json_t *root, uint64_t *out, struct assay_err *err)
{
    char again[24], *end;
    const char *text;

    ASSAY_TRY(assay__json_string(root, "", "seed", &text, err));
    errno = 0;
    *out = strtoull(text, &end, 10);
    snprintf(again, sizeof again, "%" PRIu64, *out);
    if (errno || *end || strcmp(again, text) != 0)
        return assay_fail(err, ASSAY_PARSE,
                          "field 'seed': decimal digits of a 64-bit number expected, got '%.40s'",
                          text);
    return ASSAY_OK;
}

/* ---- parse: parts ---------------------------------------------------------------------------- */

static enum assay_status get_list(struct qn_history *h, const json_t *obj, const char *where,
                                  const char *key, int n, const float **out, struct assay_err *err)
{
    json_t *list;
    float *v;

    ASSAY_TRY(assay__json_array(obj, where, key, &list, err));
    if (json_array_size(list) != (size_t)n)
        return assay_fail(err, ASSAY_PARSE, "%s: field '%s': %zu values, %d expected", where, key,
                          json_array_size(list), n);
    v = assay_arena_array(&h->arena, (size_t)n, sizeof *v);
    if (!v)
        return assay_fail(err, ASSAY_NOMEM, "%s: no memory for %d values", where, n);
    for (int i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, (size_t)i);
        double d;

        if (!as_number(item, &d))
            return assay_fail(err, ASSAY_PARSE, "%s: %s[%d]: number or null expected, got %s",
                              where, key, i, assay__json_type_text(item));
        v[i] = (float)d;
    }
    *out = v;
    return ASSAY_OK;
}

static enum assay_status check_lists(const struct qn_usage *u, const char *where,
                                     struct assay_err *err)
{
    for (int i = 0; i < u->n_levels; i++) {
        if (!isfinite(u->level[i]) || (i && !(u->level[i] > u->level[i - 1])))
            return assay_fail(err, ASSAY_PARSE,
                              "%s: levels[%d]: %g; finite and rising values expected", where, i,
                              (double)u->level[i]);
        if (u->share[i] < 0 || u->share[i] > 1)
            return assay_fail(err, ASSAY_PARSE, "%s: shares[%d]: %g is outside [0, 1]", where, i,
                              (double)u->share[i]);
    }
    return ASSAY_OK;
}

static enum assay_status get_usage(struct qn_history *h, const json_t *obj, const char *where,
                                   struct qn_usage *u, struct assay_err *err)
{
    static const char *const keys[] = { "layer",  "activations", "alpha", "beta",
                                        "levels", "shares",      NULL };
    json_t *levels;

    ASSAY_TRY(assay__json_only(obj, where, keys, err));
    ASSAY_TRY(get_text(obj, where, "layer", u->layer, sizeof u->layer, err));
    ASSAY_TRY(assay__json_bool(obj, where, "activations", &u->activations, err));
    ASSAY_TRY(get_float(obj, where, "alpha", &u->alpha, err));
    ASSAY_TRY(get_float(obj, where, "beta", &u->beta, err));
    ASSAY_TRY(assay__json_array(obj, where, "levels", &levels, err));
    if (json_array_size(levels) < 2 || json_array_size(levels) > QN_MAX_LEVELS)
        return assay_fail(err, ASSAY_PARSE, "%s: field 'levels': %zu values, 2 to %d expected",
                          where, json_array_size(levels), QN_MAX_LEVELS);
    u->n_levels = (int)json_array_size(levels);
    ASSAY_TRY(get_list(h, obj, where, "levels", u->n_levels, &u->level, err));
    ASSAY_TRY(get_list(h, obj, where, "shares", u->n_levels, &u->share, err));
    return check_lists(u, where, err);
}

static enum assay_status get_usages(struct qn_history *h, const json_t *obj, const char *where,
                                    struct qn_epoch *e, struct assay_err *err)
{
    struct qn_usage *usages;
    json_t *list;

    ASSAY_TRY(assay__json_array(obj, where, "quantisers", &list, err));
    if (json_array_size(list) > MAX_USAGES)
        return assay_fail(err, ASSAY_PARSE, "%s: %zu quantisers, at most %d", where,
                          json_array_size(list), MAX_USAGES);
    e->n_usages = (int)json_array_size(list);
    if (!e->n_usages)
        return ASSAY_OK;
    usages = assay_arena_zero(&h->arena, (size_t)e->n_usages * sizeof *usages);
    if (!usages)
        return assay_fail(err, ASSAY_NOMEM, "%s: no memory for %d quantisers", where, e->n_usages);
    for (int i = 0; i < e->n_usages; i++) {
        char at[WHERE + 32];

        snprintf(at, sizeof at, "%s.quantisers[%d]", where, i);
        ASSAY_TRY(get_usage(h, json_array_get(list, (size_t)i), at, &usages[i], err));
    }
    e->usages = usages;
    return ASSAY_OK;
}

static enum assay_status get_epoch(struct qn_history *h, const json_t *obj, struct assay_err *err)
{
    struct qn_epoch *e = &h->epochs[h->n_epochs];
    const char *keys[N_MEASURES + 4] = { "epoch", "phase", "quantisers" };
    char where[WHERE];
    int64_t phase, after = h->n_epochs ? e[-1].epoch : 0;

    for (int i = 0; i < N_MEASURES; i++)
        keys[3 + i] = measures[i].key;
    snprintf(where, sizeof where, "epochs[%" PRId64 "]", h->n_epochs);
    ASSAY_TRY(assay__json_only(obj, where, keys, err));
    ASSAY_TRY(assay__json_int(obj, where, "epoch", &e->epoch, err));
    if (e->epoch <= after)
        return assay_fail(err, ASSAY_PARSE, "%s: field 'epoch': %" PRId64 " after %" PRId64, where,
                          e->epoch, after);
    ASSAY_TRY(get_range(obj, where, "phase", 0, h->n_phases - 1, &phase, err));
    e->phase = (int)phase;
    for (int i = 0; i < N_MEASURES; i++)
        ASSAY_TRY(get_number(obj, where, measures[i].key, measures[i].fraction,
                             (double *)(void *)((char *)e + measures[i].at), err));
    ASSAY_TRY(get_usages(h, obj, where, e, err));
    h->n_epochs++;
    return ASSAY_OK;
}

static enum assay_status get_phases(struct qn_history *h, const json_t *root, struct assay_err *err)
{
    static const char *const keys[] = { "name", "epochs", NULL };
    const size_t max = sizeof h->phases / sizeof *h->phases;
    json_t *list;

    ASSAY_TRY(assay__json_array(root, "", "phases", &list, err));
    if (json_array_size(list) > max)
        return assay_fail(err, ASSAY_PARSE, "field 'phases': %zu of them, at most %zu",
                          json_array_size(list), max);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *obj = json_array_get(list, i);
        struct qn_phase_name *p = &h->phases[i];
        char where[WHERE];

        snprintf(where, sizeof where, "phases[%zu]", i);
        ASSAY_TRY(assay__json_only(obj, where, keys, err));
        ASSAY_TRY(get_text(obj, where, "name", p->name, sizeof p->name, err));
        ASSAY_TRY(get_range(obj, where, "epochs", 0, INT64_MAX, &p->n_epochs, err));
    }
    h->n_phases = (int)json_array_size(list);
    return ASSAY_OK;
}

static enum assay_status get_warnings(struct qn_history *h, const json_t *root,
                                      struct assay_err *err)
{
    const size_t max = sizeof h->warnings / sizeof *h->warnings;
    json_t *list;

    ASSAY_TRY(assay__json_array(root, "", "warnings", &list, err));
    if (json_array_size(list) > max)
        return assay_fail(err, ASSAY_PARSE, "field 'warnings': %zu of them, at most %zu",
                          json_array_size(list), max);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *v = json_array_get(list, i);
        const char *text;

        if (!assay__json_as_string(v, &text))
            return assay_fail(err, ASSAY_PARSE, "warnings[%zu]: string expected, got %s", i,
                              assay__json_type_text(v));
        ASSAY_TRY(qn_history_warn(h, err, "%s", text));
    }
    return ASSAY_OK;
}

/* ---- parse: the whole ------------------------------------------------------------------------ */

static enum assay_status get_head(struct qn_history *h, const json_t *root, struct assay_err *err)
{
    static const char *const keys[] = { "format", "net",    "data",     "weights", "activations",
                                        "seed",   "phases", "warnings", "epochs",  NULL };
    int64_t format;

    if (!json_is_object(root))
        return assay_fail(err, ASSAY_PARSE, "a history is an object, got %s",
                          assay__json_type_text(root));
    ASSAY_TRY(assay__json_int(root, "", "format", &format, err));
    if (format != FORMAT)
        return assay_fail(err, ASSAY_PARSE,
                          "history of format %" PRId64 "; this program reads format %d", format,
                          FORMAT);
    ASSAY_TRY(assay__json_only(root, "", keys, err));
    ASSAY_TRY(get_text(root, "", "net", h->net, sizeof h->net, err));
    ASSAY_TRY(get_text(root, "", "data", h->data, sizeof h->data, err));
    ASSAY_TRY(get_text(root, "", "weights", h->weights, sizeof h->weights, err));
    ASSAY_TRY(get_text(root, "", "activations", h->activations, sizeof h->activations, err));
    ASSAY_TRY(get_seed(root, &h->seed, err));
    ASSAY_TRY(get_phases(h, root, err));
    return get_warnings(h, root, err);
}

static enum assay_status get_history(struct qn_history *h, const json_t *root,
                                     struct assay_err *err)
{
    json_t *list;
    size_t n, size;

    ASSAY_TRY(get_head(h, root, err));
    ASSAY_TRY(assay__json_array(root, "", "epochs", &list, err));
    n = json_array_size(list);
    if (!n)
        return ASSAY_OK;
    if (assay_mul_size(n, sizeof *h->epochs, &size))
        h->epochs = assay_arena_zero(&h->arena, size);
    if (!h->epochs)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a history of %zu epochs", n);
    h->cap = (int64_t)n;
    for (size_t i = 0; i < n; i++)
        ASSAY_TRY(get_epoch(h, json_array_get(list, i), err));
    return ASSAY_OK;
}

enum assay_status qn_history_parse(struct qn_history *h, const char *text, size_t len,
                                   struct assay_err *err)
{
    enum assay_status st;
    json_t *root;

    qn_history_release(h);
    ASSAY_TRY(assay__json_parse(&root, text, len, err));
    st = get_history(h, root, err);
    json_decref(root);
    if (st)
        qn_history_release(h);
    return st;
}
