/* SPDX-License-Identifier: Apache-2.0 */
/*
 * estimate.c: median log-ratio of the rounds with the distribution-free interval of the sign test.
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

/* Median of n values, which it sorts. */
static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, ascending);
    return quantile(v, n, 0.5);
}

/* Log-ratios of the pairs [begin, end) of one round into v: the undisturbed ones, or all when there
 * are no such. Returns how many. */
static int round_ratios(double *v, const struct assay_pair *pair, int begin, int end)
{
    int n = 0;

    for (int i = begin; i < end; i++)
        if (!pair[i].disturbed)
            v[n++] = log(pair[i].cand_ns / pair[i].base_ns);
    if (n)
        return n;
    for (int i = begin; i < end; i++)
        v[n++] = log(pair[i].cand_ns / pair[i].base_ns);
    return n;
}

/* Medians of the rounds into v; *used counts the pairs behind them. Returns how many. */
static int round_medians(double *v, double *scratch, const struct assay_pair *pair, int n,
                         int *used)
{
    int rounds = 0;

    *used = 0;
    for (int begin = 0, end; begin < n; begin = end) {
        int m;

        for (end = begin; end < n && pair[end].round == pair[begin].round;)
            end++;
        m = round_ratios(scratch, pair, begin, end);
        v[rounds++] = median(scratch, m);
        *used += m;
    }
    return rounds;
}

static void put_ratio(struct assay_time *t, double *rounds, int n)
{
    int k = assay__median_rank(n);

    t->n_rounds = n;
    if (k < 1)
        t->flags |= ASSAY_TIME_COARSE;
    t->ratio = exp(median(rounds, n));
    t->ratio_lo = exp(rounds[k < 1 ? 0 : k - 1]);
    t->ratio_hi = exp(rounds[k < 1 ? n - 1 : n - k]);
}

enum assay_status assay__estimate(struct assay_time *t, const struct assay_pair *pair,
                                  const double *null_ns, int n)
{
    double *v = assay_alloc(2 * (size_t)(n ? n : 1) * sizeof *v), *scratch = v + n;
    int used;

    if (!v)
        return ASSAY_NOMEM;
    *t = (struct assay_time){ .n_pairs = n,
                              .base_ns = NAN,
                              .cand_ns = NAN,
                              .ratio = NAN,
                              .ratio_lo = NAN,
                              .ratio_hi = NAN,
                              .null_ns = NAN,
                              .flags = n ? 0 : ASSAY_TIME_COARSE };
    if (n) {
        put_ratio(t, v, round_medians(v, scratch, pair, n, &used));
        t->n_discarded = n - used;
        for (int i = 0; i < n; i++) {
            t->n_calls += pair[i].n_calls;
            v[i] = pair[i].base_ns;
            scratch[i] = null_ns[i];
        }
        qsort(v, (size_t)n, sizeof *v, ascending);
        t->base_ns = quantile(v, n, 0.25);
        t->cand_ns = t->base_ns * t->ratio;
        t->null_ns = median(scratch, n);
    }
    free(v);
    return ASSAY_OK;
}
