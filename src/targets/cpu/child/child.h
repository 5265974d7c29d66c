/* SPDX-License-Identifier: Apache-2.0 */
/* child.h: the parts of the process that a candidate runs in. */
#ifndef ASSAY_CPU_CHILD_H
#define ASSAY_CPU_CHILD_H

#include "targets/cpu/proto.h"

#include <stdbool.h>
#include <stdio.h>

/* Ends the process with a reason in the shared page; _sys adds what errno says. */
_Noreturn void child_fail(struct cpu_ctl *ctl, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void child_fail_sys(struct cpu_ctl *ctl, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* fault.c: handlers that note signal, address and refused system call in ctl; the signal then takes
 * its course. */
void fault_install(struct cpu_ctl *ctl);

/* pool.c: threads made before the first filter. parallel() of struct assay_call. */
enum { POOL_STACK_BYTES = 8 << 20 };
void pool_start(struct cpu_ctl *ctl, int threads, bool spin);
void pool_parallel(const struct assay_call *c, int64_t n, assay_body_fn body, void *ctx);

/* lock.c: enclose() is done first (namespaces, empty root with the library in it, ordinary user,
 * limits, Landlock), for the only thread and so for those that it makes; filter() before the
 * library is opened, shut() after (no path, no executable mapping), both for all threads. All set
 * bits in ctl->lock. library receives the path to open. */
void lock_enclose(struct cpu_ctl *ctl, const struct cpu_case *k, char *library, size_t size);
void lock_filter(struct cpu_ctl *ctl);
void lock_shut(struct cpu_ctl *ctl);

/* fp.c: the floating-point mode (rounding, flushing of subnormals, masks of exceptions) that
 * threads have when the process starts. restore() gives it back to this thread, and notes in ctl
 * when it had to. */
void fp_save(void);
void fp_restore(struct cpu_ctl *ctl);

/* act.c: one call of the kernel as k->act wants it. */
int act_call(const struct cpu_case *k, const struct assay_call *c,
             int (*entry)(const struct assay_call *));

#endif
