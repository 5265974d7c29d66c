/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.h: the counter-based generator behind all inputs: Philox4x32-10 (Salmon et al., SC 2011).
 *
 * The i-th number of a stream depends on the key and on i alone, so that any part of a tensor can
 * be made anywhere, by any number of threads, with the same bytes.
 */
#ifndef ASSAY_RNG_H
#define ASSAY_RNG_H

#include <stddef.h>
#include <stdint.h>

/* One stream. Built by assay_key(): a keyed mix of the five coordinates of an input. */
struct assay_key {
    uint32_t k[2];      /* Philox key */
    uint32_t stream[2]; /* upper half of the counter */
};

struct assay_key assay_key(uint64_t seed, const char *op, int64_t case_id, int input,
                           uint64_t draw);
/* A further independent stream of the same coordinates (list elements, semantic fills). */
struct assay_key assay_key_sub(struct assay_key k, uint32_t sub);

/* Words first .. first+n-1 of the stream (32 bits each). Fast path when first is a multiple of 4.
 */
void assay_rng_fill(struct assay_key k, uint64_t first, size_t n, uint32_t *dst);
/* Word i alone; bits 0..63 from words 2i and 2i+1; uniform in [0,1) with 53 bits from the same two;
 * uniform integer in [0, n), n > 0, unbiased to 2^-32. */
uint32_t assay_rng_u32(struct assay_key k, uint64_t i);
uint64_t assay_rng_u64(struct assay_key k, uint64_t i);
double assay_rng_unit(struct assay_key k, uint64_t i);
uint64_t assay_rng_below(struct assay_key k, uint64_t i, uint64_t n);

/* A seed from the kernel's generator. */
uint64_t assay_seed_draw(void);

#endif
