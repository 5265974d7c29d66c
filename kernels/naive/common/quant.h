/* SPDX-License-Identifier: Apache-2.0 */
/* quant.h: a number as int8, given the scale of its row. */
#ifndef NAIVE_QUANT_H
#define NAIVE_QUANT_H

#include <assay/kernel.h>

#include <math.h>

/* To the nearest even integer; 0 for NaN, which Inf / Inf is, too. */
static inline int8_t quant_int8(double v, double scale)
{
    double q = rint(v / scale);

    return isnan(q) ? 0 : (int8_t)q;
}

/* The larger magnitude; NaN wins. */
static inline double quant_max(double max, double v)
{
    return fabs(v) > max || isnan(v) ? fabs(v) : max;
}

#endif
