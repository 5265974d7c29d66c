/* SPDX-License-Identifier: Apache-2.0 */
/* Rule sets of the comparison: thresholds by dtype and what each set does differently. */
#ifndef ASSAY_COMPARE_RULES_H
#define ASSAY_COMPARE_RULES_H

#include "assay/judge.h"

struct assay__limits {
    double tau;       /* default bound of the mean relative error; integers: largest difference */
    double small;     /* |golden| below this is a small value */
    double small_err; /* absolute error that a small value may have */
    double cancel;    /* |golden| below this, and not small, may stem from cancellation */
};

struct assay__rules {
    struct assay__limits limits[ASSAY_N_DTYPES];
    bool fixed_dtype;    /* output dtypes must be the contract's */
    bool absent_fails;   /* an absent output fails the call, not only itself */
    bool exact_bool;     /* bools are compared byte by byte, else as 0.0 and 1.0 */
    bool int_wraps;      /* integer differences wrap at 2^63 */
    bool bit_nan;        /* where tau is 0, the bits of NaNs count too */
    bool through_f32;    /* goldens reach fp16 and bf16 by way of fp32, two roundings */
    bool inf_saturates;  /* an infinity on one side counts as the largest finite value */
    bool mean_decides;   /* a mean error of tau or more fails unless native shows the like */
    bool errors_capped;  /* errors of excused positions are bounded in size */
    bool golden_regions; /* regions depend on the golden alone */
    bool bound_fails;    /* a relative error of exactly 10 tau is a mismatch */
    bool distinct;       /* repeated indices are noticed */
    bool all_outputs;    /* those that the published harness leaves out are compared, too */
};

const struct assay__rules *assay__rules_of(enum assay_rules rules);

#endif
