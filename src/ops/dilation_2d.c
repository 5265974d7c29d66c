/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dilation_2d: the largest of x + filter over a window, for each channel.
 *
 * What lies outside of the image is -Inf, and takes part: an infinite filter gives NaN there, as it
 * does on an element of -Inf. NaN wins over any number. With SAME an image becomes 1 / stride as
 * large, whatever ceil_mode says, and where padding is odd the larger part is behind; with VALID
 * there is no padding. Left out is what the reference cannot do: pads of its own, a ceil_mode that
 * changes the extents of VALID, and layouts other than NHWC.
 *
 * The reference rounds each sum to float16. Rounding keeps order, so the rounded maximum is the
 * same.
 */
#include "assay/op.h"

#include "base/clones.h"
#include "ops/interpolate.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/sample.h"

#include <math.h>

enum { X, FILTER };
enum { STRIDES, RATES, PADDING_MODE, PADS, CEIL_MODE, DATA_FORMAT };
enum { SAME, VALID };

static const struct assay_param in[] = {
    [X] = { "x", ASSAY_BIT(ASSAY_F16), 0, "[n, h, w, c]", NULL },
    [FILTER] = { "filter", ASSAY_BIT(ASSAY_F16), 0, "[k_h, k_w, c]", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", ASSAY_BIT(ASSAY_F16), 0, "[n, h', w', c]", NULL },
                                          { 0 } };

static const char *const modes[] = { "SAME", "VALID", NULL };
static const char *const formats[] = { "NHWC", NULL };
static const int64_t no_pads[] = { 0, 0, 0, 0 };
static const struct assay_attr attrs[] = {
    [STRIDES] = { "strides", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [RATES] = { "rates", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [PADDING_MODE] = { "padding_mode", ASSAY_ATTR_ENUM, 0, { .set = true }, modes, NULL, 0 },
    [PADS] = { "pads", ASSAY_ATTR_INTS, 0, { .set = true, .ints = { no_pads, 4 } }, NULL, NULL, 0 },
    [CEIL_MODE] = { "ceil_mode", ASSAY_ATTR_BOOL, 0, { .set = true }, NULL, NULL, 0 },
    [DATA_FORMAT] = { "data_format", ASSAY_ATTR_ENUM, 0, { .set = true }, formats, NULL, 0 },
    { 0 },
};

/* ---- windows --------------------------------------------------------------------------------- */

/* Tap t of output o meets element o * stride - pad + t * dilation of x; axis 0 is h, axis 1 w. */
struct windows {
    int64_t in[2], kernel[2], out[2];
    int64_t stride[2], pad[2], dilation[2];
};

/* Keeps sums and products of a few of them inside 64 bits. */
enum { LARGEST = 1 << 24 };

static enum assay_status place_windows(struct windows *g, int a, bool same, bool ceil_mode,
                                       struct assay_err *err)
{
    int64_t span = (g->kernel[a] - 1) * g->dilation[a] + 1, total;

    if (same) {
        g->out[a] = (g->in[a] + g->stride[a] - 1) / g->stride[a];
        total = (g->out[a] - 1) * g->stride[a] + span - g->in[a];
        g->pad[a] = total > 0 ? total / 2 : 0;
        return ASSAY_OK;
    }
    if (g->in[a] < span)
        return assay_fail(err, ASSAY_INVALID, "%s: %lld elements are less than a window, %lld",
                          a ? "w" : "h", (long long)g->in[a], (long long)span);
    if (ceil_mode && (g->in[a] - span) % g->stride[a] != 0)
        return assay_fail(err, ASSAY_INVALID,
                          "%s: windows of %lld elements, %lld apart, leave a part of %lld: with "
                          "VALID ceil_mode must not matter",
                          a ? "w" : "h", (long long)span, (long long)g->stride[a],
                          (long long)g->in[a]);
    g->out[a] = (g->in[a] - span) / g->stride[a] + 1;
    g->pad[a] = 0;
    return ASSAY_OK;
}

static enum assay_status make_windows(const struct assay_args *a, struct windows *g,
                                      struct assay_err *err)
{
    for (int k = 0; k < 2; k++) {
        g->in[k] = a->in[X].t[0].shape[1 + k];
        g->kernel[k] = a->in[FILTER].t[0].shape[k];
        g->stride[k] = a->attr[STRIDES].ints.v[1 + k];
        g->dilation[k] = a->attr[RATES].ints.v[1 + k];
        ASSAY_TRY(
            place_windows(g, k, a->attr[PADDING_MODE].i == SAME, a->attr[CEIL_MODE].i != 0, err));
    }
    return ASSAY_OK;
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check_steps(const struct assay_value *v, const char *name,
                                     struct assay_err *err)
{
    const int64_t *s = v->ints.v;

    if (v->ints.n != 4 || s[0] != 1 || s[3] != 1)
        return assay_fail(err, ASSAY_INVALID, "%s must have 4 entries, the first and the last 1",
                          name);
    for (int k = 1; k < 3; k++)
        if (s[k] < 1 || s[k] > LARGEST)
            return assay_fail(err, ASSAY_INVALID, "%s has %lld, 1 to %d are allowed", name,
                              (long long)s[k], LARGEST);
    return ASSAY_OK;
}

static enum assay_status check_attrs(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_ints *pads = &a->attr[PADS].ints;

    ASSAY_TRY(check_steps(&a->attr[STRIDES], "strides", err));
    ASSAY_TRY(check_steps(&a->attr[RATES], "rates", err));
    if (pads->n != 4)
        return assay_fail(err, ASSAY_INVALID, "pads has %lld entries, it must have 4",
                          (long long)pads->n);
    for (int k = 0; k < 4; k++)
        if (pads->v[k] != 0)
            return assay_fail(err, ASSAY_INVALID, "pads has %lld, only 0 is allowed",
                              (long long)pads->v[k]);
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0], *filter = &a->in[FILTER].t[0];
    char text[128], other[128];
    struct windows g;

    assay_tensor_text(x, text, sizeof text);
    assay_tensor_text(filter, other, sizeof other);
    if (x->rank != 4 || x->shape[1] < 1 || x->shape[2] < 1 || x->shape[1] > LARGEST ||
        x->shape[2] > LARGEST)
        return assay_fail(err, ASSAY_INVALID,
                          "x is %s, it must be [n, h, w, c] with h and w 1 to %d", text, LARGEST);
    if (filter->rank != 3 || filter->shape[0] < 1 || filter->shape[1] < 1 ||
        filter->shape[0] > LARGEST || filter->shape[1] > LARGEST)
        return assay_fail(err, ASSAY_INVALID,
                          "filter is %s, it must be [k_h, k_w, c] with k_h and k_w 1 to %d", other,
                          LARGEST);
    if (filter->shape[2] != x->shape[3])
        return assay_fail(err, ASSAY_INVALID, "filter is %s, x is %s: c differs", other, text);
    ASSAY_TRY(check_attrs(a, err));
    return make_windows(a, &g, err);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0];
    struct windows g;

    ASSAY_TRY(make_windows(a, &g, err));
    a->out[0].t[0] = (struct assay_tensor){
        .dtype = x->dtype, .rank = 4, .shape = { x->shape[0], g.out[0], g.out[1], x->shape[3] }
    };
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Mostly alike along both axes: what the literature has, and odd ones. */
static void draw_windows(struct assay_sampler *s, struct windows *g)
{
    static const int64_t kernels[] = { 3, 3, 3, 5, 2, 4, 7, 1 };
    static const int64_t strides[] = { 1, 1, 1, 1, 2, 2, 3 };
    static const int64_t rates[] = { 1, 1, 1, 2, 2, 3, 4 };
    bool alike = assay_sample_below(s, 4) > 0;

    do
        for (int a = 0; a < 2; a++) {
            bool again = a > 0 && alike;

            g->kernel[a] = again ? g->kernel[0] : kernels[assay_sample_below(s, 8)];
            g->stride[a] = again ? g->stride[0] : strides[assay_sample_below(s, 7)];
            g->dilation[a] = again ? g->dilation[0] : rates[assay_sample_below(s, 7)];
        }
    while (g->kernel[0] * g->kernel[1] == 1);
}

/* A few images, of ordinary proportions and numbers of channels. */
static void draw_images(struct assay_sampler *s, struct assay_shape *x)
{
    static const int64_t batches[] = { 1, 1, 2, 2, 3, 4, 8 };
    int64_t n = batches[assay_sample_below(s, 7)];
    double each = (double)s->elements / (double)n, most = fmin(fmax(each / 100, 3), 600);
    double about = exp(assay_sample_between(s, log(3), log(most + 1)));
    double w = exp(assay_sample_between(s, -0.7, 0.7));
    struct assay_shape channels;

    assay_sample_shape(s, (int64_t)about, 1, ASSAY_F16, &channels);
    each /= (double)channels.dim[0];
    w = fmax(1, floor(w * sqrt(each)));
    *x = (struct assay_shape){ 4, { n, (int64_t)fmax(1, each / w), (int64_t)w, channels.dim[0] } };
}

/* A filter that moves the result as much as x does, or less, as structuring elements do; near the
 * limits of the dtype so much less that most sums stay finite. */
static struct assay_range draw_heights(struct assay_sampler *s, const struct assay_case *c)
{
    static const double parts[] = { 1, 0.3, 0.1, 0.1 };
    double most = assay__range_magnitude(&c->in[X].range[0]);
    double part = c->value_class == ASSAY_CLASS_BOUNDARY ? 0.01 : parts[assay_sample_below(s, 4)];

    if (c->value_class == ASSAY_CLASS_SPECIAL && assay_sample_below(s, 2))
        return c->in[X].range[0];
    most = most > 0 ? assay_sample_figure(part * most) : 1;
    return (struct assay_range){ -most, most };
}

static enum assay_status list_of(struct assay_sampler *s, struct assay_value *to,
                                 const int64_t v[2], struct assay_err *err)
{
    int64_t *list = assay_arena_array(s->arena, 4, sizeof *list);

    if (!list)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the attributes of a case");
    list[0] = list[3] = 1;
    list[1] = v[0];
    list[2] = v[1];
    *to = (struct assay_value){ .set = true, .ints = { list, 4 } };
    return ASSAY_OK;
}

/* Whether a drawn case is worth it: windows fit more than once, results are not too much work. */
static bool is_fair(const struct assay_case *c, struct windows *g)
{
    const struct assay_shape *x = &c->in[X].shape[0];
    bool same = c->attr[PADDING_MODE].i == SAME;
    double work = (double)(x->dim[0] * x->dim[3]);

    for (int a = 0; a < 2; a++) {
        g->in[a] = x->dim[1 + a];
        if (place_windows(g, a, same, false, NULL) || g->out[a] < 2 ||
            g->in[a] < (g->kernel[a] - 1) * g->dilation[a])
            return false;
        work *= (double)(g->out[a] * g->kernel[a]);
    }
    return work < 3e8;
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { TRIES = 256 };
    bool exact = c->attr[CEIL_MODE].i != 0 && c->attr[PADDING_MODE].i == VALID;
    struct assay_shape *x;
    struct windows g;

    ASSAY_TRY(assay__sample_room(s, c, X, 1, err));
    ASSAY_TRY(assay__sample_room(s, c, FILTER, 1, err));
    x = &c->in[X].shape[0];
    for (int attempt = 0; attempt < TRIES; attempt++) {
        draw_windows(s, &g);
        draw_images(s, x);
        for (int a = 0; a < 2 && exact; a++) {
            int64_t over = x->dim[1 + a] - (g.kernel[a] - 1) * g.dilation[a] - 1;

            x->dim[1 + a] -= over > 0 ? over % g.stride[a] : 0;
        }
        c->in[FILTER].shape[0] = (struct assay_shape){ 3, { g.kernel[0], g.kernel[1], x->dim[3] } };
        if (!is_fair(c, &g) || (double)assay_case_elements(c) > 1.1 * (double)s->elements)
            continue;
        c->in[FILTER].range[0] = draw_heights(s, c);
        ASSAY_TRY(list_of(s, &c->attr[STRIDES], g.stride, err));
        return list_of(s, &c->attr[RATES], g.dilation, err);
    }
    return assay_fail(err, ASSAY_INVALID, "no image found of %lld elements",
                      (long long)s->elements);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

enum { CHANNELS = 512 };

struct levels {
    const struct assay_tensor *x;
    const double *level; /* [n, c], in parts of the range */
    double low, high;
};

static void shift_pixels(void *ctx, int64_t begin, int64_t end)
{
    const struct levels *j = ctx;
    int64_t c = j->x->shape[3], pixels = j->x->shape[1] * j->x->shape[2];
    double v[CHANNELS], middle = j->low / 2 + j->high / 2, reach = j->high - j->low;

    for (int64_t p = begin; p < end; p++)
        for (int64_t at = 0, m; at < c; at += m) {
            const double *level = j->level + p / pixels * c + at;

            m = c - at < CHANNELS ? c - at : CHANNELS;
            assay_load_n(j->x, p * c + at, m, v);
            for (int64_t k = 0; k < m; k++)
                if (level[k] != 0 && isfinite(v[k]))
                    v[k] = middle + level[k] * reach + (v[k] - middle) / 2;
            assay_store_n(j->x, p * c + at, m, v);
        }
}

/* Smallest and largest number at the beginning of x, which is as uniform as the rest. */
static void look(struct levels *j)
{
    enum { LOOK = 4096 };
    double v[LOOK];
    int64_t n = assay_numel(j->x) < LOOK ? assay_numel(j->x) : LOOK;

    assay_load_n(j->x, 0, n, v);
    j->low = INFINITY;
    j->high = -INFINITY;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(v[i])) {
            j->low = fmin(j->low, v[i]);
            j->high = fmax(j->high, v[i]);
        }
}

/*
 * Where all of a window lies below 0 the border tells padding of -Inf from padding of 0, and a
 * maximum that begins with 0 from one that begins with nothing: in a third of the channels values
 * stay in the lower half of their range, in another third in the upper half.
 */
static enum assay_status shift_channels(struct assay_args *a, struct assay_key key,
                                        struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0];
    int64_t n = x->shape[0] * x->shape[3];
    double *level = assay_arena_array(a->arena, (size_t)n, sizeof *level);
    struct levels j = { .x = x, .level = level };

    if (!level)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the levels of %lld channels",
                          (long long)n);
    look(&j);
    for (int64_t i = 0; i < n; i++)
        level[i] = 0.24 * ((double)assay_rng_below(key, (uint64_t)i, 3) - 1);
    if (j.low < j.high)
        assay_parallel(x->shape[0] * x->shape[1] * x->shape[2], (1 << 15) / (x->shape[3] + 1) + 1,
                       a->n_threads, shift_pixels, &j);
    return ASSAY_OK;
}

/* Most windows shall have a largest number: few specials in x, and in few channels of the filter.
 */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0], *filter = &a->in[FILTER].t[0];
    double taps = (double)(filter->shape[0] * filter->shape[1]);

    if (assay__holds_specials(x))
        assay__thin_specials(x, taps, assay_key_sub(key, 0), a->n_threads);
    assay__thin_specials(filter, 4 * taps, assay_key_sub(key, 1), a->n_threads);
    return shift_channels(a, assay_key_sub(key, 2), err);
}

/* ---- golden ---------------------------------------------------------------------------------- */

/* Values at a time: so many outputs of a row, in so many of their channels. */
enum { VALUES = 4096 };

struct job {
    const struct assay_tensor *x, *filter, *y;
    struct windows g;
};

/* What one tap adds to the maxima of n outputs. */
ASSAY__CLONES static void dilation_2d_take(double *restrict most, const double *restrict v,
                                           const double *restrict f, int64_t n, int64_t channels)
{
    for (int64_t i = 0; i < n; i++, most += channels, v += channels)
        for (int64_t k = 0; k < channels; k++) {
            double t = v[k] + f[k];

            most[k] = ((t > most[k]) | (t != t)) ? t : most[k];
        }
}

/* A run of outputs of one row, in a run of channels. */
struct run {
    int64_t image, row, first, n, channel, channels;
};

/* What tap (r, s) meets. */
static void load_tap(const struct job *j, const struct run *u, int64_t r, int64_t s, double *v)
{
    const struct windows *g = &j->g;
    int64_t c = j->x->shape[3], row = u->row * g->stride[0] - g->pad[0] + r * g->dilation[0];
    int64_t at = u->first * g->stride[1] - g->pad[1] + s * g->dilation[1];
    bool inside = row >= 0 && row < g->in[0];

    row += u->image * g->in[0];
    if (inside && g->stride[1] == 1 && u->channels == c && at >= 0 && at + u->n <= g->in[1]) {
        assay_load_n(j->x, (row * g->in[1] + at) * c, u->n * c, v);
        return;
    }
    for (int64_t i = 0; i < u->n; i++, at += g->stride[1], v += u->channels)
        if (inside && at >= 0 && at < g->in[1])
            assay_load_n(j->x, (row * g->in[1] + at) * c + u->channel, u->channels, v);
        else
            for (int64_t k = 0; k < u->channels; k++)
                v[k] = -INFINITY;
}

static void store_run(const struct job *j, const struct run *u, const double *v)
{
    int64_t c = j->y->shape[3];
    int64_t at = (u->image * j->g.out[0] + u->row) * j->g.out[1] + u->first;

    if (u->channels == c) {
        assay_store_n(j->y, at * c, u->n * c, v);
        return;
    }
    for (int64_t i = 0; i < u->n; i++, v += u->channels)
        assay_store_n(j->y, (at + i) * c + u->channel, u->channels, v);
}

static void make_run(const struct job *j, const struct run *u)
{
    double most[VALUES] = { 0 }, v[VALUES] = { 0 }, f[CHANNELS] = { 0 };

    for (int64_t k = 0; k < u->n * u->channels; k++)
        most[k] = -INFINITY;
    for (int64_t r = 0; r < j->g.kernel[0]; r++)
        for (int64_t s = 0; s < j->g.kernel[1]; s++) {
            load_tap(j, u, r, s, v);
            assay_load_n(j->filter, (r * j->g.kernel[1] + s) * j->x->shape[3] + u->channel,
                         u->channels, f);
            dilation_2d_take(most, v, f, u->n, u->channels);
        }
    store_run(j, u, most);
}

static void rows(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    int64_t c = j->x->shape[3];

    for (int64_t i = begin; i < end; i++) {
        struct run u = { .image = i / j->g.out[0], .row = i % j->g.out[0] };

        for (u.channel = 0; u.channel < c; u.channel += u.channels) {
            u.channels = c - u.channel < CHANNELS ? c - u.channel : CHANNELS;
            for (u.first = 0; u.first < j->g.out[1]; u.first += u.n) {
                int64_t left = j->g.out[1] - u.first;

                u.n = left < VALUES / u.channels ? left : VALUES / u.channels;
                make_run(j, &u);
            }
        }
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .x = &a->in[X].t[0], .filter = &a->in[FILTER].t[0], .y = &a->out[0].t[0] };
    double each;

    ASSAY_TRY(make_windows(a, &j.g, err));
    each = (double)(j.g.out[1] * (j.x->shape[3] + 1)) * (double)(j.g.kernel[0] * j.g.kernel[1]);
    assay_parallel(j.x->shape[0] * j.g.out[0], (int64_t)(1e5 / each) + 1, a->n_threads, rows, &j);
    return ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Elements along an axis that some tap meets. */
static double touched(const struct windows *g, int a)
{
    int64_t n = 0;

    for (int64_t i = 0; i < g->in[a]; i++)
        for (int64_t t = 0; t < g->kernel[a]; t++) {
            int64_t at = i + g->pad[a] - t * g->dilation[a];

            if (at >= 0 && at % g->stride[a] == 0 && at / g->stride[a] < g->out[a]) {
                n++;
                break;
            }
        }
    return (double)n;
}

/* What no tap meets need not be read. How many taps have to be tried depends on the values: one sum
 * a result, and, where there are several taps, one comparison. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *x = &a->in[X].t[0];
    struct windows g;

    if (make_windows(a, &g, NULL))
        return;
    w->bytes_in -= (double)(x->shape[0] * x->shape[3]) * (double)assay_dtype_size(x->dtype) *
                   ((double)(g.in[0] * g.in[1]) - touched(&g, 0) * touched(&g, 1));
    assay__add_lanes(w, &a->out[0], g.kernel[0] * g.kernel[1] > 1 ? 2 : 1);
}

/* A sum for each tap, and comparisons between them. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *filter = &a->in[FILTER].t[0];

    assay__add_vector(w, &a->out[0], (double)(2 * filter->shape[0] * filter->shape[1] - 1));
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "fixed_attribute pads", "the contract has no other than 0" },
    { "confused ceil_mode false for true",
      "with ceil_mode extents have to divide without rest, so that there is nothing to round" },
    { 0 },
};

const struct assay_op assay_op_dilation_2d = {
    .name = "dilation_2d",
    .tier = 3,
    .formula =
        "y[n, i, j, c] = max over (r, s) of x[n, i stride - pad + r rate, j stride - pad + s "
        "rate, c] + filter[r, s, c]",
    .constraints =
        "strides and rates are [1, h, w, 1] with h, w >= 1; pads are 0; the layout is NHWC\n"
        "SAME: h' = ceil(h / stride); of the padding that the windows need, the smaller half is "
        "before\n"
        "VALID: no padding; h' = floor((h - (k_h - 1) rate - 1) / stride) + 1 is at least 1, and a "
        "whole number without floor if ceil_mode is set\n"
        "outside of the image x is -Inf, and takes part\n"
        "NaN wins over any number; -Inf + Inf is NaN",
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
    .spared = spared,
    .source = "CANN Bench level 3, Dilation2D",
};
