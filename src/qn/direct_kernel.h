/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct_kernel.h: the loops of direct.c for one instruction set. Not a header of its own: direct.c
 * includes it once for each, with
 *
 *     KERNEL(name)  the name it gets there
 *     TARGET        the attribute of its functions
 *     LANES         floats of a vector: 4, 8 or 16
 *     ROWS          rows of a tile in registers, 4 or 8: of ROWS x 3 vectors with 3 beside them
 *
 * The order of sums is the same in all of them.
 */

typedef float KERNEL(vec) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* ---- the block ------------------------------------------------------------------------------- */

TARGET static ASSAY__INLINE void KERNEL(copy)(int64_t n, const float *from, float *to)
{
    int64_t j = 0;

    if (n < LANES) {
        copy_short(n, from, to);
        return;
    }
    for (; j + LANES <= n; j += LANES)
        *(KERNEL(vec) *)(void *)(to + j) = *(const KERNEL(vec) *)(const void *)(from + j);
    if (j < n) /* once more, what is there already */
        *(KERNEL(vec) *)(void *)(to + n - LANES) =
            *(const KERNEL(vec) *)(const void *)(from + n - LANES);
}

/* Copy b of all channels. What is outside stays. */
TARGET static void KERNEL(load_columns)(const struct qn_direct *d, const float *x, int64_t row,
                                        int64_t b, float *to)
{
    int64_t at = d->apart ? b * d->dilation[1] : b, height = d->plane / d->width;
    struct span s = columns(d, at);

    s.end = s.end < d->width ? s.end : d->width;
    for (int64_t c = 0; c < d->channels; c++)
        for (int64_t a = 0; a < d->copies[0]; a++)
            for (int64_t i = 0; i < height; i++) {
                int64_t from = (row + i) * d->stride[0] + a - d->top;
                const float *v = x + (c * d->h + from) * d->w + at - d->left;
                float *line = to + plane_at(d, c, a, b) + i * d->width + s.begin;

                v += s.begin * d->stride[1];
                if (from < 0 || from >= d->h)
                    continue;
                if (d->stride[1] == 1)
                    KERNEL(copy)(s.end - s.begin, v, line);
                else if (d->stride[1] == 2)
                    copy_second(s.end - s.begin, v, line);
                else
                    copy_strided(s.end - s.begin, v, d->stride[1], line);
            }
}

/* Rows of the padded image that output rows from `row` on read; 0 outside, and behind the end. */
static void KERNEL(load)(const struct qn_direct *d, const float *x, int64_t row, float *to)
{
    memset(to, 0, d->x_floats * sizeof *to);
    for (int64_t b = 0; b < d->copies[1]; b++)
        KERNEL(load_columns)(d, x, row, b, to);
}

/* Rows of results from between their neighbours that nobody asked for. */
TARGET static void KERNEL(store)(const struct qn_direct *d, const float *from, int64_t ld,
                                 int64_t channels, int64_t rows, bool add, float *y)
{
    for (int64_t o = 0; o < channels; o++)
        for (int64_t i = 0; i < rows; i++) {
            const float *restrict v = from + o * ld + i * d->width;
            float *restrict to = y + (o * d->out_h + i) * d->out_w;

            if (add)
                for (int64_t j = 0; j < d->out_w; j++)
                    to[j] += v[j];
            else
                KERNEL(copy)(d->out_w, v, to);
        }
}

/* ---- forward --------------------------------------------------------------------------------- */

/* y[m][p] of ROWS rows and nv vectors of positions; nv is a constant where it is called. */
TARGET static ASSAY__INLINE void KERNEL(tile)(const struct product *g, const float *w,
                                              const float *x, float *y, int nv)
{
    KERNEL(vec) acc[ROWS][NV] = { { { 0 } } };

    for (int64_t s = 0; s < g->k; s++, w += MR) {
        const float *at = x + g->offset[s];
        KERNEL(vec) b[NV];

        ASSAY__UNROLL
        for (int v = 0; v < nv; v++)
            b[v] = *(const KERNEL(vec) *)(const void *)(at + v * LANES);
        ASSAY__UNROLL
        for (int m = 0; m < ROWS; m++) {
            ASSAY__UNROLL
            for (int v = 0; v < nv; v++)
                acc[m][v] += w[m] * b[v];
        }
    }
    ASSAY__UNROLL
    for (int m = 0; m < ROWS; m++) {
        ASSAY__UNROLL
        for (int v = 0; v < nv; v++)
            *(KERNEL(vec) *)(void *)(y + m * g->ld + v * LANES) = acc[m][v];
    }
}

TARGET static void KERNEL(tile_1)(const struct product *g, const float *w, const float *x, float *y)
{
    KERNEL(tile)(g, w, x, y, 1);
}

TARGET static void KERNEL(tile_2)(const struct product *g, const float *w, const float *x, float *y)
{
    KERNEL(tile)(g, w, x, y, 2);
}

TARGET static void KERNEL(tile_3)(const struct product *g, const float *w, const float *x, float *y)
{
    KERNEL(tile)(g, w, x, y, 3);
}

/* Eight rows of n positions, rounded up to LANES. */
static void KERNEL(rows)(const struct product *g, const float *w, const float *x, float *y)
{
    for (int64_t p = 0, nv; p < g->n; p += nv * LANES) {
        nv = at_once((g->n - p + LANES - 1) / LANES);
        for (int m = 0; m < MR; m += ROWS)
            (nv == 3   ? KERNEL(tile_3)
             : nv == 2 ? KERNEL(tile_2)
                       : KERNEL(tile_1))(g, w + m, x + p, y + m * g->ld + p);
    }
}

/* ---- gradient of the weights ----------------------------------------------------------------- */

/* sums[tap][o] += sum_p x[offset_tap + p] dy[p][o] for ROWS taps and nv vectors of o. */
TARGET static ASSAY__INLINE void KERNEL(sums)(const struct product *g, const int64_t *offset,
                                              const float *x, const float *dy, float *sums, int nv)
{
    KERNEL(vec) acc[ROWS][NV] = { { { 0 } } };

    for (int64_t i = 0; i < g->lines; i++, x += g->line)
        for (int64_t p = 0; p < g->n; p++, dy += g->ld) {
            KERNEL(vec) b[NV];

            ASSAY__UNROLL
            for (int v = 0; v < nv; v++)
                b[v] = *(const KERNEL(vec) *)(const void *)(dy + v * LANES);
            ASSAY__UNROLL
            for (int m = 0; m < ROWS; m++) {
                ASSAY__UNROLL
                for (int v = 0; v < nv; v++)
                    acc[m][v] += x[offset[m] + p] * b[v];
            }
        }
    ASSAY__UNROLL
    for (int m = 0; m < ROWS; m++) {
        ASSAY__UNROLL
        for (int v = 0; v < nv; v++) {
            KERNEL(vec) *to = (KERNEL(vec) *)(void *)(sums + m * g->ld + v * LANES);

            *to += acc[m][v];
        }
    }
}

TARGET static void KERNEL(sums_1)(const struct product *g, const int64_t *offset, const float *x,
                                  const float *dy, float *sums)
{
    KERNEL(sums)(g, offset, x, dy, sums, 1);
}

TARGET static void KERNEL(sums_2)(const struct product *g, const int64_t *offset, const float *x,
                                  const float *dy, float *sums)
{
    KERNEL(sums)(g, offset, x, dy, sums, 2);
}

TARGET static void KERNEL(sums_3)(const struct product *g, const int64_t *offset, const float *x,
                                  const float *dy, float *sums)
{
    KERNEL(sums)(g, offset, x, dy, sums, 3);
}

/* All taps and all o of a block. */
static void KERNEL(taps)(const struct product *g, const float *x, const float *dy, float *sums)
{
    for (int64_t k = 0; k < g->k; k += ROWS)
        for (int64_t o = 0, nv; o < g->ld; o += nv * LANES) {
            nv = at_once((g->ld - o) / LANES);
            (nv == 3   ? KERNEL(sums_3)
             : nv == 2 ? KERNEL(sums_2)
                       : KERNEL(sums_1))(g, g->offset + k, x, dy + o, sums + k * g->ld + o);
        }
}

#undef KERNEL
#undef TARGET
#undef LANES
#undef ROWS
