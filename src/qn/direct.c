/* SPDX-License-Identifier: Apache-2.0 */
/* direct.c: convolutions without columns. */
#include "qn/direct.h"

#include "base/clones.h"

#include <string.h>

/* MR rows of eight broadcasts beside NV vectors: 24 sums in registers. */
enum { LANES = 16, MR = 8, NV = 3, NR = NV * LANES, BLOCK_FLOATS = 96 << 10 };

typedef float vec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

static int64_t round_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* How far the last tap lies from the first, along one axis of one phase. */
static int64_t reach(const struct qn_direct *d, int axis)
{
    return (d->kernel[axis] - 1) * d->dilation[axis] / d->stride[axis];
}

void qn__direct_plan(struct qn_direct *d)
{
    int64_t rows, phases = 1;

    for (int i = 0; i < 2; i++) {
        int64_t taps = (d->kernel[i] - 1) * d->dilation[i] + 1;

        d->phases[i] = taps < d->stride[i] ? taps : d->stride[i];
        phases *= d->phases[i];
    }
    d->k = d->channels * d->kernel[0] * d->kernel[1];
    d->width = d->out_w + reach(d, 1);
    rows = BLOCK_FLOATS / (d->channels * phases * d->width) - reach(d, 0);
    rows = rows < 1 ? 1 : rows;
    d->rows = rows < d->out_h ? rows : d->out_h;
    d->plane = (d->rows + reach(d, 0)) * d->width;
    /* the last tap of the last tile reads up to a tile beyond */
    d->x_floats = (size_t)round_up(d->channels * phases * d->plane + 2 * NR, LANES);
    d->y_floats =
        (size_t)(round_up(d->out > MR ? d->out : MR, LANES) * round_up(d->rows * d->width, NR));
}

size_t qn__direct_scratch_bytes(const struct qn_direct *d)
{
    return (d->x_floats + d->y_floats) * sizeof(float) +
           (size_t)round_up(d->k, MR) * sizeof(int64_t);
}

size_t qn__direct_packed_floats(const struct qn_direct *d)
{
    return (size_t)(round_up(d->out, MR) * d->k);
}

size_t qn__direct_sums_floats(const struct qn_direct *d)
{
    return (size_t)(round_up(d->k, MR) * round_up(d->out, LANES));
}

int64_t qn__direct_sum_at(const struct qn_direct *d, int64_t o, int64_t k)
{
    return k * round_up(d->out, LANES) + o;
}

int64_t qn__direct_tiles(const struct qn_direct *d)
{
    return round_up(d->out, MR) / MR;
}

void qn__direct_pack(const struct qn_direct *d, const struct qn_direct_weights *w, int64_t tile,
                     float *packed)
{
    int64_t taps = d->kernel[0] * d->kernel[1], first = tile * MR;
    float *to = packed + first * d->k;

    for (int64_t c = 0; c < d->channels; c++)
        for (int64_t t = 0; t < taps; t++)
            for (int64_t o = first; o < first + MR; o++)
                *to++ =
                    o < d->out ? w->v[o * w->row + c * w->col + (w->turned ? taps - 1 - t : t)] : 0;
}

/* ---- the block ------------------------------------------------------------------------------- */

struct scratch {
    float *x, *y;
    int64_t *offset;
};

static struct scratch cut(const struct qn_direct *d, void *memory)
{
    float *x = memory;

    return (struct scratch){ x, x + d->x_floats,
                             (int64_t *)(void *)(x + d->x_floats + d->y_floats) };
}

/* Where the plane of phase (a, b) of channel c begins. */
static int64_t plane_at(const struct qn_direct *d, int64_t c, int64_t a, int64_t b)
{
    return ((c * d->phases[0] + a) * d->phases[1] + b) * d->plane;
}

/* Where tap k begins; beyond the last one, where the last one does. */
static void set_offsets(const struct qn_direct *d, int64_t *offset)
{
    int64_t n = 0;

    for (int64_t c = 0; c < d->channels; c++)
        for (int64_t i = 0; i < d->kernel[0]; i++)
            for (int64_t j = 0; j < d->kernel[1]; j++) {
                int64_t h = i * d->dilation[0], w = j * d->dilation[1];

                offset[n++] = plane_at(d, c, h % d->stride[0], w % d->stride[1]) +
                              h / d->stride[0] * d->width + w / d->stride[1];
            }
    for (; n < round_up(d->k, MR); n++)
        offset[n] = offset[n - 1];
}

/* One row of a phase: columns b - left, and each stride further. What is outside stays. */
static void load_row(const struct qn_direct *d, const float *x, int64_t b, float *to)
{
    int64_t stride = d->stride[1], at = b - d->left, j = at < 0 ? (-at + stride - 1) / stride : 0;
    int64_t end = at < d->w ? (d->w - 1 - at) / stride + 1 : 0;

    end = end < d->width ? end : d->width;
    if (stride == 1 && j < end)
        memcpy(to + j, x + at + j, (size_t)(end - j) * sizeof *to);
    else
        for (; j < end; j++)
            to[j] = x[at + j * stride];
}

/* Rows of the padded image that output rows from `row` on read; 0 outside, and behind the end. */
static void load_x(const struct qn_direct *d, const float *x, int64_t row, float *to)
{
    int64_t height = d->plane / d->width;

    memset(to, 0, d->x_floats * sizeof *to);
    for (int64_t c = 0; c < d->channels; c++)
        for (int64_t a = 0; a < d->phases[0]; a++)
            for (int64_t b = 0; b < d->phases[1]; b++)
                for (int64_t i = 0; i < height; i++) {
                    int64_t from = (row + i) * d->stride[0] + a - d->top;

                    if (from >= 0 && from < d->h)
                        load_row(d, x + (c * d->h + from) * d->w, b,
                                 to + plane_at(d, c, a, b) + i * d->width);
                }
}

/* ---- forward --------------------------------------------------------------------------------- */

/* y[m][p] of MR rows and NR positions. */
ASSAY__CLONES static void direct_tile(int64_t k, const float *w, const float *x,
                                      const int64_t *offset, float *y, int64_t ld)
{
    vec acc[MR][NV] = { { { 0 } } };

    for (int64_t s = 0; s < k; s++, w += MR) {
        const float *at = x + offset[s];
        vec b0 = *(const vec *)(const void *)at;
        vec b1 = *(const vec *)(const void *)(at + LANES);
        vec b2 = *(const vec *)(const void *)(at + 2 * LANES);

#pragma GCC unroll 8
        for (int m = 0; m < MR; m++) {
            acc[m][0] += w[m] * b0;
            acc[m][1] += w[m] * b1;
            acc[m][2] += w[m] * b2;
        }
    }
#pragma GCC unroll 8
    for (int m = 0; m < MR; m++)
        for (int v = 0; v < NV; v++)
            *(vec *)(void *)(y + m * ld + v * LANES) = acc[m][v];
}

/* Rows of results from between their neighbours that nobody asked for. */
static void store_y(const struct qn_direct *d, const float *from, int64_t ld, int64_t channels,
                    int64_t row, int64_t rows, bool add, float *y)
{
    for (int64_t o = 0; o < channels; o++)
        for (int64_t i = 0; i < rows; i++) {
            const float *v = from + o * ld + i * d->width;
            float *to = y + (o * d->out_h + row + i) * d->out_w;

            if (!add)
                memcpy(to, v, (size_t)d->out_w * sizeof *to);
            for (int64_t j = 0; add && j < d->out_w; j++)
                to[j] += v[j];
        }
}

void qn__direct_run(const struct qn_direct *d, const float *packed, const float *x, bool add,
                    float *y, void *scratch)
{
    struct scratch s = cut(d, scratch);

    set_offsets(d, s.offset);
    for (int64_t row = 0; row < d->out_h; row += d->rows) {
        int64_t rows = d->out_h - row < d->rows ? d->out_h - row : d->rows;
        int64_t n = rows * d->width, ld = round_up(n, NR);

        load_x(d, x, row, s.x);
        for (int64_t m = 0; m < d->out; m += MR) {
            int64_t some = d->out - m < MR ? d->out - m : MR;

            for (int64_t p = 0; p < n; p += NR)
                direct_tile(d->k, packed + m * d->k, s.x + p, s.offset, s.y + p, ld);
            store_y(d, s.y, ld, some, row, rows, add, y + m * d->out_h * d->out_w);
        }
    }
}

/* ---- gradient of the weights ----------------------------------------------------------------- */

/* sums[tap][o] += sum_p x[offset_tap + p] dy[p][o] for MR taps and up to NV vectors of o. */
#define DIRECT_SUMS(name, nv)                                                        \
    ASSAY__CLONES static void name(int64_t n, const float *x, const int64_t *offset, \
                                   const float *dy, int64_t ld, float *sums)         \
    {                                                                                \
        direct_sums(n, x, offset, dy, ld, sums, nv);                                 \
    }

static ASSAY__INLINE void direct_sums(int64_t n, const float *x, const int64_t *offset,
                                      const float *dy, int64_t ld, float *sums, int nv)
{
    vec acc[MR][NV] = { { { 0 } } };
    const float *a[MR];

    for (int m = 0; m < MR; m++)
        a[m] = x + offset[m];
    for (int64_t p = 0; p < n; p++, dy += ld) {
        vec b[NV];

        for (int v = 0; v < nv; v++)
            b[v] = *(const vec *)(const void *)(dy + v * LANES);
#pragma GCC unroll 8
        for (int m = 0; m < MR; m++)
            for (int v = 0; v < nv; v++)
                acc[m][v] += a[m][p] * b[v];
    }
#pragma GCC unroll 8
    for (int m = 0; m < MR; m++)
        for (int v = 0; v < nv; v++) {
            vec *to = (vec *)(void *)(sums + m * ld + v * LANES);

            *to += acc[m][v];
        }
}

DIRECT_SUMS(direct_sums_1, 1)
DIRECT_SUMS(direct_sums_2, 2)
DIRECT_SUMS(direct_sums_3, 3)

/* dy[p][o], 0 between rows and beyond the last channel. */
static void turn_dy(const struct qn_direct *d, const float *dy, int64_t row, int64_t rows,
                    float *to)
{
    int64_t ld = round_up(d->out, LANES);

    memset(to, 0, (size_t)(rows * d->width * ld) * sizeof *to);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < d->out_w; j++)
            for (int64_t o = 0; o < d->out; o++)
                to[(i * d->width + j) * ld + o] = dy[(o * d->out_h + row + i) * d->out_w + j];
}

/* Taps k .. k+MR-1; sums has room for those beyond the last. */
static void add_sums(const struct qn_direct *d, const struct scratch *s, int64_t n, int64_t k,
                     float *sums)
{
    int64_t ld = round_up(d->out, LANES);

    for (int64_t o = 0; o < ld; o += NR) {
        int64_t nv = (ld - o < NR ? ld - o : NR) / LANES;

        (nv == 1   ? direct_sums_1
         : nv == 2 ? direct_sums_2
                   : direct_sums_3)(n, s->x, s->offset + k, s->y + o, ld, sums + o);
    }
}

void qn__direct_weights(const struct qn_direct *d, const float *x, const float *dy, float *sums,
                        void *scratch)
{
    struct scratch s = cut(d, scratch);
    int64_t ld = round_up(d->out, LANES);

    set_offsets(d, s.offset);
    for (int64_t row = 0; row < d->out_h; row += d->rows) {
        int64_t rows = d->out_h - row < d->rows ? d->out_h - row : d->rows, k = 0;

        load_x(d, x, row, s.x);
        turn_dy(d, dy, row, rows, s.y);
        for (; k < d->k; k += MR)
            add_sums(d, &s, rows * d->width, k, sums + k * ld);
    }
}
