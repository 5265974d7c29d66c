/* SPDX-License-Identifier: Apache-2.0 */
/*
 * augment.c: cuts, moves and turns one picture. Every random number has a fixed place in the
 * picture's stream, so that what one kind of augmentation draws does not depend on the others.
 */
#include "qn/augment.h"

#include "qn/exp32.h"
#include "qn/resample.h"

#include <inttypes.h>
#include <math.h>

/* Places in the stream, in units of 64 bits: four for each try of a crop. */
enum { CROP_TRIES = 10, AT_SHIFT = 4 * CROP_TRIES, AT_FLIP = AT_SHIFT + 2 };

void qn__maker_init(struct qn__maker *m, const struct qn_feed_options *o)
{
    m->shape = o->shape;
    m->augment = o->augment;
    for (int c = 0; c < 4; c++) {
        m->factor[c] = (float)(1 / (255.0 * o->norm.sd[c]));
        m->add[c] = (float)(-(double)o->norm.mean[c] / o->norm.sd[c]);
        for (int v = 0; v < 256; v++)
            m->table[c][v] = (float)((v / 255.0 - o->norm.mean[c]) / o->norm.sd[c]);
    }
}

/* ---- where to cut ---------------------------------------------------------------------------- */

/* The whole of what can be had within 3:4 and 4:3, from the middle. */
static void middle_box(struct qn__window *win, int64_t h, int64_t w)
{
    win->box_h = 3 * h > 4 * w ? (4 * w + 1) / 3 : h;
    win->box_w = 3 * w > 4 * h ? (4 * h + 1) / 3 : w;
    win->box_y = (h - win->box_h) / 2;
    win->box_x = (w - win->box_w) / 2;
}

struct qn__window qn__random_window(struct assay_key key, int64_t h, int64_t w,
                                    struct qn_shape shape)
{
    const float log_range = 0.5753641449f; /* ln(16 / 9): from 3:4 to 4:3 */
    struct qn__window win = { .full_h = shape.h, .full_w = shape.w, .h = shape.h, .w = shape.w };

    for (uint64_t i = 0; i < CROP_TRIES; i++) {
        double area = (double)h * (double)w * (0.08 + 0.92 * assay_rng_unit(key, 4 * i));
        double ratio = 0.75 * qn__exp(log_range * (float)assay_rng_unit(key, 4 * i + 1));

        win.box_w = (int64_t)(sqrt(area * ratio) + 0.5);
        win.box_h = (int64_t)(sqrt(area / ratio) + 0.5);
        if (win.box_w < 1 || win.box_h < 1 || win.box_w > w || win.box_h > h)
            continue;
        win.box_y = (int64_t)assay_rng_below(key, 4 * i + 2, (uint64_t)(h - win.box_h + 1));
        win.box_x = (int64_t)assay_rng_below(key, 4 * i + 3, (uint64_t)(w - win.box_w + 1));
        return win;
    }
    middle_box(&win, h, w);
    return win;
}

/* The middle of the picture with its shorter side made `resize` long. */
static struct qn__window middle_window(int64_t resize, const struct qn_shape *from,
                                       struct qn_shape shape)
{
    int64_t shorter = from->h < from->w ? from->h : from->w;
    struct qn__window win = { .box_h = from->h,
                              .box_w = from->w,
                              .full_h = from->h == shorter ? resize : resize * from->h / shorter,
                              .full_w = from->w == shorter ? resize : resize * from->w / shorter,
                              .h = shape.h,
                              .w = shape.w };

    win.y = (win.full_h - win.h) / 2;
    win.x = (win.full_w - win.w) / 2;
    return win;
}

/* ---- placing --------------------------------------------------------------------------------- */

/* How one sample lies in what was cut: sample (y, x) is at (y + down, x + right) of it, or, when it
 * is turned, at (y + down, w - 1 - x + right); beyond its edges are zeros. */
struct place {
    int64_t down, right;
    bool turned;
};

static struct place draw_place(const struct qn__maker *m, struct assay_key key)
{
    const struct qn_augment *a = &m->augment;
    struct place at = { 0 };

    if (a->shift > 0) {
        uint64_t n = 2 * (uint64_t)a->shift + 1;

        at.down = (int64_t)assay_rng_below(key, AT_SHIFT, n) - a->shift;
        at.right = (int64_t)assay_rng_below(key, AT_SHIFT + 1, n) - a->shift;
    }
    at.turned = a->flip && assay_rng_below(key, AT_FLIP, 2);
    return at;
}

/* The columns of a row that are not zero: begin .. end-1 before it is turned. */
static void columns(const struct place *at, int64_t w, int64_t *begin, int64_t *end)
{
    *begin = at->right < 0 ? -at->right : 0;
    *end = at->right > 0 ? w - at->right : w;
    if (*begin > w)
        *begin = w;
    if (*end < *begin)
        *end = *begin;
}

static void row_of_bytes(const uint8_t *from, const float *table, int64_t w, const struct place *at,
                         float *x)
{
    int64_t begin, end, step = at->turned ? -1 : 1;
    float *to = at->turned ? x + w - 1 : x;

    columns(at, w, &begin, &end);
    for (int64_t i = 0; i < begin; i++)
        to[i * step] = 0;
    for (int64_t i = begin; i < end; i++)
        to[i * step] = table[from[i + at->right]];
    for (int64_t i = end; i < w; i++)
        to[i * step] = 0;
}

static void row_of_floats(const float *from, float factor, float add, int64_t w,
                          const struct place *at, float *x)
{
    int64_t begin, end, step = at->turned ? -1 : 1;
    float *to = at->turned ? x + w - 1 : x;

    columns(at, w, &begin, &end);
    for (int64_t i = 0; i < begin; i++)
        to[i * step] = 0;
    for (int64_t i = begin; i < end; i++)
        to[i * step] = from[i + at->right] * factor + add;
    for (int64_t i = end; i < w; i++)
        to[i * step] = 0;
}

/* What was cut: bytes within the picture, or floats of their own. */
struct cut {
    const uint8_t *bytes;
    const float *floats; /* or NULL: bytes */
    int64_t plane, row;  /* from one channel, and row, to the next */
    bool grey;           /* one channel for all */
};

static void place_sample(const struct qn__maker *m, const struct cut *cut, const struct place *at,
                         float *x)
{
    int64_t h = m->shape.h, w = m->shape.w;

    for (int64_t c = 0; c < m->shape.c; c++)
        for (int64_t y = 0; y < h; y++, x += w) {
            int64_t from = (cut->grey ? 0 : c * cut->plane) + (y + at->down) * cut->row;

            if (y + at->down < 0 || y + at->down >= h)
                for (int64_t i = 0; i < w; i++)
                    x[i] = 0;
            else if (cut->floats)
                row_of_floats(cut->floats + from, m->factor[c], m->add[c], w, at, x);
            else
                row_of_bytes(cut->bytes + from, m->table[c], w, at, x);
        }
}

/* ---- one sample ------------------------------------------------------------------------------ */

static enum assay_status too_small(const struct qn__maker *m, int64_t h, int64_t w,
                                   struct assay_err *err)
{
    return assay_fail(err, ASSAY_INVALID,
                      "a picture of %" PRId64 " x %" PRId64 "%s is smaller than the %" PRId64
                      " x %" PRId64 " wanted: resize to more",
                      h, w, m->augment.resize ? ", once resized," : "", m->shape.h, m->shape.w);
}

static enum assay_status resampled(const struct qn__maker *m, const struct qn_picture *p,
                                   const struct qn__window *win, struct cut *cut,
                                   struct assay_arena *room, struct assay_err *err)
{
    if (win->y < 0 || win->x < 0 || win->full_h < win->h || win->full_w < win->w)
        return too_small(m, win->full_h, win->full_w, err);
    cut->floats = qn__resample(p, win, room);
    cut->plane = win->h * win->w;
    cut->row = win->w;
    return cut->floats ? ASSAY_OK
                       : assay_fail(err, ASSAY_NOMEM, "out of memory resizing a picture");
}

enum assay_status qn__make_sample(const struct qn__maker *m, const struct qn_picture *p,
                                  struct assay_key key, float *x, struct assay_arena *room,
                                  struct assay_err *err)
{
    int64_t h = p->shape.h, w = p->shape.w;
    struct cut cut = { .grey = p->shape.c == 1 };
    struct place at = draw_place(m, key);

    if (p->shape.c != m->shape.c && p->shape.c != 1)
        return assay_fail(err, ASSAY_INVALID,
                          "a picture has %" PRId64 " channels, %" PRId64 " are wanted", p->shape.c,
                          m->shape.c);
    if (m->augment.random_crop) {
        struct qn__window win = qn__random_window(key, h, w, m->shape);

        ASSAY_TRY(resampled(m, p, &win, &cut, room, err));
    } else if (m->augment.resize && m->augment.resize != (h < w ? h : w)) {
        struct qn__window win = middle_window(m->augment.resize, &p->shape, m->shape);

        ASSAY_TRY(resampled(m, p, &win, &cut, room, err));
    } else if (h < m->shape.h || w < m->shape.w) {
        return too_small(m, h, w, err);
    } else {
        cut.bytes = p->pixels + (h - m->shape.h) / 2 * w + (w - m->shape.w) / 2;
        cut.plane = h * w;
        cut.row = w;
    }
    place_sample(m, &cut, &at, x);
    return ASSAY_OK;
}
