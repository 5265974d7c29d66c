/* SPDX-License-Identifier: Apache-2.0 */
/* slices.c: loops along one axis. */
#include "ops/slices.h"

#include <math.h>

/* Elements that one thread takes at a time, at least. */
enum { GRAIN = 1 << 14 };

struct job {
    struct assay__panel all; /* what every panel has in common */
    int64_t per_outer;       /* panels that the inner extent is cut into */
    assay__panel_fn body;
    void *ctx;
};

static void range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t i = begin; i < end; i++) {
        struct assay__panel p = j->all;
        int64_t left;

        p.outer = i / j->per_outer;
        p.lane = i % j->per_outer * ASSAY__WIDTH;
        left = p.inner - p.lane;
        p.width = left < ASSAY__WIDTH ? (int)left : ASSAY__WIDTH;
        j->body(j->ctx, &p);
    }
}

void assay__panels(const struct assay_args *a, const struct assay_tensor *x, int axis,
                   assay__panel_fn body, void *ctx)
{
    struct job j = { .body = body, .ctx = ctx };
    int64_t outer, each;

    assay_split(x, axis, &outer, &j.all.n, &j.all.inner);
    j.per_outer = (j.all.inner + ASSAY__WIDTH - 1) / ASSAY__WIDTH;
    each = j.all.n * (j.all.inner < ASSAY__WIDTH ? j.all.inner : ASSAY__WIDTH);
    assay_parallel(outer * j.per_outer, each > 0 && each < GRAIN ? GRAIN / each : 1, a->n_threads,
                   range, &j);
}

int64_t assay__panel_steps(const struct assay__panel *p, int64_t k)
{
    int64_t most = ASSAY__PANEL / p->width;

    return p->n - k < most ? p->n - k : most;
}

int64_t assay__panel_at(const struct assay__panel *p, int64_t n, int64_t k)
{
    return (p->outer * n + k) * p->inner + p->lane;
}

void assay__panel_load(const struct assay__panel *p, const struct assay_tensor *t, int64_t n,
                       int64_t k, int64_t m, double *v)
{
    if (p->width == p->inner) {
        assay_load_n(t, assay__panel_at(p, n, k), m * p->width, v);
        return;
    }
    for (int64_t i = 0; i < m; i++)
        assay_load_n(t, assay__panel_at(p, n, k + i), p->width, v + i * p->width);
}

void assay__panel_store(const struct assay__panel *p, const struct assay_tensor *t, int64_t n,
                        int64_t k, int64_t m, const double *v)
{
    if (p->width == p->inner) {
        assay_store_n(t, assay__panel_at(p, n, k), m * p->width, v);
        return;
    }
    for (int64_t i = 0; i < m; i++)
        assay_store_n(t, assay__panel_at(p, n, k + i), p->width, v + i * p->width);
}

void assay__panel_max(const struct assay__panel *p, const struct assay_tensor *t, double *max)
{
    double v[ASSAY__PANEL];

    for (int l = 0; l < p->width; l++)
        max[l] = -INFINITY;
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, t, p->n, k, m, v);
        for (int64_t i = 0; i < m; i++)
            for (int l = 0; l < p->width; l++) {
                double x = v[i * p->width + l];

                max[l] = x > max[l] || isnan(x) ? x : max[l];
            }
    }
}
