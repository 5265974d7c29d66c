/* SPDX-License-Identifier: Apache-2.0 */
/* conv.c: the geometry of convolutions. */
#include "ops/conv.h"

#include "ops/map.h"

enum { AXES = ASSAY__CONV_AXES };

/* ---- extents --------------------------------------------------------------------------------- */

struct assay__conv assay__conv_of(const struct assay_tensor *x)
{
    struct assay__conv g = { .images = x->shape[0], .channels = x->shape[1], .groups = 1 };
    int first = AXES - (x->rank - 2);

    for (int a = 0; a < AXES; a++) {
        g.in[a] = a < first ? 1 : x->shape[2 + a - first];
        g.kernel[a] = g.stride[a] = g.dilation[a] = 1;
        g.out[a] = g.in[a];
    }
    return g;
}

/* Keeps sums and products of a few of them inside 64 bits. */
enum { LARGEST = 1 << 24 };

enum assay_status assay__conv_axis(struct assay__conv *g, int a, int axes, int64_t kernel,
                                   int64_t stride, int64_t pad, int64_t dilation,
                                   struct assay_err *err)
{
    int at = AXES - axes + a;
    int64_t span;

    if (kernel < 1 || kernel > LARGEST || stride < 1 || stride > LARGEST || dilation < 1 ||
        dilation > LARGEST || pad < 0 || pad > LARGEST)
        return assay_fail(err, ASSAY_INVALID,
                          "axis %d: kernel %lld, stride %lld, dilation %lld, padding %lld: 1 to %d "
                          "are allowed, for the padding also 0",
                          a, (long long)kernel, (long long)stride, (long long)dilation,
                          (long long)pad, LARGEST);
    span = (kernel - 1) * dilation + 1;
    if (g->in[at] < 1 || g->in[at] + 2 * pad < span)
        return assay_fail(err, ASSAY_INVALID,
                          "axis %d: %lld elements with padding %lld are less than the kernel, %lld",
                          a, (long long)g->in[at], (long long)pad, (long long)span);
    g->kernel[at] = kernel;
    g->stride[at] = stride;
    g->pad[at] = pad;
    g->dilation[at] = dilation;
    g->out[at] = (g->in[at] + 2 * pad - span) / stride + 1;
    return ASSAY_OK;
}

int64_t assay__conv_taps(const struct assay__conv *g)
{
    return g->kernel[0] * g->kernel[1] * g->kernel[2];
}

int64_t assay__conv_positions(const struct assay__conv *g)
{
    return g->out[0] * g->out[1] * g->out[2];
}

/* ---- x as a matrix --------------------------------------------------------------------------- */

static void zeros(double *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        v[i] = 0;
}

/* n elements of x, `step` apart, from number `at` on. */
static void load_steps(const struct assay_tensor *x, int64_t at, int64_t step, int64_t n, double *v)
{
    double buf[ASSAY__BLOCK];
    int64_t most = step < ASSAY__BLOCK ? (ASSAY__BLOCK - 1) / step + 1 : 1;

    if (step == 1) {
        assay_load_n(x, at, n, v);
        return;
    }
    for (int64_t i = 0, m; i < n; i += m) {
        m = n - i < most ? n - i : most;
        assay_load_n(x, at + i * step, (m - 1) * step + 1, buf);
        for (int64_t k = 0; k < m; k++)
            v[i + k] = buf[k * step];
    }
}

/* What one tap meets along a row of the output, from place `out` on, in the row of x that begins at
 * element `row`. */
static void load_row(const struct assay__conv *g, const struct assay_tensor *x, int64_t row,
                     int64_t tap, int64_t out, int64_t n, double *v)
{
    int64_t step = g->stride[2], first = out * step - g->pad[2] + tap * g->dilation[2];
    int64_t before = first < 0 ? (-first + step - 1) / step : 0;
    int64_t inside = first < g->in[2] ? (g->in[2] - first + step - 1) / step : 0;

    before = before < n ? before : n;
    inside = inside < n ? inside : n; /* where x ends */
    inside = inside > before ? inside : before;
    zeros(v, before);
    if (inside > before)
        load_steps(x, row + first + before * step, step, inside - before, v + before);
    zeros(v + inside, n - inside);
}

/* Place of a tap on an axis but the last, at an output's place; -1: padding. */
static int64_t place(const struct assay__conv *g, int axis, int64_t out, int64_t tap)
{
    int64_t at = out * g->stride[axis] - g->pad[axis] + tap * g->dilation[axis];

    return at < g->in[axis] ? at : -1;
}

static void load_tap(const struct assay__conv_columns *c, int64_t group, int64_t tap, int64_t first,
                     int64_t n, double *v)
{
    const struct assay__conv *g = c->g;
    int64_t taps = assay__conv_taps(g), in_group = tap % taps;
    int64_t channel = group * (g->channels / g->groups) + tap / taps;
    int64_t tap0 = in_group / (g->kernel[1] * g->kernel[2]);
    int64_t tap1 = in_group / g->kernel[2] % g->kernel[1], tap2 = in_group % g->kernel[2];

    for (int64_t i = 0, m; i < n; i += m) {
        int64_t at = first + i, out2 = at % g->out[2], out1 = at / g->out[2] % g->out[1];
        int64_t out0 = at / (g->out[1] * g->out[2]) % g->out[0];
        int64_t image = at / assay__conv_positions(g);
        int64_t in0 = place(g, 0, out0, tap0), in1 = place(g, 1, out1, tap1);

        m = n - i < g->out[2] - out2 ? n - i : g->out[2] - out2;
        if (in0 < 0 || in1 < 0)
            zeros(v + i, m);
        else
            load_row(g, c->x,
                     (((image * g->channels + channel) * g->in[0] + in0) * g->in[1] + in1) *
                         g->in[2],
                     tap2, out2, m, v + i);
    }
}

void assay__conv_load_columns(const void *columns, const struct assay__tile *t)
{
    for (int64_t r = 0; r < t->rows; r++)
        load_tap(columns, t->batch, t->row + r, t->col, t->cols, t->v + r * t->ld);
}

/* ---- results as a matrix --------------------------------------------------------------------- */

/* The next run of columns of a row that lie side by side: its first element and its length. */
static int64_t map_run(const struct assay__conv_map *map, const struct assay__tile *t, int64_t r,
                       int64_t done, int64_t *n)
{
    int64_t positions = assay__conv_positions(map->g), at = t->col + done;
    int64_t channel = t->batch * map->channels + t->row + r;

    *n = positions - at % positions;
    *n = *n < t->cols - done ? *n : t->cols - done;
    return (at / positions * (map->channels * map->g->groups) + channel) * positions +
           at % positions;
}

void assay__conv_load_map(const void *map, const struct assay__tile *t)
{
    const struct assay__conv_map *m = map;

    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t i = 0, n; i < t->cols; i += n) {
            int64_t at = map_run(m, t, r, i, &n);

            assay_load_n(m->t, at, n, t->v + r * t->ld + i);
        }
}

void assay__conv_store_map(const struct assay__conv_map *map, const struct assay__tile *t)
{
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t i = 0, n; i < t->cols; i += n) {
            int64_t at = map_run(map, t, r, i, &n);

            assay_store_n(map->t, at, n, t->v + r * t->ld + i);
        }
}

/* ---- work ------------------------------------------------------------------------------------ */

double assay__conv_products(const struct assay__conv *g)
{
    return (double)g->images * (double)assay__conv_positions(g) * (double)assay__conv_taps(g);
}

/* Taps of an axis whose places differ by whole strides from that of tap t. */
static int64_t alike(const struct assay__conv *g, int a, int64_t t)
{
    int64_t n = 0;

    for (int64_t k = 0; k < g->kernel[a]; k++)
        n += (k - t) * g->dilation[a] % g->stride[a] == 0;
    return n;
}

double assay__conv_least_products(const struct assay__conv *g)
{
    double all = (double)g->images;

    for (int a = 0; a < AXES; a++) {
        double axis = 0;

        /* n taps alike have out + n - 1 together: (out + n - 1) / n each */
        for (int64_t t = 0; t < g->kernel[a]; t++) {
            double n = (double)alike(g, a, t);

            axis += ((double)g->out[a] + n - 1) / n;
        }
        all *= axis;
    }
    return all;
}

static bool meets(const struct assay__conv *g, int a, int64_t at)
{
    for (int64_t t = 0; t < g->kernel[a]; t++) {
        int64_t from = at + g->pad[a] - t * g->dilation[a];

        if (from >= 0 && from % g->stride[a] == 0 && from / g->stride[a] < g->out[a])
            return true;
    }
    return false;
}

double assay__conv_touched(const struct assay__conv *g)
{
    double part = 1;

    for (int a = 0; a < AXES; a++) {
        int64_t n = 0;

        for (int64_t i = 0; i < g->in[a]; i++)
            n += meets(g, a, i);
        part *= (double)n / (double)g->in[a];
    }
    return part;
}
