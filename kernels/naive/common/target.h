/* SPDX-License-Identifier: Apache-2.0 */
/* target.h: where an element of an index tensor points at. */
#ifndef NAIVE_TARGET_H
#define NAIVE_TARGET_H

#include "elem.h"

/* Element i of the index, in x: at the same position but for dim, where the index says which. */
static inline int64_t target_of(const struct assay_view *index, int64_t i,
                                const struct assay_view *x, int64_t dim)
{
    int64_t value = elem_get_int(index, i), at = 0, stride = 1;

    for (int d = x->rank - 1; d >= 0; d--) {
        at += (d == dim ? value : i % index->shape[d]) * stride;
        i /= index->shape[d];
        stride *= x->shape[d];
    }
    return at;
}

#endif
