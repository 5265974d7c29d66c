/* SPDX-License-Identifier: Apache-2.0 */
/*
 * levels.c: where the levels of memory end, from rates over footprints alone.
 *
 * What the system says about caches is not asked for: virtual machines report what they like. The
 * curve of the read rates has flat parts and edges between them. An edge may take several
 * footprints, for a cache that holds most of one still helps; all that lie clearly above the
 * slower level belong to the faster one, so that nothing is faster than the level that it is in.
 *
 * A disturbed measurement is too low, never too high: a rate counts for all smaller footprints too.
 */
#include "runner/peak.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LEVELS = 4, MAX_POINTS = 128 };

/* Falling by more than this over two footprints is an edge. */
static const double EDGE = 1.07;
/* Rates that differ by less are of one level. */
static const double SAME = 1.125;

/* The first footprint of each level, from the fastest. */
struct cut {
    int first[MAX_POINTS + 1]; /* [n]: one past the last footprint */
    int n;
};

/* v falls. */
static void find_edges(struct cut *c, const double *v, int n)
{
    c->first[0] = 0;
    c->n = 1;
    for (int i = 0; i + 2 < n; i++) {
        int p = i + 1;

        if (!(v[i] > EDGE * v[i + 2]))
            continue;
        while (i + 2 < n && v[i] > EDGE * v[i + 2])
            i++;
        /* flat from i + 1 on, and perhaps near enough before */
        while (v[p] > SAME * v[i + 1])
            p++;
        c->first[c->n++] = p;
    }
    c->first[c->n] = n;
}

/* The median rate of a level. */
static double usual(const struct cut *c, const double *v, int level)
{
    return v[(c->first[level] + c->first[level + 1]) / 2];
}

/* Two levels that hardly differ are one, and so are the two that differ least where there are too
 * many. */
static void merge(struct cut *c, const double *v)
{
    while (c->n > 1) {
        double least = INFINITY;
        int at = 0;

        for (int k = 0; k + 1 < c->n; k++) {
            double ratio = usual(c, v, k) / usual(c, v, k + 1);

            if (ratio < least) {
                least = ratio;
                at = k + 1;
            }
        }
        if (least > SAME && c->n <= MAX_LEVELS)
            return;
        memmove(&c->first[at], &c->first[at + 1], (size_t)(c->n - at) * sizeof c->first[0]);
        c->n--;
    }
}

static double best(const double *v, int begin, int end)
{
    double most = 0;

    for (int i = begin; i < end; i++)
        most = fmax(most, v[i]);
    return most;
}

int assay__levels_find(struct assay_level *out, const double *footprint, const double *read,
                       const double *write, const double *copy, int n)
{
    double v[MAX_POINTS];
    struct cut c;

    if (n < 1 || n > MAX_POINTS)
        return 0;
    v[n - 1] = best(read, n > 1 ? n - 2 : 0, n);
    for (int i = n - 2; i >= 0; i--)
        v[i] = fmax(read[i], v[i + 1]);
    find_edges(&c, v, n);
    merge(&c, v);
    for (int k = 0; k < c.n; k++) {
        const bool dram = k + 1 == c.n;
        const int begin = dram && n > 2 ? n - 2 : c.first[k], end = c.first[k + 1];

        out[k] = (struct assay_level){
            .bytes = dram ? INFINITY : footprint[end - 1],
            .read = best(read, begin, end),
            .write = best(write, begin, end),
            .copy = best(copy, begin, end),
        };
        snprintf(out[k].name, sizeof out[k].name, dram ? "DRAM" : "L%d", k + 1);
    }
    return c.n;
}
