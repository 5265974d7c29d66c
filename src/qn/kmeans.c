/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmeans.c: in one dimension and sorted, a cluster is a range, so that with running sums of x and
 * x^2 an iteration costs k binary searches.
 */
#include "qn/kmeans.h"

#include "assay/rng.h"
#include "qn/quant.h"

#include <math.h>
#include <string.h>

enum { STARTS = 16, MAX_ROUNDS = 300, MAX_CLUSTERS = QN_MAX_LEVELS };

struct line {
    const float *x;
    int64_t n;
    int k;
    const double *sum, *square; /* of the first i values */
};

static bool enough(const float *x, int64_t n, int k)
{
    int64_t different = n > 0;

    for (int64_t i = 1; i < n && different < k; i++)
        different += x[i] > x[i - 1];
    return different >= k;
}

/* The first index whose value is above at. */
static int64_t split(const struct line *l, double at)
{
    int64_t low = 0, high = l->n;

    while (low < high) {
        int64_t mid = low + (high - low) / 2;

        if ((double)l->x[mid] > at)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* Sum of (x - c)^2 over a range. */
static double spread(const struct line *l, int64_t begin, int64_t end, double c)
{
    double s = l->sum[end] - l->sum[begin], q = l->square[end] - l->square[begin];

    return fmax(0, q - 2 * c * s + (double)(end - begin) * c * c);
}

static void sort(double *c, int k)
{
    for (int i = 1; i < k; i++) {
        double v = c[i];
        int j = i;

        for (; j > 0 && c[j - 1] > v; j--)
            c[j] = c[j - 1];
        c[j] = v;
    }
}

/* The next centre: a value, drawn with its squared distance to the nearest centre as weight. Within
 * the ranges that nearest centres make, running sums give those weights. */
static double draw(const struct line *l, const double *c, int n_centres, double unit)
{
    int64_t begin[MAX_CLUSTERS + 1];
    double total = 0, left;
    int r = 0;

    begin[0] = 0;
    begin[n_centres] = l->n;
    for (int i = 1; i < n_centres; i++)
        begin[i] = split(l, (c[i - 1] + c[i]) / 2);
    for (int i = 0; i < n_centres; i++)
        total += spread(l, begin[i], begin[i + 1], c[i]);
    left = unit * total;
    for (; r + 1 < n_centres; r++) {
        double s = spread(l, begin[r], begin[r + 1], c[r]);

        if (left < s)
            break;
        left -= s;
    }
    for (int64_t low = begin[r], high = begin[r + 1]; low < high;) {
        int64_t mid = low + (high - low) / 2;

        if (spread(l, begin[r], mid + 1, c[r]) > left)
            high = mid;
        else
            low = mid + 1;
        if (low >= high)
            return (double)l->x[low < l->n ? low : l->n - 1];
    }
    return (double)l->x[l->n - 1];
}

static void start(const struct line *l, struct assay_key key, double *c)
{
    c[0] = (double)l->x[assay_rng_below(key, 0, (uint64_t)l->n)];
    for (int i = 1; i < l->k; i++) {
        c[i] = draw(l, c, i, assay_rng_unit(key, (uint64_t)i));
        sort(c, i + 1);
    }
}

/* One round of Lloyd's; an empty cluster stays where it is. True when nothing moved. */
static bool step(const struct line *l, double *c)
{
    bool still = true;
    int64_t begin = 0;

    for (int i = 0; i < l->k; i++) {
        int64_t end = i + 1 < l->k ? split(l, (c[i] + c[i + 1]) / 2) : l->n;
        double mean = end > begin ? (l->sum[end] - l->sum[begin]) / (double)(end - begin) : c[i];

        still &= mean == c[i];
        c[i] = mean;
        begin = end;
    }
    sort(c, l->k);
    return still;
}

static double cost(const struct line *l, const double *c)
{
    double total = 0;
    int64_t begin = 0;

    for (int i = 0; i < l->k; i++) {
        int64_t end = i + 1 < l->k ? split(l, (c[i] + c[i + 1]) / 2) : l->n;

        if (end <= begin)
            return INFINITY; /* a centre without values is no cluster */
        total += spread(l, begin, end, c[i]);
        begin = end;
    }
    return total;
}

/* What is left when each start ends with an empty cluster: equal shares of the values. */
static void equal_shares(const struct line *l, double *c)
{
    for (int i = 0; i < l->k; i++) {
        int64_t begin = l->n * i / l->k, end = l->n * (i + 1) / l->k;

        c[i] = (l->sum[end] - l->sum[begin]) / (double)(end - begin);
    }
}

bool qn__kmeans(const float *x, int64_t n, int k, uint64_t seed, double *sums, double *centre)
{
    struct line l = { x, n, k, sums, sums + n + 1 };
    double best = INFINITY, c[MAX_CLUSTERS];

    if (k > MAX_CLUSTERS || !enough(x, n, k))
        return false;
    sums[0] = sums[n + 1] = 0;
    for (int64_t i = 0; i < n; i++) {
        sums[i + 1] = sums[i] + (double)x[i];
        sums[n + 2 + i] = sums[n + 1 + i] + (double)x[i] * (double)x[i];
    }
    equal_shares(&l, centre);
    for (uint32_t s = 0; s < STARTS; s++) {
        double now;

        start(&l, assay_key_sub(assay_key(seed, "qn_kmeans", k, 0, 0), s), c);
        for (int round = 0; round < MAX_ROUNDS && !step(&l, c); round++)
            continue;
        now = cost(&l, c);
        if (now < best) {
            best = now;
            memcpy(centre, c, (size_t)k * sizeof *c);
        }
    }
    return true;
}
