/* SPDX-License-Identifier: Apache-2.0 */
/* resample.c: triangle filters along rows, then along columns. */
#include "qn/resample.h"

#include <math.h>
#include <string.h>

/* The weights along one side. */
struct taps {
    int64_t n, most;      /* values made; weights of each at most */
    const int64_t *first; /* [n] of the values read */
    const int64_t *count; /* [n] */
    const float *weight;  /* [n, most] */
};

/* Weights of value i of a side, into w; returns how many, from *first on. */
static int64_t one_value(double i, double step, int64_t box, int64_t *first, float *w, int64_t most)
{
    double middle = (i + 0.5) * step, reach = step > 1 ? step : 1, sum = 0;
    double low = floor(middle - reach + 0.5), high = ceil(middle + reach - 0.5);
    int64_t begin = low > 0 ? (int64_t)low : 0, end = high < (double)box ? (int64_t)high : box;
    int64_t n = end - begin < most ? end - begin : most;

    for (int64_t k = 0; k < n; k++) {
        double v = 1 - fabs((double)(begin + k) + 0.5 - middle) / reach;

        w[k] = (float)(v > 0 ? v : 0);
        sum += w[k];
    }
    for (int64_t k = 0; k < n; k++)
        w[k] = (float)(w[k] / sum);
    *first = begin;
    return n;
}

/* Values begin .. begin+n-1 of `full` made from `box`; they start at `offset` in the picture. */
static bool make_taps(struct taps *t, int64_t box, int64_t full, int64_t begin, int64_t n,
                      int64_t offset, struct assay_arena *room)
{
    double step = (double)box / (double)full;
    int64_t *first = assay_arena_array(room, (size_t)n, sizeof *first);
    int64_t *count = assay_arena_array(room, (size_t)n, sizeof *count);
    size_t n_weights;
    float *weight;

    *t = (struct taps){ .n = n, .most = 2 * (int64_t)ceil(step > 1 ? step : 1) + 1 };
    if (!assay_mul_size((size_t)n, (size_t)t->most, &n_weights))
        return false;
    weight = assay_arena_array(room, n_weights, sizeof *weight);
    if (!first || !count || !weight)
        return false;
    for (int64_t i = 0; i < n; i++) {
        count[i] =
            one_value((double)(begin + i), step, box, &first[i], weight + i * t->most, t->most);
        first[i] += offset;
    }
    t->first = first;
    t->count = count;
    t->weight = weight;
    return true;
}

/* One row of bytes to t->n floats. */
static void along_row(const struct taps *t, const uint8_t *row, float *out)
{
    for (int64_t i = 0; i < t->n; i++) {
        const float *w = t->weight + i * t->most;
        const uint8_t *v = row + t->first[i];
        float sum = 0;

        for (int64_t k = 0; k < t->count[i]; k++)
            sum += w[k] * (float)v[k];
        out[i] = sum;
    }
}

/* One row of the result, out of rows of w floats that begin with row `top` of the picture. */
static void across_rows(const struct taps *t, int64_t i, const float *rows, int64_t top, int64_t w,
                        float *out)
{
    const float *row = rows + (t->first[i] - top) * w;

    memset(out, 0, (size_t)w * sizeof *out);
    for (int64_t k = 0; k < t->count[i]; k++, row += w) {
        float f = t->weight[i * t->most + k];

        for (int64_t x = 0; x < w; x++)
            out[x] += f * row[x];
    }
}

float *qn__resample(const struct qn_picture *p, const struct qn__window *win,
                    struct assay_arena *room)
{
    struct taps down, across;
    int64_t top, n_rows;
    float *out, *rows;

    if (!make_taps(&down, win->box_h, win->full_h, win->y, win->h, win->box_y, room) ||
        !make_taps(&across, win->box_w, win->full_w, win->x, win->w, win->box_x, room))
        return NULL;
    top = down.first[0];
    n_rows = down.first[win->h - 1] + down.count[win->h - 1] - top;
    rows = assay_arena_array(room, (size_t)n_rows, (size_t)win->w * sizeof *rows);
    out = assay_arena_array(room, (size_t)(p->shape.c * win->h), (size_t)win->w * sizeof *out);
    if (!rows || !out)
        return NULL;
    for (int64_t c = 0; c < p->shape.c; c++) {
        const uint8_t *plane = p->pixels + c * p->shape.h * p->shape.w;

        for (int64_t y = 0; y < n_rows; y++)
            along_row(&across, plane + (top + y) * p->shape.w, rows + y * win->w);
        for (int64_t y = 0; y < win->h; y++)
            across_rows(&down, y, rows, top, win->w, out + (c * win->h + y) * win->w);
    }
    return out;
}
