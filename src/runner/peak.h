/* SPDX-License-Identifier: Apache-2.0 */
/* peak.h: loops that keep one execution unit busy; what they reach is the machine's peak. */
#ifndef ASSAY_RUNNER_PEAK_H
#define ASSAY_RUNNER_PEAK_H

#include <stddef.h>
#include <stdint.h>

/* Multiply-adds on independent registers for `rounds` rounds; returns the flops done (2 a
 * multiply-add and lane). sink receives a value so that nothing is optimised away. */
typedef double (*assay__peak_fn)(int64_t rounds, volatile double *sink);
assay__peak_fn assay__peak_fma_f32(void); /* for the widest unit of this processor */
assay__peak_fn assay__peak_fma_f64(void);

/* Reads n bytes (a multiple of 4096); copies n bytes. */
uint64_t assay__stream_read(const void *p, size_t n);
void assay__stream_copy(void *dst, const void *src, size_t n);

#endif
