/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes over pairs of tensors. Work is cut into chunks whose number and size depend on the element
 * count alone and merged in order, so that sums and counts are the same for any thread count.
 */
#ifndef ASSAY_COMPARE_SCAN_H
#define ASSAY_COMPARE_SCAN_H

#include "compare/rules.h"

enum { ASSAY__BLOCK = 1024, ASSAY__MAX_CHUNKS = 32, ASSAY__FINE_BINS = 12 };

struct assay__chunks {
    int64_t n, size;
    int count; /* at most ASSAY__MAX_CHUNKS */
};
struct assay__chunks assay__chunks_of(int64_t n);

/* What is compared, and how. */
struct assay__pair {
    const struct assay_tensor *got, *want, *native; /* native may be NULL */
    const struct assay__rules *rules;
    const struct assay__limits *limits;
    double tau;
    double bound; /* a relative error of this or more is a mismatch */
    int n_threads;
};

/* First pass. Indices are -1 when there is none. */
struct assay__sums {
    int64_t valid;    /* positions that have a relative error: finite on both sides */
    int64_t nan_odd;  /* NaN on one side only */
    int64_t inf_odd;  /* infinity that does not agree */
    int64_t inf_open; /* infinity that native may excuse, native not given */
    int64_t over;     /* mismatches */
    double rel_sum, rel_max, diff_sum, diff_max;
    int64_t first_nan, first_inf, first_open, first_over, worst;
    int64_t fine[ASSAY__FINE_BINS]; /* errors in ULP: 0, up to 2^-1, 2^0, ... 2^8, more */
};
void assay__scan_floats(const struct assay__pair *p, struct assay__sums *s);

/* Second pass, by regions. */
enum assay__region { ASSAY__SMALL, ASSAY__CANCEL, ASSAY__NORMAL, ASSAY__N_REGIONS };

/* Bins of |golden|, two octaves wide, from 0 and the subnormals to the largest fp32. */
enum { ASSAY__SIZE_BINS = 130 };
int assay__size_bin(double size);

struct assay__side {
    int64_t errors[ASSAY__N_REGIONS];
    double rel_sum[ASSAY__N_REGIONS],
        rel_max[ASSAY__N_REGIONS]; /* capped sets: at most 10 tau below normal */
    double normal_diff_sum;        /* absolute errors */
    double low_max; /* largest absolute error of a mismatch below the normal region */
    double worst[ASSAY__SIZE_BINS]; /* largest absolute error by size; got: of mismatches in the
                                       normal region */
};
struct assay__regions {
    int64_t total[ASSAY__N_REGIONS];
    struct assay__side got, native;
};
/* Without a native it counts as if native were the golden rounded to the dtype. */
void assay__scan_regions(const struct assay__pair *p, struct assay__regions *r);

/* Integers, bools and bit patterns. */
struct assay__int_sums {
    int64_t over;
    uint64_t diff_max;
    double diff_sum;
    int64_t first, worst;
    int64_t ulp[ASSAY_ULP_BINS];
};
/* Differences over tol; wraps: as C would compute them in 64 bits, then |INT64_MIN| counts as no
 * difference. */
void assay__scan_ints(const struct assay_tensor *got, const struct assay_tensor *want, uint64_t tol,
                      bool wraps, int n_threads, struct assay__int_sums *s);
/* Positions of p whose bits differ from the golden rounded to got's dtype. */
void assay__scan_bits(const struct assay__pair *p, struct assay__int_sums *s);

/* n integers of an integer or bool tensor; a floating one is truncated. */
void assay__load_ints(const struct assay_tensor *t, int64_t i, int64_t n, int64_t *dst);
/* ASSAY__BLOCK values y of a golden rounded to dtype d; through_f32: in two steps. */
void assay__round_block(enum assay_dtype d, bool through_f32, const double *y, double *g);

#endif
