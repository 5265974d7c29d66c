/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c: see stats.h. The intervals of the sign and the signed-rank test are those of Hollander,
 * Wolfe and Chicken, Nonparametric Statistical Methods, sections 3.6 and 3.3. */
#include "stats.h"

#include "assay/memory.h"
#include "assay/op.h"
#include "timing/estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXACT = 60 }; /* values up to which the signed-rank distribution is summed */

static const double tail = 0.025, normal_quantile = 1.959963984540054;

/* ---- files ----------------------------------------------------------------------------------- */

struct assay_result *assay__stats_read(char *const *path, int n, struct assay_err *err)
{
    struct assay_result *r = assay_alloc_zero((size_t)n * sizeof *r);

    if (!r) {
        assay_fail(err, ASSAY_NOMEM, "out of memory for %d results", n);
        return NULL;
    }
    for (int i = 0; i < n; i++)
        if (assay_result_read(&r[i], path[i], assay_op_find, err)) {
            assay__stats_release(r, i);
            return NULL;
        }
    return r;
}

void assay__stats_release(struct assay_result *r, int n)
{
    for (int i = 0; r && i < n; i++)
        assay_result_release(&r[i]);
    free(r);
}

/* ---- tables ---------------------------------------------------------------------------------- */

void assay__stats_put(int width, int decimals, double v)
{
    if (isnan(v))
        printf("%*s", width, "-");
    else
        printf("%*.*f", width, decimals, v);
}

/* ---- samples --------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void assay__stats_sort(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, ascending);
}

double assay__stats_quantile(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int i = (int)at;

    if (n < 1)
        return NAN;
    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

double assay__stats_mean(const double *v, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += v[i];
    return n > 0 ? sum / n : NAN;
}

double assay__stats_sd(const double *v, int n)
{
    double mean = assay__stats_mean(v, n), sum = 0;

    for (int i = 0; i < n; i++)
        sum += (v[i] - mean) * (v[i] - mean);
    return n > 1 ? sqrt(sum / (n - 1)) : NAN;
}

/* ---- median ---------------------------------------------------------------------------------- */

struct assay__stats_span assay__stats_median(const double *sorted, int n)
{
    int k = assay__quantile_rank(n, 0.5, 0.025);
    struct assay__stats_span s = { assay__stats_quantile(sorted, n, 0.5), NAN, NAN };

    if (k > 0) {
        s.lo = sorted[k - 1];
        s.hi = sorted[n - k];
    }
    return s;
}

/* ---- Hodges-Lehmann -------------------------------------------------------------------------- */

/* How many of the Walsh averages are at most x. The last j that still fits falls as i grows. */
static int64_t walsh_count(const double *sorted, int n, double x)
{
    int64_t count = 0;
    int j = n - 1;

    for (int i = 0; i <= j; i++) {
        while (j >= i && sorted[i] + sorted[j] > 2 * x)
            j--;
        count += j - i + 1;
    }
    return count;
}

/* The k-th smallest Walsh average, 1 .. n (n + 1) / 2, without writing them down: bisection down to
 * neighbouring doubles. */
static double walsh(const double *sorted, int n, int64_t k)
{
    double below = sorted[0], x = sorted[n - 1];

    if (walsh_count(sorted, n, below) >= k)
        return below;
    for (;;) {
        double mid = below + (x - below) / 2;

        if (mid <= below || mid >= x)
            return x;
        if (walsh_count(sorted, n, mid) >= k)
            x = mid;
        else
            below = mid;
    }
}

/*
 * Rank k such that at most 2.5 % of the probability lies below the k-th smallest Walsh average of n
 * values, which are symmetric about the centre: P(T < k) of the signed-rank statistic T, the sum of
 * those ranks 1 .. n for which a fair coin says so. 0 when n is too small. Normal beyond EXACT.
 */
static int64_t signed_rank(int n)
{
    double p[EXACT * (EXACT + 1) / 2 + 1] = { 1 }, sum = 0;
    double all = 0.5 * n * (n + 1.0);
    int top = 0, k = 0;

    if (n > EXACT)
        return (int64_t)floor(all / 2 + 0.5 - normal_quantile * sqrt(all * (2.0 * n + 1) / 12));
    for (int rank = 1; rank <= n; rank++) {
        top += rank;
        for (int t = top; t >= 0; t--)
            p[t] = (p[t] + (t >= rank ? p[t - rank] : 0)) / 2;
    }
    while (sum + p[k] <= tail)
        sum += p[k++];
    return k;
}

struct assay__stats_span assay__stats_hodges_lehmann(const double *sorted, int n)
{
    struct assay__stats_span s = { NAN, NAN, NAN };
    int64_t all = (int64_t)n * (n + 1) / 2, k;

    if (n < 1)
        return s;
    k = signed_rank(n);
    s.mid = walsh(sorted, n, (all + 1) / 2);
    if (all % 2 == 0)
        s.mid = (s.mid + walsh(sorted, n, all / 2 + 1)) / 2;
    if (k > 0) {
        s.lo = walsh(sorted, n, k);
        s.hi = walsh(sorted, n, all + 1 - k);
    }
    return s;
}

/* ---- mean ------------------------------------------------------------------------------------ */

/* P(|T| <= t) of Student's T with whole degrees of freedom: Abramowitz and Stegun, 26.7.3 and
 * 26.7.4. */
static double student_within(double t, int df)
{
    const double half_pi = 1.5707963267948966;
    double angle = atan(t / sqrt(df)), c = cos(angle), term, sum = 0;

    if (df % 2) {
        term = c;
        for (int k = 3; k <= df; k += 2) {
            sum += term;
            term *= c * c * (k - 1) / k;
        }
        return (angle + sin(angle) * sum) / half_pi;
    }
    term = 1;
    for (int k = 2; k <= df; k += 2) {
        sum += term;
        term *= c * c * (k - 1) / k;
    }
    return sin(angle) * sum;
}

/* The quantile of probability 97.5 %: between the normal one and that of one degree of freedom. */
static double student_quantile(int df)
{
    double lo = normal_quantile, hi = 13;

    for (int i = 0; i < 50; i++) {
        double mid = (lo + hi) / 2;

        if (student_within(mid, df) < 1 - 2 * tail)
            lo = mid;
        else
            hi = mid;
    }
    return hi;
}

struct assay__stats_span assay__stats_student(const double *v, int n)
{
    struct assay__stats_span s = { assay__stats_mean(v, n), NAN, NAN };

    if (n > 1) {
        double half = student_quantile(n - 1) * assay__stats_sd(v, n) / sqrt(n);

        s.lo = s.mid - half;
        s.hi = s.mid + half;
    }
    return s;
}
