/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h: what the .sample hooks of operators share: memory for shapes, lists of equal or varied
 * shapes. */
#ifndef ASSAY_OPS_SAMPLE_H
#define ASSAY_OPS_SAMPLE_H

#include "assay/case.h"

/* Largest magnitude of a range, infinities and NaN left out. */
double assay__range_magnitude(const struct assay_range *r);

/* A shape whose rows, along its last axis, are as long as those of networks: 16 to 65536 elements,
 * where `elements` and `rank` leave room for that. */
void assay__sample_rows(struct assay_sampler *s, int64_t elements, int rank, enum assay_dtype d,
                        struct assay_shape *x);

/* Gives input i room for n tensors, each with the range that the first one has ([-1, 1] if none).
 */
enum assay_status assay__sample_room(struct assay_sampler *s, struct assay_case *c, int i,
                                     int64_t n, struct assay_err *err);

/* Turns the first n_in inputs into lists of one length (at least min_len, at most 4) whose shapes
 * agree input by input; the shapes within a list are equal in half of the cases. */
enum assay_status assay__sample_lists(struct assay_sampler *s, struct assay_case *c, int n_in,
                                      int64_t min_len, struct assay_err *err);

/* A whole number from lo (at least 1) to hi, every ratio equally likely. */
int64_t assay__sample_ratio(struct assay_sampler *s, double lo, double hi);

/* An extent near `about`: of a prime or otherwise unaligned length, or of whole lines, as the case
 * asks for. */
int64_t assay__sample_extent(struct assay_sampler *s, double about, enum assay_dtype d);

/* Extents of a batch of products [m, k] x [k, n] with about s->elements elements in both factors
 * and at most ASSAY__MOST_PRODUCTS multiplications in all; k as the case asks for. */
enum { ASSAY__MOST_PRODUCTS = 300000000 };
void assay__sample_product(struct assay_sampler *s, int64_t batches, enum assay_dtype d, int64_t *m,
                           int64_t *n, int64_t *k);

/* A range of both signs for what values up to `most` are multiplied by, so that sums of `terms`
 * such products stay well inside dtype d, and are no smaller than a tenth for want of size. In
 * float32 they are near 10 at most: where larger ones cancel, no two honest sums agree to the
 * tolerance. */
struct assay_range assay__sample_factor(struct assay_sampler *s, double most, double terms,
                                        enum assay_dtype d);

/* Draws whether optional input i is there, in `share` of the cases; true where it is not. */
bool assay__sample_absent(struct assay_sampler *s, struct assay_case *c, int i, double share);

#endif
