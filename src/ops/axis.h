/* SPDX-License-Identifier: Apache-2.0 */
/* axis.h: what operators along one axis share: the attribute that names it, shapes drawn for it,
 * and what their inputs hold along a slice. */
#ifndef ASSAY_OPS_AXIS_H
#define ASSAY_OPS_AXIS_H

#include "assay/case.h"
#include "ops/slices.h"

/* The same elements where a scalar counts as a vector of one. */
struct assay_tensor assay__as_vector(const struct assay_tensor *t);

/* The axis that dim names, as assay_axis(); a scalar has the axis 0. */
int assay__dim(const struct assay_tensor *x, int64_t dim);
enum assay_status assay__check_dim(const struct assay_tensor *x, int64_t dim,
                                   struct assay_err *err);

/*
 * Draws the shape of input 0, an axis of it, and writes that into the attribute, from the front or
 * from the back. Slices hold a few elements at least, and in cases of ordinary values there are a
 * few of them: one slice has but one extreme, which a wrong kernel may hit.
 */
enum assay_status assay__sample_axis(struct assay_sampler *s, struct assay_case *c, int dim_attr,
                                     struct assay_err *err);

/* Slices of x along axis, and the number of the one in a lane of a panel. */
int64_t assay__n_slices(const struct assay_tensor *x, int axis);
int64_t assay__slice_of(const struct assay__panel *p, int lane);

/* A place among n for something that a kernel must not miss: the last one, in what is left over
 * behind full vectors, or anywhere. Uses draws 0 .. 2 of key. */
int64_t assay__draw_place(struct assay_key key, int64_t n);

#endif
