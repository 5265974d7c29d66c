/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peak.h: loops that keep one execution unit or one level of memory as busy as it can be.
 *
 * What they reach bounds what any kernel may reach, so that they are written in assembly: what
 * runs does not depend on compiler, optimisation or sanitizer, accumulators stay in registers and
 * nothing is folded. Several loops compete for each figure and the best one counts, since no single
 * one is the best on all processors.
 */
#ifndef ASSAY_RUNNER_PEAK_H
#define ASSAY_RUNNER_PEAK_H

#include "assay/machine.h"

#include <stddef.h>
#include <stdint.h>

/* Bits of features, which each architecture assigns for itself: a loop is for processors that have
 * all of `need` and none of `unless`. */
struct assay__peak_for {
    unsigned need, unless;
};

/* Runs the loop `rounds` times; returns the operations done, in the unit's own unit. */
typedef double (*assay__peak_fn)(int64_t rounds);

struct assay__peak {
    enum assay_unit unit;
    assay__peak_fn run;
    struct assay__peak_for on;
};

enum assay__stream_kind { ASSAY__READ, ASSAY__WRITE, ASSAY__COPY, ASSAY__N_STREAMS };

/* Goes over the n bytes at p (64-byte aligned, at least 4096, a multiple of 4096) `passes` times;
 * returns the bytes moved. WRITE leaves anything in them; COPY has sources and targets in them, in
 * parts of the same size. */
typedef double (*assay__stream_fn)(char *p, size_t n, int64_t passes);

struct assay__stream {
    enum assay__stream_kind kind;
    assay__stream_fn run;
    struct assay__peak_for on;
    bool far; /* writes past the caches: of no use in them */
};

/* peak_x86.c, peak_arm.c: all loops of the architecture, ended by .run NULL; features of this
 * processor; what its widest instructions are called ("avx512", "avx2", "neon", "sve", "plain"). */
extern const struct assay__peak assay__peaks[];
extern const struct assay__stream assay__streams[];
unsigned assay__peak_features(void);
const char *assay__peak_isa(unsigned features);

static inline bool assay__peak_runs(const struct assay__peak_for *on, unsigned features)
{
    return !(on->need & ~features) && !(on->unless & features);
}

/* peak.c: what the C library does, as rows of assay__streams. */
double assay__stream_memset(char *p, size_t n, int64_t passes);
double assay__stream_memcpy(char *p, size_t n, int64_t passes);

/*
 * levels.c: the levels of memory in measured rates (bytes per second) over footprints (bytes,
 * ascending, n of them): at most three caches, called L1 and so on, and DRAM, which is what is left
 * beyond them. Returns how many; 0 when n is.
 *
 * Only the read rates decide where a level ends, and levels that differ by less than an eighth are
 * one. A cache has the best rates seen in it, and its bytes are the largest footprint that it helps
 * with by an eighth or more. DRAM has the best rates of the two largest footprints, and infinite
 * bytes. The spreads are left at 0. out has room for ASSAY_MAX_LEVELS.
 */
int assay__levels_find(struct assay_level *out, const double *footprint, const double *read,
                       const double *write, const double *copy, int n);

#endif
