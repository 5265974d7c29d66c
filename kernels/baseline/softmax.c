/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softmax: maximum, exponentials and their sum, quotients. Slices along the last axis are rows;
 * others lie side by side and are worked on in panels, each brought together in one block of
 * memory. NaN needs no care: it goes through the exponential into the sum.
 */
#include <assay/softmax.h>

#include "axis.h"
#include "blocks.h"
#include "reduce.h"
#include "rows.h"
#include "vec.h"

#include <math.h>

/* ---- rows ------------------------------------------------------------------------------------ */

static void short_row(float *y, const float *x, int64_t n)
{
    float top = x[0], sum = 0, inverse;

    for (int64_t k = 1; k < n; k++)
        top = x[k] > top ? x[k] : top;
    for (int64_t k = 0; k < n; k++)
        sum += y[k] = vec_exp(x[k] - top);
    inverse = 1.0f / sum;
    for (int64_t k = 0; k < n; k++)
        y[k] *= inverse;
}

static void long_row(float *y, const float *x, int64_t n)
{
    float top = reduce_max(x, n), inverse;

    for (int64_t k = 0; k < n; k++)
        y[k] = vec_exp(x[k] - top);
    inverse = (float)(1.0 / reduce_sum(y, n));
    for (int64_t k = 0; k < n; k++)
        y[k] *= inverse;
}

static void rows_of(const void *ctx, float *y, const float *x, int64_t row, int64_t rows, int64_t n)
{
    (void)ctx;
    (void)row;
    for (int64_t i = 0; i < rows; i++)
        if (n < REDUCE_LANES)
            short_row(y + i * n, x + i * n, n);
        else
            long_row(y + i * n, x + i * n, n);
}

/* ---- panels ---------------------------------------------------------------------------------- */

/* Slices of a panel, and lanes: where slices are few, several steps are taken at once. */
enum { MAX_WIDTH = 128, MIN_LANES = 64 };

struct job {
    const struct assay_view *x, *y;
    int64_t n, inner, width, panels; /* panels that the inner extent is cut into */
    float *scratch;
};

/* A panel in memory: `total` values, of which v[i] belongs to slice i % width, thus to lane
 * i % lanes. */
struct block {
    float *v;
    int64_t total, width, lanes;
};

static void find_tops(const struct block *b, float *tops)
{
    const float *v = b->v;
    float *restrict top = tops;
    int64_t at = 0;

    for (int64_t l = 0; l < b->lanes; l++)
        top[l] = -INFINITY;
    for (; at + b->lanes <= b->total; at += b->lanes)
        for (int64_t l = 0; l < b->lanes; l++)
            top[l] = v[at + l] > top[l] ? v[at + l] : top[l];
    for (int64_t l = 0; at + l < b->total; l++)
        top[l] = v[at + l] > top[l] ? v[at + l] : top[l];
    for (int64_t l = b->lanes - 1; l >= b->width; l--)
        top[l - b->width] = top[l] > top[l - b->width] ? top[l] : top[l - b->width];
    for (int64_t l = b->width; l < b->lanes; l++)
        top[l] = top[l - b->width];
}

/* v becomes exp(v - top); the sums' inverses go to `inverses`. */
static void exponentials(const struct block *b, const float *tops, float *inverses)
{
    float *restrict v = b->v;
    const float *restrict top = tops;
    float *restrict sum = inverses;
    int64_t at = 0;

    for (int64_t l = 0; l < b->lanes; l++)
        sum[l] = 0;
    for (; at + b->lanes <= b->total; at += b->lanes)
        for (int64_t l = 0; l < b->lanes; l++)
            sum[l] += v[at + l] = vec_exp(v[at + l] - top[l]);
    for (int64_t l = 0; at + l < b->total; l++)
        sum[l] += v[at + l] = vec_exp(v[at + l] - top[l]);
    for (int64_t l = b->lanes - 1; l >= b->width; l--)
        sum[l - b->width] += sum[l];
    for (int64_t l = 0; l < b->width; l++)
        sum[l] = 1.0f / sum[l];
    for (int64_t l = b->width; l < b->lanes; l++)
        sum[l] = sum[l - b->width];
}

static void scale(const struct block *b, const float *inverses)
{
    float *restrict v = b->v;
    const float *restrict inverse = inverses;
    int64_t at = 0;

    for (; at + b->lanes <= b->total; at += b->lanes)
        for (int64_t l = 0; l < b->lanes; l++)
            v[at + l] *= inverse[l];
    for (int64_t l = 0; at + l < b->total; l++)
        v[at + l] *= inverse[l];
}

/* Elements that lie together in tensor and block. */
static int64_t run_of(const struct job *j, const struct block *b)
{
    return b->width == j->inner ? b->total : b->width;
}

static void gather(const struct job *j, int64_t at, const struct block *b)
{
    int64_t run = run_of(j, b);

    for (int64_t k = 0; k < b->total; k += run, at += j->inner) {
        const float *from = baseline_load(j->x, at, run, b->v + k);

        if (from != b->v + k)
            memcpy(b->v + k, from, (size_t)run * sizeof *from);
    }
}

static void put_back(const struct job *j, int64_t at, const struct block *b)
{
    int64_t run = run_of(j, b);

    for (int64_t k = 0; k < b->total; k += run, at += j->inner) {
        float *to = baseline_target(j->y, at, b->v + k);

        if (to != b->v + k)
            memcpy(to, b->v + k, (size_t)run * sizeof *to);
        else
            baseline_store(j->y, at, run, to);
    }
}

static void panels(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    float stack[BASELINE_ROW], top[MAX_WIDTH], inverse[MAX_WIDTH];
    int64_t most = j->n * j->width;
    float *v = most <= BASELINE_ROW ? stack : j->scratch + begin * most;

    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % j->panels * j->width;
        int64_t at = i / j->panels * j->n * j->inner + first;
        int64_t width = j->inner - first < j->width ? j->inner - first : j->width;
        int64_t lanes = (MIN_LANES + width - 1) / width * width;
        struct block b = { v, j->n * width, width, lanes };

        gather(j, at, &b);
        find_tops(&b, top);
        exponentials(&b, top, inverse);
        scale(&b, inverse);
        put_back(j, at, &b);
    }
}

int assay_softmax(const struct assay_call *c)
{
    const struct softmax_attrs *a = c->attrs;
    struct job j = { c->in[SOFTMAX_X].view, c->out[SOFTMAX_Y].view, 1, 1, 1, 1, c->scratch };
    struct axis_split along = axis_of(j.x, a->dim);
    int64_t numel = baseline_numel(j.x);

    j.n = along.n;
    j.inner = along.inner;
    if (numel == 0)
        return 0;
    if (j.inner == 1) {
        baseline_rows(c, j.y, j.x, j.n, rows_of, NULL);
        return 0;
    }
    j.width = j.inner < MAX_WIDTH ? j.inner : MAX_WIDTH;
    j.panels = (j.inner + j.width - 1) / j.width;
    baseline_parallel_scratch(c, numel / (j.n * j.inner) * j.panels, j.n * j.width, j.n * j.width,
                              panels, &j);
    return 0;
}
