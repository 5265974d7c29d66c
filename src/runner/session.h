/* SPDX-License-Identifier: Apache-2.0 */
/* session.h: what the files of the runner share. */
#ifndef ASSAY_RUNNER_SESSION_H
#define ASSAY_RUNNER_SESSION_H

#include "assay/machine.h"
#include "assay/runner.h"

#include <stdatomic.h>

enum { RUNNER_MAX_CPUS = 256, RUNNER_PATH = 512 };

struct assay_session {
    const struct assay_target *target;
    struct assay_session_options o;
    struct assay_shared in, out;
    void *aside; /* as large as out, private */
    size_t aside_bytes;
    char root[RUNNER_PATH]; /* of all builds, removed at the end */
    int root_fd;            /* holds its lock */
    int n_builds;
    int cpu[RUNNER_MAX_CPUS], n_cpus; /* that this process may use */
    bool spare_core;                  /* one more than the kernels get */
    int schedstat;                    /* of the thread that opened the session, -1: none */
};

/* One output tensor in a set. */
struct assay__span {
    size_t offset; /* from the start of the set */
    size_t end;    /* bytes of this and all tensors before it */
    int output;
};

struct assay_side {
    struct assay_session *s;
    void *proc;
    int n_sets;
    size_t in_stride, out_stride;
    const struct assay_op *op;
    int64_t capacity[ASSAY_MAX_OUT];
    struct assay__span *span; /* those with bytes */
    int n_spans;
    struct assay_ledger used;
};

/* watch.c: lines of outputs that are looked at. */
enum { ASSAY__LINE = 64, ASSAY__WATCH_MAX = 48 };
struct assay__line {
    const char *at;
    size_t bytes;
    int set, output;
    unsigned char was[ASSAY__LINE];
};
struct assay__watch {
    int n;
    struct assay__line line[ASSAY__WATCH_MAX];
};
/* Draws n lines, at most ASSAY__WATCH_MAX, of the sets from first_set to n_sets - 1, and keeps what
 * they hold now. */
void assay__watch_take(struct assay__watch *w, const struct assay_side *side, int first_set,
                       int n_sets, int n, struct assay_key key);
/* The output that one of the lines of sets from first_set on belongs to and that is another now;
 * -1: all are as they were. */
int assay__watch_changed(const struct assay__watch *w, int first_set);

/* huge.c: an empty file whose memory comes in pages of 2 MiB; -1 where that is not to be had. */
int assay__huge_file(void);

/* shared.c: memory touched and of a fixed size, in pages of 2 MiB where they are to be had;
 * writable only through this process's mapping when read_only. *m is released first: fd -1 to begin
 * with. Nothing is left in it on error. */
enum assay_status assay__shared_make(struct assay_shared *m, size_t bytes, bool read_only,
                                     struct assay_err *err);
void assay__shared_release(struct assay_shared *m);

/* flush.c: takes memory out of all caches, line by line. */
void assay__flush(const void *p, size_t bytes);
/* The other way: reads it line by line into the caches of this core. */
void assay__touch(const void *p, size_t bytes);

/* anchor.c: one run of each fixed kernel on this thread; in and out are ASSAY__ANCHOR_BYTES each,
 * out is overwritten. */
enum { ASSAY__ANCHOR_BYTES = 4 << 20 };
void assay__anchor_take(struct assay_anchor *a, const void *in, void *out);

/* pin.c: keeps the calling thread on one core, or lets it use all of n. */
void assay__cpus_allowed(int *cpu, int *n, int cap);
void assay__cpus_use(const int *cpu, int n);
/*
 * Before all other programs while a clock runs; without effect for ordinary users. 0: no more; 1:
 * like the kernels' processes, with which runs side by side take turns: whoever waits must yield;
 * 2: before them too, for those that sleep while they wait.
 */
void assay__be_urgent(int priority);

#endif
