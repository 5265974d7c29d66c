/* SPDX-License-Identifier: Apache-2.0 */
/* process.h: the parent's side of one candidate process. */
#ifndef ASSAY_CPU_PROCESS_H
#define ASSAY_CPU_PROCESS_H

#include "assay/runner.h"
#include "targets/cpu/proto.h"

#include <sys/types.h>

enum { CPU_MAX_STATS = 1024 }; /* as many threads as can be granted */

struct cpu_proc {
    pid_t pid; /* 0: gone */
    struct cpu_ctl *ctl;
    size_t ctl_bytes;
    int64_t *used; /* in ctl */
    int n_sets;
    bool spin, stopped;
    bool wrapped; /* runs under a debugger: never frozen */
    /* What must not depend on memory that the process can write. */
    enum cpu_state phase; /* STARTING, LOADING from when foreign code may run, READY */
    uint32_t lock;        /* CPU_LOCK_ bits, as they were before that */
    uint32_t go;          /* calls handed over */
    const struct assay_op *op;
    uint64_t in_bytes, in_stride;
    uint64_t in_first[ASSAY_MAX_IN]; /* offset of an input in its set, UINT64_MAX: absent */
    double memory_mib;
    int stat_fd[CPU_MAX_STATS], n_stats; /* schedstat of its threads, the one that calls first */
    double ran_ns[CPU_MAX_STATS];        /* when last asked */
    double mark_ns[2];                   /* of the first, at the moments of mark */
    struct assay_ledger at_start;        /* counters when it began to serve calls */
    bool refused;                        /* ended by a refused system call */
};

/* Lays out the control memory for a case; *fd is its descriptor, to be closed by the caller. */
enum assay_status cpu_ctl_new(struct cpu_proc *p, int *fd, const struct assay_start *s,
                              struct assay_err *err);
/* Words the end of a process from its wait status and what its handlers noted. Whatever stands in
 * the control memory, the verdict is none but a failure and the reason is printable. */
void cpu_verdict_of_end(const struct cpu_proc *p, int status, struct assay_facts *facts);
/* What the process says of its failure to start: printable ASCII, '?' for every other byte. */
enum { CPU_TEXT_MAX = sizeof((struct cpu_ctl *)NULL)->text + 1 };
const char *cpu_said(const struct cpu_proc *p, char buf[CPU_TEXT_MAX]);

enum assay_status cpu_start(void **proc, const struct assay_start *s, struct assay_facts *facts,
                            struct assay_err *err);
bool cpu_call(void *proc, int set, bool null, double timeout_s, struct assay_facts *facts);
bool cpu_stop(void *proc, struct assay_facts *facts);
bool cpu_resume(void *proc, struct assay_facts *facts);
int64_t cpu_used(const void *proc, int set, int output);
double cpu_waited_ns(const void *proc);
/* usage.c: counters of the process as the system keeps them; what cannot be read stays 0. */
void cpu_read_counters(int pid, struct assay_ledger *l);
void cpu_mark(void *proc, int moment);
double cpu_cpu_ns(void *proc, double block_ns, double net_ns, int n_calls, double *outside_ns);
void cpu_ledger(void *proc, struct assay_ledger *l);
void cpu_end(void *proc);

/* build.c */
enum assay_status cpu_build(struct assay_built *b, const struct assay_session_options *o,
                            const char *dir, const char *submission, const struct assay_op *op,
                            struct assay_err *err);

#endif
