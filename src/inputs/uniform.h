/* SPDX-License-Identifier: Apache-2.0 */
/* uniform.h: one tensor from a range and a key; shared by the inputs and the poison. */
#ifndef ASSAY_INPUTS_UNIFORM_H
#define ASSAY_INPUTS_UNIFORM_H

#include "assay/case.h"

/*
 * Fills t (any dtype, data bound) with the values that struct assay_range describes. Floats: every
 * value lies in the range as the dtype sees it: at least lo, below hi unless hi is the only one;
 * ends beyond the dtype's largest finite values are cut to those. Integers and bool: the ends are
 * cut to the dtype; a NaN end gives [-1, 1]. Same bytes for any number of threads.
 */
void assay__uniform_fill(const struct assay_tensor *t, struct assay_range range,
                         struct assay_key key, int n_threads);

#endif
