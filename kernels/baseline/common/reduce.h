/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.h: sums and maxima of runs of floats. Compilers may not reorder such loops by themselves;
 * here each is kept in several lanes, which they turn into vectors.
 */
#ifndef BASELINE_REDUCE_H
#define BASELINE_REDUCE_H

#include <assay/kernel.h>

enum { REDUCE_LANES = 32 };

/* Largest value, NaN left out; -INFINITY of none. */
static inline float reduce_max(const float *x, int64_t n)
{
    float lane[REDUCE_LANES], most = -__builtin_inff();
    int64_t k = 0;

    for (int l = 0; l < REDUCE_LANES; l++)
        lane[l] = most;
    for (; k + REDUCE_LANES <= n; k += REDUCE_LANES)
        for (int l = 0; l < REDUCE_LANES; l++)
            lane[l] = x[k + l] > lane[l] ? x[k + l] : lane[l];
    for (int l = 0; l < REDUCE_LANES && n >= REDUCE_LANES; l++)
        most = lane[l] > most ? lane[l] : most;
    for (; k < n; k++)
        most = x[k] > most ? x[k] : most;
    return most;
}

/* The lanes in use are the first n, where n is small. */
static inline double reduce_lanes(const float lane[REDUCE_LANES], int64_t n)
{
    double sum[4] = { 0 };

    for (int l = 0; l < REDUCE_LANES && l < n; l += 4)
        for (int i = 0; i < 4; i++)
            sum[i] += (double)lane[l + i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static inline double reduce_sum(const float *x, int64_t n)
{
    float lane[REDUCE_LANES] = { 0 };
    int64_t k = 0;

    for (; k + REDUCE_LANES <= n; k += REDUCE_LANES)
        for (int l = 0; l < REDUCE_LANES; l++)
            lane[l] += x[k + l];
    for (int l = 0; k < n; k++, l++)
        lane[l] += x[k];
    return reduce_lanes(lane, n);
}

static inline double reduce_squares(const float *x, int64_t n)
{
    float lane[REDUCE_LANES] = { 0 };
    int64_t k = 0;

    for (; k + REDUCE_LANES <= n; k += REDUCE_LANES)
        for (int l = 0; l < REDUCE_LANES; l++)
            lane[l] += x[k + l] * x[k + l];
    for (int l = 0; k < n; k++, l++)
        lane[l] += x[k] * x[k];
    return reduce_lanes(lane, n);
}

struct reduce_moments {
    double mean, squares; /* squares: sum of (x - mean)^2 */
};

/* Twice over the values: what a float mean lacks, and it lacks more than its last bit, is the mean
 * of the distances from it. */
static inline struct reduce_moments reduce_moments(const float *x, int64_t n)
{
    float lane[REDUCE_LANES] = { 0 }, square[REDUCE_LANES] = { 0 };
    float centre = (float)(reduce_sum(x, n) / (double)n);
    double left, squares;
    int64_t k = 0;

    for (; k + REDUCE_LANES <= n; k += REDUCE_LANES)
        for (int l = 0; l < REDUCE_LANES; l++) {
            float d = x[k + l] - centre;

            lane[l] += d;
            square[l] += d * d;
        }
    for (int l = 0; k < n; k++, l++) {
        float d = x[k] - centre;

        lane[l] += d;
        square[l] += d * d;
    }
    left = reduce_lanes(lane, n);
    squares = reduce_lanes(square, n);
    return (struct reduce_moments){ (double)centre + left / (double)n,
                                    squares - left * left / (double)n };
}

#endif
