/* SPDX-License-Identifier: Apache-2.0 */
/* moments.c: largest value, mean of squares, mean and variance of a run of values. */
#include "ops/moments.h"

#include "ops/map.h"

#include <math.h>

/* The same in float32, as vector units add: in lanes, and those one after the other. */
static double sum_in_lanes(double acc, const double *v, int64_t n)
{
    enum { LANES = 16 };
    float lane[LANES] = { 0 }, sum = (float)acc;

    for (int64_t i = 0; i < n; i++)
        lane[i % LANES] += (float)v[i];
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return (double)sum;
}

double assay__fold_sum(const struct assay_args *a, double acc, const double *v, int64_t n)
{
    double sum = 0;

    if (a->native)
        return sum_in_lanes(acc, v, n);
    for (int64_t i = 0; i < n; i++)
        sum += v[i];
    return acc + sum;
}

double assay__fold_squares(const struct assay_args *a, double acc, const double *v, int64_t n)
{
    double square[ASSAY__BLOCK];

    for (int64_t i = 0; i < n; i++)
        square[i] = v[i] * v[i];
    return assay__fold_sum(a, acc, square, n);
}

double assay__fold_max(double acc, const double *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        acc = v[i] > acc || isnan(v[i]) ? v[i] : acc;
    return acc;
}

double assay__fold_amax(double acc, const double *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double x = fabs(v[i]);

        acc = x > acc || isnan(x) ? x : acc;
    }
    return acc;
}

static int64_t block_length(int64_t k, int64_t n)
{
    return n - k < ASSAY__BLOCK ? n - k : ASSAY__BLOCK;
}

double assay__mean_square(const struct assay_args *a, const struct assay_tensor *t, int64_t at,
                          int64_t n)
{
    double v[ASSAY__BLOCK], sum = 0;

    for (int64_t k = 0, m; k < n; k += m) {
        m = block_length(k, n);
        assay_load_n(t, at + k, m, v);
        sum = assay__fold_squares(a, sum, v, m);
    }
    return assay_round(a, ASSAY_F32, sum / (double)n);
}

double assay__amax(const struct assay_tensor *t, int64_t at, int64_t n)
{
    double v[ASSAY__BLOCK], most = 0;

    for (int64_t k = 0, m; k < n; k += m) {
        m = block_length(k, n);
        assay_load_n(t, at + k, m, v);
        most = assay__fold_amax(most, v, m);
    }
    return most;
}

/* Twice over the values: the second sum is one of small numbers. */
struct assay__moments assay__moments(const struct assay_args *a, const struct assay_tensor *t,
                                     int64_t at, int64_t n)
{
    struct assay__moments r;
    double v[ASSAY__BLOCK], sum = 0;

    for (int64_t k = 0, m; k < n; k += m) {
        m = block_length(k, n);
        assay_load_n(t, at + k, m, v);
        sum = assay__fold_sum(a, sum, v, m);
    }
    r.mean = assay_round(a, ASSAY_F32, sum / (double)n);
    sum = 0;
    for (int64_t k = 0, m; k < n; k += m) {
        m = block_length(k, n);
        assay_load_n(t, at + k, m, v);
        for (int64_t i = 0; i < m; i++)
            v[i] = assay_round(a, ASSAY_F32, v[i] - r.mean);
        sum = assay__fold_squares(a, sum, v, m);
    }
    r.var = assay_round(a, ASSAY_F32, sum / (double)n);
    return r;
}

double assay__power(const struct assay_args *a, double x, double top)
{
    return assay_round(a, ASSAY_F32, exp(assay_round(a, ASSAY_F32, x - top)));
}

double assay__rstd(const struct assay_args *a, double v, double eps)
{
    double root = assay_round(a, ASSAY_F32, sqrt(assay_round(a, ASSAY_F32, v + eps)));

    return assay_round(a, ASSAY_F32, 1 / root);
}

enum assay_status assay__check_epsilon(double eps, struct assay_err *err)
{
    if (isfinite(eps) && eps >= 0)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_INVALID, "epsilon %g, must be finite and not negative", eps);
}
