/* SPDX-License-Identifier: Apache-2.0 */
/* number.h: numbers as people write them. */
#ifndef ASSAY_SPEC_NUMBER_H
#define ASSAY_SPEC_NUMBER_H

#include "assay/memory.h"

/* Appends the shortest text that reads back as v; whole numbers below 1e15 without an exponent
 * (20, not 2e+01). Non-finite values: inf, -inf, nan. */
void assay__add_number(struct assay_text *t, double v);

#endif
