/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c: what the .sample hooks of operators share. */
#include "ops/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double assay__range_magnitude(const struct assay_range *r)
{
    double lo = isfinite(r->lo) ? fabs(r->lo) : 0;
    double hi = isfinite(r->hi) ? fabs(r->hi) : 0;

    return lo > hi ? lo : hi;
}

double assay__round_figure(double v)
{
    char buf[32];

    snprintf(buf, sizeof buf, "%.1e", v);
    return strtod(buf, NULL);
}

enum assay_status assay__sample_room(struct assay_sampler *s, struct assay_case *c, int i,
                                     int64_t n, struct assay_err *err)
{
    struct assay_case_in *in = &c->in[i];
    struct assay_range first =
        in->n > 0 && in->range ? in->range[0] : (struct assay_range){ -1, 1 };

    in->shape = assay_arena_array(s->arena, (size_t)n, sizeof *in->shape);
    in->range = assay_arena_array(s->arena, (size_t)n, sizeof *in->range);
    if (!in->shape || !in->range)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a list of %lld shapes", (long long)n);
    in->n = n;
    for (int64_t k = 0; k < n; k++)
        in->range[k] = first;
    return ASSAY_OK;
}

enum assay_status assay__sample_lists(struct assay_sampler *s, struct assay_case *c, int n_in,
                                      int64_t min_len, struct assay_err *err)
{
    enum { MAX_LEN = 4 };
    int64_t n = min_len + (int64_t)assay_sample_below(s, (uint64_t)(MAX_LEN - min_len + 1));
    bool varied = assay_sample_below(s, 2) == 1;
    double share[MAX_LEN], sum = 0;

    for (int64_t k = 0; k < n; k++) {
        share[k] = varied ? assay_sample_between(s, 0.2, 1) : 1;
        sum += share[k];
    }
    for (int i = 0; i < n_in; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, n, err));
    for (int64_t k = 0; k < n; k++) {
        double elements = (double)s->elements / n_in * share[k] / sum;
        int rank = s->rank;

        if (varied && rank > 1)
            rank -= (int)assay_sample_below(s, 2);
        if (k > 0 && !varied)
            c->in[0].shape[k] = c->in[0].shape[0];
        else
            assay_sample_shape(s, elements < 1 ? 1 : (int64_t)elements, rank, c->in[0].dtype,
                               &c->in[0].shape[k]);
        for (int i = 1; i < n_in; i++)
            c->in[i].shape[k] = c->in[0].shape[k];
    }
    return ASSAY_OK;
}
