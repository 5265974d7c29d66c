/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hidden.h: cases that nobody knows before they are run, and that everybody can check afterwards.
 *
 *     assay_hidden_seed_read(&seed, "seed", false, err);
 *     assay_hidden_text(&text, &seed, 80, err);      what is hashed; hash it, publish the hash
 *     assay_hidden_draw(&suite, op, &seed, 80, err); the cases of one operator, ids 1001 .. 1080
 *
 * A set is made by a seed of 32 bytes, the count of cases of each operator, and the generator. What
 * may leave the program while the seed is secret is mixed with the seed first, so that no guess at
 * a case can be checked. docs/hidden.md has the procedure and what it cannot hide.
 */
#ifndef ASSAY_HIDDEN_H
#define ASSAY_HIDDEN_H

#include "assay/case.h"

/* Rises when the same seed gives other cases: sets that were committed before cannot be revealed
 * then, so it rises with the major version only. */
#define ASSAY_GENERATOR_VERSION 1

enum {
    ASSAY_HIDDEN_SEED_BYTES = 32,
    ASSAY_HIDDEN_FIRST = 1001, /* id of the first; public cases stay below */
    ASSAY_HIDDEN_COUNT = 80,   /* of an operator, unless said otherwise */
    ASSAY_HIDDEN_MIN = 20,     /* fewer cannot obey the coverage rules */
    ASSAY_HIDDEN_MAX = 10000
};

struct assay_hidden_seed {
    uint8_t b[ASSAY_HIDDEN_SEED_BYTES];
};

/* 64 hexadecimal digits, and at most one line end. ASSAY_PARSE, with no digit of it quoted. */
enum assay_status assay_hidden_seed_parse(struct assay_hidden_seed *s, const char *text, size_t len,
                                          struct assay_err *err);
/* From a file. One that group or others may read is ASSAY_INVALID unless the seed is public. */
enum assay_status assay_hidden_seed_read(struct assay_hidden_seed *s, const char *path,
                                         bool is_public, struct assay_err *err);
/* Draws one from the kernel's generator into a new file of mode 0600; ASSAY_INVALID when there is
 * one. Nothing is left behind on error. */
enum assay_status assay_hidden_seed_new(const char *path, struct assay_err *err);
/* Leaves no copy in memory. */
void assay_hidden_seed_wipe(struct assay_hidden_seed *s);

static inline bool assay_hidden_id(int id)
{
    return id >= ASSAY_HIDDEN_FIRST;
}

/* Appends n cases of op; none of them may be in s. An error names the operator and nothing that was
 * drawn. */
enum assay_status assay_hidden_draw(struct assay_suite *s, const struct assay_op *op,
                                    const struct assay_hidden_seed *seed, int n,
                                    struct assay_err *err);
/* The text whose SHA-256 is published: lines "assay hidden cases", "generator 1", "count 80", "seed
 * <hex>", then all cases of all operators of the registry, as assay_cases_text() has them. */
enum assay_status assay_hidden_text(struct assay_text *out, const struct assay_hidden_seed *seed,
                                    int n, struct assay_err *err);
enum assay_status assay_hidden_hash(char hash[65], const struct assay_hidden_seed *seed, int n,
                                    struct assay_err *err);

/* 64 bits that tell nothing about v or the seed: SHA-256 of what, the seed and v (little-endian).
 */
uint64_t assay_hidden_mix(const struct assay_hidden_seed *seed, const char *what, uint64_t v);
/* The seed of the inputs of a hidden case whose row has the seed v; never 0. */
uint64_t assay_hidden_inputs(const struct assay_hidden_seed *seed, uint64_t v);
/* Replaces the hash of some cases by one that cannot be checked without the seed. */
void assay_hidden_blind(char hash[65], const struct assay_hidden_seed *seed);

#endif
