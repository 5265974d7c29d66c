/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roi_align: the weights of the points of a bin are added up along each axis first, so that a bin
 * is a small sum over rows of a small sum over columns. Up to 16 channels of an image are laid out
 * element by element, as floats, and serve all boxes on it: for each row of bins, rows of the map
 * are mixed, then columns of these. Few and small boxes are looked up where they are.
 */
#include <assay/roi_align.h>

#include "blocks.h"
#include "lanes.h"

#include <math.h>

enum { MOST = 2 * LANES, CACHE_BYTES = 768 << 10, ROW = 256 };

/* What an element adds to a bin along one axis. */
struct term {
    int32_t at;
    float w;
};

/* A box along one axis: the terms of bin i are term[first[i]] .. term[first[i + 1] - 1], of
 * elements low .. high - 1. */
struct side {
    int32_t *first, low, high;
    struct term *term;
};

struct box {
    int64_t number, image;
    struct side side[2]; /* along h, along w */
    float part;          /* 1 / points of a bin */
};

struct job {
    const struct roi_align_attrs *a;
    const struct assay_view *x, *boxes, *y;
    int64_t channels, extent[2], bins[2], plane, results; /* elements of a map, bins of a box */
    struct box *box;                                      /* those that are worked on */
    int64_t n;
    int64_t image, first; /* an image, its channels from this one on, */
    int used, width;      /* so many, with room for so many */
    float *volume;        /* [plane + LANES][width] */
    float *desk;          /* for each thread a row of elements, then the results of a box */
    int64_t each, parts;
};

/* ---- weights --------------------------------------------------------------------------------- */

/* A box along one axis. */
struct line {
    double start, bin;
    int64_t points;
};

static struct line line_of(const struct job *j, int k, double lo, double hi)
{
    double offset = j->a->aligned ? 0.5 : 0, size;
    struct line l = { .start = lo * j->a->spatial_scale - offset };

    size = hi * j->a->spatial_scale - offset - l.start;
    if (!j->a->aligned && size < 1)
        size = 1;
    l.bin = size / (double)j->bins[k];
    l.points = j->a->sampling_ratio > 0 ? j->a->sampling_ratio : (int64_t)ceil(l.bin);
    return l;
}

/* Neighbours of point i of a bin and the weight of the second one; false: it is outside. */
static inline bool neighbours(const struct line *l, int64_t bin, int64_t i, int64_t n, int32_t *lo,
                              int32_t *hi, float *w)
{
    double at = l->start + (double)bin * l->bin + ((double)i + 0.5) * l->bin / (double)l->points;

    if (at < -1 || at > (double)n)
        return false;
    at = at > 0 ? at : 0;
    *lo = (int32_t)at;
    if (*lo >= n - 1) {
        *lo = *hi = (int32_t)n - 1;
        *w = 0.0f;
        return true;
    }
    *hi = *lo + 1;
    *w = (float)(at - *lo);
    return true;
}

/* Points come in order: an element that is there already is among the last. Weights of 0 stay
 * apart, since they must meet their element, which may be infinite. */
static inline int32_t add_term(struct term *term, int32_t first, int32_t n, int32_t at, float w)
{
    for (int32_t i = n - 1; i >= first && i >= n - 4; i--)
        if (term[i].at == at && (term[i].w == 0.0f) == (w == 0.0f)) {
            term[i].w += w;
            return n;
        }
    term[n] = (struct term){ at, w };
    return n + 1;
}

static void make_side(const struct job *j, int k, const struct line *l, struct side *s)
{
    int32_t n = 0, lo, hi;
    float w;

    s->low = (int32_t)j->extent[k];
    s->high = 0;
    for (int64_t bin = 0; bin < j->bins[k]; bin++) {
        s->first[bin] = n;
        for (int64_t i = 0; i < l->points; i++) {
            if (!neighbours(l, bin, i, j->extent[k], &lo, &hi, &w))
                continue;
            n = add_term(s->term, s->first[bin], n, lo, 1.0f - w);
            n = add_term(s->term, s->first[bin], n, hi, w);
            s->low = lo < s->low ? lo : s->low;
            s->high = hi + 1 > s->high ? hi + 1 : s->high;
        }
    }
    s->first[j->bins[k]] = n;
}

/* Bytes, in whole lines. */
static size_t lines(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* The most terms that a box can have along an axis: an element for each of the map and two more for
 * each bin, and as many of weight 0. */
static size_t most_terms(const struct job *j, int k)
{
    return (size_t)(2 * j->extent[k] + 4 * j->bins[k] + 8) * sizeof(struct term);
}

/* Boxes from `first` on, as many as there is room for at `room`. */
static void make_boxes(struct job *j, int64_t first, char *room, size_t bytes)
{
    int64_t left = j->boxes->shape[0] - first;
    size_t most = sizeof(struct box);

    for (int k = 0; k < 2; k++)
        most += lines(most_terms(j, k)) + lines((size_t)(j->bins[k] + 1) * sizeof(int32_t));
    j->box = (struct box *)(void *)room;
    j->n = 0;
    if (lines((size_t)left * sizeof(struct box)) > bytes / 2)
        left = (int64_t)(bytes / 2 / sizeof(struct box));
    room += lines((size_t)left * sizeof(struct box));
    bytes -= lines((size_t)left * sizeof(struct box));
    for (; j->n < left && most <= bytes; j->n++) {
        struct box *b = &j->box[j->n];
        const char *begin = room;
        double points = 1;
        float buf[5];
        const float *v = baseline_load(j->boxes, 5 * (first + j->n), 5, buf);

        b->number = first + j->n;
        b->image = (int64_t)v[0];
        for (int k = 0; k < 2; k++) {
            struct line l = line_of(j, k, v[2 - k], v[4 - k]);
            struct side *s = &b->side[k];

            s->first = (int32_t *)(void *)room;
            room += lines((size_t)(j->bins[k] + 1) * sizeof *s->first);
            s->term = (struct term *)(void *)room;
            make_side(j, k, &l, s);
            room += lines((size_t)s->first[j->bins[k]] * sizeof *s->term);
            points *= (double)l.points;
        }
        b->part = points > 0 ? (float)(1 / points) : 0.0f;
        bytes -= (size_t)(room - begin);
    }
}

/* ---- where they are -------------------------------------------------------------------------- */

/* Results first .. first + n - 1 of a box in one channel. */
static inline void look_up(const struct job *j, const struct box *b, bool half, int64_t map,
                           int64_t first, int64_t n, float *y)
{
    const struct side *h = &b->side[0], *w = &b->side[1];

    for (int64_t i = 0; i < n; i++) {
        int64_t row = (first + i) / j->bins[1], column = (first + i) % j->bins[1];
        const struct term *begin = w->term + w->first[column];
        const struct term *end = w->term + w->first[column + 1];
        float sum = 0.0f;

        for (int32_t r = h->first[row]; r < h->first[row + 1]; r++) {
            int64_t from = map + h->term[r].at * j->extent[1];
            const uint16_t *bits = (const uint16_t *)j->x->data + from;
            const float *v = (const float *)j->x->data + from;
            float s = 0.0f;

            for (const struct term *t = begin; t < end; t++)
                s += t->w * (half ? assay_f16_to_f32(bits[t->at]) : v[t->at]);
            sum += h->term[r].w * s;
        }
        y[i] = sum * b->part;
    }
}

/* Asks for what a box will need: its rows, from end to end if they are short. */
static void ask_for(const struct job *j, const struct box *b, int64_t map)
{
    const struct side *h = &b->side[0], *w = &b->side[1];
    size_t size = j->x->dtype == ASSAY_F32 ? 4 : 2;
    size_t bytes = (size_t)(w->high > w->low ? w->high - w->low : 0) * size;

    for (int32_t r = 0; r < h->first[j->bins[0]] && bytes <= 512; r++) {
        int64_t at = map + h->term[r].at * j->extent[1] + w->low;
        const char *from = (const char *)j->x->data + (size_t)at * size;

        for (size_t k = 0; k < bytes; k += 64)
            __builtin_prefetch(from + k);
    }
}

/* The same, whole rows of the map at a time: those of a row of bins are mixed, then columns. */
static void look_up_rows(const struct job *j, const struct box *b, int64_t map, int64_t to)
{
    const struct side *h = &b->side[0], *w = &b->side[1];
    int64_t n = w->high > w->low ? w->high - w->low : 0;
    float mixed[BASELINE_BLOCK], buf[BASELINE_BLOCK], y[ROW];

    for (int64_t i = 0; i < j->bins[0]; i++, to += j->bins[1]) {
        memset(mixed, 0, (size_t)n * sizeof *mixed);
        for (int32_t r = h->first[i]; r < h->first[i + 1] && n > 0; r++) {
            const float *v =
                baseline_load(j->x, map + h->term[r].at * j->extent[1] + w->low, n, buf);
            float by = h->term[r].w * b->part;

            for (int64_t k = 0; k < n; k++)
                mixed[k] += by * v[k];
        }
        for (int64_t k = 0; k < j->bins[1]; k++) {
            y[k] = 0.0f;
            for (int32_t c = w->first[k]; c < w->first[k + 1]; c++)
                y[k] += w->term[c].w * mixed[w->term[c].at - w->low];
        }
        if (j->y->dtype == ASSAY_F32)
            memcpy((float *)j->y->data + to, y, (size_t)j->bins[1] * sizeof *y);
        else
            baseline_store(j->y, to, j->bins[1], y);
    }
}

/* Products that a box takes: element by element, or by rows and then columns; about a nanosecond
 * each where nothing is laid out, but for rows. */
static double products(const struct job *j, const struct box *b, bool by_rows)
{
    double rows = b->side[0].first[j->bins[0]], columns = b->side[1].first[j->bins[1]];

    if (!by_rows)
        return rows * columns;
    return rows * (double)(b->side[1].high - b->side[1].low) + (double)j->bins[0] * columns;
}

static double row_cost(const struct job *j, const struct box *b)
{
    double rows = b->side[0].first[j->bins[0]], columns = b->side[1].first[j->bins[1]];
    int64_t span = b->side[1].high - b->side[1].low;

    if (span > BASELINE_BLOCK || j->bins[1] > ROW)
        return INFINITY;
    return rows * (10 + 0.2 * (double)span) + (double)j->bins[0] * columns;
}

static void look_up_box(const struct job *j, const struct box *b, int64_t map, int64_t to)
{
    float buf[BASELINE_BLOCK];

    for (int64_t k = 0, n; k < j->results; k += n) {
        float *y = baseline_target(j->y, to + k, buf);

        n = j->results - k < BASELINE_BLOCK ? j->results - k : BASELINE_BLOCK;
        if (j->x->dtype == ASSAY_F32)
            look_up(j, b, false, map, k, n, y);
        else
            look_up(j, b, true, map, k, n, y);
        baseline_store(j->y, to + k, n, y);
    }
}

/* Unit i: a channel and a part of the boxes; each map is gone over by all of its boxes in turn. */
static void look_up_boxes(void *ctx, int64_t begin, int64_t end)
{
    enum { AHEAD = 4 };
    const struct job *j = ctx;

    for (int64_t i = begin; i < end; i++) {
        int64_t c = i / j->parts, part = i % j->parts, last = j->n * (part + 1) / j->parts;

        for (int64_t k = j->n * part / j->parts; k < last; k++) {
            const struct box *b = &j->box[k];
            int64_t map = (b->image * j->channels + c) * j->plane;
            int64_t to = (b->number * j->channels + c) * j->results;

            if (k + AHEAD < last)
                ask_for(j, b + AHEAD, (b[AHEAD].image * j->channels + c) * j->plane);
            if (row_cost(j, b) < products(j, b, false))
                look_up_rows(j, b, map, to);
            else
                look_up_box(j, b, map, to);
        }
    }
}

/* ---- laid out -------------------------------------------------------------------------------- */

static void lay_out(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t b = begin; b < end; b++) {
        int64_t first = b * LANES_POINTS, left = j->plane - first;

        for (int c = 0; c < j->width; c += LANES)
            lanes_take(j->x, (j->image * j->channels + j->first + c) * j->plane + first, j->plane,
                       j->used - c, left < LANES_POINTS ? left : LANES_POINTS,
                       j->volume + first * j->width + c, j->width);
    }
}

/* The rows of bin i, from column `low` on. */
static void mix_rows(const struct job *j, const struct box *b, int64_t i, float *restrict to)
{
    const struct side *h = &b->side[0], *w = &b->side[1];
    int64_t n = (int64_t)(w->high - w->low) * j->width;

    memset(to, 0, (size_t)(n > 0 ? n : 0) * sizeof *to);
    for (int32_t r = h->first[i]; r < h->first[i + 1]; r++) {
        const float *restrict v =
            j->volume + (h->term[r].at * j->extent[1] + w->low) * (int64_t)j->width;
        float by = h->term[r].w * b->part;

        for (int64_t k = 0; k < n; k++)
            to[k] += by * v[k];
    }
}

/* One row of bins of a box. */
static void mix_columns(const struct job *j, const struct side *w, const float *mixed, float *to)
{
    for (int64_t i = 0; i < j->bins[1]; i++) {
        lanes sum = { 0 };

        for (int32_t c = w->first[i]; c < w->first[i + 1]; c++)
            sum += w->term[c].w * *(const lanes *)(mixed + (w->term[c].at - w->low) * LANES);
        *(lanes *)(to + i * LANES) = sum;
    }
}

static void mix_two_columns(const struct job *j, const struct side *w, const float *mixed,
                            float *to)
{
    for (int64_t i = 0; i < j->bins[1]; i++) {
        lanes sum = { 0 }, more = { 0 };

        for (int32_t c = w->first[i]; c < w->first[i + 1]; c++) {
            const lanes *v = (const lanes *)(mixed + (w->term[c].at - w->low) * MOST);

            sum += w->term[c].w * v[0];
            more += w->term[c].w * v[1];
        }
        *(lanes *)(to + i * MOST) = sum;
        *(lanes *)(to + i * MOST + LANES) = more;
    }
}

/* The same without mixing whole rows, where few of their elements are needed. */
static void mix_elements(const struct job *j, const struct box *b, int64_t row, float *to)
{
    const struct side *h = &b->side[0], *w = &b->side[1];

    for (int64_t i = 0; i < j->bins[1] * j->width; i += LANES) {
        int64_t bin = i / j->width;
        const float *volume = j->volume + i % j->width;
        lanes sum = { 0 };

        for (int32_t r = h->first[row]; r < h->first[row + 1]; r++) {
            const float *from = volume + h->term[r].at * j->extent[1] * j->width;
            lanes part = { 0 };

            for (int32_t c = w->first[bin]; c < w->first[bin + 1]; c++)
                part += w->term[c].w * *(const lanes *)(from + (int64_t)w->term[c].at * j->width);
            sum += h->term[r].w * part;
        }
        *(lanes *)(to + i) = sum * b->part;
    }
}

static void align(const struct job *j, const struct box *b, float *desk)
{
    bool by_rows = products(j, b, true) < products(j, b, false);
    float *mixed = desk, *result = desk + j->extent[1] * j->width;

    for (int64_t i = 0; i < j->bins[0]; i++) {
        float *to = result + i * j->bins[1] * j->width;

        if (!by_rows) {
            mix_elements(j, b, i, to);
            continue;
        }
        mix_rows(j, b, i, mixed);
        if (j->width == LANES)
            mix_columns(j, &b->side[1], mixed, to);
        else
            mix_two_columns(j, &b->side[1], mixed, to);
    }
    for (int c = 0; c < j->width; c += LANES)
        lanes_put(j->y, (b->number * j->channels + j->first + c) * j->results, j->results,
                  j->used - c, j->results, result + c, j->width);
}

static void align_boxes(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t t = begin; t < end; t++) /* every parts-th box: neighbours are on one image */
        for (int64_t i = t; i < j->n; i += j->parts)
            if (j->box[i].image == j->image)
                align(j, &j->box[i], j->desk + t * j->each);
}

static void lay_out_and_align(const struct assay_call *c, struct job *j)
{
    int64_t blocks = (j->plane + LANES_POINTS - 1) / LANES_POINTS;
    /* what the second-level cache has room for */
    int most = j->plane * MOST * (int64_t)sizeof(float) < CACHE_BYTES ? MOST : LANES;

    for (j->image = 0; j->image < j->x->shape[0]; j->image++) {
        int64_t n = 0;

        for (int64_t i = 0; i < j->n; i++)
            n += j->box[i].image == j->image;
        for (j->first = 0; n > 0 && j->first < j->channels; j->first += j->used) {
            j->used = j->channels - j->first < most ? (int)(j->channels - j->first) : most;
            j->width = j->used > LANES ? MOST : LANES;
            baseline_parallel(c, blocks, LANES_POINTS * j->width, lay_out, j);
            if (j->parts > 1 && n * j->results * j->width >= 32768)
                c->parallel(c, j->parts, align_boxes, j);
            else
                align_boxes(j, 0, j->parts);
        }
    }
}

/* ---- point by point, where not even one box has room ----------------------------------------- */

static inline float element(const struct job *j, int64_t at)
{
    return j->x->dtype == ASSAY_F32 ? ((const float *)j->x->data)[at]
                                    : assay_f16_to_f32(((const uint16_t *)j->x->data)[at]);
}

static float between(const struct job *j, int64_t map, const struct line *h, const struct line *w,
                     int64_t row, int64_t column, int64_t r, int64_t s)
{
    int32_t top, bottom, left, right;
    float v, u, above, below;

    if (!neighbours(h, row, r, j->extent[0], &top, &bottom, &v) ||
        !neighbours(w, column, s, j->extent[1], &left, &right, &u))
        return 0.0f;
    above = (1.0f - u) * element(j, map + top * j->extent[1] + left) +
            u * element(j, map + top * j->extent[1] + right);
    below = (1.0f - u) * element(j, map + bottom * j->extent[1] + left) +
            u * element(j, map + bottom * j->extent[1] + right);
    return (1.0f - v) * above + v * below;
}

static void by_points(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    float buf[5], y;

    for (int64_t i = begin; i < end; i++) {
        int64_t bin = i % j->results, box = i / j->results / j->channels;
        const float *v = baseline_load(j->boxes, 5 * box, 5, buf);
        int64_t map = ((int64_t)v[0] * j->channels + i / j->results % j->channels) * j->plane;
        struct line h = line_of(j, 0, v[2], v[4]), w = line_of(j, 1, v[1], v[3]);
        double sum = 0, points = (double)(h.points * w.points);

        for (int64_t r = 0; r < h.points; r++)
            for (int64_t s = 0; s < w.points; s++)
                sum += between(j, map, &h, &w, bin / j->bins[1], bin % j->bins[1], r, s);
        y = points > 0 ? (float)(sum / points) : 0.0f;
        if (j->y->dtype == ASSAY_F32)
            ((float *)j->y->data)[i] = y;
        else
            baseline_store(j->y, i, 1, &y);
    }
}

/* ---- the call -------------------------------------------------------------------------------- */

/* Whether looking up all results one by one is less work than laying out the images. */
static bool are_few(const struct job *j)
{
    bool in_cache = j->plane * LANES * (int64_t)sizeof(float) < CACHE_BYTES;
    double there = 0, laid = (in_cache ? 0.4 : 2) * (double)(j->x->shape[0] * j->plane);

    for (int64_t i = 0; i < j->n; i++) {
        double few = products(j, &j->box[i], false), by_rows = products(j, &j->box[i], true);

        there += fmin(few, row_cost(j, &j->box[i]));
        laid += 0.1 * fmin(few, by_rows) + 0.3 * (double)j->results;
    }
    laid *= (double)((j->channels + LANES - 1) / LANES * LANES) / (double)j->channels;
    return there < laid;
}

/* Room for an image in MOST channels and for the work of all threads; 0: there is not enough. */
static size_t place_desks(const struct assay_call *c, struct job *j)
{
    size_t volume = lines((size_t)(j->plane + LANES_POINTS) * MOST * sizeof(float)), all;

    j->each = (j->extent[1] + j->results + LANES) * MOST;
    all = volume + (size_t)(j->each * j->parts) * sizeof(float);
    j->volume = c->scratch;
    j->desk = (float *)c->scratch + volume / sizeof(float);
    return all <= c->scratch_bytes / 4 * 3 ? lines(all) : 0;
}

int assay_roi_align(const struct assay_call *c)
{
    struct job j = { .a = c->attrs,
                     .x = c->in[ROI_ALIGN_X].view,
                     .boxes = c->in[ROI_ALIGN_BOXES].view,
                     .y = c->out[ROI_ALIGN_Y].view,
                     .parts = c->threads };
    int64_t n = baseline_numel(j.y), boxes = j.boxes->shape[0];
    size_t taken;

    if (n == 0)
        return 0;
    j.channels = j.x->shape[1];
    for (int k = 0; k < 2; k++) {
        j.extent[k] = j.x->shape[2 + k];
        j.bins[k] = j.y->shape[2 + k];
    }
    j.plane = j.extent[0] * j.extent[1];
    j.results = j.bins[0] * j.bins[1];
    taken = place_desks(c, &j);
    for (int64_t first = 0; first < boxes; first += j.n) {
        make_boxes(&j, first, (char *)c->scratch + taken, c->scratch_bytes - taken);
        if (j.n == 0) {
            baseline_parallel(c, n, 16, by_points, &j);
            return 0;
        }
        if (taken == 0 || are_few(&j))
            baseline_parallel(c, j.channels * j.parts, j.n * j.results * 8 / j.parts, look_up_boxes,
                              &j);
        else
            lay_out_and_align(c, &j);
    }
    return 0;
}
