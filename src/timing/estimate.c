/* SPDX-License-Identifier: Apache-2.0 */
/*
 * estimate.c: median log-ratio of the pairs with the distribution-free interval of the sign test.
 *
 * For n independent values P(x_(k) <= median <= x_(n+1-k)) = 1 - 2 P(B <= k-1), B binomial(n, 1/2):
 * see any text on order statistics, e.g. David and Nagaraja, Order Statistics, section 7.1.
 */
#include "timing/estimate.h"

#include "assay/memory.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Quantile q of n sorted values, linear between neighbours. */
static double quantile(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int i = (int)at;

    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

int assay__median_rank(int n)
{
    const double tail = 0.025;
    double p = ldexp(1, -n), sum = 0;
    int k = 0;

    if (n > 1000) /* normal approximation with continuity correction, rounded outwards */
        return (int)floor((n + 1) / 2.0 - 0.5 * 1.959963984540054 * sqrt(n));
    while (k < n / 2 && sum + p <= tail) {
        sum += p;
        p *= (double)(n - k) / (k + 1);
        k++;
    }
    return k;
}

/* Which pairs count: the undisturbed ones, or all where those are too few. Returns how many. */
static int choose(const struct assay_pair *pair, int n, bool *all)
{
    int quiet = 0;

    for (int i = 0; i < n; i++)
        quiet += !pair[i].disturbed;
    *all = quiet < n / 2 || assay__median_rank(quiet) < 1;
    return *all ? n : quiet;
}

/* Interval of the median of n sorted log-ratios, and the median itself. */
static void put_ratio(struct assay_time *t, const double *sorted, int n)
{
    int k = assay__median_rank(n);

    if (k < 1)
        t->flags |= ASSAY_TIME_COARSE;
    t->ratio = exp(quantile(sorted, n, 0.5));
    t->ratio_lo = exp(sorted[k < 1 ? 0 : k - 1]);
    t->ratio_hi = exp(sorted[k < 1 ? n - 1 : n - k]);
}

enum assay_status assay__estimate(struct assay_time *t, const struct assay_pair *pair,
                                  const double *null_ns, int n)
{
    double *v = assay_alloc(3 * (size_t)(n ? n : 1) * sizeof *v);
    double *base = v, *ratio = v + n, *null = v + 2 * n;
    bool all;
    int used = choose(pair, n, &all), at = 0;

    if (!v)
        return ASSAY_NOMEM;
    *t = (struct assay_time){ .n_pairs = n,
                              .n_discarded = n - used,
                              .base_ns = NAN,
                              .cand_ns = NAN,
                              .ratio = NAN,
                              .ratio_lo = NAN,
                              .ratio_hi = NAN,
                              .null_ns = NAN,
                              .flags = n ? 0 : ASSAY_TIME_COARSE };
    for (int i = 0; i < n; i++) {
        t->n_calls += pair[i].n_calls;
        if (!all && pair[i].disturbed)
            continue;
        base[at] = pair[i].base_ns;
        ratio[at] = log(pair[i].cand_ns / pair[i].base_ns);
        null[at++] = null_ns[i];
    }
    if (used) {
        qsort(base, (size_t)used, sizeof *v, ascending);
        qsort(ratio, (size_t)used, sizeof *v, ascending);
        qsort(null, (size_t)used, sizeof *v, ascending);
        t->base_ns = quantile(base, used, 0.25);
        put_ratio(t, ratio, used);
        t->cand_ns = t->base_ns * t->ratio;
        t->null_ns = quantile(null, used, 0.5);
    }
    free(v);
    return ASSAY_OK;
}
