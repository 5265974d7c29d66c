/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h: what the .sample hooks of operators share: memory for shapes, lists of equal or varied
 * shapes. */
#ifndef ASSAY_OPS_SAMPLE_H
#define ASSAY_OPS_SAMPLE_H

#include "assay/case.h"

/* Largest magnitude of a range, infinities and NaN left out. */
double assay__range_magnitude(const struct assay_range *r);

/* Two significant digits, as a person would write them. */
double assay__round_figure(double v);

/* Gives input i room for n tensors, each with the range that the first one has ([-1, 1] if none).
 */
enum assay_status assay__sample_room(struct assay_sampler *s, struct assay_case *c, int i,
                                     int64_t n, struct assay_err *err);

/* Turns the first n_in inputs into lists of one length (at least min_len, at most 4) whose shapes
 * agree input by input; the shapes within a list are equal in half of the cases. */
enum assay_status assay__sample_lists(struct assay_sampler *s, struct assay_case *c, int n_in,
                                      int64_t min_len, struct assay_err *err);

#endif
