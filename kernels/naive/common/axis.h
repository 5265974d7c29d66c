/* SPDX-License-Identifier: Apache-2.0 */
/* axis.h: tensors as seen along one axis. */
#ifndef NAIVE_AXIS_H
#define NAIVE_AXIS_H

#include <assay/kernel.h>

/* outer x n x inner: element k of a slice lies at (o * n + k) * inner + i. */
struct axis_split {
    int64_t outer, n, inner;
};

static inline struct axis_split axis_of(const struct assay_view *v, int64_t dim)
{
    struct axis_split a = { 1, 1, 1 };

    if (dim < 0)
        dim += v->rank;
    for (int d = 0; d < v->rank; d++)
        if (d < dim)
            a.outer *= v->shape[d];
        else if (d == dim)
            a.n = v->shape[d];
        else
            a.inner *= v->shape[d];
    return a;
}

#endif
