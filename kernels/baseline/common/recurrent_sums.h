/* SPDX-License-Identifier: Apache-2.0 */
/* recurrent_sums.h: a few rows of floats times the weights of some neighbouring units, all gates at
 * once. Weights are [gates units, k], gate by gate. */
#ifndef BASELINE_RECURRENT_SUMS_H
#define BASELINE_RECURRENT_SUMS_H

#include "recurrent.h"

/* As many as registers hold the sums of. */
#if defined(__AVX512F__)
enum { RECURRENT_ROWS = 6 };
#else
enum { RECURRENT_ROWS = 2 };
#endif

typedef float recurrent_sums[RECURRENT_ROWS][RECURRENT_GATES][RECURRENT_LANES];
typedef float recurrent_dots_of[RECURRENT_ROWS][RECURRENT_GATES];

/* Rows i .. of n that lie `stride` apart; those that are not there are the last one again. */
void recurrent_rows(const float *first, int64_t stride, int64_t i, int64_t n, const float **row);

/* Weights in panels of RECURRENT_LANES units, in their own dtype. */
int64_t recurrent_packed_bytes(const struct assay_view *w, int64_t gates);
void recurrent_pack(const struct assay_call *c, const struct assay_view *w, int64_t gates,
                    char *to);

struct recurrent_weights {
    const struct assay_view *w;
    int64_t gates;      /* 1, 3 or 4 */
    const char *packed; /* NULL: multiplied where they lie */
};

/* to[r][g] = bias[g] + row r of h times gate g of the panel that begins with `unit`, a multiple of
 * RECURRENT_LANES; without a bias, 0. */
void recurrent_multiply(const struct recurrent_weights *w, int64_t unit, const float *bias,
                        const float *const *h, recurrent_sums to);

/* One unit, of weights that are not packed. */
void recurrent_dots(int64_t gates, const struct assay_view *w, int64_t unit, const float *const *h,
                    recurrent_dots_of to);

#endif
