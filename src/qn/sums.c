/* SPDX-License-Identifier: Apache-2.0 */
/* sums.c: partial sums side by side, added up in double. */
#include "qn/sums.h"

#include "base/clones.h"

enum { LANES = 32, STRETCH = 16 * LANES };

/* The lanes are floats, and go into the double after sixteen values each: what that loses is below
 * the rounding of the values themselves. */
static double fold(const float *lane)
{
    double s = 0;

    for (int l = 0; l < LANES; l++)
        s += (double)lane[l];
    return s;
}

ASSAY__CLONES static void sums_of(int64_t n, const float *restrict x, float *restrict lane)
{
    int64_t whole = n / LANES * LANES;
    float s[LANES] = { 0 };

    for (int64_t i = 0; i < whole; i += LANES)
        for (int l = 0; l < LANES; l++)
            s[l] += x[i + l];
    for (int64_t i = whole; i < n; i++)
        s[i - whole] += x[i];
    for (int l = 0; l < LANES; l++)
        lane[l] = s[l];
}

ASSAY__CLONES static void sums_of_products(int64_t n, const float *restrict x, float about,
                                           const float *restrict y, float *restrict lane)
{
    int64_t whole = n / LANES * LANES;
    float s[LANES] = { 0 };

    for (int64_t i = 0; i < whole; i += LANES)
        for (int l = 0; l < LANES; l++)
            s[l] += (x[i + l] - about) * y[i + l];
    for (int64_t i = whole; i < n; i++)
        s[i - whole] += (x[i] - about) * y[i];
    for (int l = 0; l < LANES; l++)
        lane[l] = s[l];
}

ASSAY__CLONES static void sums_of_squares(int64_t n, const float *restrict x, float mean,
                                          float *restrict lane)
{
    int64_t whole = n / LANES * LANES;
    float s[LANES] = { 0 };

    for (int64_t i = 0; i < whole; i += LANES)
        for (int l = 0; l < LANES; l++)
            s[l] += (x[i + l] - mean) * (x[i + l] - mean);
    for (int64_t i = whole; i < n; i++)
        s[i - whole] += (x[i] - mean) * (x[i] - mean);
    for (int l = 0; l < LANES; l++)
        lane[l] = s[l];
}

ASSAY__CLONES static void sums_add(int64_t n, const float *restrict from, float *restrict to)
{
    for (int64_t j = 0; j < n; j++)
        to[j] += from[j];
}

void qn__add(int64_t n, const float *restrict from, float *restrict to)
{
    sums_add(n, from, to);
}

static int64_t stretch(int64_t n, int64_t at)
{
    return n - at < STRETCH ? n - at : STRETCH;
}

double qn__sum(int64_t n, const float *x)
{
    float lane[LANES];
    double s = 0;

    if (n == 1)
        return (double)x[0];
    for (int64_t at = 0; at < n; at += STRETCH) {
        sums_of(stretch(n, at), x + at, lane);
        s += fold(lane);
    }
    return s;
}

double qn__dot(int64_t n, const float *x, float about, const float *y)
{
    float lane[LANES];
    double s = 0;

    if (n == 1)
        return ((double)x[0] - (double)about) * (double)y[0];
    for (int64_t at = 0; at < n; at += STRETCH) {
        sums_of_products(stretch(n, at), x + at, about, y + at, lane);
        s += fold(lane);
    }
    return s;
}

double qn__sum_squares(int64_t n, const float *x, double mean)
{
    float lane[LANES], m = (float)mean;
    double s = 0;

    for (int64_t at = 0; at < n; at += STRETCH) {
        if (n == 1)
            return ((double)x[0] - mean) * ((double)x[0] - mean);
        sums_of_squares(stretch(n, at), x + at, m, lane);
        s += fold(lane);
    }
    /* of squares about m instead of the mean: (x - mean)^2 differs by terms whose sum is this */
    return s - (double)n * ((double)m - mean) * ((double)m - mean);
}
