/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c: phases, rates and temperatures of a recipe, epoch by epoch. */
#include "qn/recipe.h"

#include <math.h>
#include <string.h>

const char *const qn_phase_names[QN_N_PHASES + 1] = { "float", "weights", "activations", "both",
                                                      NULL };

int64_t qn_recipe_n_epochs(const struct qn_recipe *r)
{
    int64_t n = 0;

    for (int i = 0; i < QN_N_PHASES; i++)
        n += r->phases[i].epochs;
    return n;
}

int qn_recipe_n_phases(const struct qn_recipe *r)
{
    int n = 0;

    for (int i = 0; i < QN_N_PHASES; i++)
        n += r->phases[i].epochs > 0;
    return n;
}

int qn_recipe_phase(const struct qn_recipe *r, int i)
{
    for (int k = 0; k < QN_N_PHASES; k++)
        if (r->phases[k].epochs > 0 && i-- == 0)
            return k;
    return QN_N_PHASES;
}

enum qn_phase_kind qn_recipe_at(const struct qn_recipe *r, int64_t epoch, int64_t *of_phase)
{
    int k = 0;

    while (k < QN_N_PHASES - 1 && epoch >= r->phases[k].epochs)
        epoch -= r->phases[k++].epochs;
    *of_phase = epoch;
    return (enum qn_phase_kind)k;
}

/* Warming up is over when the first rate would be reached; declining goes on beneath it. */
double qn_phase_rate(const struct qn_phase *p, double at)
{
    const double pi = 0x1.921fb54442d18p+1;
    double rate = p->rate;

    if (p->decline == QN_COSINE)
        rate *= 0.5 * (1 + cos(pi * fmin(1, at / (double)p->epochs)));
    for (int i = 0; p->decline == QN_STEPS && i < p->n_drops; i++)
        rate *= at >= p->drops[i] ? p->drop : 1;
    if (at < p->warm_up)
        rate *= at / p->warm_up;
    return rate;
}

static bool learns(enum qn_phase_kind k, bool activations)
{
    return k == QN_PHASE_BOTH || k == (activations ? QN_PHASE_ACTIVATIONS : QN_PHASE_WEIGHTS);
}

/* The temperature of the first epoch. */
static double base_of(const struct qn_quantiser *q, bool activations, enum qn_phase_kind k)
{
    struct qn_levels l;
    double base = k == QN_PHASE_BOTH ? 7 : 20;

    if (q->heat_base > 0)
        return q->heat_base;
    if (activations)
        return 40;
    return qn_levels_parse(&l, q->levels, NULL) ? base : base / (double)qn_levels_max(&l);
}

double qn_recipe_heat(const struct qn_recipe *r, bool activations, int64_t epoch)
{
    const struct qn_quantiser *q = activations ? &r->activations : &r->weights;
    int64_t of_phase;
    enum qn_phase_kind kind = qn_recipe_at(r, epoch, &of_phase);
    double e = (double)of_phase + 1, base = base_of(q, activations, kind);

    if (!learns(kind, activations))
        return 0;
    switch ((enum qn_heat)q->heat) {
    case QN_HEAT_LINEAR:
        return base * e;
    case QN_HEAT_EXPONENTIAL:
        return fmin(1e6, base * pow(q->heat_growth, e - 1));
    case QN_HEAT_CONSTANT:
        break;
    }
    return base;
}
