/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid_sampler_3d: the volumes of x at the points that grid names, by the eight voxels around each
 * or by the nearest one.
 *
 * A point is (x, y, z) for (w, h, d); -1 and 1 are the outer ends of the volume, or the centres of
 * its outer voxels with align_corners. Voxels beyond the ends are left out, whatever the padding;
 * all others count, so that a weight of 0 on an infinity gives NaN.
 */
#include "assay/op.h"

#include "base/clones.h"
#include "ops/interpolate.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/sample.h"

#include <math.h>

enum { X, GRID };
enum { MODE, PADDING, ALIGN_CORNERS };
enum { BILINEAR, NEAREST };
enum { ZEROS, BORDER, REFLECTION };

#define HALF_OR_SINGLE (ASSAY_BIT(ASSAY_F16) | ASSAY_BIT(ASSAY_F32))
static const struct assay_param in[] = {
    [X] = { "x", HALF_OR_SINGLE, 0, "[n, c, d, h, w]", NULL },
    [GRID] = { "grid", HALF_OR_SINGLE, 0, "[n, d', h', w', 3], dtype of x", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", HALF_OR_SINGLE, 0, "[n, c, d', h', w']", NULL },
                                          { 0 } };

static const char *const modes[] = { "bilinear", "nearest", NULL };
static const char *const paddings[] = { "zeros", "border", "reflection", NULL };
static const struct assay_attr attrs[] = {
    [MODE] = { "interpolation_mode", ASSAY_ATTR_ENUM, 0, { .set = true }, modes, NULL, 0 },
    [PADDING] = { "padding_mode", ASSAY_ATTR_ENUM, 0, { .set = true }, paddings, NULL, 0 },
    [ALIGN_CORNERS] = { "align_corners", ASSAY_ATTR_BOOL, 0, { .set = true }, NULL, NULL, 0 },
    { 0 },
};

/* ---- source coordinates ---------------------------------------------------------------------- */

/* How coordinates of one axis become places among its n voxels. */
struct axis {
    int64_t n;
    int64_t padding;
    bool align, native;
};

/* Axis k of a point: 0 for w, 1 for h, 2 for d. */
static struct axis axis_of(const struct assay_args *a, int k)
{
    return (struct axis){ a->in[X].t[0].shape[4 - k], a->attr[PADDING].i,
                          a->attr[ALIGN_CORNERS].i != 0, a->native };
}

/* Voxel k lies at k; padding is left aside. */
static ASSAY__INLINE double place(const struct axis *x, double g)
{
    double n = (double)x->n, up = assay__single(x->native, g + 1);

    if (x->align)
        return assay__single(x->native, up / 2 * (n - 1));
    return assay__single(x->native, assay__single(x->native, up * n) - 1) / 2;
}

/* Back and forth between the ends, however often: between the centres of the outer voxels, or
 * between their outer faces. */
static ASSAY__INLINE double reflect(const struct axis *x, double at)
{
    double low = x->align ? 0 : -0.5, span = (double)(x->align ? x->n - 1 : x->n), m;

    if (span == 0)
        return 0;
    m = fmod(fabs(assay__single(x->native, at - low)), 2 * span);
    if (m > span)
        m = assay__single(x->native, 2 * span - m);
    return assay__single(x->native, m + low);
}

/* The place that is looked at. */
static ASSAY__INLINE double source(const struct axis *x, double g)
{
    double at = place(x, g), last = (double)(x->n - 1);

    if (x->padding == ZEROS) /* far outside is outside */
        return fmin(fmax(at, -2), last + 2);
    if (x->padding == REFLECTION)
        at = reflect(x, at);
    return fmin(fmax(at, 0), last);
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0], *grid = &a->in[GRID].t[0];
    char xs[128], gs[128];

    assay_tensor_text(x, xs, sizeof xs);
    assay_tensor_text(grid, gs, sizeof gs);
    if (x->rank != 5 || x->shape[2] < 1 || x->shape[3] < 1 || x->shape[4] < 1)
        return assay_fail(err, ASSAY_INVALID,
                          "x is %s, it must be [n, c, d, h, w] with d, h, w >= 1", xs);
    if (grid->rank != 5 || grid->shape[4] != 3)
        return assay_fail(err, ASSAY_INVALID, "grid is %s, it must be [n, d', h', w', 3]", gs);
    if (grid->shape[0] != x->shape[0])
        return assay_fail(err, ASSAY_INVALID, "grid is %s, x is %s: n differs", gs, xs);
    if (grid->dtype != x->dtype)
        return assay_fail(err, ASSAY_INVALID, "grid is %s, x is %s: the dtypes differ", gs, xs);
    return ASSAY_OK;
}

enum { CHUNK = 512 }; /* points at a time */

static enum assay_status check_values(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *grid = &a->in[GRID].t[0];
    double v[3 * CHUNK];
    int64_t n = assay_numel(grid), m;

    for (int64_t at = 0; at < n; at += m) {
        m = n - at < 3 * CHUNK ? n - at : 3 * CHUNK;
        assay_load_n(grid, at, m, v);
        for (int64_t k = 0; k < m; k++)
            if (!isfinite(v[k]))
                return assay_fail(err, ASSAY_INVALID,
                                  "grid has %g at element %lld, coordinates are finite", v[k],
                                  (long long)(at + k));
    }
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    struct assay_tensor *y = &a->out[0].t[0];

    (void)err;
    *y = a->in[X].t[0];
    y->data = NULL;
    for (int k = 0; k < 3; k++)
        y->shape[2 + k] = a->in[GRID].t[0].shape[1 + k];
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* How far grids reach: to the ends of the volume, or beyond. Of zeros not much is to be seen. */
static struct assay_range draw_reach(struct assay_sampler *s, int64_t padding)
{
    static const double reach[] = { 1, 1.1, 1.25, 1.6, 2.5, 4 };
    uint64_t choices = padding == ZEROS ? 3 : padding == BORDER ? 4 : 6;
    double r = reach[assay_sample_below(s, choices)];

    return (struct assay_range){ -r, r };
}

/* Extents of the grid: those of the volume, or near them, or of a small part. */
static void draw_grid(struct assay_sampler *s, const struct assay_shape *x,
                      struct assay_shape *grid)
{
    static const double scales[] = { 1, 1, 1, 0.8, 1.2, 0.5, 0.3 };
    bool same = assay_sample_below(s, 3) == 0;

    *grid = (struct assay_shape){ 5, { x->dim[0], 0, 0, 0, 3 } };
    for (int k = 0; k < 3; k++) {
        double d = same ? 1 : scales[assay_sample_below(s, 7)];

        grid->dim[1 + k] = (int64_t)ceil(d * (double)x->dim[2 + k]);
    }
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    static const int64_t batches[] = { 1, 1, 2, 2, 3, 4 };
    static const int64_t channels[] = { 2, 3, 7, 16, 16, 23, 31, 32, 48, 64 };
    enum { TRIES = 64 };

    ASSAY_TRY(assay__sample_room(s, c, X, 1, err));
    ASSAY_TRY(assay__sample_room(s, c, GRID, 1, err));
    for (int attempt = 0; attempt < TRIES; attempt++) {
        struct assay_shape *x = &c->in[X].shape[0], volume;
        int64_t n = batches[assay_sample_below(s, 6)];
        int64_t channel = channels[assay_sample_below(s, 10)];

        if (n * channel * 512 > s->elements)
            continue;
        /* a voxel has its channels and about one point */
        assay_sample_shape(s, s->elements / (n * (channel + 2)), 3, c->in[X].dtype, &volume);
        if (attempt < TRIES / 2 &&
            (volume.dim[2] > 16 * volume.dim[0] || volume.dim[2] > 16 * volume.dim[1]))
            continue; /* no rods, if there is a choice */
        *x = (struct assay_shape){ 5, { n, channel, volume.dim[0], volume.dim[1], volume.dim[2] } };
        draw_grid(s, x, &c->in[GRID].shape[0]);
        if ((double)assay_case_elements(c) > 1.1 * (double)s->elements)
            continue;
        c->in[GRID].range[0] = draw_reach(s, c->attr[PADDING].i);
        return ASSAY_OK;
    }
    return assay_fail(err, ASSAY_INVALID, "no volume found of %lld elements",
                      (long long)s->elements);
}

/* What a filled grid is made from: one set of numbers a batch element. */
struct warp {
    double turn[3][3], shift[3], phase[3][3], bend;
};

struct filling {
    const struct assay_args *a;
    const struct assay_tensor *grid;
    struct assay_key key;
    double reach; /* of what is there */
    bool nearest, special;
};

static double largest_magnitude(const struct assay_tensor *t)
{
    double v[3 * CHUNK], most = 0;
    int64_t n = assay_numel(t), m;

    for (int64_t at = 0; at < n; at += m) {
        m = n - at < 3 * CHUNK ? n - at : 3 * CHUNK;
        assay_load_n(t, at, m, v);
        for (int64_t k = 0; k < m; k++)
            most = fmax(most, fabs(v[k]));
    }
    return most;
}

/* A small rotation about each axis in turn, a zoom that just reaches as far as it should, and bends
 * of two waves along each axis. */
static void draw_warp(struct warp *w, struct assay_key key, double reach)
{
    double angle[3], zoom = reach * (0.85 + 0.15 * assay_rng_unit(key, 0));

    *w = (struct warp){ .turn = { { zoom, 0, 0 }, { 0, zoom, 0 }, { 0, 0, zoom } }, .bend = 0.05 };
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;

        angle[k] = 0.6 * assay_rng_unit(key, (uint64_t)k + 1) - 0.3;
        w->shift[k] = 0.1 * assay_rng_unit(key, (uint64_t)k + 4) - 0.05;
        for (int l = 0; l < 3; l++) {
            double u = w->turn[i][l], v = w->turn[j][l];

            w->turn[i][l] = cos(angle[k]) * u - sin(angle[k]) * v;
            w->turn[j][l] = sin(angle[k]) * u + cos(angle[k]) * v;
            w->phase[k][l] = 6.283 * assay_rng_unit(key, 7 + 3 * (uint64_t)k + (uint64_t)l);
        }
    }
}

/* Point (x, y, z) of the identity, warped. */
static void warp_point(const struct warp *w, const double from[3], double to[3])
{
    for (int k = 0; k < 3; k++) {
        to[k] = w->shift[k];
        for (int l = 0; l < 3; l++)
            to[k] += w->turn[k][l] * from[l] + w->bend * sin(6.283 * from[l] + w->phase[k][l]);
    }
}

/* The coordinate of voxel v among n. */
static double centre(double v, int64_t n, bool align)
{
    if (align)
        return n > 1 ? 2 * v / (double)(n - 1) - 1 : 0;
    return (2 * v + 1) / (double)n - 1;
}

/* Puts a point on a corner, a face or the centre of a voxel. */
static void pin_point(const struct filling *f, uint64_t draw, double p[3])
{
    double end = f->reach < 1 ? f->reach : 1;
    uint64_t kind = draw >> 61;

    for (int k = 0; k < 3; k++) {
        struct axis x = axis_of(f->a, k);

        if (kind == 0 || (kind < 4 && (int)kind - 1 == k))
            p[k] = draw >> k & 1 ? end : -end;
        else if (kind >= 4)
            p[k] = centre((double)((draw >> 16 * k & 0xffff) % (uint64_t)x.n), x.n, x.align);
    }
}

/*
 * Moves coordinate g, as the grid's dtype has it, away from places where float32 and fp64 may
 * choose differently: halfway between voxels for the nearest one, voxels themselves where a weight
 * of 0 and one that is nearly 0 make a difference.
 */
static double keep_off(const struct filling *f, const struct axis *x, double g)
{
    double at, off, doubt, step;

    g = assay_round_to(f->grid->dtype, g);
    for (int attempt = 1; attempt <= 16; attempt++) {
        at = place(x, g) + (f->nearest ? 0.5 : 0);
        off = at - nearbyint(at);
        doubt = assay__coordinate_doubt((fabs(g) + 1) * (double)x->n);
        if (fabs(off) >= doubt)
            break;
        /* towards the middle, further each time: finer steps of the dtype are there, too */
        step = attempt * fmax(4 * doubt / (double)x->n, 0x1p-11 * fabs(g));
        g = assay_round_to(f->grid->dtype, g > 0 ? g - step : g + step);
    }
    return g;
}

/* Where m points lie that begin with point `at`, (i, y, z) of the grid. */
struct run {
    int64_t at, i, y, z, m;
};

/*
 * Five of eight slices of a grid are a smooth warp of the identity, the others points without
 * order, as they were; one of 16 points is put on a corner, a face or a voxel.
 */
static void fill_run(const struct filling *f, const struct warp *w, const struct run *r, double *v)
{
    const int64_t *shape = f->grid->shape; /* n, d', h', w' */
    struct axis axis[3] = { axis_of(f->a, 0), axis_of(f->a, 1), axis_of(f->a, 2) };
    double from[3] = { 0, centre((double)r->y, shape[2], axis[1].align),
                       centre((double)r->z, shape[1], axis[2].align) };

    for (int64_t p = 0; p < r->m; p++, v += 3) {
        uint64_t draw = assay_rng_u64(f->key, (uint64_t)(2 * (r->at + p)));

        from[0] = centre((double)(r->i + p), shape[3], axis[0].align);
        if (r->z % 8 < 5)
            warp_point(w, from, v);
        if ((draw & 15) == 0)
            pin_point(f, assay_rng_u64(f->key, (uint64_t)(2 * (r->at + p) + 1)), v);
        for (int k = 0; k < 3; k++) {
            v[k] = fmin(fmax(v[k], -f->reach), f->reach);
            if (f->nearest || f->special)
                v[k] = keep_off(f, &axis[k], v[k]);
        }
    }
}

static void fill_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct filling *f = ctx;
    const int64_t *shape = f->grid->shape;
    double v[3 * CHUNK];
    struct warp w;

    for (int64_t row = begin; row < end; row++) {
        struct run r = { .y = row % shape[2], .z = row / shape[2] % shape[1] };

        draw_warp(&w, assay_key_sub(f->key, (uint32_t)(row / shape[2] / shape[1]) + 1), f->reach);
        for (; r.i < shape[3]; r.i += r.m) {
            r.at = row * shape[3] + r.i;
            r.m = shape[3] - r.i < CHUNK ? shape[3] - r.i : CHUNK;
            assay_load_n(f->grid, 3 * r.at, 3 * r.m, v);
            fill_run(f, &w, &r, v);
            assay_store_n(f->grid, 3 * r.at, 3 * r.m, v);
        }
    }
}

/* A grid of zeros stays one. */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_tensor *grid = &a->in[GRID].t[0];
    struct filling f = { .a = a, .grid = grid, .key = key };

    (void)err;
    f.reach = largest_magnitude(grid);
    f.nearest = a->attr[MODE].i == NEAREST;
    f.special = assay__holds_specials(&a->in[X].t[0]);
    if (f.special && !f.nearest)
        assay__thin_nans(&a->in[X].t[0], assay_key_sub(key, 0), a->n_threads);
    if (f.reach > 0 && isfinite(f.reach))
        assay_parallel(grid->shape[0] * grid->shape[1] * grid->shape[2],
                       4 * CHUNK / (grid->shape[3] + 1) + 1, a->n_threads, fill_rows, &f);
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

/* The voxels of a point, as places in a volume; those outside are not among them. */
struct point {
    int n;
    int64_t at[8];
    double w[8];
};

enum { CHANNELS = 8, POINTS = 128, STAGED_BYTES = 1 << 29 };

/* Channels of a batch element are worked on by groups; the volumes of a group are staged side by
 * side, so that what a point needs of a voxel lies together. */
struct job {
    const struct assay_args *a;
    const struct assay_tensor *x, *grid, *y;
    int64_t points, voxels; /* of a batch element */
    struct axis axis[3];
    int64_t batch, plane; /* of y and x: the first of the group */
    int width;            /* channels of the group */
    float *staged;        /* [voxels, width] */
};

static void nearest_voxel(const struct job *j, const double *g, struct point *p)
{
    double at[3];

    for (int k = 0; k < 3; k++) {
        at[k] = nearbyint(source(&j->axis[k], g[k])); /* halfway: to the even one */
        if (at[k] < 0 || at[k] > (double)(j->axis[k].n - 1))
            return;
    }
    p->w[0] = 1;
    p->at[p->n++] =
        ((int64_t)at[2] * j->axis[1].n + (int64_t)at[1]) * j->axis[0].n + (int64_t)at[0];
}

static void voxels_around(const struct job *j, const double *g, struct point *p)
{
    bool native = j->a->native;
    struct assay__taps t[3];

    for (int k = 0; k < 3; k++)
        t[k] = assay__taps_at(native, source(&j->axis[k], g[k]));
    for (int corner = 0; corner < 8; corner++) {
        int64_t at[3];
        double w[3];
        bool inside = true;

        for (int k = 0; k < 3; k++) {
            at[k] = corner >> k & 1 ? t[k].hi : t[k].lo;
            w[k] = corner >> k & 1 ? t[k].w_hi : t[k].w_lo;
            inside = inside && at[k] >= 0 && at[k] < j->axis[k].n;
        }
        if (!inside)
            continue;
        p->w[p->n] = assay__single(native, assay__single(native, w[0] * w[1]) * w[2]);
        p->at[p->n++] = (at[2] * j->axis[1].n + at[1]) * j->axis[0].n + at[0];
    }
}

static void stage(void *ctx, int64_t begin, int64_t end)
{
    enum { BLOCK = 512 };
    const struct job *j = ctx;
    double v[BLOCK];

    for (int64_t at = begin, n; at < end; at += n) {
        n = end - at < BLOCK ? end - at : BLOCK;
        for (int c = 0; c < j->width; c++) {
            assay_load_n(j->x, (j->plane + c) * j->voxels + at, n, v);
            for (int64_t i = 0; i < n; i++)
                j->staged[(at + i) * j->width + c] = (float)v[i];
        }
    }
}

/* Results of n points in all channels of the group: y[channel][point]. */
static ASSAY__INLINE void look_up(const struct job *j, bool native, int width,
                                  const struct point *p, int64_t n, double y[][POINTS])
{
    for (int64_t i = 0; i < n; i++) {
        double sum[CHANNELS] = { 0 };

        for (int k = 0; k < p[i].n; k++) {
            const float *v = j->staged + p[i].at[k] * width;

            for (int c = 0; c < width; c++) {
                double term = assay__single(native, p[i].w[k] * (double)v[c]);

                sum[c] = k == 0 ? term : assay__single(native, sum[c] + term);
            }
        }
        for (int c = 0; c < width; c++)
            y[c][i] = sum[c];
    }
}

static void look_up_any(const struct job *j, const struct point *p, int64_t n, double y[][POINTS])
{
    bool native = j->a->native;

    if (j->width == CHANNELS && native)
        look_up(j, true, CHANNELS, p, n, y);
    else if (j->width == CHANNELS)
        look_up(j, false, CHANNELS, p, n, y);
    else
        look_up(j, native, j->width, p, n, y);
}

static void blocks(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    bool nearest = j->a->attr[MODE].i == NEAREST;
    double g[3 * POINTS], y[CHANNELS][POINTS];
    struct point p[POINTS];

    for (int64_t at = begin, n; at < end; at += n) {
        n = end - at < POINTS ? end - at : POINTS;
        assay_load_n(j->grid, 3 * (j->batch * j->points + at), 3 * n, g);
        for (int64_t k = 0; k < n; k++) {
            p[k].n = 0;
            if (nearest)
                nearest_voxel(j, g + 3 * k, &p[k]);
            else
                voxels_around(j, g + 3 * k, &p[k]);
        }
        look_up_any(j, p, n, y);
        for (int c = 0; c < j->width; c++)
            assay_store_n(j->y, (j->plane + c) * j->points + at, n, y[c]);
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .a = a, .x = &a->in[X].t[0], .grid = &a->in[GRID].t[0], .y = &a->out[0].t[0] };
    int64_t n_channels = j.x->shape[1], most;

    j.points = j.grid->shape[1] * j.grid->shape[2] * j.grid->shape[3];
    j.voxels = j.x->shape[2] * j.x->shape[3] * j.x->shape[4];
    most = STAGED_BYTES / (int64_t)sizeof(float) / (j.voxels + 1);
    most = most < 1 ? 1 : most > CHANNELS ? CHANNELS : most;
    j.staged = assay_arena_array(a->arena, (size_t)(most * j.voxels) + 1, sizeof *j.staged);
    if (!j.staged)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld volumes of %lld voxels",
                          (long long)most, (long long)j.voxels);
    for (int k = 0; k < 3; k++)
        j.axis[k] = axis_of(a, k);
    for (; j.batch < j.x->shape[0]; j.batch++)
        for (int64_t c = 0; c < n_channels; c += j.width) {
            j.width = (int)(n_channels - c < most ? n_channels - c : most);
            j.plane = j.batch * n_channels + c;
            assay_parallel(j.voxels, 1 << 14, a->n_threads, stage, &j);
            assay_parallel(j.points, 32 * POINTS, a->n_threads, blocks, &j);
        }
    return ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

/*
 * Where there are few points, most of x need not be read: no more voxels than points look at.
 * Between voxels there are eight products a result, or two less for each end that it is beyond;
 * two operations are there for all. The nearest voxel is a copy.
 */
static void work(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *x = &a->in[X].t[0], *grid = &a->in[GRID].t[0];
    double voxels = (double)(x->shape[2] * x->shape[3] * x->shape[4]);
    double points = (double)(grid->shape[1] * grid->shape[2] * grid->shape[3]);
    bool nearest = a->attr[MODE].i == NEAREST;
    double looked_at = fmin(voxels, points * (nearest ? 1 : 8));

    w->bytes_in -= (double)(x->shape[0] * x->shape[1]) * (voxels - looked_at) *
                   (double)assay_dtype_size(x->dtype);
    if (!nearest)
        assay__add_lanes(w, &a->out[0], 2);
}

/* 23 operations a result and 37 a point, 6 more to reflect it; 1 and 10 for the nearest voxel. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    bool nearest = a->attr[MODE].i == NEAREST;
    double per_point = nearest ? 10 : a->attr[PADDING].i == REFLECTION ? 43 : 37;

    assay__add_vector(w, &a->out[0], nearest ? 1 : 23);
    assay__add_vector(w, &a->in[GRID], per_point / 3);
}

const struct assay_op assay_op_grid_sampler_3d = {
    .name = "grid_sampler_3d",
    .tier = 2,
    .formula = "y[n, c, p] = x[n, c] at the point grid[n, p], between its 8 voxels or the nearest",
    .constraints =
        "a point is (x, y, z), finite; they are for w, h, d\n"
        "coordinate g is at ((g + 1) n - 1) / 2 among the n voxels of its axis\n"
        "with align_corners at (g + 1) / 2 (n - 1)\n"
        "border: cut to 0 .. n - 1; reflection: folded at -0.5 and n - 0.5 until it is between,\n"
        "with align_corners at 0 and n - 1, then cut\n"
        "voxels outside are left out, all others count: 0 * Inf is NaN\n"
        "nearest: halfway between two it is the one of even index",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .check_values = check_values,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .source = "CANN Bench level 2, GridSampler3D",
};
