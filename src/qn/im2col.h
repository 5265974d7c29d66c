/* SPDX-License-Identifier: Apache-2.0 */
/* im2col.h: the windows of a convolution as columns of a matrix, a block of output rows at a time.
 */
#ifndef QN_IM2COL_H
#define QN_IM2COL_H

#include <stdint.h>

/* One image (or the channels of a group of it) and the windows over it. */
struct qn_windows {
    int64_t channels, h, w; /* of the input */
    int64_t out_h, out_w;
    int64_t kernel[2], stride[2], dilation[2];
    int64_t top, left; /* padding */
};

/*
 * Output rows row .. row+rows-1 of image x [channels, h, w] into col
 * [channels * kernel_h * kernel_w, rows * out_w]; 0 where a window is outside.
 */
void qn__im2col(const struct qn_windows *g, const float *x, int64_t row, int64_t rows, float *col);
/* Adds the same columns back into dx. */
void qn__col2im(const struct qn_windows *g, const float *col, int64_t row, int64_t rows, float *dx);
/* The same for n rows of col from `tap` on, ld apart; dx is still the image. */
void qn__col2im_taps(const struct qn_windows *g, const float *col, int64_t ld, int64_t tap,
                     int64_t n, int64_t row, int64_t rows, float *dx);

#endif
