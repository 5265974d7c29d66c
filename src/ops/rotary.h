/* SPDX-License-Identifier: Apache-2.0 */
/* rotary.h: pairs of values that are rotated by the angle of a position, and the tables that hold
 * the cosines and sines of those angles. */
#ifndef ASSAY_OPS_ROTARY_H
#define ASSAY_OPS_ROTARY_H

#include "assay/op.h"

/* n pairs (x, y) = (a[k step], b[k step]) become (x cos[0][k] - y sin[0][k], y cos[1][k] + x
 * sin[1][k]). The native run rounds products to float32. */
void assay__rotate(const struct assay_args *args, int64_t n, double *a, double *b, int64_t step,
                   const double *const cos[2], const double *const sin[2]);

/* Tables with a row for each position of each sequence: `pairs` angles, `copies` times. */
struct assay__angles {
    const struct assay_tensor *cos, *sin;
    int64_t pairs, copies;
    int64_t length; /* positions of a sequence */
};

/*
 * Both tables become those of one angle, unless they are all the same or hold special values:
 * position p, pair i of n has the angle p base^(-i / n). Each sequence begins somewhere, as when it
 * goes on from what a cache holds; every fourth row has angles of no order, nor are its copies the
 * same.
 */
enum assay_status assay__fill_angles(const struct assay_args *a, const struct assay__angles *t,
                                     struct assay_key key, struct assay_err *err);

#endif
