/* SPDX-License-Identifier: Apache-2.0 */
/* The two rule sets, one table each; docs/correctness.md says why they differ. */
#include "compare/rules.h"

/* Thresholds of the published standard. Its harness sends dtypes without a row, bool among them,
 * to the row of fp32. */
/* clang-format off */
#define F16_LIMITS { 0x1p-10, 0x1p-11, 0x1p-16, 0x1p-5 }
#define BF16_LIMITS { 0x1p-7, 0x1p-8, 0x1p-16, 0x1p-3 }
#define F32_LIMITS { 0x1p-13, 0x1p-14, 0x1p-30, 0x1p-8 }
/* clang-format on */

static const struct assay__rules paper = {
    .limits = {
        [ASSAY_F64] = F32_LIMITS,
        [ASSAY_F32] = F32_LIMITS,
        [ASSAY_F16] = F16_LIMITS,
        [ASSAY_BF16] = BF16_LIMITS,
    },
    .fixed_dtype = true,
    .absent_fails = true,
    .exact_bool = true,
    .mean_decides = true,
    .errors_capped = true,
    .golden_regions = true,
    .bound_fails = true,
    .distinct = true,
    .all_outputs = true,
};

static const struct assay__rules upstream = {
    .limits = {
        [ASSAY_F64] = F32_LIMITS,
        [ASSAY_F32] = F32_LIMITS,
        [ASSAY_F16] = F16_LIMITS,
        [ASSAY_BF16] = BF16_LIMITS,
        [ASSAY_BOOL] = F32_LIMITS,
    },
    .int_wraps = true,
    .bit_nan = true,
    .through_f32 = true,
    .inf_saturates = true,
};

const struct assay__rules *assay__rules_of(enum assay_rules rules)
{
    return rules == ASSAY_RULES_UPSTREAM ? &upstream : &paper;
}
