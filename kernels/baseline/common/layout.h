/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h: copies that change the order of elements, or leave some out. */
#ifndef BASELINE_LAYOUT_H
#define BASELINE_LAYOUT_H

#include <assay/kernel.h>

/* y[i0, i1, ..] = x[start + i0 step[0] + i1 step[1] + ..], y row-major with extents n[]. */
struct baseline_layout {
    int rank;
    int64_t start;
    int64_t n[ASSAY_MAX_RANK], step[ASSAY_MAX_RANK];
};

/* Copies to y, which has the dtype of x; all steps are positive. */
void baseline_layout_copy(const struct assay_call *c, const struct assay_view *y,
                          const struct assay_view *x, const struct baseline_layout *l);

#endif
