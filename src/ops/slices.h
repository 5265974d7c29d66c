/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.h: loops along one axis.
 *
 * A slice is what a tensor holds at one place of all other axes: n elements, `inner` apart. Slices
 * that lie side by side are worked on together, as a panel, so that memory is read in runs:
 *
 *     static void sum(void *ctx, const struct assay__panel *p)
 *     {
 *         double v[ASSAY__PANEL], acc[ASSAY__WIDTH] = { 0 };
 *
 *         for (int64_t k = 0, m; k < p->n; k += m) {
 *             m = assay__panel_steps(p, k);
 *             assay__panel_load(p, j->x, p->n, k, m, v);
 *             for (int64_t i = 0; i < m * p->width; i++)
 *                 acc[i % p->width] += v[i];
 *         }
 *         assay__panel_store(p, j->y, 1, 0, 1, acc);
 *     }
 *
 *     assay__panels(a, x, axis, sum, &job);
 */
#ifndef ASSAY_OPS_SLICES_H
#define ASSAY_OPS_SLICES_H

#include "assay/op.h"

enum { ASSAY__WIDTH = 32, ASSAY__PANEL = 1024 };

struct assay__panel {
    int64_t outer, lane; /* the place of the first slice: before the axis, behind it */
    int64_t n, inner;    /* elements of a slice, and how far apart */
    int width;           /* slices, 1 .. ASSAY__WIDTH */
};

typedef void (*assay__panel_fn)(void *ctx, const struct assay__panel *p);

/* Calls body once for each panel of x along axis, in parallel; which panels there are depends on
 * the shape alone. */
void assay__panels(const struct assay_args *a, const struct assay_tensor *x, int axis,
                   assay__panel_fn body, void *ctx);

/* How many steps from step k on a buffer of ASSAY__PANEL values takes. */
int64_t assay__panel_steps(const struct assay__panel *p, int64_t k);

/* Where step k of lane 0 lies in a tensor whose extent along the axis is n and whose other extents
 * are those of the panel's: y [outer, n, inner] for any n, 1 for what has one value a slice. */
int64_t assay__panel_at(const struct assay__panel *p, int64_t n, int64_t k);

/* Steps k .. k+m-1 of such a tensor as doubles, v[step * width + lane], and back. */
void assay__panel_load(const struct assay__panel *p, const struct assay_tensor *t, int64_t n,
                       int64_t k, int64_t m, double *v);
void assay__panel_store(const struct assay__panel *p, const struct assay_tensor *t, int64_t n,
                        int64_t k, int64_t m, const double *v);

/* The largest element of each slice of a panel of t; NaN wins, -Inf of none. */
void assay__panel_max(const struct assay__panel *p, const struct assay_tensor *t, double *max);

#endif
