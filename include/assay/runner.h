/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runner.h: drives any target: builds a submission's kernel, starts it locked in a process of its
 * own, has it handle blocks of calls on shared memory, and reads the clock around them.
 *
 *     assay_session_open(&s, &assay_target_cpu, &options, err);
 *     assay_session_reserve(s, in_bytes, out_bytes, true, err);    once, for the largest case
 *     assay_session_build(s, &built, "examples/first", op, err);
 *     assay_side_start(&side, s, &built, op, &args, n_sets, &facts, err);
 *         ... write inputs and poison of sets 0..n-1 while all sides are stopped ...
 *     assay_side_block(side, &block, &facts, err);                 stopped again on return
 *         ... read outputs, or set them aside before another side has its turn ...
 *     assay_side_end(side);
 *
 * Memory: one input arena, written here and read-only there, and one output arena. All sides have
 * both at the same addresses on the same physical pages: where memory lies decides as much about
 * the time of a kernel as the kernel does, so that sides with memory of their own cannot be
 * compared. One side runs at a time; before the next one does, its predecessor's outputs are set
 * aside and poison takes their place. A set is one complete group of inputs or outputs; set k lies
 * k * stride after set 0.
 */
#ifndef ASSAY_RUNNER_H
#define ASSAY_RUNNER_H

#include "assay/act.h"
#include "assay/case.h"
#include "assay/judge.h"
#include "assay/machine.h"

/* What happened in a process, as seen from outside. verdict PASS: it did what was asked. */
struct assay_facts {
    enum assay_verdict verdict;
    enum assay_reason code;
    char reason[320];  /* readable; empty on PASS */
    double block_ns;   /* wall time of the block, less what its only thread waited for a core */
    double null_ns;    /* wall time of one null call, measured in the same turn */
    bool disturbed;    /* it, or this process, had no core for more than 1 % of the block */
    double outside_ns; /* CPU time that the process used in this block outside of its calls */
    char trust[64];    /* the level it runs at, from start */
    bool trusted;
};

/* The library of one operator of one submission. */
struct assay_built {
    bool present;               /* the submission has sources for the operator */
    bool compiled;              /* and may be loaded */
    enum assay_verdict verdict; /* COMPILE_FAILED or FORBIDDEN when not compiled */
    enum assay_reason code;
    char reason[320];  /* one sentence; diagnostics has what the compiler said */
    char library[512]; /* path */
    char *diagnostics; /* trimmed and scrubbed, malloc'ed, NULL: none */
    char contract[65]; /* SHA-256 of the headers that it was compiled with, hex */
    char hash[65]; /* SHA-256 of the library, hex; the same sources and compiler give the same */
    char compiler[128]; /* first line of its --version */
    char flags[256];    /* of the harness and of the submission, as for C */
    enum assay_act act; /* HONEST but for controls */
    double slowdown;    /* SLOWER: the share */
    double wall_s;
};
void assay_built_release(struct assay_built *b);

struct assay_session_options {
    const char *child;   /* the program that candidates are loaded into */
    const char *include; /* folder that holds assay/kernel.h */
    const char *tmp;     /* folder for build trees, "/tmp" when NULL */
    int threads;         /* granted to kernels */
    bool locked;       /* false: nothing is given up before the library is loaded; never trusted */
    bool plain;        /* as if this system had no namespaces: level B at most */
    bool debug;        /* a child of the user's terminal: its streams and environment */
    bool debug_info;   /* build with -g */
    char *const *wrap; /* debugging: argv prefix, NULL-terminated, or NULL */
    double build_timeout_s; /* 0: 120 */
    bool build_once;        /* not twice, to compare */
    bool timing;            /* times are taken: before other programs, where that is allowed */
};

/* One block of calls. The side is stopped before and after. */
struct assay_block {
    int n_calls;    /* on sets 0 .. n_calls - 1, in this order */
    bool flush;     /* cold: inputs and outputs of these sets leave the caches first */
    bool touch;     /* warm: one pass over them on the kernel's core, not by the kernel: values that
                       it has seen before could be remembered */
    bool time_null; /* measure null_ns too */
    bool null_kernel; /* any number of null calls: what is left of them is the clock's error */
    double timeout_s; /* for each call */
    uint64_t secret;  /* draws the lines of the outputs that are watched, and when; 0: none are */
};

/* What the process of a side used while it handled blocks. */
struct assay_ledger {
    double wall_s;    /* from the start of each block to its stop */
    double cpu_s;     /* of all threads, in that time */
    double outside_s; /* of that, outside of calls */
    double anon_mib;  /* private memory at the end */
    int64_t minor_faults, major_faults, waits, preemptions; /* waits: voluntary context switches */
    int64_t refused;    /* system calls that ended the process */
    int64_t fp_changes; /* calls that left another floating-point mode: it was set back */
};

struct assay_session;
struct assay_side;
struct assay_target;

enum assay_status assay_session_open(struct assay_session **s, const struct assay_target *target,
                                     const struct assay_session_options *o, struct assay_err *err);
void assay_session_close(struct assay_session *s);
/* Makes the arenas at least this large, touched and sealed; aside: also the memory that
 * assay_session_set_aside() copies to. Not while a side runs. ASSAY_NOMEM: not runnable here. */
enum assay_status assay_session_reserve(struct assay_session *s, size_t in_bytes, size_t out_bytes,
                                        bool aside, struct assay_err *err);
/* Chooses the core on which single-threaded sides started from now on will run: the one that
 * computes fastest at this moment. On a shared machine the other half of a core may be somebody
 * else's. */
void assay_session_choose_core(struct assay_session *s);
/* Times the fixed kernels once, in the arenas and while all sides are stopped: the outputs there
 * are lost. */
void assay_session_anchor(struct assay_session *s, struct assay_anchor *a);
/* Cores that may be used. */
int assay_session_cores(const struct assay_session *s);
/* True when the arenas lie in pages of 2 MiB: see huge.c. */
bool assay_session_huge(const struct assay_session *s);
/* A failed or absent build is a fact in *b; errors are ours. */
enum assay_status assay_session_build(struct assay_session *s, struct assay_built *b,
                                      const char *submission, const struct assay_op *op,
                                      struct assay_err *err);

/* Bytes between sets of these arguments. */
enum assay_status assay_set_stride(const struct assay_args *args, size_t *in_stride,
                                   size_t *out_stride, struct assay_err *err);
/* Sets the data pointers of the tensors of args to set k of the arenas. */
void assay_session_bind(struct assay_session *s, const struct assay_op *op, struct assay_args *args,
                        int set);
/* Copies the outputs of sets 0 .. n-1 out of the arena; returns where set 0 lies now, valid until
 * the next call. Null without room (see reserve). */
void *assay_session_set_aside(struct assay_session *s, int n_sets, size_t out_stride);

/* Starts a process, locked, with the library loaded, for one case. args: contract of the case.
 * facts say whether it got as far as waiting for calls; then *side is set, else NULL. */
enum assay_status assay_side_start(struct assay_side **side, struct assay_session *s,
                                   const struct assay_built *built, const struct assay_op *op,
                                   const struct assay_args *args, int n_sets,
                                   struct assay_facts *facts, struct assay_err *err);
/* Runs a block. After a verdict other than PASS the process is gone; only assay_side_end may
 * follow. */
enum assay_status assay_side_block(struct assay_side *side, const struct assay_block *b,
                                   struct assay_facts *facts, struct assay_err *err);
/* Sizes used of data-dependent outputs, as set k's call returned them (checked against capacity: -1
 * when out of range). */
int64_t assay_side_used(const struct assay_side *side, int set, int output);
/* Adds to l what the side has used so far; also after its process is gone. */
void assay_side_ledger(const struct assay_side *side, struct assay_ledger *l);
void assay_side_end(struct assay_side *side); /* kills; NULL is fine */

/* ---- what a target implements ---------------------------------------------------------------- */

/* Shared memory of a session as a target sees it. */
struct assay_shared {
    int fd; /* for processes: inputs cannot be written through it */
    void *base;
    size_t bytes;
    bool huge; /* in pages of 2 MiB */
};

struct assay_start {
    const struct assay_session_options *options;
    const struct assay_built *built;
    const struct assay_op *op;
    const struct assay_args *args; /* data pointers: bound to set 0, so that offsets can be taken */
    const struct assay_shared *in, *out;
    size_t in_stride, out_stride;
    int n_sets;
    const int *cpus; /* cores for the process */
    int n_cpus;      /* 0: do not pin */
    bool spin;       /* a spare core: hand over by spinning */
};

struct assay_target {
    const char *name;
    enum assay_status (*build)(struct assay_built *b, const struct assay_session_options *o,
                               const char *dir, const char *submission, const struct assay_op *op,
                               struct assay_err *err);
    enum assay_status (*start)(void **proc, const struct assay_start *s, struct assay_facts *facts,
                               struct assay_err *err);
    /* One call on a set; null: the same hand-over without the kernel. Returns when it is done, or
     * false with the verdict in facts when the process ended or deadline_s passed. */
    bool (*call)(void *proc, int set, bool null, double timeout_s, struct assay_facts *facts);
    bool (*stop)(void *proc, struct assay_facts *facts); /* freeze it between blocks */
    bool (*resume)(void *proc, struct assay_facts *facts);
    int64_t (*used)(const void *proc, int set, int output);
    /* ns that its threads have been ready and had no core; constant where the system does not tell
     */
    double (*waited_ns)(const void *proc);
    /* Processor time of its threads. mark: moment 0, its calls begin; 1, it has answered a few
     * empty calls after them. cpu_ns: while it is stopped, all that it took since it was asked
     * last; *outside_ns: of that, outside of its calls, which took block_ns with the hand-over and
     * net_ns without. */
    void (*mark)(void *proc, int moment);
    double (*cpu_ns)(void *proc, double block_ns, double net_ns, int n_calls, double *outside_ns);
    void (*ledger)(void *proc,
                   struct assay_ledger *l); /* adds all but times; while it is stopped */
    void (*end)(void *proc);
};
extern const struct assay_target assay_target_cpu;

#endif
