/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware-anchored performance of one case, and how far it can be off. */
#include "assay/score.h"

#include <math.h>

/* T* is never nearer to the baseline than this: else nothing could be gained on it. */
static const double limit_most = 0.9;

double assay_hap(double t_cand, double t_base, double t_hw, bool *below)
{
    double limit, gain, loss;

    *below = false;
    if (isnan(t_cand) || isnan(t_base) || isnan(t_hw) || t_base <= 0)
        return NAN;
    limit = fmax(0, fmin(t_hw, limit_most * t_base));
    /* a limit beyond 0.9 T_base does not count in the score, yet whoever beats it is to be seen */
    *below = t_cand < fmax(t_hw, limit);
    if (t_cand == t_base) /* also where both are infinite or too small for 0.9 to matter */
        return 0.5;
    if (t_cand <= limit)
        return 1;
    if (isinf(t_base))
        return 1;
    gain = t_base - limit;
    loss = t_cand - limit;
    /* The published quotient, divided by gain: large times cannot overflow to 0. */
    return 1 / (1 + loss / gain);
}

/* HAP with both times in units of T_base: nothing underflows, however short the baseline. The limit
 * may be infinite. */
static double hap_of_ratio(double ratio, double t_hw)
{
    double limit = fmax(0, fmin(t_hw, limit_most));

    return ratio <= limit ? 1 : 1 / (1 + (ratio - limit) / (1 - limit));
}

/* T_HW in units of a baseline. Where both are infinite it is NaN, which fmin() above passes over.
 */
static double relative_limit(double t_hw, double t_base)
{
    if (!(t_hw > 0))
        return 0;
    return t_base > 0 ? t_hw / t_base : INFINITY;
}

/*
 * The exact range over the box of ratios and baselines. At a fixed baseline HAP falls in the ratio;
 * at a fixed ratio it moves one way in the baseline: its derivative has the sign of ratio - 1
 * everywhere, or is 0 where T* is 0.9 T_base. So both extremes lie in corners.
 */
static void put_range(struct assay_hap *h, const struct assay_time *t, double t_hw)
{
    bool known = t->base_hi > 0 && !isnan(t->base_lo);
    const double base[2] = { known ? t->base_lo : t->base_ns, known ? t->base_hi : t->base_ns };

    if (isnan(t->ratio_lo) || isnan(t->ratio_hi)) {
        h->lo = h->hi = NAN;
        return;
    }
    h->lo = h->hi = h->value;
    for (int i = 0; i < 2; i++) {
        double limit = relative_limit(t_hw, base[i]);
        double a = hap_of_ratio(t->ratio_lo, limit), b = hap_of_ratio(t->ratio_hi, limit);

        h->lo = fmin(h->lo, fmin(a, b));
        h->hi = fmax(h->hi, fmax(a, b));
    }
}

void assay_hap_range(struct assay_hap *h, const struct assay_time *t, double t_hw,
                     double t_hw_spread)
{
    double spread = t_hw_spread > 0 ? t_hw_spread : 0, least, most;
    bool ignored;

    h->value = assay_hap(t->cand_ns, t->base_ns, t_hw, &h->below);
    if (isnan(h->value)) {
        h->lo = h->hi = h->limit = NAN;
        return;
    }
    h->below = h->below || t->base_ns < t_hw;
    put_range(h, t, t_hw);
    /* HAP moves one way in T_HW, too: the ends are where it moves to */
    least = assay_hap(t->cand_ns, t->base_ns, fmax(0, t_hw * (1 - spread)), &ignored);
    most = assay_hap(t->cand_ns, t->base_ns, t_hw * (1 + spread), &ignored);
    h->limit = t_hw > 0 && spread > 0 ? fabs(most - least) / 2 : 0;
}
