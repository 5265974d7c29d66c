/* SPDX-License-Identifier: Apache-2.0 */
/* core.h: the inner loop. */
#ifndef CORE_H
#define CORE_H

#include <stdint.h>

struct core_line {
    float slope, offset;
};

/* to[i] = e^(from[i] * slope + offset) for 0 <= i < n */
void core_exp(const float *from, float *to, int64_t n, struct core_line l);

#endif
