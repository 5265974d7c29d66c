/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.h: what "aligned" and "prime" mean, for the generator and for the proof of its rules. */
#ifndef ASSAY_CASES_SAMPLER_H
#define ASSAY_CASES_SAMPLER_H

#include "assay/case.h"

enum { ASSAY__LINE_BYTES = 512 };

bool assay__is_prime(int64_t n);
/* Whether an innermost extent is a multiple of 512 bytes. */
bool assay__is_aligned(int64_t extent, enum assay_dtype d);

#endif
