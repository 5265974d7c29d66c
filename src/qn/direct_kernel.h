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

/* Rows of n floats. */
TARGET static void KERNEL(copy_rows)(int64_t rows, int64_t n, const float *from, int64_t from_ld,
                                     float *to, int64_t to_ld)
{
    if (n < LANES) {
        copy_short_rows(rows, n, from, from_ld, to, to_ld);
        return;
    }
    for (int64_t i = 0; i < rows; i++, from += from_ld, to += to_ld) {
        for (int64_t j = 0; j + LANES < n; j += LANES)
            *(KERNEL(vec) *)(void *)(to + j) = *(const KERNEL(vec) *)(const void *)(from + j);
        *(KERNEL(vec) *)(void *)(to + n - LANES) =
            *(const KERNEL(vec) *)(const void *)(from + n - LANES);
    }
}

/* Copy b of all channels. What is outside stays. */
static void KERNEL(load_columns)(const struct qn_direct *d, const float *x, int64_t row, int64_t b,
                                 float *to)
{
    int64_t at = d->apart ? b * d->dilation[1] : b, stride = d->stride[1];
    struct span s = columns(d, at);

    s.end = s.end < d->width ? s.end : d->width;
    for (int64_t a = 0; a < d->copies[0]; a++) {
        struct span r = block_rows(d, row, a);
        int64_t first = (row + r.begin) * d->stride[0] + a - d->top;
        const float *from = x + first * d->w + s.begin * stride + at - d->left;
        float *line = to + plane_at(d, 0, a, b) + r.begin * d->width + s.begin;

        for (int64_t c = 0; c < d->channels && r.begin < r.end; c++) {
            if (stride == 1)
                KERNEL(copy_rows)
            (r.end - r.begin, s.end - s.begin, from, d->stride[0] * d->w, line, d->width);
            else copy_strided_rows(r.end - r.begin, s.end - s.begin, from, d->stride, d->w, line,
                                   d->width);
            from += d->h * d->w;
            line += plane_at(d, 1, 0, 0);
        }
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
    for (int64_t o = 0; o < channels; o++, from += ld, y += d->out_h * d->out_w) {
        if (!add) {
            KERNEL(copy_rows)(rows, d->out_w, from, d->width, y, d->out_w);
            continue;
        }
        for (int64_t i = 0; i < rows; i++) {
            const float *restrict v = from + i * d->width;
            float *restrict line = y + i * d->out_w;

            for (int64_t j = 0; j < d->out_w; j++)
                line[j] += v[j];
        }
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
        fetch(g, p, p + nv * LANES, g->n);
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
    for (int64_t k = 0; k < g->k; k += ROWS) {
        fetch(g, k, k + ROWS, g->k);
        for (int64_t o = 0, nv; o < g->ld; o += nv * LANES) {
            nv = at_once((g->ld - o) / LANES);
            (nv == 3   ? KERNEL(sums_3)
             : nv == 2 ? KERNEL(sums_2)
                       : KERNEL(sums_1))(g, g->offset + k, x, dy + o, sums + k * g->ld + o);
        }
    }
}

#undef KERNEL
#undef TARGET
#undef LANES
#undef ROWS
