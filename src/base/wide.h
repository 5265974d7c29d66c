/* SPDX-License-Identifier: Apache-2.0 */
/* wide.h: products of 64-bit integers without a 128-bit type, which C does not have. */
#ifndef ASSAY_BASE_WIDE_H
#define ASSAY_BASE_WIDE_H

#include <stdint.h>

/* The upper half of the 128-bit product u * n, from 32-bit halves. */
static inline uint64_t assay__mul_high(uint64_t u, uint64_t n)
{
    uint64_t u0 = u & 0xffffffffu, u1 = u >> 32, n0 = n & 0xffffffffu, n1 = n >> 32;
    uint64_t mid = u1 * n0 + (u0 * n0 >> 32);
    uint64_t low_mid = (mid & 0xffffffffu) + u0 * n1;

    return u1 * n1 + (mid >> 32) + (low_mid >> 32);
}

#endif
