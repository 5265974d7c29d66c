/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize_bilinear: in tiles of output columns that lie between elements of one short piece of the
 * input rows. Each input row is brought to its new width once, in doubles, and serves all output
 * rows that lie next to it. Large elements of both signs may leave little of each other.
 */
#include <assay/resize_bilinear.h>

#include "blocks.h"
#include "pick.h"

enum { TILE = 512, ROWS = 32, MAX_TILES = 64, GROUPS = TILE / PICK_LANES };

struct axis {
    int64_t in, out;
    double step;
    bool align;
};

struct tile;
struct job {
    const struct assay_view *x, *y;
    struct axis h, w;
    int64_t pieces; /* runs of ROWS output rows in a plane */
    const struct tile *tile;
    int64_t n_tiles;
};

/* Neighbours of TILE outputs, counted from the first element of the piece; where they lie close
 * together, from the base of their group of PICK_LANES. */
struct tile {
    int64_t first, span; /* elements of an input row */
    int64_t begin, n;    /* output columns */
    int32_t lo[TILE], hi[TILE];
    double w_lo[TILE], w_hi[TILE];
    bool close;
    int32_t base[GROUPS];
};

_Static_assert(MAX_TILES * sizeof(struct tile) <= 1 << 20, "tiles lie in the least scratch");

static struct axis make_axis(int64_t in, int64_t out, double scale, bool align)
{
    struct axis a = { in, out, 0, align };

    if (!align)
        a.step = scale > 0 ? 1 / scale : (double)in / (double)out;
    else if (out > 1)
        a.step = (double)(in - 1) / (double)(out - 1);
    return a;
}

static void neighbours(const struct axis *a, int64_t d, int64_t *lo, int64_t *hi, double *w)
{
    double src = a->align ? (double)d * a->step : ((double)d + 0.5) * a->step - 0.5;

    *lo = *hi = d;
    *w = 0;
    if (a->in == a->out)
        return;
    src = src > 0 ? src : 0;
    *lo = (int64_t)src < a->in - 1 ? (int64_t)src : a->in - 1;
    *hi = *lo + 1 < a->in ? *lo + 1 : *lo;
    src -= (double)*lo;
    *w = src < 1 ? src : 1;
}

/* Counts neighbours from the base of their group, if all groups are narrow enough. */
static void make_groups(struct tile *t)
{
    int64_t n_groups = (t->n + PICK_LANES - 1) / PICK_LANES;

    t->close = PICK_LANES > 1 && t->span >= PICK_REACH;
    for (int64_t k = t->n; k < n_groups * PICK_LANES; k++) { /* no group is left unfinished */
        t->lo[k] = t->hi[k] = t->lo[t->n - 1];
        t->w_lo[k] = t->w_hi[k] = 0;
    }
    for (int64_t g = 0; t->close && g < n_groups; g++) {
        int32_t first = t->lo[g * PICK_LANES], end = (int32_t)t->span - PICK_REACH;

        t->base[g] = first < end ? first : end;
        t->close = t->hi[(g + 1) * PICK_LANES - 1] - t->base[g] < PICK_REACH;
    }
    for (int64_t k = 0; t->close && k < n_groups * PICK_LANES; k++) {
        t->lo[k] -= t->base[k / PICK_LANES];
        t->hi[k] -= t->base[k / PICK_LANES];
    }
}

/* As many outputs from column `begin` on as fit. */
static void make_tile(struct tile *t, const struct axis *a, int64_t begin)
{
    int64_t lo, hi;
    double w;

    t->begin = begin;
    t->n = t->span = 0;
    while (t->n < TILE && begin + t->n < a->out) {
        neighbours(a, begin + t->n, &lo, &hi, &w);
        if (t->n == 0)
            t->first = lo;
        if (hi + 1 - t->first > BASELINE_BLOCK)
            break;
        t->span = hi + 1 - t->first;
        t->lo[t->n] = (int32_t)(lo - t->first);
        t->hi[t->n] = (int32_t)(hi - t->first);
        t->w_lo[t->n] = 1 - w;
        t->w_hi[t->n++] = w;
    }
    make_groups(t);
}

/* Outputs in whole groups; the last ones take the way round a buffer. */
static void along_groups(double *dst, const float *v, const struct tile *t)
{
    double rest[PICK_LANES] = { 0 };

    for (int64_t k = 0; k < t->n; k += PICK_LANES) {
        bool whole = t->n - k >= PICK_LANES;

        pick_pairs(whole ? dst + k : rest, v + t->base[k / PICK_LANES], t->lo + k, t->hi + k,
                   t->w_lo + k, t->w_hi + k);
        if (!whole)
            memcpy(dst + k, rest, (size_t)(t->n - k) * sizeof *dst);
    }
}

static void along(double *dst, const float *v, const struct tile *t)
{
    double *restrict to = dst;
    const float *restrict from = v;

    if (t->close) {
        along_groups(dst, v, t);
        return;
    }
    for (int64_t k = 0; k < t->n; k++)
        to[k] = t->w_lo[k] * (double)from[t->lo[k]] + t->w_hi[k] * (double)from[t->hi[k]];
}

static void mix(float *dst, const double *a, const double *b, double w, int64_t n)
{
    float *restrict to = dst;
    const double *restrict above = a;
    const double *restrict below = b;

    for (int64_t k = 0; k < n; k++)
        to[k] = (float)((1 - w) * above[k] + w * below[k]);
}

static const float *piece_of(const struct job *j, const struct tile *t, int64_t row, float *buf)
{
    return baseline_load(j->x, row * j->w.in + t->first, t->span, buf);
}

/* Rows begin .. end-1 of a plane; what is at hand of input rows is kept. */
static void rows(const struct job *j, const struct tile *t, int64_t plane, int64_t begin,
                 int64_t end)
{
    double row[2][TILE], w;
    float v[BASELINE_BLOCK], y[TILE];
    int64_t held[2] = { -1, -1 }, want[2];

    for (int64_t i = begin; i < end; i++) {
        int64_t at = (plane * j->h.out + i) * j->w.out + t->begin;
        float *to = baseline_target(j->y, at, y);

        neighbours(&j->h, i, &want[0], &want[1], &w);
        /* an input row has its place by being even or odd, so that two neighbours never meet */
        for (int k = 0; k < 2; k++)
            if (held[want[k] & 1] != want[k]) {
                along(row[want[k] & 1], piece_of(j, t, plane * j->h.in + want[k], v), t);
                held[want[k] & 1] = want[k];
            }
        mix(to, row[want[0] & 1], row[want[1] & 1], w, t->n);
        baseline_store(j->y, at, t->n, to);
    }
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t i = begin; i < end; i++) {
        int64_t plane = i / j->pieces, row = i % j->pieces * ROWS;
        int64_t last = row + ROWS < j->h.out ? row + ROWS : j->h.out;

        for (int64_t t = 0; t < j->n_tiles; t++)
            rows(j, &j->tile[t], plane, row, last);
    }
}

int assay_resize_bilinear(const struct assay_call *c)
{
    const struct resize_bilinear_attrs *a = c->attrs;
    const struct assay_view *x = c->in[RESIZE_BILINEAR_X].view;
    const struct assay_view *y = c->out[RESIZE_BILINEAR_Y].view;
    const double none[2] = { 0, 0 };
    const double *scale = a->has_scale_factor ? a->scale_factor.v : none;
    struct tile *tile = c->scratch;
    struct job j = { .x = x, .y = y, .tile = tile };

    j.h = make_axis(x->shape[2], y->shape[2], scale[0], a->align_corners);
    j.w = make_axis(x->shape[3], y->shape[3], scale[1], a->align_corners);
    j.pieces = (j.h.out + ROWS - 1) / ROWS;
    for (int64_t at = 0; at < j.w.out;) { /* as many tiles at a time as there is room for */
        for (j.n_tiles = 0; at < j.w.out && j.n_tiles < MAX_TILES; at += tile[j.n_tiles++].n)
            make_tile(&tile[j.n_tiles], &j.w, at);
        baseline_parallel(c, x->shape[0] * x->shape[1] * j.pieces, ROWS * j.w.out, body, &j);
    }
    return 0;
}
