/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roi_align: each box of a list is divided into bins, and each bin is the mean of x at a few points
 * of it, between the four elements around each.
 *
 * Points up to one element outside of the map count as on its border, those further out as 0. All
 * products count: a weight of 0 on an infinity gives NaN, and the last element of an axis always
 * meets one. Where sampling_ratio is 0 or less, bins have a point for each element of the map, or a
 * little more.
 *
 * The weights of all points of a bin are added up, axis by axis, so that the work grows with the
 * elements that a box covers and not with its points.
 */
#include "assay/op.h"

#include "base/clones.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/roi.h"
#include "ops/sample.h"

#include <math.h>

enum { X, BOXES };
enum { OUTPUT_HEIGHT, OUTPUT_WIDTH, SPATIAL_SCALE, SAMPLING_RATIO, ALIGNED };

#define HALF_OR_SINGLE (ASSAY_BIT(ASSAY_F16) | ASSAY_BIT(ASSAY_F32))
static const struct assay_param in[] = {
    [X] = { "x", HALF_OR_SINGLE, 0, "[b, c, h, w]", NULL },
    [BOXES] = { "boxes", HALF_OR_SINGLE, 0, "[r, 5], dtype of x: image, x0, y0, x1, y1", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    { "y", HALF_OR_SINGLE, 0, "[r, c, outputHeight, outputWidth]", NULL }, { 0 }
};

static const double scales[] = { 0.0625, 0.125, 0.25, 0.5, 1, 0.03125, 0.3 };
static const double ratios[] = { 2, 0, 1, -1, 3, 4 };
static const struct assay_attr attrs[] = {
    [OUTPUT_HEIGHT] = { "outputHeight", ASSAY_ATTR_INT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [OUTPUT_WIDTH] = { "outputWidth", ASSAY_ATTR_INT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [SPATIAL_SCALE] = { "spatial_scale",
                        ASSAY_ATTR_FLOAT,
                        ASSAY_ATTR_REQUIRED,
                        { 0 },
                        NULL,
                        scales,
                        7 },
    [SAMPLING_RATIO] = { "sampling_ratio",
                         ASSAY_ATTR_INT,
                         0,
                         { .set = true, .i = -1 },
                         NULL,
                         ratios,
                         6 },
    [ALIGNED] = { "aligned", ASSAY_ATTR_BOOL, 0, { .set = true }, NULL, NULL, 0 },
    { 0 },
};

static const struct assay_tol tol[] = { { ASSAY_F16, 0.1 },
                                        { ASSAY_F32, 0.01 },
                                        { ASSAY_F32, -1 } };

/* h (k = 0) or w (1) */
static struct assay__roi_axis axis_of(const struct assay_value *attr, int64_t n, int k, bool native)
{
    return (struct assay__roi_axis){ .n = n,
                                     .out = attr[k ? OUTPUT_WIDTH : OUTPUT_HEIGHT].i,
                                     .ratio = attr[SAMPLING_RATIO].i,
                                     .scale = attr[SPATIAL_SCALE].f,
                                     .aligned = attr[ALIGNED].i != 0,
                                     .native = native };
}

/* ---- contract -------------------------------------------------------------------------------- */

enum { MAX_OUT = 1 << 16, MAX_RATIO = 1 << 10, MAX_EXTENT = 1 << 20, REACH = 1 << 22 };

static enum assay_status check_attrs(const struct assay_value *attr, struct assay_err *err)
{
    double scale = attr[SPATIAL_SCALE].f;

    for (int k = OUTPUT_HEIGHT; k <= OUTPUT_WIDTH; k++)
        if (attr[k].i < 1 || attr[k].i > MAX_OUT)
            return assay_fail(err, ASSAY_INVALID, "%s is %lld, 1 to %d are allowed", attrs[k].name,
                              (long long)attr[k].i, MAX_OUT);
    if (attr[SAMPLING_RATIO].i < -1 || attr[SAMPLING_RATIO].i > MAX_RATIO)
        return assay_fail(err, ASSAY_INVALID, "sampling_ratio is %lld, -1 to %d are allowed",
                          (long long)attr[SAMPLING_RATIO].i, MAX_RATIO);
    if (!(scale >= 1.0 / MAX_EXTENT && scale <= MAX_EXTENT))
        return assay_fail(err, ASSAY_INVALID, "spatial_scale is %g, 2^-20 to 2^20 are allowed",
                          scale);
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0], *boxes = &a->in[BOXES].t[0];
    char text[128], other[128];

    assay_tensor_text(x, text, sizeof text);
    assay_tensor_text(boxes, other, sizeof other);
    if (x->rank != 4 || x->shape[2] < 1 || x->shape[3] < 1 || x->shape[2] > MAX_EXTENT ||
        x->shape[3] > MAX_EXTENT)
        return assay_fail(err, ASSAY_INVALID,
                          "x is %s, it must be [b, c, h, w] with h and w 1 to %d", text,
                          MAX_EXTENT);
    if (boxes->rank != 2 || boxes->shape[1] != 5)
        return assay_fail(err, ASSAY_INVALID, "boxes is %s, it must be [r, 5]", other);
    if (boxes->dtype != x->dtype)
        return assay_fail(err, ASSAY_INVALID, "boxes is %s, x is %s: the dtypes differ", other,
                          text);
    return check_attrs(a->attr, err);
}

static enum assay_status check_values(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *boxes = &a->in[BOXES].t[0];
    double last = (double)a->in[X].t[0].shape[0] - 1, scale = a->attr[SPATIAL_SCALE].f;

    for (int64_t i = 0; i < boxes->shape[0]; i++) {
        double v[5];

        assay_load_n(boxes, 5 * i, 5, v);
        if (!(v[0] >= 0 && v[0] <= last && v[0] == floor(v[0])))
            return assay_fail(err, ASSAY_INVALID, "box %lld is in image %g, there are 0 to %g",
                              (long long)i, v[0], last);
        if (!(v[1] <= v[3] && v[2] <= v[4]))
            return assay_fail(err, ASSAY_INVALID,
                              "box %lld is from %g to %g, %g to %g: corners out of order",
                              (long long)i, v[1], v[3], v[2], v[4]);
        for (int k = 1; k < 5; k++)
            if (!(fabs(v[k]) * scale <= REACH))
                return assay_fail(err, ASSAY_INVALID,
                                  "box %lld has a corner at %g elements of the map, up to %d are "
                                  "allowed",
                                  (long long)i, v[k] * scale, REACH);
    }
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0];

    (void)err;
    a->out[0].t[0] =
        (struct assay_tensor){ .dtype = x->dtype,
                               .rank = 4,
                               .shape = { a->in[BOXES].t[0].shape[0], x->shape[1],
                                          a->attr[OUTPUT_HEIGHT].i, a->attr[OUTPUT_WIDTH].i } };
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Maps of ordinary proportions and sizes, or of any if there is no choice. */
static bool draw_maps(struct assay_sampler *s, enum assay_dtype d, bool any, struct assay_shape *x)
{
    enum { MOST = 1 << 17 };
    static const int64_t batches[] = { 1, 1, 2, 2, 3, 4 };
    static const int64_t channels[] = { 1, 3, 16, 31, 64, 64, 127, 128, 256, 256 };
    int64_t n = batches[assay_sample_below(s, 6)], c = channels[assay_sample_below(s, 10)];
    struct assay_shape map;
    double ratio;

    if (n * c * 64 > s->elements || (!any && s->elements / (n * c) > MOST))
        return false;
    assay_sample_shape(s, s->elements / (n * c), 2, d, &map);
    ratio = (double)map.dim[0] / (double)map.dim[1];
    *x = (struct assay_shape){ 4, { n, c, map.dim[0], map.dim[1] } };
    return map.dim[0] > 1 && ratio > (any ? 1.0 / 32 : 0.2) && ratio < (any ? 32 : 5);
}

static void draw_bins(struct assay_sampler *s, struct assay_value *attr)
{
    static const int64_t bins[] = { 7, 7, 14, 3, 5, 1, 28, 4, 11, 2 };
    bool square = assay_sample_below(s, 3) > 0;

    for (int k = OUTPUT_HEIGHT; k <= OUTPUT_WIDTH; k++)
        attr[k] = (struct assay_value){ .set = true, .i = bins[assay_sample_below(s, 10)] };
    if (square)
        attr[OUTPUT_WIDTH] = attr[OUTPUT_HEIGHT];
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { TRIES = 256, MIN_OUTPUTS = 500, MAX_OUTPUTS = 8000000, MOST_PIXELS = 30000 };
    static const int64_t counts[] = { 8, 16, 37, 50, 64, 100, 128, 256, 300, 512 };
    struct assay_shape *x;

    ASSAY_TRY(assay__sample_room(s, c, X, 1, err));
    ASSAY_TRY(assay__sample_room(s, c, BOXES, 1, err));
    x = &c->in[X].shape[0];
    for (int attempt = 0; attempt < TRIES; attempt++) {
        int64_t n = counts[assay_sample_below(s, 10)], longest;
        double outputs, pixels;

        draw_bins(s, c->attr);
        if (!draw_maps(s, c->in[X].dtype, attempt > TRIES / 2, x))
            continue;
        outputs =
            (double)(n * x->dim[1]) * (double)(c->attr[OUTPUT_HEIGHT].i * c->attr[OUTPUT_WIDTH].i);
        longest = x->dim[2] > x->dim[3] ? x->dim[2] : x->dim[3];
        pixels = (double)longest / c->attr[SPATIAL_SCALE].f;
        if (outputs < MIN_OUTPUTS || outputs > MAX_OUTPUTS || pixels > MOST_PIXELS)
            continue;
        c->in[BOXES].shape[0] = (struct assay_shape){ 2, { n, 5 } };
        c->in[BOXES].range[0] = (struct assay_range){ 0, ceil(pixels) };
        return ASSAY_OK;
    }
    return assay_fail(err, ASSAY_INVALID, "no map found of %lld elements", (long long)s->elements);
}

struct strengths {
    const struct assay_tensor *x;
    double most; /* of what is there */
    struct assay_key key;
};

static void weaken_planes(void *ctx, int64_t begin, int64_t end)
{
    const struct strengths *j = ctx;
    int64_t size = j->x->shape[2] * j->x->shape[3];
    double v[ASSAY__BLOCK];

    for (int64_t p = begin; p < end; p++) {
        uint64_t draw = assay_rng_u64(j->key, (uint64_t)p);
        double by = draw % 4 ? 1 : ldexp(1, -(int)(draw / 4 % 7));

        for (int64_t at = 0, m; at < size; at += m) {
            m = size - at < ASSAY__BLOCK ? size - at : ASSAY__BLOCK;
            assay_load_n(j->x, p * size + at, m, v);
            for (int64_t k = 0; k < m; k++) {
                double part = v[k] / j->most;

                v[k] = isfinite(v[k]) ? v[k] * by * part * part : v[k];
            }
            assay_store_n(j->x, p * size + at, m, v);
        }
    }
}

/*
 * The means of uniform values are near each other whichever points they are made of, and the
 * tolerance is wide. So few elements are strong and most are weak, as in maps of features; and some
 * channels are weak as a whole.
 */
static void weaken(const struct assay_args *a, const struct assay_tensor *x, struct assay_key key)
{
    enum { LOOK = 4096 };
    double v[LOOK];
    int64_t n = assay_numel(x) < LOOK ? assay_numel(x) : LOOK;
    struct strengths j = { .x = x, .key = key };

    assay_load_n(x, 0, n, v);
    for (int64_t i = 0; i < n; i++)
        if (isfinite(v[i]))
            j.most = fmax(j.most, fabs(v[i]));
    if (j.most > 0) {
        j.most *= 1.001; /* a little more than at the beginning: nothing shall grow */
        assay_parallel(x->shape[0] * x->shape[1], (1 << 15) / (x->shape[2] * x->shape[3]) + 1,
                       a->n_threads, weaken_planes, &j);
    }
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0], *boxes = &a->in[BOXES].t[0];
    struct assay__roi_axis axis[2];
    bool special = assay__holds_specials(x);
    double terms = 1;

    (void)err;
    for (int k = 0; k < 2; k++) {
        double n = (double)x->shape[2 + k];

        axis[k] = axis_of(a->attr, x->shape[2 + k], k, false);
        /* elements of a bin, boxes being about a third of the map */
        terms *= fmin(0.3 * n / (double)axis[k].out + 2,
                      axis[k].ratio > 0 ? 2 * (double)axis[k].ratio : n);
    }
    if (special)
        assay__thin_specials(x, terms, assay_key_sub(key, 0), a->n_threads);
    weaken(a, x, assay_key_sub(key, 1));
    if (x->shape[0] > 0)
        assay__roi_fill(boxes, axis, x->shape[0], special, assay_key_sub(key, 2));
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

/* What an element adds to a bin along one axis. */
struct term {
    int64_t at;
    double w;
};

/* A box along one axis: the terms of bin i are term[first[i]] .. term[first[i + 1] - 1]. */
struct table {
    int64_t *first;
    struct term *term;
    int64_t low, high; /* elements that occur: low <= at < high */
};

/* What one piece of the loop works with. */
struct desk {
    struct table t[2];
    double *row, *mixed; /* a row of the map, and a mean of some */
    int64_t box, image;
    double points; /* of a bin */
};

struct job {
    const struct assay_args *a;
    const struct assay_tensor *x, *boxes, *y;
    struct assay__roi_axis axis[2];
    struct desk *desk;
    int64_t n_desks, n_groups; /* CHANNELS of them at a time */
};

enum { CHANNELS = 16, MAX_DESKS = 64, DESK_BYTES = 8 << 20 };

/* Adds a weight to the terms from `first` on. Points come in order, so that the element is among
 * the last few, if it is there. A weight of 0 is a term of its own: it must meet its element. */
static int64_t add_term(struct term *term, int64_t first, int64_t n, int64_t at, double w,
                        bool native)
{
    for (int64_t i = n - 1; i >= first && i >= n - 4; i--)
        if (term[i].at == at && (term[i].w == 0) == (w == 0)) {
            term[i].w = assay__single(native, term[i].w + w);
            return n;
        }
    term[n] = (struct term){ at, w };
    return n + 1;
}

static void make_table(const struct assay__roi_axis *x, const struct assay__roi *r, struct table *t)
{
    int64_t n = 0;

    t->low = x->n;
    t->high = 0;
    for (int64_t bin = 0; bin < x->out; bin++) {
        t->first[bin] = n;
        for (int64_t i = 0; i < r->grid; i++) {
            struct assay__taps taps;

            if (!assay__roi_taps(x, assay__roi_point(x, r, bin, i), &taps))
                continue;
            n = add_term(t->term, t->first[bin], n, taps.lo, taps.w_lo, x->native);
            n = add_term(t->term, t->first[bin], n, taps.hi, taps.w_hi, x->native);
            t->low = taps.lo < t->low ? taps.lo : t->low;
            t->high = taps.hi + 1 > t->high ? taps.hi + 1 : t->high;
        }
    }
    t->first[x->out] = n;
}

static void take_box(const struct job *j, struct desk *d, int64_t box)
{
    double v[5];

    assay_load_n(j->boxes, 5 * box, 5, v);
    d->box = box;
    d->image = (int64_t)v[0];
    d->points = 1;
    for (int k = 0; k < 2; k++) {
        struct assay__roi r = assay__roi_place(&j->axis[k], v[2 - k], v[4 - k]);

        make_table(&j->axis[k], &r, &d->t[k]);
        d->points *= (double)r.grid;
    }
    d->points = fmax(d->points, 1);
}

ASSAY__CLONES static void roi_align_mix(double *restrict to, const double *restrict v, double w,
                                        int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] += w * v[i];
}

/* The rows of bin i, weighted, from column t[1].low on. */
static void mix_rows(const struct job *j, const struct desk *d, int64_t plane, int64_t i)
{
    int64_t low = d->t[1].low, n = d->t[1].high - low;

    for (int64_t k = 0; k < n; k++)
        d->mixed[k] = 0;
    for (int64_t e = d->t[0].first[i]; e < d->t[0].first[i + 1] && n > 0; e++) {
        const struct term *term = &d->t[0].term[e];

        assay_load_n(j->x, (plane * j->axis[0].n + term->at) * j->axis[1].n + low, n, d->row);
        if (j->a->native)
            for (int64_t k = 0; k < n; k++)
                d->mixed[k] =
                    assay__single(true, d->mixed[k] + assay__single(true, term->w * d->row[k]));
        else
            roi_align_mix(d->mixed, d->row, term->w, n);
    }
}

static double mix_columns(const struct job *j, const struct desk *d, int64_t i)
{
    double sum = 0;

    for (int64_t e = d->t[1].first[i]; e < d->t[1].first[i + 1]; e++) {
        const struct term *term = &d->t[1].term[e];
        double product = term->w * d->mixed[term->at - d->t[1].low];

        sum = assay__single(j->a->native, sum + assay__single(j->a->native, product));
    }
    return assay__single(j->a->native, sum / d->points);
}

static void align_plane(const struct job *j, struct desk *d, int64_t channel)
{
    int64_t c = j->x->shape[1], bins = j->axis[1].out;
    int64_t to = (d->box * c + channel) * j->axis[0].out * bins;

    for (int64_t i = 0; i < j->axis[0].out; i++, to += bins) {
        mix_rows(j, d, d->image * c + channel, i);
        for (int64_t k = 0, m; k < bins; k += m) {
            double y[ASSAY__BLOCK];

            m = bins - k < ASSAY__BLOCK ? bins - k : ASSAY__BLOCK;
            for (int64_t l = 0; l < m; l++)
                y[l] = mix_columns(j, d, k + l);
            assay_store_n(j->y, to + k, m, y);
        }
    }
}

static void work_at(const struct job *j, struct desk *d, int64_t begin, int64_t end)
{
    int64_t c = j->x->shape[1];

    for (int64_t i = begin; i < end; i++) {
        int64_t box = i / j->n_groups, first = i % j->n_groups * CHANNELS;

        if (i == begin || box != d->box)
            take_box(j, d, box);
        for (int64_t k = first; k < first + CHANNELS && k < c; k++)
            align_plane(j, d, k);
    }
}

static void desks(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    int64_t n = j->boxes->shape[0] * j->n_groups;

    for (int64_t i = begin; i < end; i++)
        work_at(j, &j->desk[i], n * i / j->n_desks, n * (i + 1) / j->n_desks);
}

/* Bins meet two elements each at most beside those that the box goes over, and each element may be
 * met by weights of 0, too. */
static enum assay_status make_desks(struct job *j, struct assay_err *err)
{
    int64_t terms[2], bytes = 16 * j->axis[1].n;

    for (int k = 0; k < 2; k++) {
        terms[k] = 2 * j->axis[k].n + 4 * j->axis[k].out + 8;
        bytes += terms[k] * (int64_t)sizeof(struct term) + 8 * j->axis[k].out;
    }
    j->n_desks = bytes * MAX_DESKS < DESK_BYTES ? MAX_DESKS : DESK_BYTES / bytes;
    j->n_desks = j->n_desks > 8 ? j->n_desks : 8;
    j->desk = assay_arena_array(j->a->arena, (size_t)j->n_desks, sizeof *j->desk);
    for (int64_t i = 0; j->desk && i < j->n_desks; i++) {
        struct desk *d = &j->desk[i];
        bool whole = true;

        for (int k = 0; k < 2; k++) {
            struct table *t = &d->t[k];

            t->first = assay_arena_array(j->a->arena, (size_t)j->axis[k].out + 1, sizeof *t->first);
            t->term = assay_arena_array(j->a->arena, (size_t)terms[k], sizeof *t->term);
            whole = whole && t->first && t->term;
        }
        d->row = assay_arena_array(j->a->arena, (size_t)j->axis[1].n, sizeof *d->row);
        d->mixed = assay_arena_array(j->a->arena, (size_t)j->axis[1].n, sizeof *d->mixed);
        if (!whole || !d->row || !d->mixed)
            j->desk = NULL;
    }
    return j->desk ? ASSAY_OK : assay_fail(err, ASSAY_NOMEM, "no memory for the weights of boxes");
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .a = a, .x = &a->in[X].t[0], .boxes = &a->in[BOXES].t[0] };

    j.y = &a->out[0].t[0];
    j.n_groups = (j.x->shape[1] + CHANNELS - 1) / CHANNELS;
    for (int k = 0; k < 2; k++)
        j.axis[k] = axis_of(a->attr, j.x->shape[2 + k], k, a->native);
    ASSAY_TRY(make_desks(&j, err));
    assay_parallel(j.n_desks, 1, a->n_threads, desks, &j);
    return ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Images that have boxes have a grid of them: what its points need has to be read. One operation a
 * result: points may lie on elements. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *x = &a->in[X].t[0];
    int64_t boxes = a->in[BOXES].t[0].shape[0], images = x->shape[0];
    int64_t line = 64 / (int64_t)assay_dtype_size(x->dtype);
    double read = (double)(images < boxes ? images : boxes) * (double)x->shape[1];

    for (int k = 0; k < 2; k++) {
        struct assay__roi_axis axis = axis_of(a->attr, x->shape[2 + k], k, false);

        read *= assay__roi_touched(&axis, assay__roi_grid(images > 0 ? boxes / images : 0),
                                   k ? line : 1);
    }
    w->bytes_in -= (assay__elements(&a->in[X]) - read) * (double)assay_dtype_size(x->dtype);
    assay__add_lanes(w, &a->out[0], 1);
}

/* In fp32: 8 operations for each point of a result and 4 for the result, 10 for each point of a
 * bin; four points, where their number is left open. float16 is cast, in 16-bit lanes. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    int64_t ratio = a->attr[SAMPLING_RATIO].i;
    double points = ratio > 0 ? (double)(ratio * ratio) : 4;
    double results = assay__elements(&a->out[0]);
    double bins = (double)a->in[BOXES].t[0].shape[0] *
                  (double)(a->attr[OUTPUT_HEIGHT].i * a->attr[OUTPUT_WIDTH].i);

    w->amount[ASSAY_UNIT_VEC_32] += (8 * points + 4) * results + 10 * points * bins;
    if (a->in[X].t[0].dtype == ASSAY_F16)
        w->amount[ASSAY_UNIT_VEC_16] += assay__elements(&a->in[X]) + results;
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "output_bf16", "float32 results are judged at a mean relative error of 0.01, rounding to "
                     "bfloat16 stays below 2^-8" },
    { "output_flushed", "float16 results are judged at a mean relative error of 0.1 and a largest "
                        "one of 1, which zero in place of a value does not exceed" },
    { 0 },
};

const struct assay_op assay_op_roi_align = {
    .name = "roi_align",
    .tier = 3,
    .formula = "y[r, c, i, j] = mean of x[image of box r, c] at the points of bin (i, j) of box r, "
               "between the 4 elements around each",
    .constraints =
        "a box is (image, x0, y0, x1, y1), x0 <= x1, y0 <= y1, image a whole number, 0 to b - 1\n"
        "corners are multiplied by spatial_scale, and 0.5 less with aligned; else a box has at "
        "least the height and width 1\n"
        "of outputHeight bins each has g points: sampling_ratio, or ceil(height / outputHeight) "
        "where that is 0 or -1; none is possible, and gives 0\n"
        "points of a bin lie at (k + 0.5) / g of it; likewise along w\n"
        "points below -1 or above h count as 0, those from -1 to 0 as at 0; neighbours are floor "
        "and the next one, from h - 1 on the last one, with weights 1 and 0\n"
        "all products count: 0 * Inf is NaN",
    .in = in,
    .out = out,
    .attrs = attrs,
    .tol = tol,
    .n_tol = 2,
    .sample = sample,
    .check = check,
    .check_values = check_values,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 3, ROIAlign",
};
