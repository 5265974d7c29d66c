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

/* ---- forward --------------------------------------------------------------------------------- */

/* y[m][p] of ROWS rows and nv vectors of positions; nv is a constant where it is called. */
TARGET static ASSAY__INLINE void KERNEL(tile)(const struct product *g, const float *w,
                                              const float *x, float *y, int nv)
{
    KERNEL(vec) acc[ROWS][NV] = { { { 0 } } };

    for (int64_t s = 0; s < g->k; s++, w += MR) {
        const float *at = x + g->offset[s];
        KERNEL(vec) b[NV];

#pragma GCC unroll 3
        for (int v = 0; v < nv; v++)
            b[v] = *(const KERNEL(vec) *)(const void *)(at + v * LANES);
#pragma GCC unroll 8
        for (int m = 0; m < ROWS; m++)
#pragma GCC unroll 3
            for (int v = 0; v < nv; v++)
                acc[m][v] += w[m] * b[v];
    }
#pragma GCC unroll 8
    for (int m = 0; m < ROWS; m++)
#pragma GCC unroll 3
        for (int v = 0; v < nv; v++)
            *(KERNEL(vec) *)(void *)(y + m * g->ld + v * LANES) = acc[m][v];
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
    for (int64_t p = 0; p < g->n; p += NV * LANES)
        for (int m = 0; m < MR; m += ROWS) {
            float *to = y + m * g->ld + p;

            if (g->n - p > 2 * LANES)
                KERNEL(tile_3)(g, w + m, x + p, to);
            else if (g->n - p > LANES)
                KERNEL(tile_2)(g, w + m, x + p, to);
            else
                KERNEL(tile_1)(g, w + m, x + p, to);
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

#pragma GCC unroll 3
            for (int v = 0; v < nv; v++)
                b[v] = *(const KERNEL(vec) *)(const void *)(dy + v * LANES);
#pragma GCC unroll 8
            for (int m = 0; m < ROWS; m++)
#pragma GCC unroll 3
                for (int v = 0; v < nv; v++)
                    acc[m][v] += x[offset[m] + p] * b[v];
        }
#pragma GCC unroll 8
    for (int m = 0; m < ROWS; m++)
#pragma GCC unroll 3
        for (int v = 0; v < nv; v++) {
            KERNEL(vec) *to = (KERNEL(vec) *)(void *)(sums + m * g->ld + v * LANES);

            *to += acc[m][v];
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
        for (int64_t o = 0; o < g->ld; o += NV * LANES) {
            float *to = sums + k * g->ld + o;

            if (g->ld - o > 2 * LANES)
                KERNEL(sums_3)(g, g->offset + k, x, dy + o, to);
            else if (g->ld - o > LANES)
                KERNEL(sums_2)(g, g->offset + k, x, dy + o, to);
            else
                KERNEL(sums_1)(g, g->offset + k, x, dy + o, to);
        }
}

#undef KERNEL
#undef TARGET
#undef LANES
#undef ROWS
