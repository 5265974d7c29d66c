/* SPDX-License-Identifier: Apache-2.0 */
/* train_recipe.c: from options, fields and files of `qnet train` to a recipe. */
#include "qnet/train_choice.h"

#include "base/json.h"

#include <string.h>

enum { MAX_SHORT = 256, DEFAULT_EPOCHS = 8 };

static const char *const methods[] = { "sigmoid", "ste", "dorefa", "lsq", "twn" };
static const char *const presets[] = { "default", "paper", "released" };

/* ---- options --------------------------------------------------------------------------------- */

/* Other epochs, the same course. */
static void stretch(struct qn_phase *p, int64_t epochs)
{
    double by = (double)epochs / (double)p->epochs;

    for (int i = 0; i < p->n_drops; i++)
        p->drops[i] *= by;
    p->warm_up *= by;
    p->epochs = epochs;
}

/* A phase unless the recipe has it. */
static void add_phase(struct qn_phase *p, int64_t epochs)
{
    if (p->epochs == 0)
        p->epochs = epochs;
}

static enum assay_status set_tensors(struct qn_recipe *r, const struct qnet__train_choice *c,
                                     const char *tensors, const char *kind, const char *levels,
                                     struct assay_err *err)
{
    const char *method = methods[c->method];
    char field[64];

    if (!strcmp(method, "twn") && !strcmp(tensors, "activations"))
        method = "ste"; /* it is about weights; they had float activations or plain ones */
    snprintf(field, sizeof field, "%s.kind", tensors);
    if (c->method_given || !strcmp(kind, "float"))
        ASSAY_TRY(qn_recipe_set(r, field, method, err));
    snprintf(field, sizeof field, "%s.preset", tensors);
    if (c->preset_given)
        ASSAY_TRY(qn_recipe_set(r, field, presets[c->preset], err));
    snprintf(field, sizeof field, "%s.levels", tensors);
    return qn_recipe_set(r, field, levels, err);
}

static enum assay_status set_options(struct qn_recipe *r, const struct qnet__train_choice *c,
                                     struct assay_err *err)
{
    int64_t epochs = c->epochs_given ? c->epochs : DEFAULT_EPOCHS;

    if (c->seed_given)
        r->seed = c->seed;
    if (c->from)
        r->phases[QN_PHASE_FLOAT].epochs = 0;
    for (int i = 0; c->epochs_given && i < QN_N_PHASES; i++)
        if (r->phases[i].epochs > 0)
            stretch(&r->phases[i], epochs);
    if (c->weights) {
        ASSAY_TRY(set_tensors(r, c, "weights", r->weights.kind, c->weights, err));
        add_phase(&r->phases[QN_PHASE_WEIGHTS], epochs);
    }
    if (c->activations) {
        ASSAY_TRY(set_tensors(r, c, "activations", r->activations.kind, c->activations, err));
        add_phase(&r->phases[QN_PHASE_BOTH], epochs);
    }
    return ASSAY_OK;
}

/* ---- files and fields ------------------------------------------------------------------------ */

static enum assay_status read_recipe(struct qn_recipe *r, const char *name, struct assay_err *err)
{
    struct assay_text text = { 0 };
    json_t *root = NULL;
    enum assay_status st;

    ASSAY_TRY(qnet__recipe_text(&text, name, err));
    st = assay__json_parse(&root, text.data, text.len, err);
    if (!st)
        st = qn_recipe_read(r, root, err);
    json_decref(root);
    assay_text_release(&text);
    return st ? assay_wrap(err, st, "%s", name) : ASSAY_OK;
}

static enum assay_status set_field(struct qn_recipe *r, const char *word, struct assay_err *err)
{
    const char *equals = strchr(word, '=');
    char field[MAX_SHORT];

    if (!equals || equals == word || equals - word >= MAX_SHORT)
        return assay_fail(err, ASSAY_INVALID, "'%.60s': FIELD=VALUE expected, as in float.epochs=8",
                          word);
    snprintf(field, sizeof field, "%.*s", (int)(equals - word), word);
    return qn_recipe_set(r, field, equals + 1, err);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool is_float(const struct qn_quantiser *q)
{
    return !strcmp(q->kind, "float");
}

/* planned: as options and recipe had it, before fields. */
static void leave_out(struct qn_phase *p, const struct qn_phase *planned, bool nothing_to_learn)
{
    if (nothing_to_learn && p->epochs == planned->epochs)
        p->epochs = 0;
}

enum assay_status qnet__train_recipe(struct qn_recipe *r, const struct qnet__train_choice *c,
                                     struct assay_err *err)
{
    struct qn_phase planned[QN_N_PHASES];
    bool weights, activations;

    *r = qn_recipe_default();
    if (c->recipe)
        ASSAY_TRY(read_recipe(r, c->recipe, err));
    ASSAY_TRY(set_options(r, c, err));
    memcpy(planned, r->phases, sizeof planned);
    for (int i = 0; i < c->n_fields; i++)
        ASSAY_TRY(set_field(r, c->fields[i], err));
    weights = !is_float(&r->weights) || !is_float(&r->first) || !is_float(&r->last);
    activations = !is_float(&r->activations);
    for (int i = QN_PHASE_WEIGHTS; c->recipe && i < QN_N_PHASES; i++)
        leave_out(&r->phases[i], &planned[i], i == QN_PHASE_WEIGHTS ? !weights : !activations);
    if (c->from && qn_recipe_n_epochs(r) < 1)
        return assay_fail(err, ASSAY_INVALID,
                          "--from leaves the float phase out, and there is no other: --weights or "
                          "--activations, or float.epochs=N to train on");
    return qn_recipe_check(r, err);
}
