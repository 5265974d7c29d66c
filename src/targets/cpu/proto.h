/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto.h: the page that the harness shares with the process of a candidate, and what is handed
 * over at start.
 *
 * The candidate can write this page: nothing read from it decides more than the wording of a
 * verdict, the sizes that a kernel reports (checked against capacity) and whether a call ended (its
 * outputs are judged, its time is taken outside). Once the process runs, the harness follows no
 * offset, length or terminator that stands here: what it needs of them it keeps in struct cpu_proc.
 *
 * Layout of the memory behind CTL_FD: struct cpu_ctl, then at case_at a struct cpu_case with its
 * views, then at attrs_at the attribute block, then at used_at int64_t[n_sets][CPU_MAX_DYNAMIC].
 */
#ifndef ASSAY_CPU_PROTO_H
#define ASSAY_CPU_PROTO_H

#include "assay/act.h"
#include "assay/kernel.h"

#include <stdatomic.h>

/* Descriptors of the started process. */
enum { CPU_FD_CTL = 3, CPU_FD_IN = 4, CPU_FD_OUT = 5, CPU_FD_LIB = 6 };

enum { CPU_MAX_PARAMS = 32, CPU_MAX_RELOC = 16, CPU_MAX_DYNAMIC = 6 };

/* How far the process has come. In LOCKED it waits: the harness reads what the lock achieved while
 * no foreign code could have written it, then sets LOADING. A failure before that is our fault,
 * from then on the candidate's. */
enum cpu_state { CPU_STARTING, CPU_LOCKING, CPU_LOCKED, CPU_LOADING, CPU_READY, CPU_FAILED };

enum cpu_command { CPU_NULL, CPU_CALL };

/* Bits of what the lock achieved. */
enum {
    CPU_LOCK_SECCOMP = 1 << 0,
    CPU_LOCK_NAMESPACES = 1 << 1,
    CPU_LOCK_ROOT = 1 << 2, /* empty root */
    CPU_LOCK_LANDLOCK = 1 << 3,
    CPU_LOCK_NO_NEW_PRIVS = 1 << 4,
    CPU_LOCK_USER = 1 << 5, /* an ordinary user without capabilities */
    CPU_LOCK_USER_NAMESPACE = 1 << 6
};

struct cpu_param {
    int32_t count; /* of views */
    int32_t first_view;
    int32_t dynamic; /* position in used[], -1: none */
    int32_t is_out;
};

struct cpu_view {
    uint64_t offset;        /* of set 0 in its arena */
    struct assay_view view; /* data is set by the process */
};

struct cpu_case {
    uint32_t n_in, n_out, n_views;
    uint32_t n_reloc, reloc[CPU_MAX_RELOC];
    uint64_t attrs_size;
    uint64_t in_stride, out_stride, in_bytes, out_bytes; /* bytes to map of each arena */
    uint64_t scratch_bytes;
    uint64_t memory_budget; /* of what the candidate may allocate itself */
    int32_t threads, n_sets;
    int32_t locked, spin;
    int32_t act;       /* enum assay_act */
    double slowdown;   /* SLOWER: the process spins for that share of each call */
    char entry[80];    /* symbol, "assay_gelu" */
    char library[512]; /* file name where there is no empty root */
    struct cpu_param param[CPU_MAX_PARAMS]; /* inputs, then outputs */
    struct cpu_view view[];
};

struct cpu_ctl {
    uint64_t total_bytes, case_at, attrs_at, used_at;
    _Atomic uint32_t state; /* enum cpu_state */
    _Atomic uint32_t lock;  /* CPU_LOCK_ bits */
    char text[256];         /* what failed at start, or what dlopen said */
    /* Written by handlers of the process as it dies; wording only. */
    _Atomic int32_t signal, syscall_nr;
    _Atomic uint64_t fault_at;   /* address of the fault */
    _Atomic uint64_t in_at;      /* where the input arena is mapped */
    _Atomic uint32_t no_memory;  /* an allocation was refused */
    _Atomic uint32_t fp_changes; /* calls that left another floating-point mode */
    /* The hand-over: the harness raises go, the process answers with the same number in done. */
    _Alignas(64) _Atomic uint32_t go;
    _Atomic uint32_t asleep; /* the process waits for a change of go in the kernel: wake it */
    int32_t command, set;
    _Alignas(64) _Atomic uint32_t done;
    int32_t rc;
};

#endif
