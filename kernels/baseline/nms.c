/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nms: boxes by descending score, each held against the picks that cover a cell of a grid with it.
 * The first pick, picks that are not finite and those that cover many cells are held against all
 * boxes. Picks without area suppress nothing but NaN, which the first pick does already.
 */
#include <assay/nms.h>

#include "blocks.h"
#include "order.h"

enum { BLOCK = 1024, MOST_CELLS = 64, MOST_SIDE = 256, AHEAD = 12 };

struct box {
    float x1, y1, x2, y2, area;
};

struct link {
    int32_t pick, next;
};

struct grid {
    float lo_x, lo_y, per_x, per_y, limit, inset;
    int side;
    int32_t *cell; /* [side][side] */
    struct box *pick;
    int32_t *wide; /* picks that all are held against */
    struct link *link;
    int64_t n_picks, n_wide, n_links, link_room;
};

struct cells {
    int x1, y1, x2, y2;
};

static float at_least(float a, float b)
{
    return a > b ? a : b;
}

static float at_most(float a, float b)
{
    return a < b ? a : b;
}

static struct box load(const float *v)
{
    return (struct box){ v[0], v[1], v[2], v[3], (v[2] - v[0]) * (v[3] - v[1]) };
}

/* An area that is NaN makes the overlap NaN, and that suppresses. */
static inline bool suppresses(const struct grid *g, const struct box *p, const struct box *b)
{
    float w = at_most(p->x2, b->x2) - at_least(p->x1, b->x1);
    float h = at_most(p->y2, b->y2) - at_least(p->y1, b->y1);
    float inter = at_least(w, 0.0f) * at_least(h, 0.0f);

    return !(inter / (p->area + b->area - inter + 1e-6f) <= g->limit);
}

/* ---- the grid -------------------------------------------------------------------------------- */

static int place(float v, float lo, float per, int side)
{
    float p = (v - lo) * per;

    return p < (float)side ? (p > 0 ? (int)p : 0) : side - 1;
}

/* The cells of a box without its outermost parts. False: many cells, or it is not finite. */
static bool covers(const struct grid *g, const struct box *b, float inset, struct cells *c)
{
    float in_x = inset * (b->x2 - b->x1), in_y = inset * (b->y2 - b->y1);

    float sum = b->x1 + b->y1 + b->x2 + b->y2;

    if (!(sum - sum == 0))
        return false;
    c->x1 = place(b->x1 + in_x, g->lo_x, g->per_x, g->side);
    c->y1 = place(b->y1 + in_y, g->lo_y, g->per_y, g->side);
    c->x2 = place(b->x2 - in_x, g->lo_x, g->per_x, g->side);
    c->y2 = place(b->y2 - in_y, g->lo_y, g->per_y, g->side);
    return (c->x2 - c->x1 + 1) * (c->y2 - c->y1 + 1) <= MOST_CELLS;
}

/* Cells about as large as boxes are. */
static void lay_out(struct grid *g, const float *v, int64_t n)
{
    float lo_x = 3e38f, lo_y = 3e38f, hi_x = -3e38f, hi_y = -3e38f;
    double sum = 0, side = 1;
    int64_t n_finite = 0;

    for (int64_t i = 0; i < n; i++, v += 4) {
        float all = v[0] + v[1] + v[2] + v[3];

        if (!(all - all == 0))
            continue;
        lo_x = at_most(lo_x, v[0]);
        lo_y = at_most(lo_y, v[1]);
        hi_x = at_least(hi_x, v[2]);
        hi_y = at_least(hi_y, v[3]);
        sum += (double)at_least(v[2] - v[0], v[3] - v[1]);
        n_finite++;
    }
    if (sum > 0)
        side = (double)at_least(hi_x - lo_x, hi_y - lo_y) / (sum / (double)n_finite) * 1.5;
    g->side = side < 1 ? 1 : side < MOST_SIDE ? (int)side : MOST_SIDE;
    g->lo_x = lo_x;
    g->lo_y = lo_y;
    g->per_x = hi_x > lo_x ? (float)g->side / (hi_x - lo_x) : 0;
    g->per_y = hi_y > lo_y ? (float)g->side / (hi_y - lo_y) : 0;
    memset(g->cell, 0xff, (size_t)(g->side * g->side) * sizeof *g->cell);
}

static void add(struct grid *g, const struct box *b)
{
    struct cells c;

    if (b->area == 0 && g->n_picks > 0)
        return;
    g->pick[g->n_picks] = *b;
    if (g->n_picks == 0 || !covers(g, b, 0, &c) || g->n_links + MOST_CELLS > g->link_room) {
        g->wide[g->n_wide++] = (int32_t)g->n_picks++;
        return;
    }
    for (int y = c.y1; y <= c.y2; y++)
        for (int x = c.x1; x <= c.x2; x++) {
            int32_t *cell = &g->cell[y * g->side + x];

            g->link[g->n_links] = (struct link){ (int32_t)g->n_picks, *cell };
            *cell = (int32_t)g->n_links++;
        }
    g->n_picks++;
}

static bool cell_suppresses(const struct grid *g, int x, int y, const struct box *b)
{
    for (int32_t l = g->cell[y * g->side + x]; l >= 0; l = g->link[l].next)
        if (suppresses(g, &g->pick[g->link[l].pick], b))
            return true;
    return false;
}

static bool falls(const struct grid *g, const struct box *b)
{
    struct cells c;

    for (int64_t i = 0; i < g->n_wide; i++)
        if (suppresses(g, &g->pick[g->wide[i]], b))
            return true;
    /* More overlap than the limit reaches beyond that part of the length, from either side. */
    if (!covers(g, b, g->inset, &c)) {
        for (int64_t i = 0; i < g->n_picks; i++)
            if (suppresses(g, &g->pick[i], b))
                return true;
        return false;
    }
    /* what decides covers the middle, mostly */
    if (cell_suppresses(g, (c.x1 + c.x2) / 2, (c.y1 + c.y2) / 2, b))
        return true;
    for (int y = c.y1; y <= c.y2; y++)
        for (int x = c.x1; x <= c.x2; x++)
            if (cell_suppresses(g, x, y, b))
                return true;
    return false;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Indices by descending score, equal ones upwards, to the beginning of the memory, which has room
 * for 24 bytes a box. */
static uint32_t *rank(const struct assay_view *scores, int64_t n, char *memory)
{
    uint32_t *at = (uint32_t *)(void *)memory, *at2 = at + n + n % 2;
    uint64_t *key = (uint64_t *)(void *)(at2 + n + n % 2), *key2 = key + n;

    for (int64_t i = 0; i < n; i += BLOCK)
        baseline_keys(key + i, scores, i, n - i < BLOCK ? n - i : BLOCK);
    for (int64_t i = 0; i < n; i++) {
        key[i] = UINT32_MAX - key[i];
        at[i] = (uint32_t)i;
    }
    baseline_sort(key, at, key2, at2, n, 32);
    return at;
}

int assay_nms(const struct assay_call *c)
{
    static int32_t cell[MOST_SIDE * MOST_SIDE];
    const struct nms_attrs *a = c->attrs;
    const float *v = c->in[NMS_BOXES].view->data;
    struct assay_view *keep = c->out[NMS_KEEP_INDICES].view;
    int64_t n = c->in[NMS_SCORES].view->shape[0], used = 0, *kept = keep->data;
    struct grid g = { .limit = (float)a->iou_threshold, .cell = cell };
    char *memory = c->scratch;
    const uint32_t *order;
    size_t taken = ((size_t)n * sizeof *order + 63) / 64 * 64;

    if (n > INT32_MAX)
        return 1;
    g.inset = at_most(g.limit, 0.5f) * 0.999f;
    order = rank(c->in[NMS_SCORES].view, n, memory);
    g.pick = (struct box *)(void *)(memory + taken);
    taken += (size_t)n * sizeof *g.pick;
    g.wide = (int32_t *)(void *)(memory + taken);
    taken += ((size_t)n * sizeof *g.wide + 63) / 64 * 64;
    g.link = (struct link *)(void *)(memory + taken);
    g.link_room = (int64_t)((c->scratch_bytes - taken) / sizeof *g.link);
    lay_out(&g, v, n);
    for (int64_t r = 0; r < n; r++) {
        struct box b = load(v + 4 * (int64_t)order[r]);

        if (r + AHEAD < n)
            __builtin_prefetch(v + 4 * (int64_t)order[r + AHEAD]);
        if (falls(&g, &b))
            continue;
        kept[used++] = order[r];
        add(&g, &b);
    }
    keep->shape[0] = used;
    return 0;
}
