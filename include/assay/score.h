/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score.h: from times and limits to one number. Pure functions.
 */
#ifndef ASSAY_SCORE_H
#define ASSAY_SCORE_H

#include "assay/judge.h"
#include "assay/machine.h"
#include "assay/time.h"

/* T_HW in ns of a work on a machine, and the unit that bounds it: the longest of its engines, each
 * of which takes the sum of its units. Cold: the data come from memory. Warm: they may live in the
 * smallest level that holds them all, and move at its best rate. */
double assay_limit_ns(const struct assay_work *w, const struct assay_machine *m, bool warm,
                      enum assay_unit *bottleneck);

/* HAP of DESIGN: (Tb - T*) / ((Tc - T*) + (Tb - T*)), T* = min(T_HW, 0.9 Tb). In [0, 1], falling in
 * t_cand, 0.5 at t_cand = t_base; 1 and *below = true at or under T*. Any unit, all the same.
 * t_base <= 0 or NaN anywhere: NaN. */
double assay_hap(double t_cand, double t_base, double t_hw, bool *below);

/* What the score needs to know of one case. */
struct assay_case_score {
    bool compiled, correct, timed;
    double hap;     /* NaN when not timed */
    double speedup; /* T_base / T_cand, NaN when not timed */
};
struct assay_op_score {
    bool compiled;
    int n, n_correct, n_timed;
    double score;   /* 0..100; without timing the fast part counts 0 and `timed` is false */
    double hap;     /* mean over timed cases, NaN when none */
    double speedup; /* geometric mean over timed cases, NaN when none */
};
/* n is the number of planned cases; missing results are failures. */
void assay_score_op(struct assay_op_score *s, const struct assay_case_score *cases, int n);

/* ---- the official arithmetic, poles included ------------------------------------------------- */

struct assay_upstream_case {
    bool success;
    bool accuracy_failure; /* failed in accuracy; else a failure counts as compile/runtime */
    bool has_time;
    double elapsed_us;
    bool collection_failed;
    double baseline_us, t_hw_us; /* NaN when missing */
};
struct assay_upstream_score {
    double compilation, function, performance, total;
    double pass_rate, avg_speedup;
    int passed, total_cases, compile_runtime_failures;
    bool zeroed; /* a passed case without a usable time */
};
/* per_case: n entries, NaN where the official result is null; may be NULL. */
void assay_score_upstream(struct assay_upstream_score *s, double *per_case,
                          const struct assay_upstream_case *cases, int n, int declared,
                          bool compile_failed, bool subprocess_failed);

#endif
