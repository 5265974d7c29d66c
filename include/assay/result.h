/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result.h: what a run found, case by case; what reports show and result files hold.
 */
#ifndef ASSAY_RESULT_H
#define ASSAY_RESULT_H

#include "assay/judge.h"
#include "assay/machine.h"
#include "assay/runner.h"
#include "assay/score.h"
#include "assay/time.h"

#define ASSAY_RESULT_FORMAT 2

/* Which inputs a set had: assay_inputs_fill() makes them again from the row's seed. */
struct assay_draw {
    bool known;
    uint64_t number;    /* of the draw */
    bool timing_values; /* those of timed calls, on [-1, 1] in some classes */
    uint64_t outputs;   /* hash of the candidate's outputs, FNV-1a */
};

/* One case. A row exists for every planned case: denominators are fixed before the run. */
struct assay_row {
    const struct assay_op *op;
    int case_id;
    bool done;        /* false: not run (yet) */
    bool failed_here; /* our fault: `reason` says what; neither pass nor fail of the candidate */
    enum assay_verdict verdict;
    enum assay_reason code;   /* NONE when PASS */
    char reason[512];         /* readable; empty when PASS */
    struct assay_match match; /* of the first set that failed, else of the worst that passed */
    bool timed;
    struct assay_time time;
    struct assay_pair
        *pairs; /* time.n_pairs entries, owned by the result's arena; NULL when read without */
    struct assay_anchor anchor; /* beside the pairs: lower quartiles; t_hw_ns is drifted by it */
    double t_hw_ns;
    double t_hw_spread; /* relative repeatability of the unit that sets it; 0: not known */
    enum assay_unit bottleneck;
    double hap;            /* NaN: none; then the next three mean nothing */
    double hap_lo, hap_hi; /* 95 % interval, from those of the ratio and the baseline */
    double hap_limit;      /* +- of the limit, shared by all cases of the run */
    int sets_checked, sets_golden, sets_escalated;
    uint64_t seed;              /* of its inputs, drawn after the build; 0: not run */
    struct assay_draw failed;   /* of the set that failed */
    struct assay_ledger ledger; /* of the candidate's processes */
    double wall_s;
};

/* One operator's build. */
struct assay_build_row {
    const struct assay_op *op;
    bool done, present, compiled;
    bool failed_here;
    enum assay_verdict verdict; /* of all cases when not compiled */
    enum assay_reason code;
    char reason[320]; /* one sentence when not compiled */
    char flags[256];
    char contract[65], cases[65]; /* SHA-256, hex: headers that the kernel was compiled with; all
                                     planned cases of the operator */
    char *diagnostics;            /* trimmed; owned by the result's arena; NULL: none */
    char hash[65];                /* of the library, hex, empty when not built */
    double wall_s;
};

/* What a run shows about itself: measurements whose result is known beforehand. */
#define ASSAY_CONTROL_MAP(X)                                            \
    X(SAME, "same", "the baseline against itself: ratio 1")             \
    X(SLOWER, "slower", "the baseline against itself 5 % slower")       \
    X(SWAPPED, "swapped", "roles swapped: the reciprocal of the ratio") \
    X(NULL, "null", "a kernel that does nothing: no time, in cand_ns")  \
    X(NOTHING, "nothing", "leaves its outputs alone: WRONG")            \
    X(ZEROS, "zeros", "writes zeros: WRONG")                            \
    X(IDENTITY, "identity", "copies its first input: WRONG")            \
    X(STALE, "stale", "gives the outputs of the call before: WRONG")    \
    X(DOWNCAST, "downcast", "drops low bits of its outputs: WRONG")

enum assay_control_kind {
#define X(name, text, help) ASSAY_CONTROL_##name,
    ASSAY_CONTROL_MAP(X)
#undef X
        ASSAY_N_CONTROLS
};
#define ASSAY_CONTROL_SLOWDOWN 0.05

struct assay_control {
    enum assay_control_kind kind;
    struct assay_row row; /* measured as any other; timed false: could not be */
};

struct assay_manifest {
    char version[32];
    char submission[256], baseline[256], suite[256];
    char name[64], author[64], model[64]; /* what the submission says of itself; may be empty */
    char compiler[128], cpu[128], kernel[128], date[32];
    char harness[65];           /* SHA-256 of assay and assay-child, hex */
    char sources[65];           /* SHA-256 of the submission's files, hex; empty: not known */
    char target[16], trust[64]; /* "B: seccomp, ..." ; "none" marks the run untrusted */
    bool trusted; /* every process was locked in; see assay_result_trusted() for the whole run */
    enum assay_rules rules;
    int threads;
    int cores; /* that could be used; with no more than threads none was left for the harness */
    bool timing;
    bool seed_given; /* --seed: a debugging run, marked */
    uint64_t seed;
    char cases[256]; /* the selection, as given */
    char hidden[65]; /* the hash that commits to the hidden cases, hex; empty: there are none */
    int n_hidden;    /* of each operator */
    int shard;       /* which of n_shards parts, from 1; 0 of n: n parts merged; 0 of 0: all */
    int n_shards;
    int n_planned;  /* cases of all parts together; 0: not recorded */
    char policy[8]; /* "case": that of each case, else "cold" or "warm" for all */
};

/* Where a part of a merged result was measured. */
struct assay_part {
    int shard, n_cases, cores;
    char cpu[128], kernel[128], compiler[128], date[32], harness[65];
    double wall_s;
};

struct assay_result {
    struct assay_manifest manifest;
    struct assay_machine machine; /* of a merged result, that of its first part */
    struct assay_part *parts;     /* of a merged result, in order of the shards */
    int n_parts;
    struct assay_build_row *builds; /* one an operator, in order of the run */
    int n_builds;
    struct assay_row *rows; /* grouped by operator in the same order */
    int n_rows;
    struct assay_control *controls; /* as they were measured; room for all kinds for each build */
    int n_controls;
    bool interrupted;
    double wall_s;
    struct assay_arena arena; /* owns rows, builds, pairs, diagnostics */
};
void assay_result_release(struct assay_result *r);

/* Fills hap, its interval and hap_limit from time, t_hw_ns and t_hw_spread; sets
 * ASSAY_TIME_BELOW_LIMIT where that alarms. */
void assay_row_set_hap(struct assay_row *row);

/* Derived numbers: one operator (position in builds), one tier, everything. Intervals are as those
 * of struct assay_op_score: NaN when nothing was timed. */
void assay_result_op_score(const struct assay_result *r, int build, struct assay_op_score *s);
struct assay_total_score {
    int n_ops, n_cases, n_correct, n_failed_here, n_not_run;
    double mean, sum; /* of operator scores */
    double mean_lo, mean_hi, sum_lo, sum_hi;
    double hap; /* mean over operators with one, NaN when none */
    double hap_lo, hap_hi;
};
/* tier 0: all (L1..L4). */
void assay_result_total(const struct assay_result *r, int tier, struct assay_total_score *t);

/* What the controls and the spread of the times say of the measurement itself. */
struct assay_evidence {
    int n[ASSAY_N_CONTROLS], n_kept[ASSAY_N_CONTROLS]; /* measured; that came out as they must:
        SAME: the interval holds 1. SLOWER: it lies above 1. SWAPPED: it overlaps the reciprocal of
        the case's own. NULL: within 10 % of a null call. */
    double same_error;                                 /* median of |ratio - 1| of SAME */
    double slower_ratio;                               /* median ratio of SLOWER: 1.05 is true */
    double null_left_ns;                               /* median of what is left of nothing */
    int n_wrong, n_accepted;  /* controls that must be WRONG; of these, that passed */
    int n_honest, n_rejected; /* honest ones; of these, with a verdict other than PASS */
    int n_timed;              /* cases of the run; of these: */
    double detect, detect90;  /* relative difference that half, that nine of ten would have shown */
    double discarded;         /* share of pairs left out */
    double memory_lo, memory, memory_hi; /* drift of the memory anchor: 0.02 is 2 % slower than at
                                            calibration; lowest, median, highest; NaN: unknown */
    double compute;                      /* median drift of the other anchor */
};
/* The five controls that must fail. */
static inline bool assay_control_is_wrong(enum assay_control_kind k)
{
    return k >= ASSAY_CONTROL_NOTHING;
}
/* Trusted: every candidate was locked in, and the controls came out as they must: no wrong one
 * passed, no honest one failed, and the times of the known ones are not off beyond chance. why:
 * NULL, or receives the first reason against it. */
bool assay_result_trusted(const struct assay_result *r, char *why, size_t size);

/* NaN where nothing was measured. ASSAY_NOMEM only. */
enum assay_status assay_result_evidence(const struct assay_result *r, struct assay_evidence *e);

/* ---- sinks: called as results come ----------------------------------------------------------- */

/* One sink a file under src/report/. Every hook may be NULL. */
struct assay_sink {
    const char *name;
    void *self;
    enum assay_status (*begin)(void *self, const struct assay_result *r, struct assay_err *err);
    enum assay_status (*build)(void *self, const struct assay_result *r, int build,
                               struct assay_err *err);
    enum assay_status (*row)(void *self, const struct assay_result *r, int row,
                             struct assay_err *err);
    enum assay_status (*control)(void *self, const struct assay_result *r, int control,
                                 struct assay_err *err);
    enum assay_status (*end)(void *self, const struct assay_result *r, struct assay_err *err);
};

/* The table per operator and tier, failing cases with the command that repeats each. To a stream.
 */
void assay_report_text(const struct assay_result *r, bool colour, void *file);

/*
 * The JSON sink. While the run goes on, PATH.partial holds one JSON line for the manifest and one
 * for each build and case as they end (appended and flushed); end() writes PATH whole through a
 * rename and removes the partial. "-": stdout, no partial.
 */
enum assay_status assay_report_json_open(struct assay_sink *sink, const char *path, bool resume,
                                         struct assay_err *err);
void assay_report_json_close(struct assay_sink *sink);
/* Marks rows and builds of r that PATH.partial (or PATH) already has as done and fills them in, and
 * takes over controls; ASSAY_INVALID when it belongs to another run (submission, suite, rules,
 * policy, version, threads, timing differ). n_found: how many rows. */
enum assay_status assay_report_json_resume(struct assay_result *r, const char *path, int *n_found,
                                           struct assay_err *err);
/* Reads a finished result file whole. find looks operators up. */
typedef const struct assay_op *(*assay_op_find_fn)(const char *name);
enum assay_status assay_result_read(struct assay_result *r, const char *path, assay_op_find_fn find,
                                    struct assay_err *err);

/*
 * The shards of a run as one result, the same as one run of all cases would give but for times: in
 * and names (for errors) have n entries and are sorted by shard. ASSAY_INVALID, with the names,
 * when they are not of the same run (version, submission, suite, cases, rules, policy, baseline,
 * target, threads, timing, seed), one is missing, double or not complete, or an operator on a seam
 * was built differently. Nothing is borrowed from in; to be released in any case.
 */
enum assay_status assay_result_merge(struct assay_result *out, const struct assay_result **in,
                                     const char **names, int n, struct assay_err *err);

#endif
