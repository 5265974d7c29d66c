/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtype.h: the conversions of dtype.c as inline bodies without branches, for the loops of tensor.c.
 * All round once, to nearest even: a detour through float would round twice.
 */
#ifndef ASSAY_BASE_DTYPE_H
#define ASSAY_BASE_DTYPE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t assay__f64_bits(double x)
{
    uint64_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double assay__f64_from_bits(uint64_t u)
{
    double x;

    memcpy(&x, &u, sizeof x);
    return x;
}

/*
 * Both 16-bit formats alike, on the bits of |x|: in the normal range rebias the exponent and round
 * off the low bits as an integer, where a carry runs into the exponent as it should; below it one
 * addition of a power of two whose ulp is the format's smallest step lets the FPU round.
 */
static inline uint16_t assay__f64_to_f16(double x)
{
    uint64_t u = assay__f64_bits(x), mag = u & (UINT64_MAX >> 1);
    uint64_t sign = (u >> 48) & 0x8000u;
    uint64_t normal =
        (mag - ((uint64_t)(1023 - 15) << 52) + ((uint64_t)1 << 41) - 1 + ((mag >> 42) & 1u)) >> 42;
    uint64_t tiny = assay__f64_bits(assay__f64_from_bits(mag) + 0x1p28) - assay__f64_bits(0x1p28);
    uint64_t nan = 0x7e00u | ((mag >> 42) & 0x3ffu);
    uint64_t h = mag > assay__f64_bits((double)INFINITY) ? nan
                 : mag >= assay__f64_bits(65520.0)       ? 0x7c00u /* half way past the largest */
                 : mag >= assay__f64_bits(0x1p-14)       ? normal
                                                         : tiny;

    return (uint16_t)(h | sign);
}

static inline uint16_t assay__f64_to_bf16(double x)
{
    uint64_t u = assay__f64_bits(x), mag = u & (UINT64_MAX >> 1);
    uint64_t sign = (u >> 48) & 0x8000u;
    uint64_t normal =
        (mag - ((uint64_t)(1023 - 127) << 52) + ((uint64_t)1 << 44) - 1 + ((mag >> 45) & 1u)) >> 45;
    uint64_t tiny = assay__f64_bits(assay__f64_from_bits(mag) + 0x1p-81) - assay__f64_bits(0x1p-81);
    uint64_t nan = 0x7fc0u | ((mag >> 45) & 0x7fu);
    uint64_t h = mag > assay__f64_bits((double)INFINITY) ? nan
                 : mag >= assay__f64_bits(0x1.ffp127)    ? 0x7f80u
                 : mag >= assay__f64_bits(0x1p-126)      ? normal
                                                         : tiny;

    return (uint16_t)(h | sign);
}

/* To the nearest integer in [min, max], which lie within 32 bits; NaN gives 0. Adding 1.5 * 2^52
 * leaves no room for a fraction, so the FPU rounds it to even; this also turns -0 into 0. */
static inline double assay__f64_to_int(double x, double min, double max)
{
    double v = x == x ? x : 0;

    v = v > min ? v : min;
    v = v < max ? v : max;
    return v + 0x1.8p52 - 0x1.8p52;
}

#endif
