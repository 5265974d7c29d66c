/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.h: the largest numbers of NETWORK_LANES lists that lie side by side, by sorting networks.
 * To be included once for each type of number: NETWORK_ITEM is the type, NETWORK(name) makes the
 * names. 0 stands for nothing: it is what a list is filled up with.
 */
#include <stdint.h>
#include <string.h>

#ifndef BASELINE_NETWORK_LANES
#define BASELINE_NETWORK_LANES
enum { NETWORK_LANES = 16 };
#endif

typedef struct {
    NETWORK_ITEM lane[NETWORK_LANES];
} NETWORK(items);

/* The larger one comes first. */
static inline void NETWORK(exchange)(NETWORK(items) *restrict a, NETWORK(items) *restrict b)
{
    for (int l = 0; l < NETWORK_LANES; l++) {
        NETWORK_ITEM x = a->lane[l], y = b->lane[l];

        a->lane[l] = x > y ? x : y;
        b->lane[l] = x > y ? y : x;
    }
}

/* Sorts each block by itself, by Batcher's merging of odd and even places; n items in blocks of
 * `width`, both powers of two. */
static void NETWORK(sort)(NETWORK(items) * v, int64_t n, int64_t width)
{
    for (int64_t p = 1; p < width; p *= 2)
        for (int64_t d = p; d > 0; d /= 2)
            for (int64_t j = d % p; j + d < n; j += 2 * d)
                for (int64_t i = j; i < j + d && i + d < n; i++)
                    if ((i & -2 * p) == ((i + d) & -2 * p))
                        NETWORK(exchange)(v + i, v + i + d);
}

/* The best of two sorted blocks, sorted. */
static void NETWORK(merge)(NETWORK(items) * best, NETWORK(items) * block, int64_t width)
{
    for (int64_t i = 0; i < width; i++)
        NETWORK(exchange)(best + i, block + width - 1 - i);
    for (int64_t d = width / 2; d > 0; d /= 2)
        for (int64_t j = 0; j < width; j += 2 * d)
            for (int64_t i = j; i < j + d; i++)
                NETWORK(exchange)(best + i, best + i + d);
}

/* Takes a chunk of n items into the sorted block `best`, which is empty at first; overwrites it. */
static void NETWORK(take)(NETWORK(items) * best, NETWORK(items) * chunk, int64_t n, int64_t width,
                          int first)
{
    NETWORK(sort)(chunk, n, width);
    for (int64_t step = width; step < n; step *= 2)
        for (int64_t b = 0; b < n; b += 2 * step)
            NETWORK(merge)(chunk + b, chunk + b + step, width);
    if (first)
        memcpy(best, chunk, (size_t)width * sizeof *best);
    else
        NETWORK(merge)(best, chunk, width);
}
