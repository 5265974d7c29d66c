/* SPDX-License-Identifier: Apache-2.0 */
/* index.c: walks over an index tensor and the tensor that it points into. */
#include "index.h"

/* Short runs of lanes cost more than they save: each is on pages of its own. */
enum { CACHE = 512 << 10, LINE = 1024 };

/* Joins axes that count as one: neither is dim, and the inner one is whole in the index. */
static int joined(const struct assay_view *index, const struct assay_view *x, int dim, int64_t *n,
                  int64_t *n_x, int *dim_at)
{
    int rank = 0;

    *dim_at = -1;
    for (int d = 0; d < x->rank; d++) {
        bool whole = d != dim && index->shape[d] == x->shape[d];

        if (whole && rank > 0 && *dim_at != rank - 1) {
            n[rank - 1] *= index->shape[d];
            n_x[rank - 1] *= x->shape[d];
            continue;
        }
        if (whole && index->shape[d] == 1 && d + 1 < x->rank)
            continue;
        if (d == dim)
            *dim_at = rank;
        n[rank] = index->shape[d];
        n_x[rank++] = x->shape[d];
    }
    if (*dim_at == rank - 2 && n[rank - 1] == 1 && n_x[rank - 1] == 1)
        rank--;
    return rank;
}

bool baseline_index_init(struct baseline_index *g, const struct assay_view *index,
                         const struct assay_view *x, int64_t dim)
{
    int64_t n[ASSAY_MAX_RANK], n_x[ASSAY_MAX_RANK], step = 1, x_step = 1;
    int at, rank = joined(index, x, (int)(dim < 0 ? dim + x->rank : dim), n, n_x, &at);

    *g = (struct baseline_index){ .units = 1, .rows = 1, .len = n[rank - 1] };
    for (int d = rank - 1; d >= 0; d--) {
        if (d == at) {
            g->extent = n_x[d];
            g->stride = x_step;
        }
        if (d == at && d < rank - 1) {
            g->rows = n[d];
            g->row_step = step;
            g->lane = 1;
        } else if (d < rank - 1) {
            g->shape[g->n_axes] = n[d];
            g->step[g->n_axes] = step;
            g->x_step[g->n_axes++] = x_step;
            g->units *= n[d];
        }
        step *= n[d];
        x_step *= n_x[d];
    }
    return g->extent * g->stride <= INT32_MAX;
}

void baseline_index_unit(const struct baseline_index *g, int64_t unit, int64_t *at, int64_t *x_at)
{
    *at = *x_at = 0;
    for (int d = 0; d < g->n_axes; d++) {
        int64_t i = d + 1 < g->n_axes ? unit % g->shape[d] : unit;

        unit = d + 1 < g->n_axes ? unit / g->shape[d] : 0;
        *at += i * g->step[d];
        *x_at += i * g->x_step[d];
    }
}

/* dst[k] = k lane + stride from[k]; few combinations of types and lanes, so that each vectorises.
 */
#define TARGETS(type)                                               \
    do {                                                            \
        const type *restrict from = (const type *)index->data + at; \
                                                                    \
        for (int32_t k = 0; k < m; k++)                             \
            to[k] = k * lane + by * (int32_t)from[k];               \
    } while (0)

void baseline_index_targets(const struct baseline_index *g, const struct assay_view *index,
                            int64_t at, int64_t n, int64_t stride, int32_t *dst)
{
    int32_t *restrict to = dst;
    int32_t m = (int32_t)n, lane = (int32_t)g->lane, by = (int32_t)stride;

    if (index->dtype == ASSAY_I64)
        TARGETS(int64_t);
    else if (index->dtype == ASSAY_I32)
        TARGETS(int32_t);
    else
        TARGETS(int8_t);
}

int64_t baseline_index_tile(const struct baseline_index *g, int64_t size)
{
    int64_t fit = g->extent > 0 ? CACHE / (g->extent * size) : g->len;
    int64_t line = LINE / size;

    if (g->lane == 0)
        fit = BASELINE_AT;
    return fit < line ? line : fit / line * line;
}
