/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h: peaks of a machine per execution unit, measured here or published.
 */
#ifndef ASSAY_MACHINE_H
#define ASSAY_MACHINE_H

#include "assay/op.h"

/* A cache level or memory, as found by measuring. */
struct assay_level {
    char name[8];             /* "L1", "L2", "L3", "DRAM" */
    double bytes;             /* up to this footprint it serves; infinite for DRAM */
    double read, write, copy; /* bytes per second over all threads; copy counts both directions */
    double spread;            /* largest relative repeatability of the three */
};

/* Times of the fixed kernels that tell how the machine has changed since it was calibrated. */
struct assay_anchor {
    double memory_ns, compute_ns; /* 0: not measured */
};

enum assay_machine_kind {
    ASSAY_MACHINE_CPU, /* measured; limits from .work */
    ASSAY_MACHINE_NPU  /* published; limits from .work_npu */
};

enum { ASSAY_MAX_LEVELS = 6, ASSAY_MAX_RATES = 16 };

struct assay_machine {
    enum assay_machine_kind kind;
    char name[64];                                       /* "this", "910b2" */
    char cpu[128], kernel[128], compiler[128], date[32]; /* where and when measured; may be empty */
    char isa[32];    /* "avx512", "avx2", "neon", "plain": what the peaks were measured with */
    char memory[32]; /* "2 MiB pages", "4 KiB pages" */
    int threads;
    double peak[ASSAY_N_UNITS]; /* per second in the unit's own unit; 0: unknown, does not bound */
    double spread[ASSAY_N_UNITS]; /* relative repeatability of the measurement, 0 if published */
    struct assay_level level[ASSAY_MAX_LEVELS]; /* from the smallest up, the last one is memory */
    int n_levels;
    struct assay_anchor anchor;

    /* of published profiles */
    double floor_ns;    /* no limit is smaller */
    double write_burst; /* bytes that peak[MTE3] holds for; 0: all */
    double write_rest;  /* rate beyond, bytes per second */
    bool touched;       /* bytes as .work counts them, not as the contract has them */
    char source[256];   /* where the figures come from */
};

/* A profile for a number of threads. Files hold the rates of several thread counts; ASSAY_INVALID
 * when there are none for this one (0: the first). */
enum assay_status assay_machine_read(struct assay_machine *m, const char *path, int threads,
                                     struct assay_err *err);
/* n profiles of one machine that differ in threads; "-": stdout. */
enum assay_status assay_machine_write(const struct assay_machine *m, int n, const char *path,
                                      struct assay_err *err);

/* Turns the rates of *m into those of a moment at which the anchors took `now` instead of
 * m->anchor: memory by the one, all else by the other. Unknown anchors change nothing. */
void assay_machine_drift(struct assay_machine *m, const struct assay_anchor *now);

/* Names this machine (processor, kernel, compiler, date) and leaves all peaks unknown. */
void assay_machine_name(struct assay_machine *m, int n_threads);

/* Measures this machine (about 3 s) on n_threads threads: bandwidth of each level on the kind of
 * mapping that kernels get, peak of every unit that this processor has, anchors. progress may be
 * NULL. */
enum assay_status assay_calibrate(struct assay_machine *m, int n_threads,
                                  void (*progress)(void *cookie, const char *what), void *cookie,
                                  struct assay_err *err);

#endif
