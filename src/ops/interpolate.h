/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpolate.h: what operators share that read a tensor between its elements: the neighbours of a
 * source coordinate and their weights, along one axis.
 *
 * The native reference has coordinates and weights in float32 whatever the dtype of the tensor is,
 * the golden in fp64. Both meet as long as nothing hinges on the last bits of a coordinate. Two
 * things do: which element is the nearest one, halfway between two, and whether a weight is exactly
 * 0 when the element that it belongs to is infinite (0 * Inf = NaN) or no number. Cases keep off
 * both by assay__coordinate_doubt().
 */
#ifndef ASSAY_OPS_INTERPOLATE_H
#define ASSAY_OPS_INTERPOLATE_H

#include "assay/op.h"

/* w_lo v[lo] + w_hi v[hi] */
struct assay__taps {
    int64_t lo, hi;
    double w_lo, w_hi;
};

/* v rounded to float32 in a native run; fast, for hot loops. */
static inline double assay__single(bool native, double v)
{
    return native ? (double)(float)v : v;
}

/* lo = floor(src), hi = lo + 1, wherever they lie. */
struct assay__taps assay__taps_at(bool native, double src);

/* Neighbours among 0 .. n-1: coordinates below 0 count as 0; from the last element on both are that
 * one, and their weights still add up to 1. */
struct assay__taps assay__taps_within(bool native, double src, int64_t n);

/* How far honest float32 arithmetic may be off a coordinate that is made of numbers up to
 * `magnitude`, with an ample margin. */
double assay__coordinate_doubt(double magnitude);

/* Whether t holds infinities or NaN, by a look at its beginning: the ranges that make them spread
 * them over the whole tensor. */
bool assay__holds_specials(const struct assay_tensor *t);

/* Leaves one of eight NaN in t; the others become values of [-1, 1). Where each result is made of
 * many elements, half of them NaN would leave next to no result that says anything. */
void assay__thin_nans(const struct assay_tensor *t, struct assay_key key, int n_threads);

#endif
