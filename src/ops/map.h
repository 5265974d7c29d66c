/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h: the loops and checks that operators share.
 *
 * Loops run block by block over doubles and in parallel. How they are split depends on the shapes
 * alone, so that the bits of a result do not depend on the number of threads.
 */
#ifndef ASSAY_OPS_MAP_H
#define ASSAY_OPS_MAP_H

#include "assay/op.h"

enum { ASSAY__BLOCK = 1024, ASSAY__MAP_MAX_IN = 4 };

/* One output element from the elements v[0], v[1], ... of the inputs at the same position. ctx
 * holds what is the same for all elements. */
typedef double (*assay__element_fn)(const struct assay_args *a, const void *ctx, const double *v);

/* out[0] = fn(in[0], .., in[n_in - 1]) for each element of each tensor (lists: tensor by tensor).
 * All inputs have the shape of the output; 1 <= n_in <= ASSAY__MAP_MAX_IN. */
enum assay_status assay__map(const struct assay_args *a, int n_in, assay__element_fn fn,
                             const void *ctx);

/*
 * Folds n values into one partial result; called once per block of a tensor.
 */
typedef double (*assay__fold_fn)(const struct assay_args *a, const void *ctx, const double *v,
                                 int64_t n);

/* Folds each block of t (ASSAY__BLOCK elements, the last one may be shorter) and writes the partial
 * results, in order, into an array from a->arena. */
enum assay_status assay__fold_blocks(const struct assay_args *a, const struct assay_tensor *t,
                                     assay__fold_fn fn, const void *ctx, double **partial,
                                     int64_t *n_partial, struct assay_err *err);

/* An attribute as the run at hand sees it: a scalar is a float32 number in the native run. */
double assay__scalar(const struct assay_args *a, int attr);

/* Elements of all tensors of a slot. */
double assay__elements(const struct assay_slot *s);

/* Gives list output i as many tensors as slot like has, of the same dtypes and shapes. */
enum assay_status assay__infer_list(struct assay_args *a, int i, const struct assay_slot *like,
                                    struct assay_err *err);

/* Makes n elements of t, at places drawn with the key, `weight` times as large beside all others:
 * by making those smaller where weight > 1, else the n. Values stay within the range that they had,
 * if it holds 0. */
void assay__weigh(const struct assay_tensor *t, int n, double weight, struct assay_key key,
                  int n_threads);

/* Of infinities and NaN in t, as the uniform fill puts them there, keeps about one in every 2 x
 * terms elements, and not quite none, and makes the others ordinary, so that sums over `terms`
 * elements have values in part. */
void assay__thin_specials(const struct assay_tensor *t, double terms, struct assay_key key,
                          int n_threads);

/* The logistic function in the steps of the published formula, each rounded in the native run. */
double assay__sigmoid(const struct assay_args *a, double x);

/* x sigmoid(x), the same. */
double assay__silu(const struct assay_args *a, double x);

#endif
