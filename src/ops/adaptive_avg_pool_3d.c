/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adaptive_avg_pool_3d: means over boxes that cover the volume, as many along each axis as asked
 * for. Box i of n over m elements begins at floor(i m / n) and ends before ceil((i + 1) m / n):
 * neighbours share an element where m / n is not whole, and with n > m elements are repeated.
 *
 * The reference adds up each box in float32, row by row, and divides by its extents in turn. One
 * box over all is an ordinary mean there, whose sum is taken in pieces and as good as exact.
 */
#include "assay/op.h"

#include "base/clones.h"
#include "ops/interpolate.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/sample.h"
#include "ops/slice_fill.h"

#include <math.h>

enum { OUTPUT_SIZE };
static const struct assay_param in[] = { { "x", ASSAY_FLOATS, 0, "[n, c, d, h, w]", NULL }, { 0 } };
static const struct assay_param out[] = { { "y", ASSAY_FLOATS, 0, "[n, c, d', h', w']", NULL },
                                          { 0 } };
static const struct assay_attr attrs[] = {
    [OUTPUT_SIZE] = { "output_size", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    { 0 },
};

enum { AXES = 3 };

/* ---- boxes ----------------------------------------------------------------------------------- */

static int64_t box_begin(int64_t i, int64_t m, int64_t n)
{
    return i * m / n;
}

static int64_t box_end(int64_t i, int64_t m, int64_t n)
{
    return ((i + 1) * m + n - 1) / n;
}

/* Extents of all n boxes over m elements together. */
static double boxes_total(int64_t m, int64_t n)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += box_end(i, m, n) - box_begin(i, m, n);
    return (double)sum;
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0];
    const struct assay_ints *size = &a->attr[OUTPUT_SIZE].ints;
    char text[128];

    if (x->rank != 5 || x->shape[2] < 1 || x->shape[3] < 1 || x->shape[4] < 1)
        return assay_fail(err, ASSAY_INVALID,
                          "x is %s, it must be [n, c, d, h, w] with d, h, w >= 1",
                          assay_tensor_text(x, text, sizeof text));
    if (size->n != AXES)
        return assay_fail(err, ASSAY_INVALID, "output_size has %lld entries, it must have 3",
                          (long long)size->n);
    for (int k = 0; k < AXES; k++)
        if (size->v[k] < 1 || size->v[k] > INT32_MAX || x->shape[2 + k] > INT32_MAX)
            return assay_fail(err, ASSAY_INVALID,
                              "output_size %lld of %lld elements, both may be 1 to %d",
                              (long long)size->v[k], (long long)x->shape[2 + k], INT32_MAX);
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    struct assay_tensor *y = &a->out[0].t[0];

    (void)err;
    *y = a->in[0].t[0];
    y->data = NULL;
    for (int k = 0; k < AXES; k++)
        y->shape[2 + k] = a->attr[OUTPUT_SIZE].ints.v[k];
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void draw_volumes(struct assay_sampler *s, enum assay_dtype d, struct assay_shape *x)
{
    static const int64_t batches[] = { 1, 1, 2, 2, 3, 4 };
    static const int64_t channels[] = { 1, 3, 7, 8, 16, 23, 32, 48, 64, 128 };
    struct assay_shape volume;
    int64_t n = batches[assay_sample_below(s, 6)], c = channels[assay_sample_below(s, 10)];

    assay_sample_shape(s, s->elements / (n * c), AXES, d, &volume);
    *x = (struct assay_shape){ 5, { n, c, volume.dim[0], volume.dim[1], volume.dim[2] } };
}

/* One box, a few, parts of the volume, more boxes than elements, or each axis for itself. */
static void draw_size(struct assay_sampler *s, const struct assay_shape *x, int64_t *size)
{
    static const int64_t few[] = { 2, 3, 4, 5, 7, 8 };
    static const double parts[] = { 0.5, 0.5, 0.25, 0.7, 0.4 };
    static const double mixed[] = { 0.01, 1, 0.5, 0.3, 0.8, 1.4, 2 };
    uint64_t kind = assay_sample_below(s, 8);
    int64_t number = few[assay_sample_below(s, 6)];
    double part = parts[assay_sample_below(s, 5)];
    double growth = assay_sample_below(s, 2) ? 2 : 1.5;

    for (int k = 0; k < AXES; k++) {
        double m = (double)x->dim[2 + k];
        double n = kind == 0   ? 1
                   : kind < 3  ? (double)number
                   : kind < 5  ? m * part
                   : kind == 5 ? m * growth
                               : m * mixed[assay_sample_below(s, 7)];

        size[k] = n < 1 ? 1 : (int64_t)n;
    }
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum { TRIES = 256, MIN_OUTPUTS = 48, MAX_OUTPUTS = 10000000, LONGEST = 16 };
    int64_t *size = assay_arena_array(s->arena, AXES, sizeof *size);
    const struct assay_shape *x;

    ASSAY_TRY(assay__sample_room(s, c, 0, 1, err));
    if (!size)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the attributes of a case");
    x = &c->in[0].shape[0];
    for (int attempt = 0; attempt < TRIES; attempt++) {
        double outputs;

        draw_volumes(s, c->in[0].dtype, &c->in[0].shape[0]);
        if (x->dim[2] < 2 || x->dim[3] < 2 ||
            (attempt < TRIES / 2 &&
             (x->dim[4] > LONGEST * x->dim[2] || x->dim[4] > LONGEST * x->dim[3])))
            continue; /* no sheets, and no rods if there is a choice */
        draw_size(s, x, size);
        outputs = (double)(x->dim[0] * x->dim[1]) * (double)size[0] * (double)(size[1] * size[2]);
        if (outputs < MIN_OUTPUTS || outputs > MAX_OUTPUTS ||
            (size[0] == x->dim[2] && size[1] == x->dim[3] && size[2] == x->dim[4]) ||
            (double)assay_case_elements(c) > 1.1 * (double)s->elements)
            continue;
        c->attr[OUTPUT_SIZE] = (struct assay_value){ .set = true, .ints = { size, AXES } };
        return ASSAY_OK;
    }
    return assay_fail(err, ASSAY_INVALID, "no volume found of %lld elements",
                      (long long)s->elements);
}

/*
 * Rows that are all alike average out, and so do their elements: the mean over a part of a box
 * would be near that over all of it. So each row has a level of its own, within the inner half of
 * the range, and lies close to it but for a few elements that stay what they were.
 */
static void row_recipe(const void *ctx, struct assay_sampler *s, const struct assay__slice *row,
                       struct assay__recipe *r)
{
    double middle = row->lo / 2 + row->hi / 2, reach = row->hi / 2 - row->lo / 2;
    double level = middle + reach * assay_sample_between(s, -0.5, 0.5);

    (void)ctx;
    r->most[1] = assay__draw_power(s, -5, -1);
    r->most[0] = level - r->most[1] * middle;
    assay__draw_places(s, row->n, r);
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0];
    double terms = 1;

    (void)err;
    for (int k = 0; k < AXES; k++) {
        int64_t n = a->attr[OUTPUT_SIZE].ints.v[k];

        terms *= boxes_total(x->shape[2 + k], n) / (double)n;
    }
    if (assay__holds_specials(x)) /* most boxes shall have a mean */
        assay__thin_specials(x, terms, assay_key_sub(key, 0), a->n_threads);
    assay__fill_slices(a, x, 4, assay_key_sub(key, 1), row_recipe, NULL);
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

/* Outputs at a time, and elements of a row of x that are loaded at a time. */
enum { OUTPUTS = 256, SPAN = 2048, GRAIN = 1 << 15 };

struct job {
    const struct assay_args *a;
    const struct assay_tensor *x, *y;
    const int64_t *begin, *end; /* of the boxes along w */
    bool single;                /* sums in float32 */
};

/* Adds what the boxes of n outputs have of m elements, from element `first` of the row on. */
static ASSAY__INLINE void add_row(bool single, double *sum, const int64_t *begin,
                                  const int64_t *end, int64_t n, const double *v, int64_t first,
                                  int64_t m)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t from = begin[k] > first ? begin[k] : first;
        int64_t to = end[k] < first + m ? end[k] : first + m;
        double acc = sum[k];

        for (int64_t i = from; i < to; i++)
            acc = assay__single(single, acc + v[i - first]);
        sum[k] = acc;
    }
}

/* n outputs of one row, from output `at` of it on: one row of their boxes after the other. */
static void sum_boxes(const struct job *j, int64_t box[2][2], int64_t plane, int64_t at, int64_t n,
                      double *sum)
{
    const int64_t *shape = j->x->shape;
    const int64_t *begin = j->begin + at, *end = j->end + at;
    double v[SPAN];

    for (int64_t d = box[0][0]; d < box[0][1]; d++)
        for (int64_t h = box[1][0]; h < box[1][1]; h++)
            for (int64_t i = begin[0], m; i < end[n - 1]; i += m) {
                int64_t row = (plane * shape[2] + d) * shape[3] + h;

                m = end[n - 1] - i < SPAN ? end[n - 1] - i : SPAN;
                assay_load_n(j->x, row * shape[4] + i, m, v);
                if (j->single)
                    add_row(true, sum, begin, end, n, v, i, m);
                else
                    add_row(false, sum, begin, end, n, v, i, m);
            }
}

static void rows(void *ctx, int64_t first, int64_t last)
{
    const struct job *j = ctx;
    const int64_t *shape = j->x->shape, *to = j->y->shape;
    double sum[OUTPUTS];

    for (int64_t r = first; r < last; r++) {
        int64_t at[2] = { r / to[3] % to[2], r % to[3] }, box[2][2];

        for (int k = 0; k < 2; k++) {
            box[k][0] = box_begin(at[k], shape[2 + k], to[2 + k]);
            box[k][1] = box_end(at[k], shape[2 + k], to[2 + k]);
        }
        for (int64_t w = 0, n; w < to[4]; w += n) {
            n = to[4] - w < OUTPUTS ? to[4] - w : OUTPUTS;
            for (int64_t k = 0; k < n; k++)
                sum[k] = 0;
            sum_boxes(j, box, r / to[3] / to[2], w, n, sum);
            for (int64_t k = 0; k < n; k++) {
                double y = assay__single(j->single, sum[k] / (double)(box[0][1] - box[0][0]));

                y = assay__single(j->single, y / (double)(box[1][1] - box[1][0]));
                sum[k] = assay__single(j->single, y / (double)(j->end[w + k] - j->begin[w + k]));
            }
            assay_store_n(j->y, r * to[4] + w, n, sum);
        }
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0], *y = &a->out[0].t[0];
    int64_t n = y->shape[4], n_rows = y->shape[0] * y->shape[1] * y->shape[2] * y->shape[3];
    int64_t *begin = assay_arena_array(a->arena, (size_t)n, sizeof *begin);
    int64_t *end = assay_arena_array(a->arena, (size_t)n, sizeof *end);
    struct job j = { a, x, y, begin, end, a->native && y->shape[2] * y->shape[3] * n > 1 };
    double each; /* elements of x for a row of outputs */

    if (!begin || !end)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the boxes of %lld outputs",
                          (long long)n);
    for (int64_t i = 0; i < n; i++) {
        begin[i] = box_begin(i, x->shape[4], n);
        end[i] = box_end(i, x->shape[4], n);
    }
    each = boxes_total(x->shape[2], y->shape[2]) * boxes_total(x->shape[3], y->shape[3]) /
               (double)(y->shape[2] * y->shape[3]) * (double)x->shape[4] +
           (double)n;
    assay_parallel(n_rows, (int64_t)(GRAIN / each) + 1, a->n_threads, rows, &j);
    return ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Elements become fewer by one with each addition. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    double from = assay__elements(&a->in[0]), to = assay__elements(&a->out[0]);

    if (from > to)
        assay__add_lanes(w, &a->in[0], (from - to) / from);
}

/* In fp32: an addition for each element of each box, and a product for each of these. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *x = &a->in[0].t[0], *y = &a->out[0].t[0];
    double terms = (double)(x->shape[0] * x->shape[1]);

    for (int k = 0; k < AXES; k++)
        terms *= boxes_total(x->shape[2 + k], y->shape[2 + k]);
    w->amount[ASSAY_UNIT_VEC_32] += terms + assay__elements(&a->out[0]);
}

const struct assay_op assay_op_adaptive_avg_pool_3d = {
    .name = "adaptive_avg_pool_3d",
    .tier = 3,
    .formula = "y[n, c, i, j, k] = mean of x[n, c] over box i of d', j of h' and k of w'",
    .constraints =
        "output_size has 3 entries of at least 1: d', h', w'\n"
        "box i of d' over d elements is floor(i d / d') <= e < ceil((i + 1) d / d'); so are the "
        "others\n"
        "boxes may overlap, and repeat elements where d' > d",
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
    .source = "CANN Bench level 3, AdaptiveAvgPool3D",
};
