/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h: values that are multiplied by a gate, silu of other ones, and the scales that both are
 * dequantised by. */
#ifndef ASSAY_OPS_GATE_H
#define ASSAY_OPS_GATE_H

#include "assay/case.h"

/* v[k] = silu(gate[k]) v[k]; the native run rounds to float32. */
void assay__gate(const struct assay_args *a, int64_t n, const double *gate, double *v);

/*
 * Ranges of scales of columns and of tokens such that integers up to `most` are dequantised to
 * values that gates make a difference at. Weights of either sign or positive, as calibration leaves
 * them.
 */
void assay__gate_sample_scales(struct assay_sampler *s, double most, struct assay_range *weight,
                               struct assay_range *token);

/* A factor that makes the largest gated value of values up to `most` about as large as what the
 * floor of their scale decides over: silu(z) z is z^2 / 2 for small z. */
double assay__gate_floor(struct assay_sampler *s, double floor, double most);

/* Scales differ by powers of two; a few tokens are 0, and of a few the floor decides (unless it is
 * 0), where dequantised values are up to `most` times the token's scale. */
void assay__gate_spread_scales(const struct assay_tensor *weight, const struct assay_tensor *token,
                               struct assay_key key, double floor, double most);

#endif
