/* SPDX-License-Identifier: Apache-2.0 */
/* philox.h: the bare function behind rng.h, for its known-answer test: any counter, any key. */
#ifndef ASSAY_BASE_PHILOX_H
#define ASSAY_BASE_PHILOX_H

#include <stdint.h>

void assay__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
