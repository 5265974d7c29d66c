/* SPDX-License-Identifier: Apache-2.0 */
/* adaptive_avg_pool_3d: the mean of each box. */
#include <assay/adaptive_avg_pool_3d.h>

#include "elem.h"

/* Box i of n over m elements: begin <= e < end. */
static int64_t begin_of(int64_t i, int64_t m, int64_t n)
{
    return i * m / n;
}

static int64_t end_of(int64_t i, int64_t m, int64_t n)
{
    return ((i + 1) * m + n - 1) / n;
}

static double mean(const struct assay_view *x, int64_t plane, const int64_t *at, const int64_t *to)
{
    const int64_t *m = x->shape + 2;
    double sum = 0, n = 1;

    for (int k = 0; k < 3; k++)
        n *= (double)(end_of(at[k], m[k], to[k]) - begin_of(at[k], m[k], to[k]));
    for (int64_t d = begin_of(at[0], m[0], to[0]); d < end_of(at[0], m[0], to[0]); d++)
        for (int64_t h = begin_of(at[1], m[1], to[1]); h < end_of(at[1], m[1], to[1]); h++) {
            int64_t first = begin_of(at[2], m[2], to[2]), last = end_of(at[2], m[2], to[2]);
            int64_t row = ((plane * m[0] + d) * m[1] + h) * m[2];

            for (int64_t w = first; w < last; w++)
                sum += elem_get(x, row + w);
        }
    return sum / n;
}

int assay_adaptive_avg_pool_3d(const struct assay_call *c)
{
    const struct assay_view *x = c->in[ADAPTIVE_AVG_POOL_3D_X].view;
    const struct assay_view *y = c->out[ADAPTIVE_AVG_POOL_3D_Y].view;
    const int64_t *to = y->shape + 2;
    int64_t i = 0, at[3];

    for (int64_t plane = 0; plane < y->shape[0] * y->shape[1]; plane++)
        for (at[0] = 0; at[0] < to[0]; at[0]++)
            for (at[1] = 0; at[1] < to[1]; at[1]++)
                for (at[2] = 0; at[2] < to[2]; at[2]++)
                    elem_put(y, i++, mean(x, plane, at, to));
    return 0;
}
