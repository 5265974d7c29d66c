/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize_bilinear: each [h, w] plane at another size, between the four elements around each source
 * point.
 *
 * Extents follow from output_size or from scale_factor, floor(in s); 1 / s is then the step between
 * source points, not in / out. An extent that does not change is copied: both neighbours are the
 * element itself, with the weights 1 and 0, as the reference has it. All four products are always
 * taken, so that 0 * Inf gives NaN. A border neighbour beyond the last element is the last element.
 */
#include "assay/op.h"

#include "base/clones.h"
#include "ops/interpolate.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/sample.h"

#include <math.h>

enum { OUTPUT_SIZE, ALIGN_CORNERS, SCALE_FACTOR };
static const struct assay_param in[] = { { "x", ASSAY_FLOATS, 0, "[n, c, h, w]", NULL }, { 0 } };
static const struct assay_param out[] = { { "y", ASSAY_FLOATS, 0, "[n, c, h', w']", NULL }, { 0 } };

static const struct assay_attr attrs[] = {
    [OUTPUT_SIZE] = { "output_size", ASSAY_ATTR_INTS, ASSAY_ATTR_NO_DEFAULT, { 0 }, NULL, NULL, 0 },
    [ALIGN_CORNERS] = { "align_corners", ASSAY_ATTR_BOOL, 0, { .set = true }, NULL, NULL, 0 },
    [SCALE_FACTOR] = { "scale_factor",
                       ASSAY_ATTR_FLOATS,
                       ASSAY_ATTR_NO_DEFAULT,
                       { 0 },
                       NULL,
                       NULL,
                       0 },
    { 0 },
};

/* ---- source coordinates ---------------------------------------------------------------------- */

/* How one axis is resized. */
struct axis {
    int64_t in, out;
    double step; /* between source points */
    bool align, native;
};

static struct axis make_axis(int64_t in_extent, int64_t out_extent, double scale, bool align,
                             bool native)
{
    struct axis x = { .in = in_extent, .out = out_extent, .align = align, .native = native };

    if (align)
        x.step = x.out > 1 ? (double)(x.in - 1) / (double)(x.out - 1) : 0;
    else
        x.step = scale > 0 ? 1 / scale : (double)x.in / (double)x.out;
    x.step = assay__single(native, x.step);
    return x;
}

/* The height (k = 0) or the width (1) of a complete argument set. */
static struct axis axis_of(const struct assay_args *a, int k)
{
    const struct assay_value *scale = &a->attr[SCALE_FACTOR];

    return make_axis(a->in[0].t[0].shape[2 + k], a->out[0].t[0].shape[2 + k],
                     scale->set ? scale->floats.v[k] : 0, a->attr[ALIGN_CORNERS].i != 0, a->native);
}

/* Where output d lies in the input; may be below 0. */
static double source(const struct axis *x, int64_t d)
{
    if (x->align)
        return assay__single(x->native, x->step * (double)d);
    return assay__single(x->native, assay__single(x->native, x->step * ((double)d + 0.5)) - 0.5);
}

static struct assay__taps taps_of(const struct axis *x, int64_t d)
{
    if (x->in == x->out)
        return (struct assay__taps){ d, d, 1, 0 };
    return assay__taps_within(x->native, source(x, d), x->in);
}

/*
 * Whether it is left to rounding between which elements output d lies, and whether one of them has
 * no weight. *at is the element that the coordinate is next to. Steps of few bits are exact in
 * float32, too, and so is the first point of aligned corners.
 */
static bool is_fragile(const struct axis *x, int64_t d, int64_t *at)
{
    double src = source(x, d), near = nearbyint(src);

    *at = (int64_t)near;
    if (x->in == x->out || (x->step * 256 == floor(x->step * 256) && src < 65536))
        return false;
    if (x->align && d == 0)
        return false;
    return fabs(src - near) < assay__coordinate_doubt(src + 1);
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check_extent(const char *name, double v, double extent,
                                      struct assay_err *err)
{
    if (extent >= 1 && extent <= INT32_MAX)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_INVALID, "%s %g gives extent %.17g, 1 to %d are allowed", name, v,
                      floor(extent), INT32_MAX);
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0];
    const struct assay_value *size = &a->attr[OUTPUT_SIZE], *scale = &a->attr[SCALE_FACTOR];
    char text[128];

    if (x->rank != 4 || x->shape[2] < 1 || x->shape[3] < 1)
        return assay_fail(err, ASSAY_INVALID, "x is %s, it must be [n, c, h, w] with h, w >= 1",
                          assay_tensor_text(x, text, sizeof text));
    if (size->set == scale->set)
        return assay_fail(err, ASSAY_INVALID, "%s, exactly one is needed",
                          size->set ? "output_size and scale_factor are given"
                                    : "neither output_size nor scale_factor is given");
    if ((size->set ? size->ints.n : scale->floats.n) != 2)
        return assay_fail(err, ASSAY_INVALID, "%s has %lld entries, it must have 2",
                          size->set ? "output_size" : "scale_factor",
                          (long long)(size->set ? size->ints.n : scale->floats.n));
    for (int k = 0; k < 2; k++)
        if (size->set)
            ASSAY_TRY(
                check_extent("output_size", (double)size->ints.v[k], (double)size->ints.v[k], err));
        else
            ASSAY_TRY(check_extent("scale_factor", scale->floats.v[k],
                                   (double)x->shape[2 + k] * scale->floats.v[k], err));
    return ASSAY_OK;
}

static int64_t extent_of(const struct assay_value *attr, int k, int64_t from)
{
    if (attr[OUTPUT_SIZE].set)
        return attr[OUTPUT_SIZE].ints.v[k];
    return (int64_t)((double)from * attr[SCALE_FACTOR].floats.v[k]);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    struct assay_tensor *y = &a->out[0].t[0];

    (void)err;
    *y = a->in[0].t[0];
    y->data = NULL;
    for (int k = 0; k < 2; k++)
        y->shape[2 + k] = extent_of(a->attr, k, y->shape[2 + k]);
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Planes of ordinary proportions, few or many of them. */
static void draw_planes(struct assay_sampler *s, enum assay_dtype d, struct assay_shape *x)
{
    static const int64_t batches[] = { 1, 1, 2, 3, 4, 8 };
    static const int64_t channels[] = { 1, 3, 3, 4, 7, 8, 16, 23, 32, 64 };
    struct assay_shape plane;
    double ratio;
    int64_t n, c;

    do {
        n = batches[assay_sample_below(s, 6)];
        c = channels[assay_sample_below(s, 10)];
    } while (n * c * 1024 > s->elements && n * c > 1);
    for (int attempt = 0; attempt < 64; attempt++) {
        assay_sample_shape(s, s->elements / (n * c), 2, d, &plane);
        ratio = (double)plane.dim[0] / (double)plane.dim[1];
        if (ratio > 1.0 / 8 && ratio < 8)
            break;
    }
    *x = (struct assay_shape){ 4, { n, c, plane.dim[0], plane.dim[1] } };
}

/* Half of the factors are the usual ones. */
static double draw_factor(struct assay_sampler *s)
{
    static const double usual[] = { 0.5, 2, 2, 0.25, 1.5, 0.75, 3, 0.3, 1.7, 1 };

    if (assay_sample_below(s, 2))
        return usual[assay_sample_below(s, 10)];
    return floor(100 * exp(assay_sample_between(s, log(0.15), log(3.5)))) / 100;
}

/* Whether a case of special values has them left once those near fragile points are taken away, and
 * no extent that does not change. */
static bool keeps_specials(const struct assay_case *c, int k)
{
    int64_t from = c->in[0].shape[0].dim[2 + k], n = 0, at;
    const struct assay_value *scale = &c->attr[SCALE_FACTOR];
    struct axis x =
        make_axis(from, extent_of(c->attr, k, from), scale->set ? scale->floats.v[k] : 0,
                  c->attr[ALIGN_CORNERS].i != 0, false);

    for (int64_t d = 0; d < x.out; d++)
        n += is_fragile(&x, d, &at);
    return x.in != x.out && n * 16 < x.in;
}

static void draw_size(struct assay_sampler *s, struct assay_case *c, bool by_scale, int64_t *sizes,
                      double *scales)
{
    const struct assay_shape *x = &c->in[0].shape[0];
    bool alike = assay_sample_below(s, 2) == 0; /* both axes by the same factor */

    for (int k = 0; k < 2; k++) {
        scales[k] = k > 0 && alike ? scales[0] : draw_factor(s);
        sizes[k] = (int64_t)((double)x->dim[2 + k] * scales[k]);
        if (assay_sample_below(s, 3) == 0) /* about that size, and no simple part of the other */
            sizes[k] += (int64_t)assay_sample_below(s, 7) - 3;
        sizes[k] = sizes[k] > 1 ? sizes[k] : 1;
    }
    c->attr[OUTPUT_SIZE] = (struct assay_value){ .set = !by_scale, .ints = { sizes, 2 } };
    c->attr[SCALE_FACTOR] = (struct assay_value){ .set = by_scale, .floats = { scales, 2 } };
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { TRIES = 64, MAX_OUTPUTS = 12000000, MIN_OUTPUTS = 512 };
    int64_t *sizes = assay_arena_array(s->arena, 2, sizeof *sizes);
    double *scales = assay_arena_array(s->arena, 2, sizeof *scales);
    bool by_scale = assay_sample_below(s, 3) == 0;

    ASSAY_TRY(assay__sample_room(s, c, 0, 1, err));
    if (!sizes || !scales)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the attributes of a case");
    for (int attempt = 0; attempt < TRIES; attempt++) {
        const struct assay_shape *x = &c->in[0].shape[0];
        double outputs = 1;

        draw_planes(s, c->in[0].dtype, &c->in[0].shape[0]);
        draw_size(s, c, by_scale, sizes, scales);
        for (int k = 0; k < 2; k++)
            outputs *= (double)x->dim[k] * (double)extent_of(c->attr, k, x->dim[2 + k]);
        if (extent_of(c->attr, 0, x->dim[2]) == x->dim[2] &&
            extent_of(c->attr, 1, x->dim[3]) == x->dim[3])
            continue; /* a copy */
        if (outputs < MIN_OUTPUTS || outputs > MAX_OUTPUTS || (double)x->dim[2] * scales[0] < 1 ||
            (double)x->dim[3] * scales[1] < 1)
            continue;
        if (c->value_class != ASSAY_CLASS_SPECIAL || (keeps_specials(c, 0) && keeps_specials(c, 1)))
            return ASSAY_OK;
    }
    return assay_fail(err, ASSAY_INVALID, "no output size found that suits the input");
}

struct mending {
    const struct assay_tensor *x;
    struct axis axis[2];
    struct assay_key key;
};

static void mend_element(const struct mending *m, int64_t i)
{
    if (!isfinite(assay_load(m->x, i)))
        assay_store(m->x, i, 2 * assay_rng_unit(m->key, (uint64_t)i) - 1);
}

/* Rows or columns of a plane around each fragile point. */
static void mend_planes(void *ctx, int64_t begin, int64_t end)
{
    const struct mending *m = ctx;
    int64_t h = m->axis[0].in, w = m->axis[1].in, at;

    for (int64_t p = begin; p < end; p++)
        for (int k = 0; k < 2; k++)
            for (int64_t d = 0; d < m->axis[k].out; d++) {
                if (!is_fragile(&m->axis[k], d, &at))
                    continue;
                for (int64_t l = at - 1; l <= at + 1; l++)
                    for (int64_t i = 0; l >= 0 && l < m->axis[k].in && i < (k ? h : w); i++)
                        mend_element(m, p * h * w + (k ? i * w + l : l * w + i));
            }
}

/* Around points where it is left to rounding which elements have a weight, there are neither
 * infinities nor NaN: such points would be judged by the last bit of a coordinate. */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0];
    struct mending m = { x, { axis_of(a, 0), axis_of(a, 1) }, key };

    (void)err;
    if (!assay__holds_specials(x))
        return ASSAY_OK;
    assay__thin_nans(x, assay_key_sub(key, 1), a->n_threads);
    assay_parallel(x->shape[0] * x->shape[1], 1, a->n_threads, mend_planes, &m);
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

struct job {
    const struct assay_args *a;
    const struct assay_tensor *x, *y;
    const struct assay__taps *row, *column; /* of each output row and column */
};

/* Outputs at a time, and elements of an input row that they may lie between. */
enum { OUTPUTS = 512, SPAN = 2048, GRAIN = 1 << 15 };

/* dst[k] between elements of a row that begins with element `first`. */
static ASSAY__INLINE void along_row(bool native, double *dst, const double *v,
                                    const struct assay__taps *t, int64_t n, int64_t first)
{
    for (int64_t k = 0; k < n; k++)
        dst[k] = assay__single(native, assay__single(native, t[k].w_lo * v[t[k].lo - first]) +
                                           assay__single(native, t[k].w_hi * v[t[k].hi - first]));
}

static ASSAY__INLINE void between_rows(bool native, double *y, const double *above,
                                       const double *below, const struct assay__taps *t, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        y[k] = assay__single(native, assay__single(native, t->w_lo * above[k]) +
                                         assay__single(native, t->w_hi * below[k]));
}

static ASSAY__INLINE void output_rows(bool native, const struct job *j, int64_t begin, int64_t end)
{
    int64_t h = j->x->shape[2], w = j->x->shape[3];
    int64_t out_h = j->y->shape[2], out_w = j->y->shape[3], n;
    double v[SPAN], above[OUTPUTS], below[OUTPUTS], y[OUTPUTS];

    for (int64_t i = begin; i < end; i++) {
        const struct assay__taps *t = &j->row[i % out_h];
        int64_t plane = i / out_h * h;

        for (int64_t b = 0; b < out_w; b += n) {
            const struct assay__taps *c = &j->column[b];
            int64_t first = c->lo, span = c->hi + 1 - first;

            for (n = 1; n < OUTPUTS && b + n < out_w && c[n].hi + 1 - first <= SPAN; n++)
                span = c[n].hi + 1 - first;
            assay_load_n(j->x, (plane + t->lo) * w + first, span, v);
            along_row(native, above, v, c, n, first);
            assay_load_n(j->x, (plane + t->hi) * w + first, span, v);
            along_row(native, below, v, c, n, first);
            between_rows(native, y, above, below, t, n);
            assay_store_n(j->y, i * out_w + b, n, y);
        }
    }
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    if (j->a->native)
        output_rows(true, j, begin, end);
    else
        output_rows(false, j, begin, end);
}

static const struct assay__taps *table(const struct assay_args *a, int k)
{
    struct axis x = axis_of(a, k);
    struct assay__taps *t = assay_arena_array(a->arena, (size_t)x.out, sizeof *t);

    for (int64_t d = 0; t && d < x.out; d++)
        t[d] = taps_of(&x, d);
    return t;
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *y = &a->out[0].t[0];
    struct job j = { a, &a->in[0].t[0], y, table(a, 0), table(a, 1) };
    int64_t rows = y->shape[0] * y->shape[1] * y->shape[2];

    if (!j.row || !j.column)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the weights of %lld x %lld points",
                          (long long)y->shape[2], (long long)y->shape[3]);
    assay_parallel(rows, GRAIN / y->shape[3] + 1, a->n_threads, body, &j);
    return ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Elements along an axis that some output lies next to. */
static double touched(const struct axis *x)
{
    int64_t n = 0, last = -1;

    for (int64_t d = 0; d < x->out; d++) {
        struct assay__taps t = taps_of(x, d);

        n += (t.lo > last) + (t.hi > t.lo && t.hi > last);
        last = t.hi > last ? t.hi : last;
    }
    return (double)n;
}

/* Rows and columns that no point lies next to need not be read. One operation a result: points of
 * one row may share all others. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *x = &a->in[0].t[0];
    struct axis height = axis_of(a, 0), width = axis_of(a, 1);

    w->bytes_in = (double)(x->shape[0] * x->shape[1]) * touched(&height) * touched(&width) *
                  (double)assay_dtype_size(x->dtype);
    assay__add_lanes(w, &a->out[0], 1);
}

/* In fp32: 11 operations a result, and a cast. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_vector_f32(w, &a->out[0], 11, 1);
}

const struct assay_op assay_op_resize_bilinear = {
    .name = "resize_bilinear",
    .tier = 2,
    .formula = "y[i, j] = sum of x at the 4 elements around (src(i), src(j)), weighted by nearness",
    .constraints =
        "exactly one of output_size and scale_factor is given, two entries: for h and w\n"
        "h' and w' are at least 1; by scale_factor floor(h s[0]) and floor(w s[1])\n"
        "src(i) = max(0, (i + 0.5) step - 0.5), step = 1 / s or h / h'\n"
        "with align_corners src(i) = i step, step = (h - 1) / (h' - 1), 0 where h' = 1\n"
        "neighbours are floor(src) and the next one, or the last one twice\n"
        "an extent that does not change is copied: neighbours i and i, weights 1 and 0\n"
        "all products count: 0 * Inf is NaN",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .source = "CANN Bench level 2, ResizeBilinear",
};
