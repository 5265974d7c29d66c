/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c: gated values and the scales that they are dequantised by. */
#include "ops/gate.h"

#include "ops/map.h"
#include "ops/sample.h"
#include "ops/slice_fill.h"

#include <math.h>

void assay__gate(const struct assay_args *a, int64_t n, const double *gate, double *v)
{
    for (int64_t k = 0; k < n; k++)
        v[k] = assay_round(a, ASSAY_F32, assay__silu(a, gate[k]) * v[k]);
}

void assay__gate_sample_scales(struct assay_sampler *s, double most, struct assay_range *weight,
                               struct assay_range *token)
{
    static const double reach[] = { 0.5, 2, 6, 20 }, tokens[] = { 1, 0.5, 0.02 };
    double of_weight, of_token = tokens[assay_sample_below(s, 3)];

    of_weight = reach[assay_sample_below(s, 4)] / ((most > 0 ? most : 1) * of_token);
    of_weight = assay_sample_figure(of_weight);
    *weight = (struct assay_range){ -of_weight, of_weight };
    if (assay_sample_below(s, 3) == 0)
        weight->lo = assay_sample_figure(of_weight / 8);
    *token = (struct assay_range){ assay_sample_figure(of_token / 16), of_token };
    if (assay_sample_below(s, 4) == 0)
        token->lo = -of_token;
}

double assay__gate_floor(struct assay_sampler *s, double floor, double most)
{
    return sqrt(2 * 127 * floor * assay__draw_power(s, -3, 1)) / most;
}

void assay__gate_spread_scales(const struct assay_tensor *weight, const struct assay_tensor *token,
                               struct assay_key key, double floor, double most)
{
    enum { ZERO, FLOOR, KINDS = 32 };
    struct assay_sampler s = { .key = key };

    for (int64_t i = 0, n = assay_numel(weight); i < n; i++)
        assay_store(weight, i, assay_load(weight, i) * exp2(-(double)assay_sample_below(&s, 3)));
    for (int64_t i = 0, n = assay_numel(token); i < n; i++) {
        int kind = (int)assay_sample_below(&s, KINDS);
        double v = assay_load(token, i) * exp2(-(double)assay_sample_below(&s, 5));

        if (kind == ZERO || (kind == FLOOR && most > 0 && floor > 0))
            v = kind == ZERO ? 0 : fmin(fabs(v), assay__gate_floor(&s, floor, most));
        assay_store(token, i, v);
    }
}
