/* SPDX-License-Identifier: Apache-2.0 */
/*
 * estimate.c: median log-ratio with a distribution-free interval.
 *
 * For n independent values and quantile x of probability q the number of values below x is binomial
 * (n, q), so that order statistics enclose it with known probability; for the median this is the
 * interval of the sign test. See any text on order statistics, e.g. David and Nagaraja, Order
 * Statistics, section 7.1. Under equal speed the sign of each log-ratio is decided by the coin that
 * draws the order, so that the interval holds however the times themselves are correlated.
 */
#include "timing/estimate.h"

#include "assay/memory.h"

#include <math.h>
#include <stdlib.h>

enum { ENOUGH = 6 }; /* values for an interval of 95 % */

/*
 * What lies outside on each side. The ratio's interval decides when to stop, and stops more gladly
 * where it happens to be narrow: of 588 measurements of 1 it held 1 in 94.2 % with tails of 2.5 %,
 * in 96 % with these. Six values have 1 / 64 beyond their ends.
 */
static const double TAIL = 0.025, RATIO_TAIL = 0.016;

/* Of the pairs. What a process does can disturb it: it shall not choose which times count. */
static const double DISCARD_MOST = 0.25;

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void sort(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, ascending);
}

/* Quantile q of n sorted values, linear between neighbours. */
static double quantile(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int i = (int)at;

    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

double assay_quantile(double *v, int n, double q)
{
    sort(v, n);
    return quantile(v, n, q);
}

/* The standard normal quantile that leaves `tail` above it, of the two that are used. */
static double z_of(double tail)
{
    return tail < TAIL ? 2.144410620911840 : 1.959963984540054;
}

int assay__quantile_rank(int n, double q, double tail)
{
    double p = pow(1 - q, n), sum = 0;
    int k = 0;

    if (n > 400) /* normal approximation with continuity correction, rounded outwards */
        return (int)floor(n * q + 0.5 - z_of(tail) * sqrt(n * q * (1 - q)));
    while (k < n && sum + p <= tail) {
        sum += p;
        p *= (double)(n - k) / (k + 1) * q / (1 - q);
        k++;
    }
    return k;
}

/* A value and its interval. */
struct span {
    double mid, lo, hi;
    bool coarse;
};

/* Quantile q of n values, which it sorts. Too few for an interval: their range. */
static struct span quantile_span(double *v, int n, double q, double tail)
{
    int low = assay__quantile_rank(n, q, tail), high = assay__quantile_rank(n, 1 - q, tail);

    sort(v, n);
    return (struct span){ .mid = quantile(v, n, q),
                          .lo = v[low < 1 ? 0 : low - 1],
                          .hi = v[high < 1 ? n - 1 : n - high],
                          .coarse = low < 1 || high < 1 };
}

/* Log-ratios of pairs [begin, end) into v: the undisturbed ones, or all. Returns how many. */
static int log_ratios(double *v, const struct assay_pair *pair, int begin, int end, bool all)
{
    int n = 0;

    for (int i = begin; i < end; i++)
        if (all || !pair[i].disturbed)
            v[n++] = log(pair[i].cand_ns / pair[i].base_ns);
    return n;
}

/* What the rounds say, each by itself. */
struct rounds {
    int n;          /* of them that have pairs */
    bool agree;     /* all intervals overlap */
    double lo, hi;  /* union of the intervals */
    double *median; /* n */
};

static struct rounds ask_rounds(double *median, double *scratch, const struct assay_pair *pair,
                                int n, bool all)
{
    struct rounds r = { .lo = INFINITY, .hi = -INFINITY, .median = median };
    double lowest_hi = INFINITY, highest_lo = -INFINITY;

    for (int begin = 0, end; begin < n; begin = end) {
        struct span s;
        int m;

        for (end = begin; end < n && pair[end].round == pair[begin].round;)
            end++;
        m = log_ratios(scratch, pair, begin, end, all);
        if (!m)
            continue;
        s = quantile_span(scratch, m, 0.5, RATIO_TAIL);
        median[r.n++] = s.mid;
        r.lo = fmin(r.lo, s.lo);
        r.hi = fmax(r.hi, s.hi);
        if (s.coarse) /* too little to disagree with */
            continue;
        lowest_hi = fmin(lowest_hi, s.hi);
        highest_lo = fmax(highest_lo, s.lo);
    }
    r.agree = highest_lo <= lowest_hi;
    return r;
}

static void put_ratio(struct assay_time *t, double *v, double *scratch,
                      const struct assay_pair *pair, int n, bool all)
{
    struct rounds r = ask_rounds(v, scratch, pair, n, all);
    int m = log_ratios(scratch, pair, 0, n, all);
    struct span s;

    if (r.agree) {
        s = quantile_span(scratch, m, 0.5, RATIO_TAIL);
        t->flags |= s.coarse ? ASSAY_TIME_COARSE : 0;
    } else {
        s = quantile_span(r.median, r.n, 0.5, RATIO_TAIL);
        if (s.coarse) {
            t->flags |= ASSAY_TIME_UNRESOLVED;
            s.lo = r.lo;
            s.hi = r.hi;
        }
    }
    t->n_rounds = r.n;
    t->n_discarded = n - m;
    t->ratio = exp(s.mid);
    t->ratio_lo = exp(s.lo);
    t->ratio_hi = exp(s.hi);
}

static void put_times(struct assay_time *t, double *v, const struct assay_pair *pair,
                      const double *null_ns, int n, bool all)
{
    struct span base;
    int m = 0;

    for (int i = 0; i < n; i++) {
        t->n_calls += pair[i].n_calls;
        if (all || !pair[i].disturbed)
            v[m++] = pair[i].base_ns;
    }
    base = quantile_span(v, m, 0.25, TAIL);
    t->base_ns = base.mid;
    t->base_lo = base.lo;
    t->base_hi = base.hi;
    t->cand_ns = t->base_ns * t->ratio;
    for (int i = 0; i < n; i++)
        v[i] = null_ns[i];
    t->null_ns = assay_quantile(v, n, 0.5);
}

enum assay_status assay__estimate(struct assay_time *t, const struct assay_pair *pair,
                                  const double *null_ns, int n)
{
    double *v = assay_alloc(2 * (size_t)(n ? n : 1) * sizeof *v);

    if (!v)
        return ASSAY_NOMEM;
    *t = (struct assay_time){ .n_pairs = n,
                              .base_ns = NAN,
                              .base_lo = NAN,
                              .base_hi = NAN,
                              .cand_ns = NAN,
                              .ratio = NAN,
                              .ratio_lo = NAN,
                              .ratio_hi = NAN,
                              .null_ns = NAN,
                              .flags = n ? 0 : ASSAY_TIME_COARSE };
    if (n) {
        int calm = log_ratios(v, pair, 0, n, false);
        bool all = calm < ENOUGH || n - calm > DISCARD_MOST * n;

        put_ratio(t, v, v + n, pair, n, all);
        put_times(t, v, pair, null_ns, n, all);
    }
    free(v);
    return ASSAY_OK;
}
