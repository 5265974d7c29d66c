/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast.h: where an input that repeats has what belongs to an element of the output. */
#ifndef NAIVE_BROADCAST_H
#define NAIVE_BROADCAST_H

#include <assay/kernel.h>

/* Position in x that belongs to element i of y. Shapes are aligned at their last axes; an axis of x
 * that is missing, or of extent 1, repeats. */
static inline int64_t broadcast_at(const struct assay_view *x, const struct assay_view *y,
                                   int64_t i)
{
    int64_t at = 0, stride = 1;

    for (int d = y->rank - 1, own = x->rank - 1; own >= 0; d--, own--) {
        if (x->shape[own] != 1)
            at += i % y->shape[d] * stride;
        stride *= x->shape[own];
        i /= y->shape[d];
    }
    return at;
}

#endif
