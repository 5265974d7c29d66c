/* SPDX-License-Identifier: Apache-2.0 */
/* sums.c: sixteen partial sums side by side, added up at the end. */
#include "qn/sums.h"

#include "base/clones.h"

enum { LANES = 16 };

static double fold(const double *lane)
{
    double s = 0;

    for (int l = 0; l < LANES; l++)
        s += lane[l];
    return s;
}

ASSAY__CLONES static void sums_of(int64_t n, const float *restrict x, double *restrict lane)
{
    int64_t whole = n / LANES * LANES;
    double s[LANES] = { 0 };

    for (int64_t i = 0; i < whole; i += LANES)
        for (int l = 0; l < LANES; l++)
            s[l] += (double)x[i + l];
    for (int64_t i = whole; i < n; i++)
        s[i - whole] += (double)x[i];
    for (int l = 0; l < LANES; l++)
        lane[l] = s[l];
}

ASSAY__CLONES static void sums_of_products(int64_t n, const float *restrict x,
                                           const float *restrict y, double *restrict lane)
{
    int64_t whole = n / LANES * LANES;
    double s[LANES] = { 0 };

    for (int64_t i = 0; i < whole; i += LANES)
        for (int l = 0; l < LANES; l++)
            s[l] += (double)x[i + l] * (double)y[i + l];
    for (int64_t i = whole; i < n; i++)
        s[i - whole] += (double)x[i] * (double)y[i];
    for (int l = 0; l < LANES; l++)
        lane[l] = s[l];
}

ASSAY__CLONES static void sums_of_squares(int64_t n, const float *restrict x, double mean,
                                          double *restrict lane)
{
    int64_t whole = n / LANES * LANES;
    double s[LANES] = { 0 };

    for (int64_t i = 0; i < whole; i += LANES)
        for (int l = 0; l < LANES; l++) {
            double d = (double)x[i + l] - mean;

            s[l] += d * d;
        }
    for (int64_t i = whole; i < n; i++)
        s[i - whole] += ((double)x[i] - mean) * ((double)x[i] - mean);
    for (int l = 0; l < LANES; l++)
        lane[l] = s[l];
}

double qn__sum(int64_t n, const float *x)
{
    double lane[LANES];

    sums_of(n, x, lane);
    return fold(lane);
}

double qn__dot(int64_t n, const float *x, const float *y)
{
    double lane[LANES];

    sums_of_products(n, x, y, lane);
    return fold(lane);
}

double qn__sum_squares(int64_t n, const float *x, double mean)
{
    double lane[LANES];

    sums_of_squares(n, x, mean, lane);
    return fold(lane);
}
