/* SPDX-License-Identifier: Apache-2.0 */
/* process.h: the parent's side of one candidate process. */
#ifndef ASSAY_CPU_PROCESS_H
#define ASSAY_CPU_PROCESS_H

#include "assay/runner.h"
#include "targets/cpu/proto.h"

#include <sys/types.h>

enum { CPU_MAX_WAITS = 64 };

struct cpu_proc {
    pid_t pid; /* 0: gone */
    struct cpu_ctl *ctl;
    size_t ctl_bytes;
    int64_t *used; /* in ctl */
    int n_sets;
    bool spin, stopped;
    bool wrapped; /* runs under a debugger: never frozen */
    const struct assay_op *op;
    uint64_t in_bytes, in_stride;
    double memory_mib;
    int wait_fd[CPU_MAX_WAITS], n_waits; /* how long its threads waited for a core */
};

/* Lays out the control memory for a case; *fd is its descriptor, to be closed by the caller. */
enum assay_status cpu_ctl_new(struct cpu_proc *p, int *fd, const struct assay_start *s,
                              struct assay_err *err);
/* Words the end of a process from its wait status and what its handlers noted. */
void cpu_verdict_of_end(const struct cpu_proc *p, int status, struct assay_facts *facts);

enum assay_status cpu_start(void **proc, const struct assay_start *s, struct assay_facts *facts,
                            struct assay_err *err);
bool cpu_call(void *proc, int set, bool null, double timeout_s, struct assay_facts *facts);
bool cpu_stop(void *proc, struct assay_facts *facts);
bool cpu_resume(void *proc, struct assay_facts *facts);
int64_t cpu_used(const void *proc, int set, int output);
double cpu_waited_ns(const void *proc);
void cpu_end(void *proc);

/* build.c */
enum assay_status cpu_build(struct assay_built *b, const struct assay_session_options *o,
                            const char *dir, const char *submission, const struct assay_op *op,
                            struct assay_err *err);

#endif
