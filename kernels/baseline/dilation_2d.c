/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dilation_2d: tiles of columns and channels, from top to bottom. The rows of x that a row of
 * results needs are kept as floats, with -Inf around the image; each is converted once for a tile.
 * Where windows are a stride apart, columns lie sorted by their place within it, so that what a tap
 * meets in neighbouring results lies side by side.
 *
 * Vectors run along the channels, eight cells at a time, which share the filter. A cell is a pixel
 * with its channels, filled up to whole vectors; or, where these are few, eight pixels with all
 * theirs. NaN takes more comparisons, and is looked for beforehand.
 */
#include <assay/dilation_2d.h>

#include "blocks.h"
#include "half.h"
#include "lanes.h"

#include <math.h>

enum { CELLS = 8, FEW = 16, MOST = 128, MAX_ROWS = 1024, RING_BYTES = 256 << 10 };

struct job {
    const struct assay_view *x, *filter, *y;
    int64_t images, channels, numel; /* of x */
    int64_t in[2], kernel[2], out[2];
    int64_t stride[2], pad[2], dilation[2];
    int64_t block, pitch, columns;    /* channels in a tile, floats of a pixel, results of a row */
    int64_t pixels, cell;             /* of a cell, and its floats */
    int64_t n_blocks, n_tiles, bands; /* bands: parts of an image from top to bottom */
    int64_t rows, phase, row;         /* rows kept; columns of a phase; floats of a row */
    float *scratch;
    int64_t each, parts; /* floats of a thread's scratch, and threads */
};

/* What a thread works with. */
struct desk {
    float *filter;          /* [taps][cell] */
    float *ring;            /* [rows][row] */
    float *result, *line;   /* a row of results, and one of x as it was */
    int64_t held[MAX_ROWS]; /* which row of x each row of the ring is */
    bool odd[MAX_ROWS];     /* whether it has NaN */
    bool filter_odd;        /* whether the filter has NaN or infinities */
    int64_t off[MAX_ROWS];  /* where what tap s meets begins in a row */
    int64_t image, channel, n_channels, first, n;
};

/* ---- memory ---------------------------------------------------------------------------------- */

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

/* Channels of a tile; results of a row in it, as many as the cache has room for. */
static void choose_tile(struct job *j)
{
    int64_t beyond = (j->kernel[1] - 1) * j->dilation[1] / j->stride[1] + 1;
    int64_t fit;

    j->n_blocks = (j->channels + MOST - 1) / MOST;
    j->block = round_up((j->channels + j->n_blocks - 1) / j->n_blocks, LANES);
    j->n_blocks = (j->channels + j->block - 1) / j->block;
    j->pixels = j->channels < FEW ? CELLS : 1;
    j->pitch = j->channels < FEW ? j->channels : j->block;
    j->cell = j->pixels * j->pitch;
    j->rows = (j->kernel[0] - 1) * j->dilation[0] + 1;
    fit = RING_BYTES / (j->rows * j->stride[1] * j->pitch * (int64_t)sizeof(float)) - beyond;
    j->columns = fit < CELLS ? CELLS : fit / CELLS * CELLS;
    if (j->columns > j->out[1])
        j->columns = round_up(j->out[1], j->pixels);
    j->n_tiles = (j->out[1] + j->columns - 1) / j->columns;
    j->phase = j->columns + beyond;
    j->row = round_up(j->stride[1] * j->phase * j->pitch + FEW, LANES);
}

/* False: it does not fit. */
static bool lay_desk(const struct job *j, struct desk *d, float *scratch)
{
    d->filter = scratch;
    d->ring = d->filter + j->kernel[0] * j->kernel[1] * j->cell;
    d->result = d->ring + j->rows * j->row;
    d->line = d->result + j->columns * j->pitch;
    return d->line + j->row <= scratch + j->each;
}

static bool fits(struct job *j)
{
    struct desk d;

    if (j->kernel[0] > MAX_ROWS || j->kernel[1] > MAX_ROWS || j->stride[1] > MAX_ROWS ||
        (j->kernel[0] - 1) * j->dilation[0] >= MAX_ROWS ||
        (j->kernel[1] - 1) * j->dilation[1] >= (1 << 20))
        return false;
    choose_tile(j);
    return lay_desk(j, &d, j->scratch);
}

/* ---- what a tile needs ----------------------------------------------------------------------- */

static void fill_nothing(float *v, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        v[k] = -INFINITY;
}

static bool any_above(const uint16_t *v, int64_t n, uint16_t limit)
{
    uint16_t any = 0;

    for (int64_t k = 0; k < n; k++)
        any |= (uint16_t)((v[k] & 0x7fff) > limit);
    return any != 0;
}

static void load_filter(const struct job *j, struct desk *d)
{
    int64_t taps = j->kernel[0] * j->kernel[1], m = d->n_channels;

    d->filter_odd = false;
    for (int64_t t = 0; t < taps; t++) {
        const uint16_t *from = (const uint16_t *)j->filter->data + t * j->channels + d->channel;

        for (int64_t p = 0; p < j->pixels; p++)
            half_widen(d->filter + t * j->cell + p * j->pitch, from, m);
        d->filter_odd = d->filter_odd || any_above(from, m, 0x7bff);
    }
    for (int64_t s = 0; s < j->kernel[1]; s++) {
        int64_t at = s * j->dilation[1];

        d->off[s] = (at % j->stride[1] * j->phase + at / j->stride[1]) * j->pitch;
    }
}

/* The channels of one pixel, in whole vectors, if x has so many elements left. */
static void widen_pixel(const struct job *j, float *to, int64_t at, int64_t n)
{
    int64_t whole = round_up(n, HALF_LANES);

    half_widen(to, (const uint16_t *)j->x->data + at,
               whole <= j->pitch && at + whole <= j->numel ? whole : n);
}

/* Sorts the n pixels of a row by phase. Each copy is of whole vectors: what goes too far is
 * overwritten later, or lies behind the last pixel. */
static void sort_columns(const struct job *j, const float *line, int64_t n, float *to)
{
    int64_t m = j->pitch, stride = j->stride[1];

    for (int64_t phase = 0; phase < stride; phase++)
        for (int64_t q = phase, at = phase * j->phase * m; q < n; q += stride, at += m)
            for (int64_t k = 0; k < m; k += LANES)
                *(lanes *)(to + at + k) = *(const lanes *)(line + q * m + k);
}

/* Pixels begin .. end-1 of a row, those around them being outside of the image. */
static void take_pixels(const struct job *j, const struct desk *d, int64_t from, int64_t begin,
                        int64_t end, float *to)
{
    int64_t n = j->phase * j->stride[1], stride = j->stride[1];

    for (int64_t phase = 0; phase < stride; phase++)
        for (int64_t q = phase, at = phase * j->phase * j->pitch; q < n;
             q += stride, at += j->pitch)
            if (q < begin || q >= end)
                fill_nothing(to + at, d->n_channels);
            else
                widen_pixel(j, to + at, from + q * j->channels, d->n_channels);
}

/* Brings row `row` of the image, which must be inside of it, into the ring. */
static void take_row(const struct job *j, struct desk *d, int64_t row)
{
    int64_t slot = row % j->rows, m = d->n_channels, pitch = j->pitch;
    int64_t left = d->first * j->stride[1] - j->pad[1], n = j->phase * j->stride[1];
    int64_t from = ((d->image * j->in[0] + row) * j->in[1] + left) * j->channels + d->channel;
    int64_t begin = left < 0 ? -left : 0, end = j->in[1] - left < n ? j->in[1] - left : n;
    const uint16_t *x = j->x->data;
    float *to = d->ring + slot * j->row;

    d->held[slot] = row;
    d->odd[slot] = false;
    if (pitch == j->channels) {
        float *line = j->stride[1] == 1 ? to : d->line;

        fill_nothing(line, begin * m);
        half_widen(line + begin * m, x + from + begin * m, (end - begin) * m);
        fill_nothing(line + end * m, (n - end) * m);
        if (line != to)
            sort_columns(j, line, n, to);
    } else {
        take_pixels(j, d, from, begin, end, to);
    }
    if (m == j->channels)
        d->odd[slot] = any_above(x + from + begin * m, (end - begin) * m, 0x7c00);
    else
        for (int64_t q = begin; q < end; q++)
            d->odd[slot] |= any_above(x + from + q * j->channels, m, 0x7c00);
}

/* ---- results --------------------------------------------------------------------------------- */

/* The larger of t and most; most where either is NaN. */
static inline lanes larger(lanes t, lanes most)
{
#if defined(__AVX__)
    return (lanes)_mm256_max_ps((__m256)t, (__m256)most);
#else
    lanes y = { 0 };

    for (int k = 0; k < LANES; k++)
        y[k] = t[k] > most[k] ? t[k] : most[k];
    return y;
#endif
}

typedef int32_t mask __attribute__((vector_size(LANES * sizeof(int32_t))));

/* NaN of t wins, too. */
static inline lanes larger_or_nan(lanes t, lanes most)
{
    mask nan = t != t;

    return (lanes)((nan & (mask)t) | (~nan & (mask)larger(t, most)));
}

/* One vector of n cells, from float `at` of a row on; rows outside of the image are NULL. */
static inline void take_taps(const struct job *j, const struct desk *d, const float *const *row,
                             int64_t at, int n, float *to)
{
    const float *filter = d->filter + at % j->cell;
    lanes most[CELLS], nothing = { 0 };

    for (int k = 0; k < LANES; k++)
        nothing[k] = -INFINITY;
    for (int i = 0; i < n; i++)
        most[i] = nothing;
    for (int64_t r = 0; r < j->kernel[0]; r++, filter += j->kernel[1] * j->cell)
        for (int64_t s = 0; row[r] && s < j->kernel[1]; s++) {
            const float *v = row[r] + d->off[s] + at;
            lanes f = *(const lanes *)(filter + s * j->cell);

            for (int i = 0; i < n; i++)
                most[i] = larger(*(const lanes *)(v + i * j->cell) + f, most[i]);
        }
    for (int i = 0; i < n; i++)
        *(lanes *)(to + at + i * j->cell) = most[i];
}

/* The same, one cell, where there may be NaN. */
static void take_taps_carefully(const struct job *j, const struct desk *d, const float *const *row,
                                int64_t at, float *to)
{
    const float *filter = d->filter + at % j->cell;
    lanes most, nothing = { 0 };

    for (int k = 0; k < LANES; k++)
        nothing[k] = -INFINITY;
    most = nothing;
    for (int64_t r = 0; r < j->kernel[0]; r++)
        for (int64_t s = 0; s < j->kernel[1]; s++, filter += j->cell) {
            lanes v = row[r] ? *(const lanes *)(row[r] + d->off[s] + at) : nothing;

            most = larger_or_nan(v + *(const lanes *)filter, most);
        }
    *(lanes *)(to + at) = most;
}

static void make_cells(const struct job *j, const struct desk *d, const float *const *row,
                       int64_t cells, bool careful)
{
    int64_t i = careful ? cells : 0;

    for (int64_t at = 0; careful && at < cells * j->cell; at += LANES)
        take_taps_carefully(j, d, row, at, d->result);
    for (; i + CELLS <= cells; i += CELLS)
        for (int64_t at = i * j->cell; at < (i + 1) * j->cell; at += LANES)
            take_taps(j, d, row, at, CELLS, d->result);
    for (int64_t at = i * j->cell; at < cells * j->cell; at += LANES)
        take_taps(j, d, row, at, 1, d->result);
}

static void put_row(const struct job *j, const struct desk *d, int64_t i)
{
    uint16_t *to = (uint16_t *)j->y->data +
                   ((d->image * j->out[0] + i) * j->out[1] + d->first) * j->channels + d->channel;
    uint16_t pixel[MOST];

    if (j->pitch == j->channels) {
        half_narrow(to, d->result, d->n * j->channels);
        return;
    }
    for (int64_t p = 0; p < d->n; p++) {
        half_narrow(pixel, d->result + p * j->pitch, j->pitch);
        memcpy(to + p * j->channels, pixel, (size_t)d->n_channels * sizeof *pixel);
    }
}

static void make_row(const struct job *j, struct desk *d, int64_t i)
{
    const float *row[MAX_ROWS];
    bool careful = d->filter_odd;

    for (int64_t r = 0; r < j->kernel[0]; r++) {
        int64_t at = i * j->stride[0] - j->pad[0] + r * j->dilation[0], slot = at % j->rows;

        row[r] = NULL;
        if (at < 0 || at >= j->in[0])
            continue;
        if (d->held[slot] != at)
            take_row(j, d, at);
        row[r] = d->ring + slot * j->row;
        careful = careful || d->odd[slot];
    }
    make_cells(j, d, row, (d->n + j->pixels - 1) / j->pixels, careful);
    put_row(j, d, i);
}

/* Tile i: the band changes fastest, then columns, channels, images. */
static void make_tile(const struct job *j, struct desk *d, int64_t i)
{
    int64_t band = i % j->bands, tile = i / j->bands % j->n_tiles;
    int64_t block = i / j->bands / j->n_tiles % j->n_blocks;
    int64_t left = j->out[1] - tile * j->columns;

    d->image = i / j->bands / j->n_tiles / j->n_blocks;
    d->channel = block * j->block;
    d->n_channels = j->channels - d->channel < j->block ? j->channels - d->channel : j->block;
    d->first = tile * j->columns;
    d->n = left < j->columns ? left : j->columns;
    load_filter(j, d);
    for (int64_t r = 0; r < j->rows; r++)
        d->held[r] = -1;
    for (int64_t r = j->out[0] * band / j->bands; r < j->out[0] * (band + 1) / j->bands; r++)
        make_row(j, d, r);
}

static void tiles(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    int64_t n = j->images * j->n_blocks * j->n_tiles * j->bands;
    struct desk d;

    for (int64_t t = begin; t < end; t++) {
        lay_desk(j, &d, j->scratch + t * j->each);
        for (int64_t i = n * t / j->parts; i < n * (t + 1) / j->parts; i++)
            make_tile(j, &d, i);
    }
}

/* ---- windows that are too wide for that ------------------------------------------------------ */

static float tap(const struct job *j, int64_t image, int64_t row, int64_t column, int64_t channel)
{
    const uint16_t *x = j->x->data;

    if (row < 0 || row >= j->in[0] || column < 0 || column >= j->in[1])
        return -INFINITY;
    return assay_f16_to_f32(
        x[((image * j->in[0] + row) * j->in[1] + column) * j->channels + channel]);
}

/* Pixels begin .. end-1 of the result. */
static void pixels(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const uint16_t *filter = j->filter->data;
    uint16_t *y = j->y->data;

    for (int64_t p = begin; p < end; p++)
        for (int64_t c = 0; c < j->channels; c++) {
            int64_t row = p / j->out[1] % j->out[0] * j->stride[0] - j->pad[0];
            int64_t column = p % j->out[1] * j->stride[1] - j->pad[1];
            float most = -INFINITY;

            for (int64_t t = 0; t < j->kernel[0] * j->kernel[1]; t++) {
                float v = tap(j, p / j->out[1] / j->out[0], row + t / j->kernel[1] * j->dilation[0],
                              column + t % j->kernel[1] * j->dilation[1], c) +
                          assay_f16_to_f32(filter[t * j->channels + c]);

                most = v > most || v != v ? v : most;
            }
            y[p * j->channels + c] = assay_f32_to_f16(most);
        }
}

/* ---- the call -------------------------------------------------------------------------------- */

static void set_windows(struct job *j, const struct dilation_2d_attrs *a)
{
    for (int k = 0; k < 2; k++) {
        int64_t total;

        j->in[k] = j->x->shape[1 + k];
        j->kernel[k] = j->filter->shape[k];
        j->out[k] = j->y->shape[1 + k];
        j->stride[k] = a->strides.v[1 + k];
        j->dilation[k] = a->rates.v[1 + k];
        total = (j->out[k] - 1) * j->stride[k] + (j->kernel[k] - 1) * j->dilation[k] + 1;
        total -= j->in[k];
        if (a->padding_mode == DILATION_2D_PADDING_MODE_SAME && total > 0)
            j->pad[k] = total / 2;
    }
}

int assay_dilation_2d(const struct assay_call *c)
{
    struct job j = { .x = c->in[DILATION_2D_X].view,
                     .filter = c->in[DILATION_2D_FILTER].view,
                     .y = c->out[DILATION_2D_Y].view,
                     .scratch = c->scratch,
                     .parts = c->threads };
    int64_t n = baseline_numel(j.y), tiles_in_all;

    if (n == 0)
        return 0;
    j.images = j.x->shape[0];
    j.channels = j.x->shape[3];
    j.numel = baseline_numel(j.x);
    set_windows(&j, c->attrs);
    if (n < 16384)
        j.parts = 1;
    j.each = (int64_t)(c->scratch_bytes / sizeof(float)) / j.parts;
    if (!fits(&j)) {
        baseline_parallel(c, n / j.channels, j.channels * j.kernel[0] * j.kernel[1], pixels, &j);
        return 0;
    }
    tiles_in_all = j.images * j.n_blocks * j.n_tiles;
    j.bands = j.parts == 1 || tiles_in_all >= 8 * j.parts ? 1 : 8 * j.parts / tiles_in_all + 1;
    if (j.parts > 1)
        c->parallel(c, j.parts, tiles, &j);
    else
        tiles(&j, 0, 1);
    return 0;
}
