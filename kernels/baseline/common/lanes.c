/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.c: a few channels of a tensor as floats, point by point. */
#include "lanes.h"

#include "blocks.h"

/* Points and channels that do not fill a tile. */
static void take_part(const struct assay_view *v, int64_t at, int64_t pitch, int used, int64_t n,
                      float *to, int64_t width)
{
    float row[LANES][LANES];

    for (int k = 0; k < LANES; k++) {
        bool there = k < used;
        const float *x = there ? baseline_load(v, at + k * pitch, n, row[k]) : row[k];

        if (x != row[k])
            memcpy(row[k], x, (size_t)n * sizeof *x);
        for (int64_t i = there ? n : 0; i < LANES; i++)
            row[k][i] = 0.0f;
    }
    tile_turn(to, width, &row[0][0], LANES);
}

void lanes_take(const struct assay_view *v, int64_t at, int64_t pitch, int used, int64_t n,
                float *to, int64_t width)
{
    for (int64_t i = 0; i < n; i += LANES, at += LANES, to += LANES * width)
        if (n - i < LANES || used < LANES || v->dtype == ASSAY_BF16)
            take_part(v, at, pitch, used, n - i < LANES ? n - i : LANES, to, width);
        else if (v->dtype == ASSAY_F32)
            tile_turn(to, width, (const float *)v->data + at, pitch);
        else
            tile_turn_widen(to, width, (const uint16_t *)v->data + at, pitch);
}

static void put_part(const struct assay_view *v, int64_t at, int64_t pitch, int used, int64_t n,
                     const float *from, int64_t width)
{
    float row[LANES][LANES];

    tile_turn(&row[0][0], LANES, from, width);
    for (int k = 0; k < LANES && k < used; k++, at += pitch)
        if (v->dtype == ASSAY_F32)
            memcpy((float *)v->data + at, row[k], (size_t)n * sizeof *row[k]);
        else
            baseline_store(v, at, n, row[k]);
}

void lanes_put(const struct assay_view *v, int64_t at, int64_t pitch, int used, int64_t n,
               const float *from, int64_t width)
{
    for (int64_t i = 0; i < n; i += LANES, at += LANES, from += LANES * width)
        if (n - i < LANES || used < LANES || v->dtype == ASSAY_BF16)
            put_part(v, at, pitch, used, n - i < LANES ? n - i : LANES, from, width);
        else if (v->dtype == ASSAY_F32)
            tile_turn((float *)v->data + at, pitch, from, width);
        else
            tile_turn_narrow((uint16_t *)v->data + at, pitch, from, width);
}
