/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h: copies that change the order of elements, or leave some out, and nothing else.
 *
 * The output is seen from the input: y[i0, i1, ..] = x[start + i0 step[0] + i1 step[1] + ..], y
 * row-major with the extents n[].
 */
#ifndef ASSAY_OPS_LAYOUT_H
#define ASSAY_OPS_LAYOUT_H

#include "assay/op.h"

struct assay__layout {
    int rank;
    int64_t start;
    int64_t n[ASSAY_MAX_RANK], step[ASSAY_MAX_RANK];
};

/* The same layout with as few axes as will do: those of one place left out, and those that run on
 * in each other taken together. At least one axis stays. */
void assay__layout_simplify(struct assay__layout *l);

/* Copies, in parallel, to a tensor of the same dtype, or of fp64 for a floating x. */
void assay__layout_copy(const struct assay_args *a, const struct assay_tensor *x,
                        const struct assay__layout *l, const struct assay_tensor *y);

/* For .tol of operators whose outputs are elements of their inputs: floats must agree bit by bit,
 * where the default would let one pass that went through a narrower type. -0 is not +0; a NaN is as
 * good as any other (rules "paper"), as the inputs hold only one. */
extern const struct assay_tol assay__exact[];
enum { ASSAY__N_EXACT = 3 };

#endif
