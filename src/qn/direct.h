/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct.h: convolutions without columns.
 *
 * A block of rows of the padded image lies in memory row behind row, `width` apart, where the
 * padding behind a row may be that in front of the next one. Then tap (c, i, j) of all output
 * positions p = row * width + column is one run of memory that starts at a fixed offset, so that
 * the convolution is a product whose second operand is read in place:
 *
 *     y[o][p] = sum_k weight[o][k] x[offset_k + p]
 *
 * at the price of positions between rows that nobody asked for. Where those would be many, as in
 * small images with large windows, each column j of the window has a copy of the rows of its own,
 * just out_w wide. With a stride the image is taken apart into as many images, of every second row
 * or column: within each, taps have stride 1. With stride 1 the gradient of the input is the same
 * with weights turned round; that of the weights is a sum over p of x[offset_k + p] dy[o][p].
 *
 * Products are registers full of fp32: 8 x 48 with AVX-512, 4 x 24 with AVX2, both with FMA and so
 * with the same bytes, 4 x 12 elsewhere.
 */
#ifndef QN_DIRECT_H
#define QN_DIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_direct_kernels;

/* One group of one image. Set the first part, qn__direct_plan() sets the rest. */
struct qn_direct {
    int64_t channels, h, w;    /* read */
    int64_t out, out_h, out_w; /* made */
    int64_t kernel[2], dilation[2], stride[2];
    int64_t top, left; /* padding; what is behind follows from out_h and out_w */

    int64_t k;                  /* channels * kernel */
    int64_t copies[2];          /* of a channel: phases of the stride down and across, or ... */
    bool apart;                 /* ... across one for each column of the window */
    int64_t width, rows, plane; /* padded row, output rows of a block, a channel of the block */
    size_t x_floats, y_floats;  /* of the scratch */
    const struct qn_direct_kernels *kernels;
};

/* The loops for the instruction sets of this machine, the best first; NULL past the last. */
const struct qn_direct_kernels *qn__direct_kernels(int i);
void qn__direct_plan(struct qn_direct *d);
/* Scratch of one thread, for runs and for weights. */
size_t qn__direct_scratch_bytes(const struct qn_direct *d);
/* Floats of packed weights, and of a gradient of weights in sums. */
size_t qn__direct_packed_floats(const struct qn_direct *d);
size_t qn__direct_sums_floats(const struct qn_direct *d);

/* Weight (o, c, tap t) at v[o * row + c * col + t], or with taps turned round. */
struct qn_direct_weights {
    const float *v;
    int64_t row, col;
    bool turned;
};

/* Packs the weights of eight output channels, tile 0 .. qn__direct_tiles()-1. */
int64_t qn__direct_tiles(const struct qn_direct *d);
void qn__direct_pack(const struct qn_direct *d, const struct qn_direct_weights *w, int64_t tile,
                     float *packed);
/* y [out, out_h, out_w] = the convolution of x [channels, h, w], or added to. */
void qn__direct_run(const struct qn_direct *d, const float *packed, const float *x, bool add,
                    float *y, void *scratch);
/* The same in pieces, of up to eight channels of some rows, without a place for all of it. */
struct qn_direct_piece {
    int64_t channel, channels, row, rows;
    const float *y; /* positions of channel `channel` + i at y + i * ld, rows behind each other */
    int64_t ld;
};
typedef void (*qn_direct_fn)(void *ctx, const struct qn_direct_piece *p);
/* Of 1x1 windows with stride 1 and no padding, where no position lies between rows. */
void qn__direct_pieces(const struct qn_direct *d, const float *packed, const float *x,
                       qn_direct_fn body, void *ctx, void *scratch);
/* sums += gradient of the weights for dy [out, out_h, out_w]; sums [k rounded up to 8][out rounded
 * up to 16] */
void qn__direct_weights(const struct qn_direct *d, const float *x, const float *dy, float *sums,
                        void *scratch);
/* dw [out, k] = n such sums, step floats apart, added up in their order; of sixteen output
 * channels, column 0 .. qn__direct_columns()-1. */
int64_t qn__direct_columns(const struct qn_direct *d);
void qn__direct_add(const struct qn_direct *d, const float *sums, int64_t n, int64_t step,
                    int64_t column, float *dw);

#endif
