/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv_2d. Where rows are long enough: the image is laid out piece by piece as floats (slab.h), a
 * tap is then an offset, and vectors of results next to each other are kept in registers for a few
 * output channels at once. Where images are small: the filter, [outputs, taps], times x, [taps,
 * positions], of which only blocks are ever made.
 */
#include <assay/conv_2d.h>

#include "blocks.h"
#include "slab.h"

#if defined(__AVX512F__)
enum { LANES = 16, SUMS = 24, MOST_VECTORS = 8 };
#elif defined(__AVX2__)
enum { LANES = 8, SUMS = 12, MOST_VECTORS = 4 };
#else
enum { LANES = 4, SUMS = 12, MOST_VECTORS = 4 };
#endif
/* Output channels at once; products that are added up before their sum is added to others;
 * positions of a piece, and floats of x, or of sums, in it. */
enum { OUTPUTS = 8, STEPS = 64, MOST_POSITIONS = 4096, LEAST_POSITIONS = 512, PIECE = 64 << 10 };

/* Vectors of results of each of n output channels. */
#define VECTORS(n) (SUMS / (n) < MOST_VECTORS ? SUMS / (n) : MOST_VECTORS)

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));
typedef float loose __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));

struct job {
    struct conv g;
    struct conv_map y;
    const struct assay_view *bias;
    int64_t images, taps, outputs, panel; /* output channels of a panel of weights */
    int64_t rows, pieces;                 /* of results in a piece, and pieces of an image */
    int64_t channels;                     /* that are laid out at once */
    int64_t padded;                       /* positions of a piece, in whole vectors */
    int64_t threads, each;                /* floats of a thread's memory, which is cut into: */
    float *row, *x, *sums;
    int64_t *tap;
    float *weights; /* of all threads: panels of [taps][panel] */
};

/* ---- products -------------------------------------------------------------------------------- */

/* What a panel of weights makes of `channels` channels at `x` on. */
struct product {
    const float *x, *weights;
    const int64_t *tap;
    int64_t taps, channels, channel;
    float *sums;
    int64_t pitch;
    int add;
};

/* n and vectors are constants where this is inlined. */
static inline void multiply(int n, int vectors, const struct product *p)
{
    vec acc[OUTPUTS][MOST_VECTORS] = { { { 0 } } };
    const float *w = p->weights;

    for (int64_t c = 0; c < p->channels; c++)
        for (int64_t t = 0; t < p->taps; t++, w += n) {
            const float *x = p->x + c * p->channel + p->tap[t];

#pragma GCC unroll 8
            for (int v = 0; v < vectors; v++) {
                vec b = *(const loose *)(x + v * LANES);

#pragma GCC unroll 8
                for (int i = 0; i < n; i++)
                    acc[i][v] += w[i] * b;
            }
        }
#pragma GCC unroll 8
    for (int i = 0; i < n; i++)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
            loose *to = (loose *)(p->sums + i * p->pitch + v * LANES);

            *to = p->add ? *to + acc[i][v] : acc[i][v];
        }
}

/* All positions, to a multiple of the tile's width. */
#define MULTIPLY(n)                                                      \
    static void multiply_##n(struct product p, int64_t positions)        \
    {                                                                    \
        for (int64_t at = 0; at < positions; at += VECTORS(n) * LANES) { \
            multiply(n, VECTORS(n), &p);                                 \
            p.x += VECTORS(n) * LANES;                                   \
            p.sums += VECTORS(n) * LANES;                                \
        }                                                                \
    }
MULTIPLY(1)
MULTIPLY(2)
MULTIPLY(3)
MULTIPLY(4)
MULTIPLY(5)
MULTIPLY(6)
MULTIPLY(7)
MULTIPLY(8)

static void (*const multiplies[])(struct product, int64_t) = { multiply_1, multiply_2, multiply_3,
                                                               multiply_4, multiply_5, multiply_6,
                                                               multiply_7, multiply_8 };

/* ---- pieces ---------------------------------------------------------------------------------- */

static void finish(const struct job *j, const struct slab *s)
{
    int64_t width = j->g.out[2], at = (s->image * j->g.out[1] + s->first[1]) * width;

    for (int64_t o = 0; o < j->outputs; o++) {
        float *sums = j->sums + o * j->padded, bias;

        gemm_load(j->bias, o, 1, &bias);
        for (int64_t k = 0; k < s->count[1] * s->extent[2]; k++)
            sums[k] += bias;
        for (int64_t r = 0; r < s->count[1]; r++)
            conv_map_store(&j->y, o, at + r * width, width, sums + r * s->extent[2]);
    }
}

static void run_piece(const struct job *j, int64_t piece)
{
    const struct conv *g = &j->g;
    struct slab s = { g, .image = piece / j->pieces, .count = { 1, 0, g->out[2] } };
    struct product p = { .x = j->x, .tap = j->tap, .taps = j->taps, .pitch = j->padded };

    s.first[1] = piece % j->pieces * j->rows;
    s.count[1] = gemm_least(g->out[1] - s.first[1], j->rows);
    slab_shape(&s);
    p.channel = s.channel;
    for (int64_t t = 0; t < j->taps; t++)
        j->tap[t] = slab_tap(&s, t);
    for (int64_t c = 0; c < g->channels; c += j->channels) {
        p.channels = gemm_least(g->channels - c, j->channels);
        p.add = c > 0;
        for (int64_t i = 0; i < p.channels; i++)
            slab_channel(&s, c + i, j->row, j->x + i * s.channel);
        for (int64_t o = 0; o < j->outputs; o += j->panel) {
            p.weights = j->weights + (o * g->channels + c * j->panel) * j->taps;
            p.sums = j->sums + o * j->padded;
            multiplies[j->panel - 1](p, s.count[1] * s.extent[2]);
        }
    }
    finish(j, &s);
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *shared = ctx;
    int64_t pieces = shared->images * shared->pieces;

    for (int64_t t = begin; t < end; t++) {
        struct job j = *shared;

        j.row += t * j.each;
        j.x += t * j.each;
        j.sums += t * j.each;
        j.tap += t * j.each / 2;
        for (int64_t p = pieces * t / j.threads; p < pieces * (t + 1) / j.threads; p++)
            run_piece(&j, p);
    }
}

/* ---- plan ------------------------------------------------------------------------------------ */

/* Whether not much more is computed for nothing than in the product of matrices, which takes all
 * images in one. */
static int rows_are_long(const struct job *j, int64_t pitch)
{
    int64_t piece = gemm_round_up(j->rows * pitch, VECTORS(j->panel) * LANES);
    int64_t product = gemm_round_up(j->images * j->y.positions, 2 * LANES);

    return 2 * j->images * j->pieces * piece <= 3 * product;
}

/* False: it does not fit, or does not pay. */
static int plan(struct job *j, const struct assay_call *c)
{
    const struct conv *g = &j->g;
    int64_t floats = (int64_t)(c->scratch_bytes / sizeof(float)), padded_outputs, weights, x;
    int64_t row = gemm_round_up(g->in[2], LANES), positions = PIECE / 2 / j->outputs;
    int64_t tap = gemm_round_up(2 * j->taps, SLAB_LANES);
    struct slab s = { g, .count = { 1, 1, g->out[2] } };

    slab_shape(&s);
    positions = gemm_least(positions, MOST_POSITIONS);
    positions = positions < LEAST_POSITIONS ? LEAST_POSITIONS : positions;
    j->rows = gemm_least(g->out[1], (positions + s.extent[2] - 1) / s.extent[2]);
    j->pieces = (g->out[1] + j->rows - 1) / j->rows;
    s.count[1] = j->rows = (g->out[1] + j->pieces - 1) / j->pieces;
    slab_shape(&s);
    j->panel = (j->outputs + OUTPUTS - 1) / OUTPUTS;
    j->panel = (j->outputs + j->panel - 1) / j->panel;
    padded_outputs = gemm_round_up(j->outputs, j->panel);
    weights = gemm_round_up(padded_outputs * g->channels * j->taps, SLAB_LANES);
    j->padded = gemm_round_up(j->rows * s.extent[2], SLAB_LANES) + SLAB_SLACK;
    j->channels = gemm_least(g->channels, PIECE / s.channel + 1);
    j->channels = gemm_least(j->channels, (STEPS + j->taps - 1) / j->taps);
    x = gemm_round_up(j->channels * s.channel + SLAB_SLACK, SLAB_LANES);
    j->each = row + x + tap + padded_outputs * j->padded;
    j->threads = gemm_least(c->threads, j->images * j->pieces);
    j->threads = gemm_least(j->threads, (floats - weights) / j->each);
    j->weights = c->scratch;
    j->row = j->weights + weights;
    j->x = j->row + row;
    j->sums = j->x + x;
    j->tap = (int64_t *)(void *)(j->sums + padded_outputs * j->padded);
    return weights < floats && j->threads > 0 && rows_are_long(j, s.extent[2]);
}

static void lay_out_weights(const struct job *j, const struct assay_view *f)
{
    int64_t lines = j->g.channels * j->taps;
    float line[LEAST_POSITIONS];

    for (int64_t o = 0; o < gemm_round_up(j->outputs, j->panel); o++)
        for (int64_t k = 0, n; k < lines; k += n) {
            float *to = j->weights + (o / j->panel * lines + k) * j->panel + o % j->panel;

            n = gemm_least(lines - k, LEAST_POSITIONS);
            if (o < j->outputs)
                gemm_load(f, o * lines + k, n, line);
            else
                memset(line, 0, sizeof line);
            for (int64_t i = 0; i < n; i++)
                to[i * j->panel] = line[i];
        }
}

/* ---- as a product of matrices ---------------------------------------------------------------- */

static void row(const void *ctx, int64_t i, int64_t at, int64_t n, float *v)
{
    const struct job *j = ctx;
    float bias;

    gemm_load(j->bias, i, 1, &bias);
    for (int64_t k = 0; k < n; k++)
        v[k] += bias;
    conv_map_store(&j->y, i, at, n, v);
}

static void run_product(const struct assay_call *c, const struct job *j, const struct assay_view *f)
{
    struct gemm_matrix left = { f, 0, j->g.channels * j->taps };
    struct gemm p = { .m = j->outputs, .n = j->images * j->y.positions, .k = left.stride };

    p.row = row;
    p.ctx = j;
    p.a = (struct gemm_operand){ gemm_matrix_line, &left, 1 };
    p.b = (struct gemm_operand){ conv_line, &j->g, 0 };
    gemm_run(c, &p);
}

int assay_conv_2d(const struct assay_call *c)
{
    const struct conv_2d_attrs *a = c->attrs;
    const struct assay_view *x = c->in[CONV_2D_X].view, *f = c->in[CONV_2D_FILTER].view;
    const struct assay_view *y = c->out[CONV_2D_Y].view;
    struct job j = { .g = conv_of(x),
                     .y = { y, y->shape[2] * y->shape[3], y->shape[1], 0 },
                     .bias = c->in[CONV_2D_BIAS].view,
                     .images = x->shape[0],
                     .outputs = y->shape[1] };

    for (int i = 0; i < 2; i++) {
        j.g.kernel[1 + i] = f->shape[2 + i];
        j.g.out[1 + i] = y->shape[2 + i];
        j.g.stride[1 + i] = a->strides.v[i];
        j.g.pad[1 + i] = a->pads.v[2 * i];
        j.g.dilation[1 + i] = a->dilations.v[i];
    }
    j.taps = conv_taps(&j.g);
    if (!plan(&j, c)) {
        run_product(c, &j, f);
        return 0;
    }
    lay_out_weights(&j, f);
    if (j.threads > 1)
        c->parallel(c, j.threads, body, &j);
    else
        body(&j, 0, 1);
    return 0;
}
