/* SPDX-License-Identifier: Apache-2.0 */
/* roi.c: boxes on a map, one axis at a time. */
#include "ops/roi.h"

#include <math.h>

/* ---- points ---------------------------------------------------------------------------------- */

struct assay__roi assay__roi_place(const struct assay__roi_axis *x, double lo, double hi)
{
    double offset = x->aligned ? 0.5 : 0, scale = assay__single(x->native, x->scale), size;
    struct assay__roi r = { .grid = x->ratio };

    r.start = assay__single(x->native, assay__single(x->native, lo * scale) - offset);
    size = assay__single(x->native, assay__single(x->native, hi * scale) - offset);
    size = assay__single(x->native, size - r.start);
    if (!x->aligned)
        size = fmax(size, 1);
    r.bin = assay__single(x->native, size / (double)x->out);
    if (x->ratio <= 0)
        r.grid = (int64_t)ceil(r.bin);
    return r;
}

double assay__roi_point(const struct assay__roi_axis *x, const struct assay__roi *r, int64_t bin,
                        int64_t i)
{
    double first = assay__single(x->native, (double)bin * r->bin);
    double within = assay__single(x->native, ((double)i + 0.5) * r->bin);

    first = assay__single(x->native, r->start + first);
    within = assay__single(x->native, within / (double)r->grid);
    return assay__single(x->native, first + within);
}

/* From the last element on its weights are 1 and 0. */
bool assay__roi_taps(const struct assay__roi_axis *x, double at, struct assay__taps *t)
{
    if (at < -1 || at > (double)x->n)
        return false;
    *t = assay__taps_within(x->native, at, x->n);
    if (t->hi == t->lo) {
        t->w_lo = 1;
        t->w_hi = 0;
    }
    return true;
}

int64_t assay__roi_grid(int64_t boxes)
{
    int64_t n = (int64_t)sqrt((double)boxes / 2);

    return n > 1 ? n : 1;
}

/* Box i of `grid` over n elements. */
static double grid_edge(const struct assay__roi_axis *x, int64_t grid, int64_t i)
{
    return (double)x->n * (double)i / (double)grid;
}

/* Begins a line with each element that the last one does not hold, wherever that begins. */
static void touch(int64_t at, int64_t line, int64_t *end, int64_t *n)
{
    if (at < *end)
        return;
    *n += line;
    *end = at + line;
}

double assay__roi_touched(const struct assay__roi_axis *x, int64_t grid, int64_t line)
{
    int64_t n = 0, end = 0;

    if (x->ratio <= 0)
        return (double)x->n;
    for (int64_t k = 0; k < grid; k++) {
        struct assay__roi r = assay__roi_place(x, grid_edge(x, grid, k) / x->scale,
                                               grid_edge(x, grid, k + 1) / x->scale);

        for (int64_t i = 0; i < x->out * r.grid; i++) {
            struct assay__taps t;

            if (!assay__roi_taps(x, assay__roi_point(x, &r, i / r.grid, i % r.grid), &t))
                continue;
            if (t.w_lo > 0)
                touch(t.lo, line, &end, &n);
            if (t.w_hi > 0)
                touch(t.hi, line, &end, &n);
        }
    }
    return (double)(n < x->n ? n : x->n);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

struct drawing {
    const struct assay_tensor *boxes;
    const struct assay__roi_axis *axis;
    bool special;
    struct assay_key key;
    uint64_t next;
};

static double between(struct drawing *d, double lo, double hi)
{
    return lo + (hi - lo) * assay_rng_unit(d->key, d->next++);
}

static uint64_t below(struct drawing *d, uint64_t n)
{
    return assay_rng_below(d->key, d->next++, n);
}

static bool is_near(double v, double to, double doubt)
{
    return fabs(v - to) < doubt;
}

/* Whether rounding decides how a box is looked at along an axis. */
static bool is_fragile(const struct drawing *d, const struct assay__roi_axis *x, double lo,
                       double hi)
{
    struct assay__roi r = assay__roi_place(x, lo, hi);
    double doubt = assay__coordinate_doubt(fmax(fabs(lo), fabs(hi)) * x->scale + 1);
    double size = (hi - lo) * x->scale;

    /* boxes of less than an element have one of 1, or lie between 0 and 1 */
    if (x->ratio <= 0 && size > 0 && (size > 1 - doubt || x->aligned) &&
        is_near(r.bin, nearbyint(r.bin), doubt))
        return true;
    for (int64_t bin = 0; bin < x->out; bin++)
        for (int64_t i = 0; i < r.grid; i++) {
            double at = assay__roi_point(x, &r, bin, i);

            if (is_near(at, -1, doubt) || is_near(at, (double)x->n, doubt))
                return true;
            if (d->special && at > -doubt && at < (double)x->n - 1 + doubt &&
                is_near(at, nearbyint(at), doubt))
                return true;
        }
    return false;
}

/* Corners along one axis, in elements of the map. */
struct edges {
    double lo, hi;
};

static struct edges cut(struct edges e, double n)
{
    return (struct edges){ fmin(fmax(e.lo, 0), n), fmin(fmax(e.hi, 0), n) };
}

/* Around a point anywhere, of any size up to most of the map. */
static void draw_inside(struct drawing *d, struct edges e[2])
{
    double share = exp(between(d, log(0.03), log(0.8))), shape = exp(between(d, -0.7, 0.7));

    for (int k = 0; k < 2; k++) {
        double n = (double)d->axis[k].n, size = n * share * (k ? shape : 1 / shape);
        double middle = between(d, 0, n);

        e[k] = cut((struct edges){ middle - size / 2, middle + size / 2 }, n);
    }
}

/* As another one, a little moved and resized. */
static void draw_beside(struct drawing *d, const struct edges from[2], struct edges e[2])
{
    for (int k = 0; k < 2; k++) {
        double size = from[k].hi - from[k].lo, lo = from[k].lo + between(d, -0.15, 0.15) * size;

        e[k] = cut((struct edges){ lo, lo + between(d, 0.8, 1.25) * size }, (double)d->axis[k].n);
    }
}

/* From inside to beyond one end of each axis, or wholly outside of one. */
static void draw_over(struct drawing *d, bool outside, struct edges e[2])
{
    for (int k = 0; k < 2; k++) {
        double n = (double)d->axis[k].n, in = between(d, 0.02, 0.6) * n;
        double beyond = between(d, 0, 0.4) * n + 0.3;

        e[k] = (struct edges){ -beyond, in };
        if (outside && k == 1)
            e[k] = (struct edges){ -beyond - in - 3, -beyond - 3 };
        if (below(d, 2))
            e[k] = (struct edges){ n - e[k].hi, n - e[k].lo };
    }
}

/* Up to so many elements. */
static void draw_small(struct drawing *d, double most, struct edges e[2])
{
    for (int k = 0; k < 2; k++) {
        e[k].lo = between(d, 0, (double)d->axis[k].n);
        e[k].hi = e[k].lo + between(d, 0, most);
    }
}

/* From end to end of one axis, and narrow along the other. */
static void draw_long(struct drawing *d, struct edges e[2])
{
    int k = (int)below(d, 2);

    draw_inside(d, e);
    e[k] = (struct edges){ 0, (double)d->axis[k].n };
    e[!k].hi = e[!k].lo + between(d, 0.05, 0.1) * (double)d->axis[!k].n;
}

/* One of a grid over the map; a little less where that hinges on rounding. */
static void draw_tile(struct drawing *d, int64_t grid, int64_t i, bool again, struct edges e[2])
{
    for (int k = 0; k < 2; k++) {
        int64_t at = k ? i % grid : i / grid;

        e[k] = (struct edges){ grid_edge(&d->axis[k], grid, at),
                               grid_edge(&d->axis[k], grid, at + 1) };
        if (again)
            e[k].hi -= between(d, 0.05, 0.2) * fmin(e[k].hi - e[k].lo, 2);
        if (again && d->special)
            e[k].lo += between(d, 0.05, 0.2) * fmin(e[k].hi - e[k].lo, 2);
    }
}

static void draw_box(struct drawing *d, struct edges leader[2], struct edges e[2])
{
    switch (below(d, 16)) {
    case 0:
    case 1:
        draw_small(d, 1, e);
        break;
    case 2:
        draw_long(d, e);
        break;
    case 3:
    case 4:
        draw_over(d, below(d, 8) == 0, e);
        break;
    case 5:
        draw_small(d, below(d, 2) ? 0 : 3, e);
        break;
    case 6:
    case 7:
    case 8:
    case 9:
        draw_beside(d, leader, e);
        break;
    default:
        draw_inside(d, e);
        leader[0] = e[0];
        leader[1] = e[1];
    }
}

/* Writes box i as far as the dtype has it. False: it will not do. */
static bool put_box(const struct drawing *d, int64_t i, int64_t image, const struct edges e[2])
{
    double v[5] = { (double)image };
    bool good = true;

    for (int k = 0; k < 2; k++) {
        v[2 - k] = e[k].lo / d->axis[k].scale;
        v[4 - k] = e[k].hi / d->axis[k].scale;
    }
    assay_store_n(d->boxes, 5 * i, 5, v);
    assay_load_n(d->boxes, 5 * i, 5, v);
    for (int k = 0; k < 2; k++)
        good = good && !is_fragile(d, &d->axis[k], v[2 - k], v[4 - k]);
    return good;
}

void assay__roi_fill(const struct assay_tensor *boxes, const struct assay__roi_axis axis[2],
                     int64_t n_images, bool special, struct assay_key key)
{
    enum { TRIES = 64 };
    struct drawing d = { .boxes = boxes, .axis = axis, .special = special };
    struct edges e[2] = { { 0, 0 } }, leader[2] = { { 0, 0 } };
    int64_t n = boxes->shape[0], grid = assay__roi_grid(n / n_images);
    bool in_runs = assay_rng_below(assay_key_sub(key, 0), 0, 4) > 0;

    for (int64_t i = 0; i < n; i++) {
        int64_t image = in_runs ? i * n_images / n : i % n_images;
        /* its number on the image; a run begins at the first i with i n_images / n = image */
        int64_t at = in_runs ? i - (image * n + n_images - 1) / n_images : i / n_images;
        bool good = false;

        d.key = assay_key_sub(key, (uint32_t)(i + 1));
        d.next = 0;
        if (at == 0)
            draw_inside(&d, leader);
        for (int t = 0; t < TRIES && !good; t++) {
            if (at == 0)
                draw_tile(&d, 1, 0, t > 0, e);
            else if (at <= grid * grid)
                draw_tile(&d, grid, at - 1, t > 0, e);
            else
                draw_box(&d, leader, e);
            good = put_box(&d, i, image, e);
        }
    }
}
