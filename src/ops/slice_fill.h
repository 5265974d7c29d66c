/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_fill.h: inputs for operators that reduce along an axis.
 *
 * Values that are all alike average out: the sum of a few of them tells that of all, a slice looks
 * like its neighbour, and NaN here and there makes all results NaN. So each slice is rewritten by a
 * recipe of its own, which the operator draws: where it lies, how wide it spreads, and which few
 * elements outweigh the others.
 */
#ifndef ASSAY_OPS_SLICE_FILL_H
#define ASSAY_OPS_SLICE_FILL_H

#include "assay/op.h"

enum { ASSAY__SOME_MAX = 8 };

/* Smallest and largest finite value of a slice as it was drawn: lo < hi. */
struct assay__slice {
    int64_t n;
    double lo, hi;
};

/*
 * Each element x becomes c[0] + c[1] x: by `some` at the n_some places of at[], or, where period is
 * not 0, in the first half of each period (the first one begins `phase` elements before the slice);
 * by `most` elsewhere. Results should stay between lo and hi.
 */
struct assay__recipe {
    double most[2], some[2];
    int n_some;
    int64_t at[ASSAY__SOME_MAX];
    int64_t period, phase;
};

/* Draws go through s; *r is set to leave the slice as it is. */
typedef void (*assay__recipe_fn)(const void *ctx, struct assay_sampler *s,
                                 const struct assay__slice *slice, struct assay__recipe *r);

/*
 * Rewrites all slices of x along axis, except those of equal values. Infinities and NaN stay where
 * they are in one slice of eight; others keep one of them at a drawn place, or the negative
 * infinities, and about half have none left. Slices of less than four elements keep theirs.
 */
void assay__fill_slices(const struct assay_args *a, const struct assay_tensor *x, int axis,
                        struct assay_key key, assay__recipe_fn fn, const void *ctx);

/* Draws 1 to ASSAY__SOME_MAX places, at most a quarter of all; half of them near the ends, where
 * loops begin and end. */
void assay__draw_places(struct assay_sampler *s, int64_t n, struct assay__recipe *r);

/* Draws a period of 2 to n elements, every ratio equally likely, and its phase. */
void assay__draw_wave(struct assay_sampler *s, int64_t n, struct assay__recipe *r);

/*
 * For exponentials that are added up. A slice spreads over a part of the range it was drawn from,
 * and lies anywhere in it: where the range is wide, exponentials overflow or vanish unless the
 * maximum is taken off. Then
 *  - a few elements weigh as much as all others together, as far as the spread allows it; or
 *  - elements are high and low in turns of a drawn length, so that no regular choice among them has
 *    the sum of all; or
 *  - they stay uniform; some slices also keep their whole range, of which one element remains.
 */
void assay__softmax_recipe(const void *ctx, struct assay_sampler *s,
                           const struct assay__slice *slice, struct assay__recipe *r);

/* Widens the range of input 0 in cases of small values: where bfloat16 values are all alike,
 * results differ by less than its accuracy. */
void assay__sample_spread(struct assay_sampler *s, struct assay_case *c);

/* 2^e, e uniform between lo and hi. */
double assay__draw_power(struct assay_sampler *s, double lo, double hi);

/*
 * The recipe for what takes the mean of squares of a slice and adds *ctx to it, a double. Slices
 * differ in magnitude by powers of two. In some, a few elements hold most of the squares; in some,
 * elements are large and small in turns of a drawn length, so that no regular choice among them has
 * the sum of all; in some, the mean of squares is about as large as *ctx.
 */
void assay__recipe_squares(const void *ctx, struct assay_sampler *s,
                           const struct assay__slice *slice, struct assay__recipe *r);

#endif
