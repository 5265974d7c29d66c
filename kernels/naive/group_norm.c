/* SPDX-License-Identifier: Apache-2.0 */
/* group_norm: group by group; a group is a run of channels, a channel a run of `area` elements. */
#include <assay/group_norm.h>

#include "elem.h"

#include <math.h>

int assay_group_norm(const struct assay_call *c)
{
    const struct group_norm_attrs *a = c->attrs;
    const struct assay_view *x = c->in[GROUP_NORM_X].view;
    const struct assay_view *gamma = c->in[GROUP_NORM_GAMMA].view;
    const struct assay_view *beta = c->in[GROUP_NORM_BETA].view;
    const struct assay_view *y = c->out[GROUP_NORM_Y].view;
    int64_t channels = x->shape[1], area = 1, n;

    for (int d = 2; d < x->rank; d++)
        area *= x->shape[d];
    n = channels / a->num_groups * area;
    for (int64_t first = 0; n > 0 && first < elem_count(x); first += n) {
        double mean = 0, var = 0, rstd;

        for (int64_t i = 0; i < n; i++)
            mean += elem_get(x, first + i) / (double)n;
        for (int64_t i = 0; i < n; i++) {
            double d = elem_get(x, first + i) - mean;

            var += d * d / (double)n;
        }
        rstd = 1 / sqrt(var + a->epsilon);
        for (int64_t i = 0; i < n; i++) {
            int64_t channel = (first + i) / area % channels;
            double scale = rstd * elem_get(gamma, channel);
            double shift = elem_get(beta, channel) - mean * scale;

            elem_put(y, first + i, elem_get(x, first + i) * scale + shift);
        }
    }
    return 0;
}
