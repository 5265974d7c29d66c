/* SPDX-License-Identifier: Apache-2.0 */
/* axis.h: a tensor along one axis: element k of a slice lies at (outer * n + k) * inner + lane. */
#ifndef BASELINE_AXIS_H
#define BASELINE_AXIS_H

#include <assay/kernel.h>

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
