/* SPDX-License-Identifier: Apache-2.0 */
/* sums.c: partial sums side by side, added up in double. */
#include "qn/sums.h"

#include "base/clones.h"

#include <string.h>

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

/* The lanes are floats, and go into the double after sixteen values each: what that loses is below
 * the rounding of the values themselves. */
static ASSAY__INLINE double fold(const vec *acc, const float *rest)
{
    vec last;
    double s[WIDTH] = { 0 };

    memcpy(&last, rest, sizeof last);
    for (int v = 0; v < VECTORS; v++)
        for (int l = 0; l < WIDTH; l++)
            s[l] += (double)acc[v][l];
    for (int l = 0; l < WIDTH; l++)
        s[l] += (double)last[l];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* Rows, or a part of a long one, of one stretch. */
static ASSAY__INLINE double stretch(enum what what, int64_t rows, int64_t n, int64_t step,
                                    const float *x, float about, const float *y)
{
    vec acc[VECTORS] = { { 0 } };
    float rest[WIDTH] = { 0 };

    for (int64_t i = 0; i < rows; i++)
        add_row(what, n, x + i * step, about, y + i * step, acc, rest);
    return fold(acc, rest);
}

static ASSAY__INLINE double add_up(enum what what, const struct qn__rows *r, const float *x,
                                   float about, const float *y, double *sum_y)
{
    int64_t each = STRETCH / (r->n + LANES - 1), n = r->n < STRETCH ? r->n : STRETCH;
    double s = 0, other = 0;

    each = each < 1 ? 1 : each;
    for (int64_t i = 0; i < r->rows; i += each)
        for (int64_t j = 0; j < r->n; j += n) {
            int64_t some = r->rows - i < each ? r->rows - i : each, at = i * r->step + j;
            int64_t part = r->n - j < n ? r->n - j : n;

            s += stretch(what, some, part, r->step, x + at, about, y + at);
            if (sum_y)
                other += stretch(VALUES, some, part, r->step, y + at, 0, y + at);
        }
    if (sum_y)
        *sum_y = other;
    return s;
}

ASSAY__CLONES static double sums_values(const struct qn__rows *r, const float *x)
{
    return add_up(VALUES, r, x, 0, x, NULL);
}

ASSAY__CLONES static double sums_products(const struct qn__rows *r, const float *x, float about,
                                          const float *y)
{
    return add_up(PRODUCTS, r, x, about, y, NULL);
}

ASSAY__CLONES static double sums_both(const struct qn__rows *r, const float *x, float about,
                                      const float *y, double *sum_y)
{
    return add_up(PRODUCTS, r, x, about, y, sum_y);
}

ASSAY__CLONES static double sums_squares(const struct qn__rows *r, const float *x, float mean)
{
    return add_up(SQUARES, r, x, mean, x, NULL);
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
    struct qn__rows r = { 1, n, 0 };

    return sums_values(&r, x);
}

double qn__sum_rows(const struct qn__rows *r, const float *x)
{
    return sums_values(r, x);
}

double qn__dot(int64_t n, const float *x, float about, const float *y)
{
    struct qn__rows r = { 1, n, 0 };

    return sums_products(&r, x, about, y);
}

double qn__dot_rows(const struct qn__rows *r, const float *x, float about, const float *y,
                    double *sum_y)
{
    return sums_both(r, x, about, y, sum_y);
}

double qn__squares_rows(const struct qn__rows *r, const float *x, double mean)
{
    float m = (float)mean;
    double n = (double)(r->rows * r->n), off = (double)m - mean;

    /* of squares about m instead of the mean: (x - mean)^2 differs by terms whose sum is this */
    return sums_squares(r, x, m) - n * off * off;
}
