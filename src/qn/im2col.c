/* SPDX-License-Identifier: Apache-2.0 */
/* im2col.c: copies along rows; what is outside is known before the inner loops. */
#include "qn/im2col.h"

#include "base/clones.h"

#include <string.h>

/* Columns low .. high-1 of the output read inside of a row when the tap lies at offset `at`. */
struct range {
    int64_t low, high;
};

static ASSAY__INLINE struct range inside(int64_t at, int64_t stride, int64_t extent, int64_t n)
{
    struct range r = { at >= 0 ? 0 : (-at + stride - 1) / stride,
                       at < extent ? (extent - 1 - at) / stride + 1 : 0 };

    r.low = r.low > n ? n : r.low;
    r.high = r.high > n ? n : r.high;
    r.high = r.high < r.low ? r.low : r.high;
    return r;
}

ASSAY__CLONES static void im2col_tap(const struct qn_windows *g, const float *restrict plane,
                                     int64_t ki, int64_t kj, int64_t row, int64_t rows,
                                     float *restrict col)
{
    int64_t at = kj * g->dilation[1] - g->left, stride = g->stride[1], n = g->out_w;
    struct range r = inside(at, stride, g->w, n);

    for (int64_t i = row; i < row + rows; i++, col += n) {
        int64_t from = i * g->stride[0] - g->top + ki * g->dilation[0];
        const float *x = plane + from * g->w + at;

        if (from < 0 || from >= g->h) {
            for (int64_t j = 0; j < n; j++)
                col[j] = 0;
            continue;
        }
        for (int64_t j = 0; j < r.low; j++)
            col[j] = 0;
        if (stride == 1)
            for (int64_t j = r.low; j < r.high; j++)
                col[j] = x[j];
        else
            for (int64_t j = r.low; j < r.high; j++)
                col[j] = x[j * stride];
        for (int64_t j = r.high; j < n; j++)
            col[j] = 0;
    }
}

ASSAY__CLONES static void col2im_tap(const struct qn_windows *g, const float *restrict col,
                                     int64_t ki, int64_t kj, int64_t row, int64_t rows,
                                     float *restrict plane)
{
    int64_t at = kj * g->dilation[1] - g->left, stride = g->stride[1], n = g->out_w;
    struct range r = inside(at, stride, g->w, n);

    for (int64_t i = row; i < row + rows; i++, col += n) {
        int64_t from = i * g->stride[0] - g->top + ki * g->dilation[0];
        float *x = plane + from * g->w + at;

        if (from < 0 || from >= g->h)
            continue;
        if (stride == 1)
            for (int64_t j = r.low; j < r.high; j++)
                x[j] += col[j];
        else
            for (int64_t j = r.low; j < r.high; j++)
                x[j * stride] += col[j];
    }
}

void qn__im2col(const struct qn_windows *g, const float *x, int64_t row, int64_t rows, float *col)
{
    for (int64_t c = 0; c < g->channels; c++)
        for (int64_t i = 0; i < g->kernel[0]; i++)
            for (int64_t j = 0; j < g->kernel[1]; j++, col += rows * g->out_w)
                im2col_tap(g, x + c * g->h * g->w, i, j, row, rows, col);
}

void qn__col2im_taps(const struct qn_windows *g, const float *col, int64_t ld, int64_t tap,
                     int64_t n, int64_t row, int64_t rows, float *dx)
{
    int64_t area = g->kernel[0] * g->kernel[1];

    for (int64_t k = tap; k < tap + n; k++, col += ld)
        col2im_tap(g, col, k % area / g->kernel[1], k % g->kernel[1], row, rows,
                   dx + k / area * g->h * g->w);
}

void qn__col2im(const struct qn_windows *g, const float *col, int64_t row, int64_t rows, float *dx)
{
    qn__col2im_taps(g, col, rows * g->out_w, 0, g->channels * g->kernel[0] * g->kernel[1], row,
                    rows, dx);
}
