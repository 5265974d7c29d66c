/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score.h: from times and limits to one number. Pure functions.
 */
#ifndef ASSAY_SCORE_H
#define ASSAY_SCORE_H

#include "assay/judge.h"
#include "assay/machine.h"
#include "assay/time.h"

/* The work of a complete argument set as a machine counts it: on the units of its kind. */
struct assay_work assay_limit_work(const struct assay_op *op, const struct assay_args *a,
                                   const struct assay_machine *m);

/* T_HW in ns of a work on a machine, and the unit that bounds it: the longest of its engines, each
 * of which takes the sum of its units. Cold: the data come from memory,
 * each direction no faster than its own rate there. Warm: they lie as deep in
 * the levels as they fit, and each level moves what the smaller ones cannot hold, reading and
 * writing at the same time. */
double assay_limit_ns(const struct assay_work *w, const struct assay_machine *m, bool warm,
                      enum assay_unit *bottleneck);
/* What the engine of unit u needs of it, in ns; 0 where it has nothing to do or its rates are
 * unknown. */
double assay_engine_ns(const struct assay_work *w, const struct assay_machine *m, bool warm,
                       enum assay_unit u);

/* Relative repeatability of the unit that sets a limit, as the machine was measured: of the level
 * that holds the data where the unit is a cache. 0: published or not known. */
double assay_limit_spread(const struct assay_work *w, const struct assay_machine *m,
                          enum assay_unit bottleneck);

/* HAP of DESIGN: (Tb - T*) / ((Tc - T*) + (Tb - T*)), T* = min(T_HW, 0.9 Tb). In [0, 1], falling in
 * t_cand, 0.5 at t_cand = t_base, 1 at or under T* and there only (but for rounding). *below, an
 * alarm: under T*, or under T_HW, which may be longer. Any unit, all the same. t_base <= 0 or
 * NaN anywhere: NaN and no alarm. */
double assay_hap(double t_cand, double t_base, double t_hw, bool *below);

/* HAP of a case with its doubt. All NaN where HAP is. */
struct assay_hap {
    double value;  /* at cand_ns and base_ns */
    double lo, hi; /* its range over the 95 % intervals of ratio and baseline; NaN: unknown */
    double limit;  /* half of its range over T_HW (1 - t_hw_spread) .. T_HW (1 + t_hw_spread) */
    bool below;    /* alarm: as above, or the baseline is under T_HW */
};

/*
 * HAP of a time, with the limit in ns. lo <= value <= hi, all in [0, 1]: exact over the box, no
 * linearisation. A baseline without an interval (an end NaN, or base_hi not above 0) counts as
 * known; without an interval of the ratio lo and hi are NaN. What the limit adds stands apart,
 * because all cases of a run share it: it does not average away. t_hw_spread is relative; NaN or
 * less than 0 counts as 0.
 */
void assay_hap_range(struct assay_hap *h, const struct assay_time *t, double t_hw,
                     double t_hw_spread);

/* What the score needs to know of one case. */
struct assay_case_score {
    bool compiled, correct, timed;
    double hap;            /* NaN when not timed */
    double hap_lo, hap_hi; /* 95 % interval, of this case's own times; NaN: unknown */
    double hap_limit;      /* +- of the limit, shared by all cases */
    double speedup;        /* T_base / T_cand, NaN when not timed */
    double speedup_lo, speedup_hi;
};

/* Intervals are of 95 %. They are NaN when no case was timed: then nothing was estimated, what is
 * there was counted. They are NaN, too, when that of a timed case is. Else lo <= value <= hi. */
struct assay_op_score {
    bool compiled;
    int n, n_correct, n_timed;
    double score;              /* 0..100; without timing the fast part counts 0 */
    double score_lo, score_hi; /* within what the parts for building and being right leave open */
    double hap;                /* mean over timed cases, NaN when none */
    double hap_lo, hap_hi;
    double speedup; /* geometric mean over timed cases, NaN when none */
    double speedup_lo, speedup_hi;
};
/* n is the number of planned cases; missing results are failures. A right case without a time has 0
 * in the fast part, for certain. Independent parts of the doubt add up as squares, the limit's
 * share as it is: docs/scoring.md, "How sure". */
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
