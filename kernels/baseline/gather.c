/* SPDX-License-Identifier: Apache-2.0 */
/* gather: tiles of so many lanes that what they pick from stays in the cache; indices become
 * offsets first, in runs, then elements of one size are copied. */
#include <assay/gather.h>

#include "blocks.h"
#include "index.h"

struct job {
    struct baseline_index g;
    const struct assay_view *x, *index, *y;
    int64_t size, tile, tiles; /* lanes of a tile; tiles of a unit */
};

/* n elements of y from `to` on, at[] of them counted from element `from` of x. */
static void pick(const struct job *j, int64_t to, int64_t from, const int32_t *at, int64_t n)
{
    const char *x = (const char *)j->x->data + from * j->size;
    char *y = (char *)j->y->data + to * j->size;

    if (j->size == 4)
        for (int64_t k = 0; k < n; k++)
            ((uint32_t *)y)[k] = ((const uint32_t *)x)[at[k]];
    else if (j->size == 2)
        for (int64_t k = 0; k < n; k++)
            ((uint16_t *)y)[k] = ((const uint16_t *)x)[at[k]];
    else if (j->size == 8)
        for (int64_t k = 0; k < n; k++)
            ((uint64_t *)y)[k] = ((const uint64_t *)x)[at[k]];
    else
        for (int64_t k = 0; k < n; k++)
            ((uint8_t *)y)[k] = ((const uint8_t *)x)[at[k]];
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const struct baseline_index *g = &j->g;
    int32_t target[BASELINE_AT];

    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % j->tiles * j->tile, at, x_at;
        int64_t n = g->len - first < j->tile ? g->len - first : j->tile;

        baseline_index_unit(g, i / j->tiles, &at, &x_at);
        at += first;
        x_at += first * g->lane;
        for (int64_t r = 0; r < g->rows; r++, at += g->row_step)
            for (int64_t k = 0, m; k < n; k += m) {
                m = n - k < BASELINE_AT ? n - k : BASELINE_AT;
                baseline_index_targets(g, j->index, at + k, m, g->stride, target);
                pick(j, at + k, x_at + k * g->lane, target, m);
            }
    }
}

int assay_gather(const struct assay_call *c)
{
    const struct gather_attrs *a = c->attrs;
    struct job j = { .x = c->in[GATHER_X].view,
                     .index = c->in[GATHER_INDEX].view,
                     .y = c->out[GATHER_Y].view };

    if (baseline_numel(j.y) == 0)
        return 0;
    if (!baseline_index_init(&j.g, j.index, j.x, a->dim))
        return 1;
    j.size = (int64_t)baseline_size(j.x->dtype);
    j.tile = baseline_index_tile(&j.g, j.size);
    j.tiles = (j.g.len + j.tile - 1) / j.tile;
    baseline_parallel(c, j.g.units * j.tiles, j.g.rows * (j.g.len < j.tile ? j.g.len : j.tile),
                      body, &j);
    return 0;
}
