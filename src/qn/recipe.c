/* SPDX-License-Identifier: Apache-2.0 */
/* recipe.c: the fields of a recipe as a table, their defaults, and setting one from text. */
#include "qn/recipe_fields.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(type, member) offsetof(struct type, member)

static const struct qn__field whole[] = {
    { "seed", QN__U64, .offset = AT(qn_recipe, seed) },
    { "batch", QN__INT, .offset = AT(qn_recipe, batch), .min = 1, .max = 65536 },
    { "limit", QN__INT, .offset = AT(qn_recipe, limit), .min = 0, .max = 1e9 },
    { "size", QN__INT, .offset = AT(qn_recipe, size), .min = 0, .max = QN_MAX_SIDE },
    { "optimiser", QN__CHOICE_TEXT, .offset = AT(qn_recipe, optimiser), .words = "sgd|adam" },
    { "momentum", QN__NUMBER, .offset = AT(qn_recipe, momentum), .min = 0, .max = 0.9999 },
    { "nesterov", QN__BOOL, .offset = AT(qn_recipe, nesterov) },
    { "decay", QN__NUMBER, .offset = AT(qn_recipe, decay), .min = 0, .max = 1 },
    { "decay_rest", QN__NUMBER, .offset = AT(qn_recipe, decay_rest), .min = 0, .max = 1 },
    { "decay_scales", QN__NUMBER, .offset = AT(qn_recipe, decay_scales), .min = 0, .max = 1 },
    { "smoothing", QN__NUMBER, .offset = AT(qn_recipe, smoothing), .min = 0, .max = 0.99 },
    { "clip", QN__NUMBER, .offset = AT(qn_recipe, clip), .min = 0, .max = 1e9 },
    { "clip_latent", QN__BOOL, .offset = AT(qn_recipe, clip_latent) },
    { 0 },
};

static const struct qn__field augment[] = {
    { "resize", QN__INT, .offset = AT(qn_augment, resize), .min = 0, .max = QN_MAX_SIDE },
    { "random_crop", QN__BOOL, .offset = AT(qn_augment, random_crop) },
    { "shift", QN__INT, .offset = AT(qn_augment, shift), .min = 0, .max = QN_MAX_SIDE },
    { "flip", QN__BOOL, .offset = AT(qn_augment, flip) },
    { 0 },
};

static const struct qn__field quantiser[] = {
    { "kind", QN__CHOICE_TEXT, .offset = AT(qn_quantiser, kind),
      .words = "float|sigmoid|ste|dorefa|lsq|twn" },
    { "levels", QN__TEXT, .offset = AT(qn_quantiser, levels) },
    { "preset", QN__CHOICE_TEXT, .offset = AT(qn_quantiser, preset),
      .words = "default|paper|released" },
    { "per_channel", QN__BOOL, .offset = AT(qn_quantiser, per_channel) },
    { "learn_thresholds", QN__BOOL, .offset = AT(qn_quantiser, learn_thresholds) },
    { "shared", QN__BOOL, .offset = AT(qn_quantiser, shared) },
    { "uniform", QN__BOOL, .offset = AT(qn_quantiser, uniform) },
    { "skip_zeros", QN__BOOL, .offset = AT(qn_quantiser, skip_zeros) },
    { "middle", QN__CHOICE, .offset = AT(qn_quantiser, middle), .words = "preset|kmeans|0.05|twn" },
    { "quantile", QN__NUMBER, .offset = AT(qn_quantiser, quantile), .min = 0.5, .max = 1 },
    { "slope", QN__NUMBER, .offset = AT(qn_quantiser, slope), .min = -1, .max = 1e6 },
    { "heat", QN__CHOICE, .offset = AT(qn_quantiser, heat),
      .words = "linear|exponential|constant" },
    { "heat_base", QN__NUMBER, .offset = AT(qn_quantiser, heat_base), .min = 0, .max = 1e6 },
    { "heat_growth", QN__NUMBER, .offset = AT(qn_quantiser, heat_growth), .min = 1, .max = 100 },
    { 0 },
};

static const struct qn__field phase[] = {
    { "epochs", QN__INT, .offset = AT(qn_phase, epochs), .min = 0, .max = 100000 },
    { "rate", QN__NUMBER, .offset = AT(qn_phase, rate), .min = 0, .max = 1e3 },
    { "decline", QN__CHOICE, .offset = AT(qn_phase, decline), .words = "steps|cosine" },
    { "drop", QN__NUMBER, .offset = AT(qn_phase, drop), .min = 0, .max = 1 },
    { "drops", QN__LIST, .offset = AT(qn_phase, drops), .min = 0, .max = 100000,
      .n = AT(qn_phase, n_drops) },
    { "warm_up", QN__NUMBER, .offset = AT(qn_phase, warm_up), .min = 0, .max = 100000 },
    { "scales", QN__NUMBER, .offset = AT(qn_phase, scales), .min = 0, .max = 1e3 },
    { 0 },
};

const struct qn__section qn__sections[] = {
    { "", 0, whole },
    { "augment", AT(qn_recipe, augment), augment },
    { "weights", AT(qn_recipe, weights), quantiser },
    { "activations", AT(qn_recipe, activations), quantiser },
    { "first", AT(qn_recipe, first), quantiser },
    { "last", AT(qn_recipe, last), quantiser },
    { "float", AT(qn_recipe, phases[QN_PHASE_FLOAT]), phase },
    { "weights_phase", AT(qn_recipe, phases[QN_PHASE_WEIGHTS]), phase },
    { "activations_phase", AT(qn_recipe, phases[QN_PHASE_ACTIVATIONS]), phase },
    { "both", AT(qn_recipe, phases[QN_PHASE_BOTH]), phase },
    { 0 },
};

/* ---- defaults -------------------------------------------------------------------------------- */

struct qn_recipe qn_recipe_default(void)
{
    static const struct qn_quantiser none = { .kind = "float",
                                              .levels = "",
                                              .preset = "default",
                                              .quantile = 1,
                                              .slope = -1,
                                              .heat = QN_HEAT_LINEAR,
                                              .heat_growth = 1.5 };
    static const struct qn_phase off = {
        .rate = 0.01, .decline = QN_COSINE, .drop = 0.1, .scales = 1
    };
    struct qn_recipe r = { .seed = 1,
                           .batch = 128,
                           .optimiser = "sgd",
                           .momentum = 0.9,
                           .decay = 1e-4,
                           .clip = 5,
                           .weights = none,
                           .activations = none,
                           .first = none,
                           .last = none };

    for (int i = 0; i < QN_N_PHASES; i++)
        r.phases[i] = off;
    r.phases[QN_PHASE_FLOAT].epochs = 8;
    r.phases[QN_PHASE_FLOAT].rate = 0.05;
    r.phases[QN_PHASE_WEIGHTS].rate = 0.02;
    r.phases[QN_PHASE_ACTIVATIONS].rate = r.phases[QN_PHASE_BOTH].rate = 0.03;
    return r;
}

/* ---- values from text ------------------------------------------------------------------------ */

static bool number_of(const char *text, double *out)
{
    char *end;

    errno = 0;
    *out = strtod(text, &end);
    return end != text && !*end && isfinite(*out) && *text != ' ' && !strpbrk(text, "xX");
}

static int word_of(const char *words, const char *text)
{
    size_t len = strlen(text);

    for (int i = 0;; i++) {
        size_t n = strcspn(words, "|");

        if (n == len && !memcmp(words, text, n))
            return i;
        if (!words[n])
            return -1;
        words += n + 1;
    }
}

static enum assay_status wrong(const struct qn__field *f, const char *text, struct assay_err *err)
{
    if (f->words)
        return assay_fail(err, ASSAY_INVALID, "'%.60s': one of %s expected", text, f->words);
    if (f->type == QN__BOOL)
        return assay_fail(err, ASSAY_INVALID, "'%.60s': true or false expected", text);
    if (f->type == QN__U64)
        return assay_fail(err, ASSAY_INVALID, "'%.60s': an integer from 0 to 2^64-1 expected",
                          text);
    if (f->type == QN__TEXT)
        return assay_fail(err, ASSAY_INVALID, "'%.60s': at most %d bytes expected", text,
                          QN_RECIPE_TEXT - 1);
    return assay_fail(err, ASSAY_INVALID, "'%.60s': %s from %g to %g expected", text,
                      f->type == QN__INT    ? "an integer"
                      : f->type == QN__LIST ? "up to 8 increasing numbers"
                                            : "a number",
                      f->min, f->max);
}

static bool set_list(const struct qn__field *f, char *at, char *base, const char *text)
{
    char word[64];
    double v[QN_MAX_DROPS] = { 0 }, last = -1;
    int n = 0;

    while (*text) {
        size_t len = strcspn(text, ",");

        if (n == QN_MAX_DROPS || len >= sizeof word)
            return false;
        memcpy(word, text, len);
        word[len] = 0;
        if (!number_of(word, &v[n]) || v[n] < f->min || v[n] > f->max || v[n] <= last)
            return false;
        last = v[n++];
        text += len + (text[len] == ',');
    }
    memcpy(at, v, (size_t)n * sizeof *v);
    memcpy(base + f->n, &n, sizeof n);
    return true;
}

static bool set_u64(char *at, const char *text)
{
    char *end;
    uint64_t v;

    errno = 0;
    v = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return false;
    memcpy(at, &v, sizeof v);
    return true;
}

/* base: the section's struct. */
static bool set_value(const struct qn__field *f, char *base, const char *text)
{
    char *at = base + f->offset;
    int word = f->words ? word_of(f->words, text) : -1;
    double v = 0;

    switch (f->type) {
    case QN__U64:
        return set_u64(at, text);
    case QN__BOOL:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return false;
        *(bool *)(void *)at = *text == 't';
        return true;
    case QN__TEXT:
        if (strlen(text) < QN_RECIPE_TEXT)
            memcpy(at, text, strlen(text) + 1);
        return strlen(text) < QN_RECIPE_TEXT;
    case QN__CHOICE_TEXT:
        if (word >= 0)
            snprintf(at, QN__WORD, "%s", text);
        return word >= 0;
    case QN__CHOICE:
        if (word >= 0)
            memcpy(at, &word, sizeof word);
        return word >= 0;
    case QN__LIST:
        return set_list(f, at, base, text);
    case QN__INT:
    case QN__NUMBER:
        break;
    }
    if (!number_of(text, &v) || v < f->min || v > f->max)
        return false;
    if (f->type == QN__NUMBER) {
        memcpy(at, &v, sizeof v);
    } else {
        int64_t whole_number = (int64_t)v;

        if ((double)whole_number != v)
            return false;
        memcpy(at, &whole_number, sizeof whole_number);
    }
    return true;
}

enum assay_status qn__field_set(struct qn_recipe *r, const struct qn__section *s,
                                const struct qn__field *f, const char *text, struct assay_err *err)
{
    if (set_value(f, (char *)r + s->offset, text))
        return ASSAY_OK;
    return assay_wrap(err, wrong(f, text, err), "%s%s%s", s->name, *s->name ? "." : "", f->name);
}

bool qn__field_find(const char *name, const struct qn__section **section,
                    const struct qn__field **field)
{
    for (const struct qn__section *s = qn__sections; s->name; s++) {
        size_t len = strlen(s->name);
        const char *rest = name + len + (len > 0);

        if (len > 0 && (strncmp(name, s->name, len) != 0 || name[len] != '.'))
            continue;
        for (const struct qn__field *f = s->fields; f->name; f++)
            if (!strcmp(f->name, rest)) {
                *section = s;
                *field = f;
                return true;
            }
    }
    return false;
}

enum assay_status qn_recipe_set(struct qn_recipe *r, const char *field, const char *text,
                                struct assay_err *err)
{
    const struct qn__section *s;
    const struct qn__field *f;

    if (!qn__field_find(field, &s, &f))
        return assay_fail(err, ASSAY_INVALID,
                          "no field '%.60s' in a recipe; docs/qnet-recipes.md lists them", field);
    return qn__field_set(r, s, f, text, err);
}

/* ---- what fields say about each other -------------------------------------------------------- */

static bool is_float(const struct qn_quantiser *q)
{
    return !strcmp(q->kind, "float");
}

/* A kind and its levels come together; one without the other would do nothing, or nothing good. */
static enum assay_status check_tensors(const struct qn_quantiser *q, const char *what,
                                       const char *levels, struct assay_err *err)
{
    if (is_float(q) && *q->levels)
        return assay_fail(err, ASSAY_INVALID,
                          "%s.levels is given but %s.kind is float; sigmoid, for one", what, what);
    if (!is_float(q) && !*q->levels)
        return assay_fail(err, ASSAY_INVALID,
                          "%s.kind is %s but %s.levels is not given; %s, for one", what, q->kind,
                          what, levels);
    return ASSAY_OK;
}

/* Which phases there are, against what is there to be learned in them. */
static enum assay_status check_phases(const struct qn_recipe *r, struct assay_err *err)
{
    bool weights = !is_float(&r->weights) || !is_float(&r->first) || !is_float(&r->last);
    bool activations = !is_float(&r->activations);
    const struct qn_phase *p = r->phases;

    if (qn_recipe_n_epochs(r) < 1)
        return assay_fail(err, ASSAY_INVALID, "no phase has epochs; float.epochs, for one");
    if (p[QN_PHASE_WEIGHTS].epochs > 0 && !weights)
        return assay_fail(err, ASSAY_INVALID,
                          "weights_phase has epochs but weights.kind is float; sigmoid, for one");
    if (p[QN_PHASE_ACTIVATIONS].epochs > 0 && !activations)
        return assay_fail(
            err, ASSAY_INVALID,
            "activations_phase has epochs but activations.kind is float; sigmoid, for one");
    if (p[QN_PHASE_BOTH].epochs > 0 && !activations)
        return assay_fail(err, ASSAY_INVALID,
                          "both has epochs but activations.kind is float; use weights_phase");
    if (activations && !p[QN_PHASE_ACTIVATIONS].epochs && !p[QN_PHASE_BOTH].epochs)
        return assay_fail(err, ASSAY_INVALID,
                          "activations have levels but no phase in which they are learned; "
                          "both.epochs, for one");
    if (weights && !activations && !p[QN_PHASE_WEIGHTS].epochs)
        return assay_fail(err, ASSAY_INVALID,
                          "weights have levels but no phase in which they are learned; "
                          "weights_phase.epochs, for one");
    return ASSAY_OK;
}

enum assay_status qn_recipe_check(const struct qn_recipe *r, struct assay_err *err)
{
    ASSAY_TRY(check_tensors(&r->weights, "weights", "ternary", err));
    ASSAY_TRY(check_tensors(&r->activations, "activations", "u2", err));
    ASSAY_TRY(check_tensors(&r->first, "first", "ternary", err));
    ASSAY_TRY(check_tensors(&r->last, "last", "ternary", err));
    if (!strcmp(r->activations.kind, "twn"))
        return assay_fail(err, ASSAY_INVALID,
                          "activations.kind is twn, which is for weights; ste, for one");
    return check_phases(r, err);
}
