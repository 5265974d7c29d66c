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

void assay__sample_rows(struct assay_sampler *s, int64_t elements, int rank, enum assay_dtype d,
                        struct assay_shape *x)
{
    enum { TRIES = 32, MIN_ROW = 16, MAX_ROW = 65536 };

    for (int i = 0; i < TRIES; i++) {
        assay_sample_shape(s, elements, rank, d, x);
        if (x->dim[rank - 1] >= MIN_ROW && x->dim[rank - 1] <= MAX_ROW)
            break;
    }
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

int64_t assay__sample_ratio(struct assay_sampler *s, double lo, double hi)
{
    lo = fmax(1, lo);
    return (int64_t)exp(assay_sample_between(s, log(lo), log(fmax(lo, hi))));
}

int64_t assay__sample_extent(struct assay_sampler *s, double about, enum assay_dtype d)
{
    struct assay_shape one;

    assay_sample_shape(s, about < 1 ? 1 : (int64_t)about, 1, d, &one);
    return one.dim[0];
}

void assay__sample_product(struct assay_sampler *s, int64_t batches, enum assay_dtype d, int64_t *m,
                           int64_t *n, int64_t *k)
{
    int64_t elements = s->elements / batches > 1 ? s->elements / batches : 1;
    double root = sqrt((double)elements), lo = fmax(8, root / 8), hi = fmax(12, root * 2);
    double other, least, most;
    bool tall = assay_sample_below(s, 4) == 0;

    *k = assay__sample_extent(s, exp(assay_sample_between(s, log(lo), log(hi))), d);
    other = fmax(2, (double)elements / (double)*k); /* m + n */
    most = fmax(1, fmin(other / 2, ASSAY__MOST_PRODUCTS / (double)s->elements));
    least = tall ? fmin(8, most) : assay_sample_below(s, 3) == 0 ? 1 : fmax(1, most / 8);
    *m = assay__sample_ratio(s, least, most);
    *n = (int64_t)fmax(1, other - (double)*m);
    if (tall) {
        int64_t t = *m;

        *m = *n;
        *n = t;
    }
}

struct assay_range assay__sample_factor(struct assay_sampler *s, double most, double terms,
                                        enum assay_dtype d)
{
    /* products of uniform values are a third of the largest one, root mean square */
    double size = fmax(most, 1e-3) * sqrt(terms) / 3;
    double widest = d == ASSAY_F32 ? 10 : fmin(assay_dtype_max(d), 1e30) / 50;
    double lo = fmax(0.1 / size, 1e-20), hi = fmin(widest / size, 100), m;

    lo = fmin(fmax(lo, 0.02), hi);
    hi = fmin(fmax(lo, 5), hi);
    m = exp(assay_sample_between(s, log(lo), log(hi)));
    m = assay_sample_figure(m);
    return (struct assay_range){ -m, m };
}

bool assay__sample_absent(struct assay_sampler *s, struct assay_case *c, int i, double share)
{
    bool absent = assay_sample_between(s, 0, 1) >= share;

    if (absent)
        c->in[i].n = 0;
    return absent;
}
