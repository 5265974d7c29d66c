/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_norm: a group is a run of consecutive elements. Short ones are rows, taken as a whole; the
 * blocks of long ones are read once for mean and sum of squared distances from it, which combine
 * exactly, and once more for the results. Scale and shift of a channel are pairs of floats: where
 * both nearly cancel, results are as accurate as elsewhere.
 */
#include <assay/group_norm.h>

#include "blocks.h"
#include "reduce.h"
#include "rows.h"

#include <math.h>

struct job {
    const struct assay_view *x, *y;
    const float *gamma, *beta;
    int64_t groups, channels, area; /* of n: groups; of a group: channels; of a channel: elements */
    double epsilon;
};

struct moments {
    double mean, squares, n;
};

/* Two runs as one. */
static void combine(struct moments *a, const struct reduce_moments *b, double n)
{
    double all = a->n + n, apart = b->mean - a->mean;

    a->squares += b->squares + apart * apart * a->n * n / all;
    a->mean += apart * n / all;
    a->n = all;
}

static struct moments moments_of(const struct job *j, int64_t at, int64_t n)
{
    struct moments r = { 0, 0, 0 };
    float buf[BASELINE_BLOCK];

    for (int64_t k = 0; k < n; k += BASELINE_BLOCK) {
        int64_t m = n - k < BASELINE_BLOCK ? n - k : BASELINE_BLOCK;
        const float *x = baseline_load(j->x, at + k, m, buf);
        struct reduce_moments block = reduce_moments(x, m);

        combine(&r, &block, (double)m);
    }
    return r;
}

/* A number as the sum of two floats; infinities and NaN stand alone. */
struct pair {
    float high, low;
};

static inline struct pair pair_of(double v)
{
    struct pair p = { (float)v, 0 };
    float low = (float)(v - (double)p.high);

    p.low = low == low ? low : 0;
    return p;
}

/* Elements of one channel. */
static void affine(float *y, const float *x, int64_t n, double scale, double shift)
{
    struct pair a = pair_of(scale), b = pair_of(shift);

    for (int64_t k = 0; k < n; k++)
        y[k] = (x[k] * a.high + b.high) + (x[k] * a.low + b.low);
}

/* One element of each channel. */
static void affine_each(float *y, const float *x, int64_t n, const float *gamma, const float *beta,
                        double mean, double rstd)
{
    for (int64_t k = 0; k < n; k++) {
        double scale = rstd * (double)gamma[k];

        y[k] = (float)((double)x[k] * scale + ((double)beta[k] - scale * mean));
    }
}

/* Elements first .. first+n-1 of a group. */
static void apply(const struct job *j, int64_t group, int64_t first, float *y, const float *x,
                  int64_t n, double mean, double rstd)
{
    int64_t c = group % j->groups * j->channels + first / j->area, done = first % j->area;

    if (j->area == 1) {
        affine_each(y, x, n, j->gamma + c, j->beta + c, mean, rstd);
        return;
    }
    for (int64_t k = 0, m; k < n; k += m, done = 0, c++) {
        double scale = rstd * (double)j->gamma[c];

        m = j->area - done < n - k ? j->area - done : n - k;
        affine(y + k, x + k, m, scale, (double)j->beta[c] - scale * mean);
    }
}

static void short_groups(const void *ctx, float *y, const float *x, int64_t group, int64_t groups,
                         int64_t n)
{
    const struct job *j = ctx;

    for (int64_t i = 0; i < groups; i++) {
        struct reduce_moments of = reduce_moments(x + i * n, n);

        apply(j, group + i, 0, y + i * n, x + i * n, n, of.mean,
              1 / sqrt(of.squares / (double)n + j->epsilon));
    }
}

static void long_groups(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    float xs[BASELINE_BLOCK], ys[BASELINE_BLOCK];
    int64_t n = j->channels * j->area;

    for (int64_t g = begin; g < end; g++) {
        struct moments of = moments_of(j, g * n, n);
        double rstd = 1 / sqrt(of.squares / (double)n + j->epsilon);

        for (int64_t k = 0; k < n; k += BASELINE_BLOCK) {
            int64_t m = n - k < BASELINE_BLOCK ? n - k : BASELINE_BLOCK, at = g * n + k;

            apply(j, g, k, baseline_target(j->y, at, ys), baseline_load(j->x, at, m, xs), m,
                  of.mean, rstd);
            baseline_store(j->y, at, m, ys);
        }
    }
}

int assay_group_norm(const struct assay_call *c)
{
    const struct group_norm_attrs *a = c->attrs;
    const struct assay_view *x = c->in[GROUP_NORM_X].view;
    int64_t channels = x->shape[1], n;
    float *buf = c->scratch; /* gamma and beta as floats: rows as short as these need no other */
    struct job j = { .x = x,
                     .y = c->out[GROUP_NORM_Y].view,
                     .groups = a->num_groups,
                     .channels = channels / a->num_groups,
                     .area = 1,
                     .epsilon = a->epsilon };

    if (baseline_numel(x) == 0)
        return 0;
    for (int d = 2; d < x->rank; d++)
        j.area *= x->shape[d];
    j.gamma = baseline_load(c->in[GROUP_NORM_GAMMA].view, 0, channels, buf);
    j.beta = baseline_load(c->in[GROUP_NORM_BETA].view, 0, channels, buf + channels);
    n = j.channels * j.area;
    if (n <= BASELINE_ROW)
        baseline_rows(c, j.y, x, n, short_groups, &j);
    else
        baseline_parallel(c, x->shape[0] * j.groups, n, long_groups, &j);
    return 0;
}
