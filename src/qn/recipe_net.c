/* SPDX-License-Identifier: Apache-2.0 */
/* recipe_net.c: from the words of a recipe to the quantisers of a net. */
#include "qn/recipe.h"

#include <string.h>

static enum assay_status configure(const struct qn_quantiser *from, bool activations,
                                   const char *what, struct qn_quant_config *c, struct qn_start *s,
                                   struct assay_err *err)
{
    const struct qn_quant_type *type;
    enum assay_status st;

    *c = (struct qn_quant_config){ 0 };
    if (!strcmp(from->kind, "float"))
        return ASSAY_OK;
    st = qn_quant_type_find(&type, from->kind, err);
    if (!st) {
        *c = qn_quant_config_default(type);
        st = qn_levels_parse(&c->levels, from->levels, err);
    }
    if (!st)
        st = qn_preset(c, s, from->preset, activations, err);
    if (st)
        return assay_wrap(err, ASSAY_INVALID, "%s", what);
    c->per_channel = from->per_channel;
    c->learn_thresholds = from->learn_thresholds;
    if (from->slope >= 0)
        c->t_slope = c->t_factor = (float)from->slope;
    return ASSAY_OK;
}

enum assay_status qn_recipe_net_options(const struct qn_recipe *r, struct qn_net_options *o,
                                        struct assay_err *err)
{
    struct qn_start s = qn_start_default(r->seed);

    o->share_weights = r->weights.shared;
    o->share_activations = r->activations.shared;
    ASSAY_TRY(configure(&r->weights, false, "weights", &o->weights, &s, err));
    ASSAY_TRY(configure(&r->activations, true, "activations", &o->activations, &s, err));
    ASSAY_TRY(configure(&r->first, false, "first", &o->first, &s, err));
    return configure(&r->last, false, "last", &o->last, &s, err);
}

enum assay_status qn_recipe_start(const struct qn_recipe *r, bool activations, struct qn_start *s,
                                  struct assay_err *err)
{
    const struct qn_quantiser *q = activations ? &r->activations : &r->weights;
    struct qn_quant_config c;

    *s = qn_start_default(r->seed);
    ASSAY_TRY(configure(q, activations, activations ? "activations" : "weights", &c, s, err));
    s->uniform = q->uniform;
    s->quantile = q->quantile;
    s->skip_zeros = q->skip_zeros;
    if (q->middle > 0)
        s->middle = (enum qn_middle)(q->middle - 1);
    return ASSAY_OK;
}
