/* SPDX-License-Identifier: Apache-2.0 */
/* index.h: walks over an index tensor and the tensor x that it points into along one axis. */
#ifndef BASELINE_INDEX_H
#define BASELINE_INDEX_H

#include <assay/kernel.h>

enum { BASELINE_AT = 1024 };

/*
 * The index is cut into units. Those of one lie at the same place of all axes but dim and the last;
 * a unit has one row for each step along dim, or a single one where dim is the last axis.
 */
struct baseline_index {
    int64_t units, rows, len; /* rows of a unit, elements of a row */
    int64_t row_step;         /* from row to row in the index */
    int64_t lane;             /* from neighbour to neighbour in x: 1, or 0 where dim is last */
    int64_t stride, extent;   /* in x, along dim: from step to step, and how many */
    int n_axes;               /* of the places of units, innermost first */
    int64_t shape[ASSAY_MAX_RANK], step[ASSAY_MAX_RANK], x_step[ASSAY_MAX_RANK];
};

/* False where a unit spans more of x than 32-bit numbers reach. */
bool baseline_index_init(struct baseline_index *g, const struct assay_view *index,
                         const struct assay_view *x, int64_t dim);

/* Where a unit begins in the index, and, at step 0, in x. */
void baseline_index_unit(const struct baseline_index *g, int64_t unit, int64_t *at, int64_t *x_at);

/* dst[k] = k lane + stride index[at + k] for 0 <= k < n <= BASELINE_AT: from where the unit begins
 * in x, as 32-bit numbers. */
void baseline_index_targets(const struct baseline_index *g, const struct assay_view *index,
                            int64_t at, int64_t n, int64_t stride, int32_t *dst);

/* Lanes to take at once, so that all steps of them stay in a cache. */
int64_t baseline_index_tile(const struct baseline_index *g, int64_t size);

#endif
