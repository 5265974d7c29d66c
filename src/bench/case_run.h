/* SPDX-License-Identifier: Apache-2.0 */
/*
 * case_run.h: what the files that measure one case share. check.c holds what was written against
 * golden and baseline, block.c has both sides work in turns, measure.c decides what is next.
 */
#ifndef ASSAY_BENCH_CASE_RUN_H
#define ASSAY_BENCH_CASE_RUN_H

#include "bench/measure.h"

struct case_run {
    const struct measure_setup *m;
    const struct assay_op *op;
    struct assay_row *row;
    struct assay_args at[N_ROLES]; /* bound to the set in hand */
    struct assay_side *side[N_ROLES];
    struct judged judged;
    struct assay_arena contract; /* shapes of the arguments */
    struct assay_key key;        /* order, lengths and secrets of this case */
    char *outs[N_ROLES];         /* where set 0 of the outputs of a side lies */
    size_t out_stride;
    struct assay_work work;
    int n_sets;
    uint64_t draw;                /* inputs made so far */
    double base_ns, cand_ns;      /* the first call of each took */
    double timeout_s;             /* of a call of the candidate */
    int64_t allow[ASSAY_MAX_OUT]; /* odd positions that pass without escalation, most of the time */
    int n_passed_escalations;
    uint64_t n_odd;               /* sets with odd positions so far */
    struct assay_draw filled;     /* the draw of set 0; the sets after it have those that follow */
    struct assay_outside outside; /* processor time of both sides between calls */
    bool over;                    /* a verdict is in, or the baseline failed */
};

/* ---- check.c --------------------------------------------------------------------------------- */

/* Fresh values in sets 0 .. n-1 of the inputs; fresh poison in those of the outputs, of each role
 * its own. */
enum assay_status assay__case_fill(struct case_run *b, int n, bool timing_values,
                                   struct assay_err *err);
void assay__case_poison(struct case_run *b, enum role r, int n);
/* A verdict on the candidate, or the end of the case through a fault of the baseline. */
void assay__case_blame(struct case_run *b, enum role r, enum assay_verdict v,
                       enum assay_reason code, const char *reason);
/* Checks the outputs of set `set` after both sides ran: guards, sizes, then golden or baseline. */
enum assay_status assay__case_check(struct case_run *b, int set, bool golden,
                                    struct assay_err *err);

/* ---- block.c --------------------------------------------------------------------------------- */

/* Both sides, or the candidate alone without timing; in random order, as it may matter. */
enum assay_status assay__case_start(struct case_run *b, struct assay_err *err);
void assay__case_end(struct case_run *b);
/*
 * Fresh processes for both sides. Where the pages of a process lie and what it inherits differs
 * from start to start and can move its times by several percent for as long as it lives; only a new
 * process tells. One untimed call warms each side up, checked as all are.
 */
enum assay_status assay__case_restart(struct case_run *b, struct assay_err *err);
/*
 * Both sides in their turns, on the same inputs and in the same memory: what the first one wrote is
 * set aside and replaced by poison before the second one may run.
 */
enum assay_status assay__case_turns(struct assay_facts f[N_ROLES], struct case_run *b, int n,
                                    bool cand_first, bool timed, struct assay_err *err);

#endif
