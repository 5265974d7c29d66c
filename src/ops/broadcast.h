/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broadcast.h: tensors that repeat along the axes that another one has.
 *
 * Shapes are aligned at their last axes; an extent of 1, or an axis that is missing in front,
 * stands for any other extent. A walk gives what an input has at consecutive elements of the
 * output:
 *
 *     struct assay__broadcast b;
 *
 *     assay__broadcast_begin(&b, y, x);
 *     assay__broadcast_load(&b, at, n, v);    v[k] is what x has at element at + k of y
 */
#ifndef ASSAY_OPS_BROADCAST_H
#define ASSAY_OPS_BROADCAST_H

#include "assay/case.h"

/* The shape that n_in tensors have together; false: there is none. dtype and data of *out are left
 * alone. */
bool assay__broadcast_shape(struct assay_tensor *out, const struct assay_slot *in, int n_in);

/* One input seen from the output: axes that lie together in memory, or repeat together, are one. */
struct assay__broadcast {
    const struct assay_tensor *t;
    int rank;                     /* at least 1 */
    int64_t n[ASSAY_MAX_RANK];    /* extents, the innermost last */
    int64_t step[ASSAY_MAX_RANK]; /* elements from one to the next; 0 where the input repeats */
};
void assay__broadcast_begin(struct assay__broadcast *b, const struct assay_tensor *out,
                            const struct assay_tensor *in);
void assay__broadcast_load(const struct assay__broadcast *b, int64_t at, int64_t n, double *v);
void assay__broadcast_load_longs(const struct assay__broadcast *b, int64_t at, int64_t n,
                                 int64_t *v);

/* For operators of two inputs x1 and x2: .check (one dtype, shapes that go together), .infer, and
 * shapes for a case: equal ones, and all ways in which one repeats along axes of the other. */
enum assay_status assay__broadcast_check(const struct assay_args *a, struct assay_err *err);
enum assay_status assay__broadcast_infer(struct assay_args *a, struct assay_err *err);
enum assay_status assay__sample_broadcast(struct assay_sampler *s, struct assay_case *c,
                                          struct assay_err *err);

/* Whether a shape has one element. */
bool assay__is_one(const struct assay_shape *x);

/* .constraints of such operators */
#define ASSAY__BROADCAST_CONSTRAINTS                                                       \
    "x1 and x2 have the same dtype\n"                                                      \
    "shapes are aligned at their last axes: extents are equal, or one of the two is 1 or " \
    "missing\n"

#endif
