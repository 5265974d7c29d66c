/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time.h: plans which block to time next and estimates from the pairs. No clock, no process.
 */
#ifndef ASSAY_TIME_H
#define ASSAY_TIME_H

#include "assay/rng.h"
#include "assay/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Flags of a time. */
enum assay_time_flags {
    ASSAY_TIME_UNRESOLVED = 1 << 0, /* two measurements disagree */
    ASSAY_TIME_COARSE = 1 << 1,     /* fewer pairs than the interval needs */
    ASSAY_TIME_BELOW_LIMIT = 1 << 2 /* faster than the hardware allows: an alarm */
};

/* One pair: time per call of both sides, null call already subtracted. */
struct assay_pair {
    double base_ns, cand_ns;
    int32_t n_calls;
    bool cand_first;
    bool disturbed; /* a side lost its core in its block */
    int32_t round;  /* both sides ran in processes of their own for each round, 0 .. */
};

/* The estimate. */
struct assay_time {
    int n_pairs, n_calls;             /* pairs measured; calls in them */
    int n_rounds;                     /* of fresh processes */
    int n_discarded;                  /* pairs left out as disturbed */
    double base_ns;                   /* lower quartile of the baseline's blocks */
    double base_lo, base_hi;          /* its 95 % interval */
    double cand_ns;                   /* base_ns * ratio */
    double ratio, ratio_lo, ratio_hi; /* T_cand / T_base and its 95 % interval */
    double null_ns;                   /* null call, median */
    unsigned flags;
};

struct assay_plan_limits {
    double target;        /* relative half width to stop at where both are equally fast (0.01) */
    double block_ns;      /* aim of a block (250e3) */
    double block_most_ns; /* no block of the candidate is longer unless it is one call (100e6) */
    double first_base_ns; /* time of a baseline call before the first pair, 0 unknown */
    double first_cand_ns; /* the same of the candidate */
    int max_calls;        /* per block, what the arenas hold */
    int rounds;           /* of fresh processes that must agree */
    int round_pairs;      /* at least, in each */
    int max_pairs;
};

struct assay_plan; /* opaque */
struct assay_plan *assay_plan_new(const struct assay_plan_limits *lim, struct assay_key key);
void assay_plan_free(struct assay_plan *p);
/* The next block: calls (random around the aim, from the baseline's time so far) and who goes
 * first: a coin for each couple of pairs, whose second one has the other order. */
void assay_plan_next(struct assay_plan *p, int *n_calls, bool *cand_first);
/* Both sides have been started afresh: the pairs that follow belong to another round. */
void assay_plan_new_round(struct assay_plan *p);
/* True when the round at hand has its share of what a narrow enough interval needs. */
bool assay_plan_round_over(const struct assay_plan *p);
/* Adds a measured pair (its round is filled in); null_ns is the null call's time per call in the
 * same block. */
enum assay_status assay_plan_add(struct assay_plan *p, const struct assay_pair *pair,
                                 double null_ns);
/* True when all rounds are in, agree, and give a narrow enough interval, or at max_pairs. */
bool assay_plan_done(const struct assay_plan *p);
/* True when another round is needed: fewer than asked for, or they disagree. */
bool assay_plan_wants_round(const struct assay_plan *p);
/* True when there are as many rounds and pairs as an interval needs. */
bool assay_plan_enough(const struct assay_plan *p);
void assay_plan_estimate(const struct assay_plan *p, struct assay_time *t);
/* Quantile q of n > 0 values, linear between neighbours; sorts them. */
double assay_quantile(double *v, int n, double q);
/* The raw pairs, borrowed until the plan is freed or added to. */
const struct assay_pair *assay_plan_pairs(const struct assay_plan *p, int *n);

/*
 * Work outside of calls. A process that is handed calls needs some processor time before the first
 * and after the last of a block, and the other side's needs as much. What one clearly needs more is
 * time that it wants not to be measured, and is added to its block; one that does so again and
 * again, beyond chance, is forbidden. Blocks of one process are no independent witnesses: a process
 * may be dear to wake up as long as it lives. So two must show it.
 */
enum { ASSAY_OUTSIDE_MAX = 2048 };
struct assay_outside {
    int n, n_more, n_less;    /* blocks; of these, clearly more than the baseline; clearly less */
    int more_here, less_here; /* the same in the processes that run now */
    int n_shown;              /* candidate's processes before that took more */
    double more_ns;           /* sum of what was more */
    float small_ns[ASSAY_OUTSIDE_MAX]; /* of the others: what the candidate took more, a call */
    int n_small;
};
/* One pair of blocks: processor time of both outside of calls, ns. Adds to the block of the side
 * that took clearly more what it took more: above 5 % of the block, 5 us, and what the other side
 * took in all. */
void assay_outside_add(struct assay_outside *o, double cand_ns, double base_ns,
                       double *cand_block_ns, double *base_block_ns, int n_calls);
/* Both sides go on in new processes. */
void assay_outside_restart(struct assay_outside *o);
/* What the candidate takes more in each call, steadily, though never clearly: ns, 0 when chance may
 * explain it. */
double assay_outside_steady(const struct assay_outside *o);
/* True when the candidate takes more beyond chance: in a twentieth of the blocks at least, and in
 * two processes. */
bool assay_outside_exceeds(const struct assay_outside *o);

#endif
