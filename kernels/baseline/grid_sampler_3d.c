/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid_sampler_3d: places are computed once for all channels (nearest) or for up to 16 of them.
 *
 * Between voxels, up to 16 channels of x are first laid out voxel by voxel, as floats, so that each
 * of the eight voxels of a point is one run of memory. Behind the last voxel lies one of zeros, for
 * what is outside. Few points, or a few channels left over, are looked up where they are. Weights
 * and sums are doubles: large elements of both signs may leave little of each other.
 */
#include <assay/grid_sampler_3d.h>

#include "blocks.h"
#include "half.h"
#include "lanes.h"

#include <math.h>

enum { POINTS = LANES_POINTS, MOST = 16, TAPS = 8, OUTSIDE = -1 };
enum { FAR_OUT = -(1 << 29), MAX_VOXELS = 1 << 29 }; /* three of the first are negative, too */

struct job {
    const struct grid_sampler_3d_attrs *a;
    const struct assay_view *x, *grid, *y;
    int64_t points, voxels, channels;
    int64_t n[3];      /* voxels along w, h, d */
    int64_t batch;     /* what is worked on: this batch element, */
    int64_t first;     /* its channels from this one on, */
    int used, width;   /* so many, with room for so many */
    float *volume;     /* [voxels + LANES][width], a voxel of zeros behind the last */
    int32_t *selected; /* nearest: the voxel of each point, or OUTSIDE */
};

static void cut(double *at, int64_t n, double low, double high)
{
    for (int64_t i = 0; i < n; i++) {
        double v = at[i] < low ? low : at[i];

        at[i] = v > high ? high : v;
    }
}

/* Folds at low and at low + span. */
static void reflect(double *at, int64_t n, double low, double span)
{
    double scale = span > 0 ? 1 / (2 * span) : 0;

    for (int64_t i = 0; i < n; i++) {
        double m = fabs(at[i] - low);

        m -= 2 * span * floor(m * scale);
        at[i] = (m > span ? 2 * span - m : m) + low;
    }
}

/* Where n points, from point `first` of the batch element on, are looked at along w, h, d. */
static void places(const struct job *j, int64_t first, int64_t n, double at[3][POINTS])
{
    float buf[3 * POINTS];
    const float *g = baseline_load(j->grid, 3 * (j->batch * j->points + first), 3 * n, buf);

    for (int k = 0; k < 3; k++) {
        double extent = (double)j->n[k], last = extent - 1;
        /* voxel k of n lies at k: ((g + 1) n - 1) / 2 or (g + 1) / 2 (n - 1) */
        double scale = (j->a->align_corners ? last : extent) / 2;
        double shift = j->a->align_corners ? 0 : -0.5;

        for (int64_t i = 0; i < n; i++)
            at[k][i] = ((double)g[3 * i + k] + 1) * scale + shift;
        if (j->a->padding_mode == GRID_SAMPLER_3D_PADDING_MODE_ZEROS) {
            cut(at[k], n, -2, last + 2); /* outside all the same */
            continue;
        }
        if (j->a->padding_mode == GRID_SAMPLER_3D_PADDING_MODE_REFLECTION)
            reflect(at[k], n, shift, j->a->align_corners ? last : extent);
        cut(at[k], n, 0, last);
    }
}

static int64_t block_size(const struct job *j, int64_t first)
{
    return j->points - first < POINTS ? j->points - first : POINTS;
}

/* ---- the nearest voxel ----------------------------------------------------------------------- */

static void select_body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    double at[3][POINTS];

    for (int64_t b = begin; b < end; b++) {
        int64_t n = block_size(j, b * POINTS);

        places(j, b * POINTS, n, at);
        for (int64_t i = 0; i < n; i++) {
            double x = nearbyint(at[0][i]), y = nearbyint(at[1][i]), z = nearbyint(at[2][i]);
            bool inside = x >= 0 && x < (double)j->n[0] && y >= 0 && y < (double)j->n[1] &&
                          z >= 0 && z < (double)j->n[2];

            j->selected[b * POINTS + i] =
                inside ? (int32_t)(((int64_t)z * j->n[1] + (int64_t)y) * j->n[0] + (int64_t)x)
                       : OUTSIDE;
        }
    }
}

/* Channels begin .. end-1: copies, whatever the bits are. */
static void copy_body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const int32_t *at = j->selected;

    for (int64_t c = j->batch * j->channels + begin; c < j->batch * j->channels + end; c++)
        if (j->x->dtype == ASSAY_F32) {
            const uint32_t *x = (const uint32_t *)j->x->data + c * j->voxels;
            uint32_t *y = (uint32_t *)j->y->data + c * j->points;

            for (int64_t i = 0; i < j->points; i++)
                y[i] = at[i] < 0 ? 0 : x[at[i]];
        } else {
            const uint16_t *x = (const uint16_t *)j->x->data + c * j->voxels;
            uint16_t *y = (uint16_t *)j->y->data + c * j->points;

            for (int64_t i = 0; i < j->points; i++)
                y[i] = at[i] < 0 ? 0 : x[at[i]];
        }
}

/* ---- between voxels -------------------------------------------------------------------------- */

struct taps {
    int32_t at[TAPS][POINTS]; /* the number of voxels: outside */
    double w[TAPS][POINTS];
};

/* Along one axis: what the two neighbours add to the number of a voxel, FAR_OUT where they are
 * outside, and their weights. */
static void find_neighbours(const double *at, int64_t n, int64_t extent, int64_t pitch,
                            int32_t off[2][POINTS], double w[2][POINTS])
{
    int32_t last = (int32_t)extent - 1, step = (int32_t)pitch;

    for (int64_t i = 0; i < n; i++) {
        double below = floor(at[i]);
        int32_t lo = (int32_t)below, hi = lo + 1;

        w[1][i] = at[i] - below;
        w[0][i] = below + 1 - at[i];
        off[0][i] = lo < 0 || lo > last ? FAR_OUT : lo * step;
        off[1][i] = hi < 0 || hi > last ? FAR_OUT : hi * step;
    }
}

static void find_taps(const struct job *j, int64_t first, int64_t n, struct taps *t)
{
    double at[3][POINTS];
    int32_t off[3][2][POINTS], voxels = (int32_t)j->voxels;
    double w[3][2][POINTS];

    places(j, first, n, at);
    find_neighbours(at[0], n, j->n[0], 1, off[0], w[0]);
    find_neighbours(at[1], n, j->n[1], j->n[0], off[1], w[1]);
    find_neighbours(at[2], n, j->n[2], j->n[0] * j->n[1], off[2], w[2]);
    for (int k = 0; k < TAPS; k++) {
        int x = k & 1, y = k >> 1 & 1, z = k >> 2;

        for (int64_t i = 0; i < n; i++) {
            int32_t sum = off[0][x][i] + off[1][y][i] + off[2][z][i];

            t->at[k][i] = sum < 0 ? voxels : sum;
            t->w[k][i] = w[0][x][i] * w[1][y][i] * w[2][z][i];
        }
    }
}

/* The voxels `at` of a channel that begins with element `from`, zeros for those outside. */
static void collect(const struct job *j, int64_t from, const int32_t *at, int64_t n, float *v)
{
    const float *x = (const float *)j->x->data + from;
    const uint16_t *half = (const uint16_t *)j->x->data + from;
    uint16_t bits[POINTS];
    int32_t voxels = (int32_t)j->voxels;

    if (j->x->dtype == ASSAY_F32) {
        for (int64_t i = 0; i < n; i++)
            v[i] = at[i] < voxels ? x[at[i]] : 0.0f;
        return;
    }
    for (int64_t i = 0; i < n; i++)
        bits[i] = at[i] < voxels ? half[at[i]] : 0;
    half_widen(v, bits, n);
}

/* Channel c at the points of a block, looked up where it is. */
static void look_up(const struct job *j, int64_t c, const struct taps *t, int64_t n, float *y)
{
    int64_t from = (j->batch * j->channels + c) * j->voxels;
    double sum[POINTS] = { 0 };
    float v[POINTS];

    for (int k = 0; k < TAPS; k++) {
        collect(j, from, t->at[k], n, v);
        for (int64_t i = 0; i < n; i++)
            sum[i] += t->w[k][i] * (double)v[i];
    }
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)sum[i];
}

static void look_up_body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    struct taps t;
    float buf[POINTS];

    for (int64_t b = begin; b < end; b++) {
        int64_t n = block_size(j, b * POINTS);

        find_taps(j, b * POINTS, n, &t);
        for (int64_t c = j->first; c < j->first + j->used; c++) {
            int64_t at = (j->batch * j->channels + c) * j->points + b * POINTS;
            float *y = baseline_target(j->y, at, buf);

            look_up(j, c, &t, n, y);
            baseline_store(j->y, at, n, y);
        }
    }
}

static void lay_out_body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    /* what comes behind the last voxel is overwritten later */
    for (int64_t b = begin; b < end; b++) {
        int64_t first = b * POINTS, left = j->voxels - first;

        for (int c = 0; c < j->width; c += LANES)
            lanes_take(j->x, (j->batch * j->channels + j->first + c) * j->voxels + first, j->voxels,
                       j->used - c, left < POINTS ? left : POINTS, j->volume + first * j->width + c,
                       j->width);
    }
}

/* Four channels, and sums of four. */
typedef float four __attribute__((vector_size(4 * sizeof(float)), aligned(4), may_alias));
typedef double four_sums __attribute__((vector_size(4 * sizeof(double))));

/* LANES channels of a point, of which the first is element 0 of the volume. */
static inline void mix_lanes(const float *volume, int64_t width, const struct taps *t, int64_t i,
                             float *y)
{
    enum { FOURS = LANES / 4 };
    four_sums sum[FOURS] = { { 0 } };

    for (int k = 0; k < TAPS; k++) {
        const four *v = (const four *)(volume + t->at[k][i] * width);

        for (int p = 0; p < FOURS; p++)
            sum[p] += t->w[k][i] * __builtin_convertvector(v[p], four_sums);
    }
    for (int p = 0; p < FOURS; p++)
        ((four *)y)[p] = __builtin_convertvector(sum[p], four);
}

/* The channels of each point of a block, point by point. */
static inline void mix(const float *volume, int64_t width, const struct taps *t, int64_t n,
                       float *y)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < width; c += LANES)
            mix_lanes(volume + c, width, t, i, y + i * width + c);
}

static void mix_body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    struct taps t;
    float mixed[POINTS * MOST];

    memset(mixed, 0, sizeof mixed);
    for (int64_t b = begin; b < end; b++) {
        int64_t first = b * POINTS, n = block_size(j, first);

        find_taps(j, first, n, &t);
        if (j->width == LANES)
            mix(j->volume, LANES, &t, n, mixed);
        else
            mix(j->volume, MOST, &t, n, mixed);
        for (int c = 0; c < j->width; c += LANES)
            lanes_put(j->y, (j->batch * j->channels + j->first + c) * j->points + first, j->points,
                      j->used - c, n, mixed + c, j->width);
    }
}

/* ---- the call -------------------------------------------------------------------------------- */

static int64_t blocks_of(int64_t n)
{
    return (n + POINTS - 1) / POINTS;
}

/* How many channels are laid out together: MOST or LANES, some of them empty where few are left;
 * 0: all that are left are looked up where they are. */
static int width_of(const struct assay_call *c, const struct job *j)
{
    int64_t left = j->channels - j->first;
    int width = left > LANES ? MOST : LANES;

    if (j->points * 4 < j->voxels || left < 3 ||
        (size_t)(j->voxels + LANES) * (size_t)width * sizeof(float) > c->scratch_bytes)
        return 0;
    return width;
}

static void between(const struct assay_call *c, struct job *j)
{
    j->volume = c->scratch;
    for (j->first = 0; j->first < j->channels; j->first += j->used) {
        int64_t left = j->channels - j->first;

        j->width = width_of(c, j);
        j->used = (int)(j->width == 0 || left < j->width ? left : j->width);
        if (j->width == 0) {
            baseline_parallel(c, blocks_of(j->points), POINTS * j->used, look_up_body, j);
            continue;
        }
        baseline_parallel(c, blocks_of(j->voxels), POINTS * j->width, lay_out_body, j);
        memset(j->volume + j->voxels * j->width, 0, (size_t)j->width * sizeof(float));
        baseline_parallel(c, blocks_of(j->points), POINTS * j->width, mix_body, j);
    }
}

int assay_grid_sampler_3d(const struct assay_call *c)
{
    struct job j = { .a = c->attrs,
                     .x = c->in[GRID_SAMPLER_3D_X].view,
                     .grid = c->in[GRID_SAMPLER_3D_GRID].view,
                     .y = c->out[GRID_SAMPLER_3D_Y].view,
                     .selected = c->scratch };

    j.channels = j.x->shape[1];
    j.points = j.grid->shape[1] * j.grid->shape[2] * j.grid->shape[3];
    j.voxels = j.x->shape[2] * j.x->shape[3] * j.x->shape[4];
    for (int k = 0; k < 3; k++)
        j.n[k] = j.x->shape[4 - k];
    if (j.voxels > MAX_VOXELS)
        return 1;
    for (j.batch = 0; j.batch < j.x->shape[0]; j.batch++) {
        if (j.a->interpolation_mode == GRID_SAMPLER_3D_INTERPOLATION_MODE_BILINEAR) {
            between(c, &j);
            continue;
        }
        baseline_parallel(c, blocks_of(j.points), POINTS * 3, select_body, &j);
        baseline_parallel(c, j.channels, j.points, copy_body, &j);
    }
    return 0;
}
