/* SPDX-License-Identifier: Apache-2.0 */
/* sums.c: partial sums side by side, added up in double. */
#include "qn/sums.h"

#include "base/clones.h"

#include <stddef.h>

/* Eight vectors of four: those that go into the double together. */
enum { WIDTH = 4, VECTORS = 8, LANES = VECTORS * WIDTH, STRETCH = 16 * LANES };

typedef float vec __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

/* What is added up. */
enum what { VALUES, PRODUCTS, SQUARES };

static ASSAY__INLINE vec load(const float *from)
{
    return *(const vec *)(const void *)from;
}

static ASSAY__INLINE vec term(enum what what, const float *x, float about, const float *y)
{
    if (what == VALUES)
        return load(x);
    if (what == PRODUCTS)
        return (load(x) - about) * load(y);
    return (load(x) - about) * (load(x) - about);
}

static ASSAY__INLINE float term_1(enum what what, float x, float about, const float *y)
{
    if (what == VALUES)
        return x;
    if (what == PRODUCTS)
        return (x - about) * *y;
    return (x - about) * (x - about);
}

/* Adds a row to the lanes. Values behind the last whole vector go into the first of them. */
static ASSAY__INLINE void add_row(enum what what, int64_t n, const float *x, float about,
                                  const float *y, vec *acc, float *rest)
{
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES)
        ASSAY__UNROLL
    for (int v = 0; v < VECTORS; v++)
        acc[v] += term(what, x + i + v * WIDTH, about, y + i + v * WIDTH);
    ASSAY__UNROLL
    for (int v = 0; v < VECTORS - 1; v++)
        if (i + WIDTH <= n) {
            acc[v] += term(what, x + i, about, y + i);
            i += WIDTH;
        }
    for (int j = 0; i < n; i++, j++)
        rest[j] += term_1(what, x[i], about, y + i);
}

/* The lanes are floats, and go into the double after sixteen values each, added up two by two: what
 * that loses is below the rounding of the values themselves. */
static ASSAY__INLINE double fold(const vec *acc, const float *rest)
{
    vec a = (acc[0] + acc[1]) + (acc[2] + acc[3]), b = (acc[4] + acc[5]) + (acc[6] + acc[7]);

    a = (a + b) + load(rest);
    return ((double)a[0] + (double)a[1]) + ((double)a[2] + (double)a[3]);
}

static ASSAY__INLINE double stretch(enum what what, int64_t n, const float *x, float about,
                                    const float *y)
{
    vec acc[VECTORS] = { { 0 } };
    float rest[WIDTH] = { 0 };

    add_row(what, n, x, about, y, acc, rest);
    return fold(acc, rest);
}

static ASSAY__INLINE double add_up(enum what what, int64_t n, const float *x, float about,
                                   const float *y, double *sum_y)
{
    double s = 0, other = 0;

    for (int64_t at = 0; at < n; at += STRETCH) {
        int64_t some = n - at < STRETCH ? n - at : STRETCH;

        s += stretch(what, some, x + at, about, y + at);
        if (sum_y)
            other += stretch(VALUES, some, y + at, 0, y + at);
    }
    if (sum_y)
        *sum_y = other;
    return s;
}

ASSAY__CLONES static double sums_values(int64_t n, const float *x)
{
    return add_up(VALUES, n, x, 0, x, NULL);
}

ASSAY__CLONES static double sums_products(int64_t n, const float *x, float about, const float *y)
{
    return add_up(PRODUCTS, n, x, about, y, NULL);
}

ASSAY__CLONES static double sums_both(int64_t n, const float *x, float about, const float *y,
                                      double *sum_y)
{
    return add_up(PRODUCTS, n, x, about, y, sum_y);
}

ASSAY__CLONES static double sums_squares(int64_t n, const float *x, float mean)
{
    return add_up(SQUARES, n, x, mean, x, NULL);
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

double qn__sum(int64_t n, const float *x)
{
    return sums_values(n, x);
}

double qn__dot(int64_t n, const float *x, float about, const float *y)
{
    return sums_products(n, x, about, y);
}

double qn__dot_sum(int64_t n, const float *x, float about, const float *y, double *sum_y)
{
    return sums_both(n, x, about, y, sum_y);
}

double qn__squares(int64_t n, const float *x, double mean)
{
    float m = (float)mean;
    double off = (double)m - mean;

    /* of squares about m instead of the mean: summed over all values (x - mean)^2 differs by this
     */
    return sums_squares(n, x, m) - (double)n * off * off;
}
