/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quant_init.h: where a quantiser starts: beta = (5p/4)/q, alpha = 1/beta, thresholds from K-means.
 *
 * p is the largest |level|, q the largest |x| (of the channel, with scales per channel). Source:
 * Yang et al., "Quantization Networks", section 3.4; research on it found that the +-0.05 which the
 * paper puts around 0 leaves the zero of seven levels unused, so that it is an option here.
 */
#ifndef QN_QUANT_INIT_H
#define QN_QUANT_INIT_H

#include "qn/quant.h"

/* What becomes of the two thresholds around a level 0 that has neighbours on both sides. */
enum qn_middle {
    QN_MIDDLE_KMEANS, /* as clustered */
    QN_MIDDLE_005,    /* -0.05 and 0.05, in the scaled domain */
    QN_MIDDLE_TWN     /* -m and m with m = 0.7 mean|u| */
};

struct qn_start {
    bool fit;     /* alpha and beta from the values that levels stand for, instead of from the
                   * largest one, which says little about the others */
    bool uniform; /* thresholds half way between levels instead of K-means */
    enum qn_middle middle;
    double quantile;     /* q is this quantile of |x|: 1 the largest; in (0, 1] */
    bool skip_zeros;     /* zeros of activations take no part in the clustering */
    int64_t max_samples; /* values that are clustered, drawn evenly; 0: 65536 */
    uint64_t seed;
};

/* K-means, quantile 1, no fit. */
struct qn_start qn_start_default(uint64_t seed);

/*
 * Sets alpha, beta and thresholds of q from values x: those of the weights, or activations drawn
 * from training samples. Two levels {-a, a}: threshold 0. Fewer different values than levels:
 * thresholds half way between levels. A channel of zeros (one that ReLU never lets through) has the
 * scales of the channel with the largest values.
 *
 * ASSAY_INVALID: no values, one not finite, all 0, a quantile out of range;
 * ASSAY_NOMEM. arena: scratch, which the caller frees.
 */
enum assay_status qn_quant_start(struct qn_quant *q, const float *x, struct qn_view v,
                                 const struct qn_start *s, struct assay_arena *arena,
                                 struct assay_err *err);

/* ---- readings of the method ------------------------------------------------------------------ */

/*
 * Sets what c and s say about temperatures, clamp and thresholds; kind and levels of c must be set.
 *
 * "default": damped scales, thresholds of K-means. Weights: the true derivative, clamp with floor.
 * Activations: fitted scales, and the derivative of temperature 3, at which those of neighbouring
 * levels add up to about 1; with the true one they stop learning as the temperature rises.
 *
 * "paper": the true derivative everywhere, no clamp; -0.05 and 0.05 around the zero of weights.
 *
 * "released": the code of the authors: clamp at 10 with its floor, weights capped at 2000, binary
 * weights with the derivative at temperature 1 times the temperature; thresholds as in the paper.
 *
 * ASSAY_INVALID: another name.
 */
enum assay_status qn_preset(struct qn_quant_config *c, struct qn_start *s, const char *name,
                            bool activations, struct assay_err *err);

#endif
