/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_conv_2d: plane by plane. The rows of x that a few rows of the result need are laid out
 * as floats with their padding; each vector of results then adds up all taps in registers. Without
 * a stride, results are made as if a row went on in the next one, however short rows are.
 */
#include <assay/depthwise_conv_2d.h>

#include "blocks.h"
#include "conv.h"

enum { WIDTH = 64, NARROW = 16, MAX_TAPS = 1024, BAND_BYTES = 512 << 10 };

struct job {
    struct conv g;
    const struct assay_view *weight, *bias, *y;
    float *scratch;
    int64_t each, parts;   /* floats of a thread's scratch, and threads */
    int64_t padded;        /* floats of a row with its padding */
    int64_t tap[MAX_TAPS]; /* where the taps along a row lie */
};

typedef float vec __attribute__((vector_size(NARROW * sizeof(float)), aligned(sizeof(float))));

/* `vectors` of results side by side, a constant where this is inlined. from is where the first tap
 * of the first one lies. */
static inline void vector(int vectors, const struct job *j, const float *weight, const float *from,
                          float bias, float *to)
{
    const struct conv *g = &j->g;
    vec acc[WIDTH / NARROW] = { { 0 } };

    for (int64_t r = 0; r < g->kernel[1]; r++)
        for (int64_t s = 0; s < g->kernel[2]; s++) {
            const float *x = from + r * g->dilation[1] * j->padded + j->tap[s];
            float w = *weight++;

            for (int i = 0; i < vectors; i++)
                acc[i] += w * *(const vec *)(x + i * NARROW);
        }
    for (int i = 0; i < vectors; i++)
        *(vec *)(to + i * NARROW) = acc[i] + bias;
}

/* One row as floats. With a stride, elements that one tap meets are laid side by side: those whose
 * places are 0, stride, 2 stride, ..., then 1, stride + 1, and so on. */
static void lay_out_row(const struct job *j, int64_t at, float *row, float *to)
{
    const struct conv *g = &j->g;
    int64_t step = g->stride[2], phase = j->padded / step;

    if (step == 1)
        row = to;
    memset(row, 0, (size_t)g->pad[2] * sizeof *row);
    gemm_load(g->x, at, g->in[2], row + g->pad[2]);
    memset(row + g->pad[2] + g->in[2], 0, (size_t)(j->padded - g->pad[2] - g->in[2]) * sizeof *row);
    for (int64_t p = 0; step > 1 && p < step; p++)
        for (int64_t k = 0; k < phase; k++)
            to[p * phase + k] = row[k * step + p];
}

/* Rows first .. first + n - 1 of a plane, counted with the padding. What a vector reads behind the
 * last one makes results that nobody takes. */
static void lay_out(const struct job *j, int64_t plane, int64_t first, int64_t n, float *row,
                    float *to)
{
    const struct conv *g = &j->g;

    for (int64_t i = 0; i < n; i++, to += j->padded) {
        int64_t at = first + i - g->pad[1];

        if (at < 0 || at >= g->in[1])
            memset(to, 0, (size_t)j->padded * sizeof *to);
        else
            lay_out_row(j, (plane * g->in[1] + at) * g->in[2], row, to);
    }
}

/* Rows of x that n rows of the result need. */
static int64_t rows_for(const struct conv *g, int64_t n)
{
    return (n - 1) * g->stride[1] + (g->kernel[1] - 1) * g->dilation[1] + 1;
}

/* Floats that bands of n rows take: of x, and of results as long as those. */
static int64_t floats_for(const struct job *j, int64_t n)
{
    return (rows_for(&j->g, n) + n) * j->padded + 2 * WIDTH;
}

/* Rows of results that are made at a time: what fits the second-level cache, at least one. */
static int64_t band_of(const struct job *j)
{
    int64_t most = BAND_BYTES / (int64_t)sizeof(float), band = 1;

    most = j->each < most ? j->each : most;
    while (band < j->g.out[1] && floats_for(j, band + 1) <= most)
        band++;
    return band;
}

/* n results that lie side by side, `from` as above. */
static void run(const struct job *j, const float *weight, float bias, const float *from, int64_t n,
                float *to)
{
    for (int64_t k = 0; k < n; k += WIDTH)
        if (n - k > NARROW)
            vector(WIDTH / NARROW, j, weight, from + k, bias, to + k);
        else
            vector(1, j, weight, from + k, bias, to + k);
}

static void plane_by_bands(const struct job *j, int64_t plane, int64_t band, float *rows)
{
    const struct conv *g = &j->g;
    int64_t taps = conv_taps(g), channel = plane % g->channels;
    int64_t each = rows_for(g, band) * j->padded + WIDTH;
    float weight[MAX_TAPS], bias, *y = rows + each;

    gemm_load(j->weight, channel * taps, taps, weight);
    gemm_load(j->bias, channel, 1, &bias);
    for (int64_t top = 0; top < g->out[1]; top += band) {
        int64_t n = g->out[1] - top < band ? g->out[1] - top : band;
        int64_t first = (plane * g->out[1] + top) * g->out[2];

        lay_out(j, plane, top * g->stride[1], rows_for(g, n), y, rows);
        if (g->stride[1] == 1 && g->stride[2] == 1) {
            run(j, weight, bias, rows, (n - 1) * j->padded + g->out[2], y);
            for (int64_t r = 0; r < n; r++)
                gemm_store(j->y, first + r * g->out[2], g->out[2], y + r * j->padded);
            continue;
        }
        for (int64_t r = 0; r < n; r++) {
            run(j, weight, bias, rows + r * g->stride[1] * j->padded, g->out[2], y);
            gemm_store(j->y, first + r * g->out[2], g->out[2], y);
        }
    }
}

static void by_bands(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    int64_t planes = j->g.channels * j->y->shape[0], band = band_of(j);

    for (int64_t t = begin; t < end; t++)
        for (int64_t p = planes * t / j->parts; p < planes * (t + 1) / j->parts; p++)
            plane_by_bands(j, p, band, j->scratch + t * j->each);
}

/* Where not even the rows for one result fit: tap by tap. */
static void by_taps(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    struct conv_map to = { j->y, conv_positions(&j->g), j->g.channels, 0 };
    int64_t all = to.positions * j->y->shape[0], taps = conv_taps(&j->g);
    float sum[BASELINE_BLOCK], v[BASELINE_BLOCK], w;

    for (int64_t ch = begin; ch < end; ch++)
        for (int64_t at = 0; at < all; at += BASELINE_BLOCK) {
            int64_t n = all - at < BASELINE_BLOCK ? all - at : BASELINE_BLOCK;

            memset(sum, 0, sizeof sum);
            for (int64_t t = 0; t < taps; t++) {
                conv_line(&j->g, ch * taps + t, at, n, v);
                gemm_load(j->weight, ch * taps + t, 1, &w);
                for (int64_t k = 0; k < n; k++)
                    sum[k] += w * v[k];
            }
            gemm_load(j->bias, ch, 1, &w);
            for (int64_t k = 0; k < n; k++)
                sum[k] += w;
            conv_map_store(&to, ch, at, n, sum);
        }
}

int assay_depthwise_conv_2d(const struct assay_call *c)
{
    const struct depthwise_conv_2d_attrs *a = c->attrs;
    struct job j = { .g = conv_of(c->in[DEPTHWISE_CONV_2D_X].view),
                     .weight = c->in[DEPTHWISE_CONV_2D_WEIGHT].view,
                     .bias = c->in[DEPTHWISE_CONV_2D_BIAS].view,
                     .y = c->out[DEPTHWISE_CONV_2D_Y].view,
                     .scratch = c->scratch,
                     .parts = c->threads };
    struct conv *g = &j.g;

    for (int i = 0; i < 2; i++) {
        g->kernel[1 + i] = j.weight->shape[1 + i];
        g->out[1 + i] = j.y->shape[2 + i];
        g->stride[1 + i] = a->stride.v[i];
        g->pad[1 + i] = a->padding.v[i];
        g->dilation[1 + i] = a->dilation.v[i];
    }
    if (baseline_numel(j.y) < 32768)
        j.parts = 1;
    j.each = (int64_t)(c->scratch_bytes / sizeof(float)) / j.parts;
    j.padded = (g->in[2] + 2 * g->pad[2] + g->stride[2] - 1) / g->stride[2] * g->stride[2];
    for (int64_t s = 0; s < g->kernel[2] && s < MAX_TAPS; s++) {
        int64_t at = s * g->dilation[2];

        j.tap[s] = at % g->stride[2] * (j.padded / g->stride[2]) + at / g->stride[2];
    }
    if (conv_taps(g) > MAX_TAPS || floats_for(&j, 1) > j.each)
        baseline_parallel(c, g->channels, baseline_numel(j.y), by_taps, &j);
    else if (j.parts > 1)
        c->parallel(c, j.parts, by_bands, &j);
    else
        by_bands(&j, 0, 1);
    return 0;
}
