/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mhc_sinkhorn: sixteen matrices at a time, element by element side by side, so that rows and
 * columns are the same to a vector unit and sums go along no vector. What a step divides by is kept
 * as a factor of each row and column: m = u a v, a being the softmax. Then a sum is a product with
 * the other factors, u' = u / (u (a v) + eps), and only the last step writes a matrix.
 */
#include <assay/mhc_sinkhorn.h>

#include "blocks.h"
#include "tile.h"
#include "vec.h"

enum { LANES = 16, MAX_EDGE = 16 };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), may_alias));

struct job {
    const float *x;
    float *y;
    int64_t b, n, steps;
    float eps;
};

/* m[i * LANES + l] = x[l * n2 + i], and back; used <= LANES matrices. */
static void gather(float *m, const float *x, int64_t n2, int64_t used)
{
    int64_t i = 0;

    for (; used == LANES && i + TILE_EDGE <= n2; i += TILE_EDGE)
        for (int l = 0; l < LANES; l += TILE_EDGE)
            tile_turn(m + i * LANES + l, LANES, x + l * n2 + i, n2);
    for (; i < n2; i++)
        for (int64_t l = 0; l < LANES; l++)
            m[i * LANES + l] = l < used ? x[l * n2 + i] : 0;
}

static void scatter(float *y, const float *m, int64_t n2, int64_t used)
{
    int64_t i = 0;

    for (; used == LANES && i + TILE_EDGE <= n2; i += TILE_EDGE)
        for (int l = 0; l < LANES; l += TILE_EDGE)
            tile_turn(y + l * n2 + i, n2, m + i * LANES + l, LANES);
    for (; i < n2; i++)
        for (int64_t l = 0; l < used; l++)
            y[l * n2 + i] = m[i * LANES + l];
}

/* Softmax of a row of n, plus eps. */
static void soften(float *row, int64_t n, float eps)
{
    float top[LANES], sum[LANES] = { 0 };

    memcpy(top, row, sizeof top);
    for (int64_t k = 1; k < n; k++)
        for (int l = 0; l < LANES; l++)
            top[l] = row[k * LANES + l] > top[l] ? row[k * LANES + l] : top[l];
    for (int64_t k = 0; k < n; k++)
        for (int l = 0; l < LANES; l++) {
            row[k * LANES + l] = vec_exp(row[k * LANES + l] - top[l]);
            sum[l] += row[k * LANES + l];
        }
    for (int l = 0; l < LANES; l++)
        sum[l] = 1.0f / sum[l];
    for (int64_t k = 0; k < n; k++)
        for (int l = 0; l < LANES; l++)
            row[k * LANES + l] = row[k * LANES + l] * sum[l] + eps;
}

/* u for lines of a whose elements are `step` apart and that are `next` apart themselves. */
static inline __attribute__((always_inline)) void divide(lanes *u, const lanes *a, const lanes *v,
                                                         int n, int step, int next, float eps)
{
    for (int i = 0; i < n; i++) {
        lanes sum = a[i * next] * v[0];

        for (int k = 1; k < n; k++)
            sum += a[i * next + k * step] * v[k];
        u[i] /= u[i] * sum + eps;
    }
}

static inline __attribute__((always_inline)) void iterate(lanes *a, int n, int64_t steps, float eps)
{
    lanes u[MAX_EDGE], v[MAX_EDGE];

    for (int i = 0; i < n; i++)
        u[i] = v[i] = (lanes){ 0 } + 1.0f;
    divide(v, a, u, n, n, 1, eps);
    for (int64_t s = 1; s < steps; s++) {
        divide(u, a, v, n, 1, n, eps);
        divide(v, a, u, n, n, 1, eps);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            a[i * n + k] *= u[i] * v[k];
}

/* Small matrices stay in registers where their size is known. */
static void iterate_any(lanes *a, int n, int64_t steps, float eps)
{
    if (n == 2)
        iterate(a, 2, steps, eps);
    else if (n == 3)
        iterate(a, 3, steps, eps);
    else if (n == 4)
        iterate(a, 4, steps, eps);
    else
        iterate(a, n, steps, eps);
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    int64_t n2 = j->n * j->n;
    lanes a[MAX_EDGE * MAX_EDGE];

    for (int64_t g = begin; g < end; g++) {
        int64_t at = g * LANES * n2, left = j->b - g * LANES, used = left < LANES ? left : LANES;

        gather((float *)a, j->x + at, n2, used);
        for (int64_t i = 0; i < j->n; i++)
            soften((float *)(a + i * j->n), j->n, j->eps);
        iterate_any(a, (int)j->n, j->steps, j->eps);
        scatter(j->y + at, (const float *)a, n2, used);
    }
}

int assay_mhc_sinkhorn(const struct assay_call *c)
{
    const struct mhc_sinkhorn_attrs *a = c->attrs;
    const struct assay_view *x = c->in[MHC_SINKHORN_COMB].view;
    struct job j = { x->data,      c->out[MHC_SINKHORN_COMB_OUT].view->data,
                     x->shape[0],  x->shape[1],
                     a->iter_step, (float)a->eps };

    baseline_parallel(c, (j.b + LANES - 1) / LANES, LANES * j.n * j.n * j.steps, body, &j);
    return 0;
}
