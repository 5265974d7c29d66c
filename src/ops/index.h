/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h: integer tensors that say where to read or write: their exact values, the check that all
 * are in range, what they point at, and how they are drawn.
 *
 * Where an index tensor and the tensor x that it points into have the same rank, the extents of the
 * index may be smaller than those of x on every axis but the one that it counts along.
 */
#ifndef ASSAY_OPS_INDEX_H
#define ASSAY_OPS_INDEX_H

#include "assay/op.h"
#include "ops/slices.h"

/* ---- values ---------------------------------------------------------------------------------- */

/* As assay__panel_load(), for integers. */
void assay__panel_ints(const struct assay__panel *p, const struct assay_tensor *t, int64_t n,
                       int64_t k, int64_t m, int64_t *v);

/* dst[i] = x[at[i]] for elements of `size` bytes, 1, 2, 4 or 8. */
void assay__pick(void *dst, const void *x, const int64_t *at, int64_t n, size_t size);

/* Row i of y = row index[i] of x, in parallel; rows are what lies behind the first axis. y has the
 * dtype of x, or fp64 for a floating x. */
void assay__pick_rows(const struct assay_args *a, const struct assay_tensor *x,
                      const struct assay_tensor *index, const struct assay_tensor *y);

/* ---- checks ---------------------------------------------------------------------------------- */

/* Same rank, and no extent of the index larger than that of x but along axis. */
enum assay_status assay__index_fits(const struct assay_tensor *index, const char *name,
                                    const struct assay_tensor *x, const char *of, int axis,
                                    struct assay_err *err);

/* Every element lies in 0 .. n-1; the error names the first that does not. */
enum assay_status assay__index_check(const struct assay_tensor *t, const char *name, int64_t n,
                                     int n_threads, struct assay_err *err);
/* Every element lies in lo .. n-1. */
enum assay_status assay__index_check_from(const struct assay_tensor *t, const char *name,
                                          int64_t lo, int64_t n, int n_threads,
                                          struct assay_err *err);

/* ---- what they point at ---------------------------------------------------------------------- */

/* Lane i of a panel of the index along axis counts from at[i] of x on, in steps of *stride. */
void assay__index_lanes(const struct assay__panel *p, const struct assay_tensor *index,
                        const struct assay_tensor *x, int axis, int64_t at[ASSAY__WIDTH],
                        int64_t *stride);

/* A panel, and a part of the range that its values may have: what falls into it can be collected in
 * a small buffer. */
struct assay__window {
    struct assay__panel p;
    int64_t first, n;
};

typedef void (*assay__window_fn)(void *ctx, const struct assay__window *w);

/* Calls body for each panel of t along axis and each window of 0 .. extent-1, in parallel; n times
 * the width of the panel is at most `room`. */
void assay__windows(const struct assay_args *a, const struct assay_tensor *t, int axis,
                    int64_t extent, int64_t room, assay__window_fn body, void *ctx);

/* ---- drawing --------------------------------------------------------------------------------- */

/* Shapes for a case: x, and `copies` tensors of the shape of an index that has about `share` of the
 * extent of x along an axis, which is returned, and in one case of four less along another one. The
 * index tells `reach` values apart: if there is an axis that is no longer, it is that. */
int assay__index_sample(struct assay_sampler *s, enum assay_dtype d, int copies, double share,
                        double reach, struct assay_shape *x, struct assay_shape *index);

enum assay__index_kind {
    ASSAY__INDEX_UNIFORM,  /* as the uniform fill left them */
    ASSAY__INDEX_SKEWED,   /* the k-th most frequent value about 1 / k as often as the first */
    ASSAY__INDEX_BLOCKS,   /* whole rows, or runs of consecutive values along the axis */
    ASSAY__INDEX_REPEATS,  /* runs of one value along the axis */
    ASSAY__INDEX_SORTED,   /* ascending along the axis, dense at first, with gaps later */
    ASSAY__INDEX_DISTINCT, /* no value twice along the axis, in any order */
    ASSAY__N_INDEX_KINDS
};

struct assay__index_draw {
    enum assay__index_kind kind;
    int axis;
    int64_t lo, hi;  /* values, both included */
    int64_t longest; /* runs of one value; 0: up to 32 */
    struct assay_key key;
    int n_threads;
};

/* The kind that a tensor gets, out of a set of bits 1 << kind. It depends on the shape alone, so
 * that all draws of a case take about the same time. */
enum assay__index_kind assay__index_kind_of(const struct assay_tensor *t, int64_t n,
                                            unsigned kinds);

/* The range that input i of a has in its case, cut to 0 .. n-1. */
void assay__index_range(const struct assay_args *a, int i, int64_t n, int64_t *lo, int64_t *hi);

/* Rewrites t, which holds uniform values from lo to hi; both ends occur afterwards. */
void assay__index_fill(const struct assay_tensor *t, const struct assay__index_draw *d);

#endif
