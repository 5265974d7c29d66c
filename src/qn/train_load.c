/* SPDX-License-Identifier: Apache-2.0 */
/* train_load.c: where a run starts that does not start from nothing: float weights, or a net whose
 * quantisers have been set up already and go on as they are. */
#include "qn/train_parts.h"

#include "base/json.h"

#include <string.h>

static bool same_levels(const struct qn_bundle *b, const char *quantiser, int len,
                        const struct qn_levels *l)
{
    char name[QN_MAX_ENTRY_NAME];
    const struct qn_entry *e;

    snprintf(name, sizeof name, "%.*s.levels", len, quantiser);
    e = qn_bundle_find(b, name);
    return e && e->type == QN_F32 && e->n == l->n &&
           !memcmp(e->data, l->y, (size_t)l->n * sizeof *l->y);
}

/* Whether all of a net's quantisers are in the bundle, set up, with the levels that they have here.
 */
static bool has_quantisers(const struct qn_train *t, const struct qn_bundle *b, const json_t *about,
                           bool activations)
{
    const char *started = activations ? "activations_started" : "weights_started";

    if (!json_is_true(json_object_get(about, started)))
        return false;
    for (int i = 0; i < qn_net_n_params(t->net); i++) {
        const struct qn_param *p = qn_net_param(t->net, i);
        const struct qn_entry *e = qn_bundle_find(b, p->name);

        if (p->role >= QN_ALPHA && p->of_activations == activations &&
            (!e || e->type != QN_F32 || e->n != p->n))
            return false;
    }
    for (int i = 0; i < qn_net_n_params(t->net); i++) {
        const struct qn_param *p = qn_net_param(t->net, i);
        int layer = 0;

        if (p->role != QN_ALPHA || p->of_activations != activations)
            continue;
        while (!qn_net_quant(t->net, layer) || qn_net_quant(t->net, layer)->alpha.raw != p->v)
            layer++;
        if (!same_levels(b, p->name, (int)(strrchr(p->name, '.') - p->name),
                         &qn_net_quant(t->net, layer)->config.levels))
            return false;
    }
    return true;
}

enum assay_status qn_train_load_weights(struct qn_train *t, const struct qn_bundle *b,
                                        struct qn_load_report *report, struct assay_err *err)
{
    const struct qn_phase *p = t->recipe.phases;
    bool later = !p[QN_PHASE_FLOAT].epochs && !p[QN_PHASE_WEIGHTS].epochs;
    json_t *about = NULL;
    enum assay_status st;

    if (b->about && assay__json_parse(&about, b->about, strlen(b->about), NULL))
        about = NULL;
    t->weights_started = later && has_quantisers(t, b, about, false);
    t->activations_started =
        t->weights_started && !p[QN_PHASE_ACTIVATIONS].epochs && has_quantisers(t, b, about, true);
    st = qn_net_load(t->net, b,
                     t->activations_started ? QN_LOAD_STRICT
                     : t->weights_started   ? QN_LOAD_WEIGHTS
                                            : QN_LOAD_FLOAT,
                     report, err);
    json_decref(about);
    return st;
}
