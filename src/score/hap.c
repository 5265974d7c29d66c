/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware-anchored performance of one case. */
#include "assay/score.h"

#include <math.h>

double assay_hap(double t_cand, double t_base, double t_hw, bool *below)
{
    double limit, gain, loss;

    *below = false;
    if (isnan(t_cand) || isnan(t_base) || isnan(t_hw) || t_base <= 0)
        return NAN;
    limit = fmax(0, fmin(t_hw, 0.9 * t_base));
    if (t_cand == t_base) /* also where both are infinite or too small for 0.9 to matter */
        return 0.5;
    if (t_cand <= limit) {
        *below = true;
        return 1;
    }
    if (isinf(t_base))
        return 1;
    gain = t_base - limit;
    loss = t_cand - limit;
    /* The published quotient, divided by gain: large times cannot overflow to 0. */
    return 1 / (1 + loss / gain);
}
