/* SPDX-License-Identifier: Apache-2.0 */
/* conv_sample.h: attributes and cases of convolutions. */
#ifndef ASSAY_OPS_CONV_SAMPLE_H
#define ASSAY_OPS_CONV_SAMPLE_H

#include "ops/conv.h"

/* Refuses a list of ints that has not n entries. */
enum assay_status assay__conv_count(const struct assay_attr *attr, const struct assay_value *v,
                                    int64_t n, struct assay_err *err);

/* Draws kernel, stride, dilation and the kind of padding of 2 or 3 axes; all else is set to 1. */
void assay__conv_sample_kernel(struct assay_sampler *s, int axes, struct assay__conv *g);

/* Once the extents of x are there: makes kernels smaller that are too large for them, sets the
 * padding and the extents of the output. */
void assay__conv_sample_fit(struct assay__conv *g, int axes);

/* Draws x, of about s->elements, once the kernel is drawn. */
void assay__conv_sample_images(struct assay_sampler *s, enum assay_dtype d, int axes,
                               struct assay__conv *g);

/* Draws kernels, and extents of x and of the outputs'
 * channels: about s->elements in x and kernels together, and not too many multiplications. One
 * group. */
void assay__conv_sample(struct assay_sampler *s, enum assay_dtype d, int axes,
                        struct assay__conv *g, int64_t *outputs);

/* Bias as large as a product of x and filter, and no smaller than 1: next to products that are much
 * larger it would be lost, but for the few sums of which nothing else is left. */
struct assay_range assay__conv_bias(const struct assay_range *x, const struct assay_range *filter,
                                    enum assay_dtype d);

/* Near the largest numbers sums that happen to cancel are no small ones, and one of them decides
 * over a kernel: there all values of the n inputs have one sign. Float16 is not so wide. */
void assay__conv_one_sign(struct assay_case *c, int n);

/* The last `axes` of the three values at v as a list, each `times` times over. */
enum assay_status assay__conv_ints(struct assay_sampler *s, struct assay_value *to,
                                   const int64_t v[ASSAY__CONV_AXES], int axes, int times,
                                   struct assay_err *err);

#endif
