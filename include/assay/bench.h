/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h: the stages in order. The command line sits on this.
 */
#ifndef ASSAY_BENCH_H
#define ASSAY_BENCH_H

#include "assay/case.h"
#include "assay/hidden.h"
#include "assay/result.h"

enum { ASSAY_PATH_MAX = 4096 };

/* Where the parts of an installation are; filled in by the program, which knows where it lies. */
struct assay_home {
    char cases[ASSAY_PATH_MAX];    /* data/cases */
    char machines[ASSAY_PATH_MAX]; /* data/machines */
    char kernels[ASSAY_PATH_MAX];  /* holds naive/ and baseline/ */
    char gallery[ASSAY_PATH_MAX];  /* holds gallery.json, bad/ and good/ */
    char include[ASSAY_PATH_MAX];  /* holds assay/kernel.h */
    char child[ASSAY_PATH_MAX];    /* the program assay-child */
};

struct assay_progress {
    const char *stage;         /* "calibrate", "build", "measure", "controls" */
    const struct assay_op *op; /* NULL in calibrate */
    int case_id;
    int done, total; /* cases */
    double eta_s;    /* NaN while unknown */
};
typedef void (*assay_progress_fn)(void *cookie, const struct assay_progress *p);

struct assay_run_options {
    const struct assay_home *home;
    const char *submission, *baseline; /* folders; baseline NULL: kernels/baseline */
    const char *suite;                 /* official task tree, NULL: own cases */
    const struct assay_op *const *ops; /* NULL-terminated selection */
    bool ops_as_found; /* leave out those that the suite does not have; else they are an error */
    const char *cases; /* "public", "hidden", "all", "exp/3,exp/1004"; NULL: public */
    const struct assay_hidden_seed *hidden; /* NULL: there are no hidden cases */
    int n_hidden;                           /* of each operator */
    int shard, n_shards; /* only the shard-th of n parts, from 1; 0 of 0: all cases */
    enum assay_rules rules;
    int threads; /* granted to kernels, >= 1 */
    bool timing;
    bool unlocked; /* kernels run without the lock: to measure what it costs; never trusted */
    bool plain;    /* as if this system had no namespaces: level B */
    bool bare;     /* one build instead of two, and no controls: for kernels that are controls */
    bool only_controls;     /* no case is run but those of controls that need no times */
    double build_timeout_s; /* 0: 120 */
    bool seed_given;
    uint64_t seed;
    double budget_s;                     /* timing budget of a case, 1.0 */
    const enum assay_policy *policy;     /* of all cases; NULL: each has its own */
    const struct assay_machine *machine; /* NULL: measured at the start */
    assay_progress_fn progress;
    void *cookie;
    const volatile int *stop; /* set by a signal handler: finish the case, then end */
};

/*
 * Appends the cases of the operators to a suite: our own, or those of an official task tree. With
 * ops_as_found, operators that the tree does not have are left out; else they are ASSAY_INVALID, as
 * is a suite without any case.
 */
enum assay_status assay_bench_load(struct assay_suite *s, const struct assay_home *home,
                                   const char *suite, const struct assay_op *const *ops,
                                   bool ops_as_found, struct assay_err *err);
/* Operators of an official task tree that this program does not have. */
int assay_bench_n_foreign(const char *suite);
/* Is the case named by a selection ("exp/3,exp/4"; NULL, "public", "hidden", "all": every one of
 * the suite)? */
bool assay_bench_selected(const char *selection, const struct assay_case *c);
/* ASSAY_INVALID for a selection that names a case which the suite does not have. */
enum assay_status assay_bench_check_selection(const char *selection, const struct assay_suite *s,
                                              struct assay_err *err);

/*
 * Plans the rows (denominators are fixed here), marks what a journal already has through resume
 * (NULL: none), then builds, runs, judges, times and scores; sinks hear of every build and row as
 * it ends. Returns an error only when nothing useful can be done (unknown folder, no target, out of
 * memory); per-case faults of ours are in the rows.
 */
enum assay_status assay_bench_run(struct assay_result *r, const struct assay_run_options *o,
                                  struct assay_sink *sinks, int n_sinks, const char *resume,
                                  struct assay_err *err);

/* One case, unlocked and never scored: builds with debug information, runs it once under `wrap` (a
 * NULL-terminated argv prefix such as { "gdb", "--args", NULL }; NULL: none), judges it and writes
 * tensors as .npy into dump (NULL: no). Hidden cases come from the folder `revealed` (NULL: none).
 */
enum assay_status assay_bench_debug(struct assay_row *row, const struct assay_run_options *o,
                                    int case_id, const char *revealed, char *const *wrap,
                                    const char *dump, struct assay_err *err);

/* Goldens against vectors recorded elsewhere: one line per case on out, totals last. n_failed and
 * n_cases are counted over ops (NULL-terminated). */
struct assay_conform {
    int n_cases, n_passed, n_failed, n_f32; /* n_f32: compared at float32 accuracy */
};
enum assay_status assay_bench_conform(struct assay_conform *sum, const char *dir,
                                      const struct assay_op *const *ops, bool verbose,
                                      void *out_file, struct assay_err *err);

#endif
