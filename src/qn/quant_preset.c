/* SPDX-License-Identifier: Apache-2.0 */
/* quant_preset.c: how the method is read, as rows. */
#include "qn/quant_init.h"

#include <string.h>

struct preset {
    const char *name;
    bool activations, damp, fit;
    float clamp, t_cap, t_slope, t_factor;
    float t_slope_binary; /* of two levels */
    enum qn_middle middle;
};

static const struct preset presets[] = {
    { "default", false, true, false, 10, 0, 0, 0, 0, QN_MIDDLE_KMEANS },
    { "default", true, true, true, 10, 0, 3, 3, 3, QN_MIDDLE_KMEANS },
    { "paper", false, false, false, 0, 0, 0, 0, 0, QN_MIDDLE_005 },
    { "paper", true, false, false, 0, 0, 0, 0, 0, QN_MIDDLE_KMEANS },
    { "released", false, false, false, 10, 2000, 0, 0, 1, QN_MIDDLE_005 },
    { "released", true, false, false, 10, 0, 0, 0, 0, QN_MIDDLE_KMEANS },
};

enum assay_status qn_preset(struct qn_quant_config *c, struct qn_start *s, const char *name,
                            bool activations, struct assay_err *err)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        const struct preset *p = &presets[i];

        if (p->activations != activations || strcmp(p->name, name) != 0)
            continue;
        c->damp = p->damp && c->type == &qn_quant_sigmoid;
        c->clamp = p->clamp;
        c->clamp_strict = false;
        c->t_cap = p->t_cap;
        c->t_slope = c->levels.n == 2 ? p->t_slope_binary : p->t_slope;
        c->t_factor = p->t_factor;
        s->middle = p->middle;
        s->fit = p->fit;
        return ASSAY_OK;
    }
    return assay_fail(err, ASSAY_INVALID, "preset '%.40s': default, paper or released expected",
                      name);
}
