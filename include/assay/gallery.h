/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gallery.h: small submissions whose verdict is known: every known way to cheat, and honest kernels
 * of every kind. `assay selftest` runs them where it stands.
 *
 * The table is gallery.json beside their folders: {"format": 1, "kernels": [...], "cannot_exist":
 * [...]}. A kernel: kernel (folder), case ("exp/6"), entries (of docs/threat-model.md; empty for
 * honest ones), verdict, code, timed, threads, what (a line), slower_than where a PASS must gain
 * nothing: the least ratio to the baseline, and budget_s where it takes many pairs to be sure (0.3
 * else). What cannot exist: entries, why.
 */
#ifndef ASSAY_GALLERY_H
#define ASSAY_GALLERY_H

#include "assay/bench.h"

/* One submission on one case. */
struct assay_exhibit {
    const char *kernel, *what;
    const char *entries; /* "1, 37b"; empty: honest */
    const struct assay_op *op;
    int case_id;
    enum assay_verdict verdict;
    enum assay_reason code;
    bool timed;
    int threads;
    double slower_than; /* 0: nothing is asked */
    double budget_s;    /* for timing, of the case */
};

struct assay_absence {
    const char *entries, *why;
};

struct assay_gallery {
    struct assay_exhibit *exhibits;
    int n;
    struct assay_absence *absences;
    int n_absences;
    struct assay_arena arena; /* owns all of it */
};

/* Reads a table from memory. ASSAY_PARSE, with the place. Nothing is left in *g on error. */
enum assay_status assay_gallery_parse(struct assay_gallery *g, const char *text, size_t len,
                                      assay_op_find_fn find, struct assay_err *err);
enum assay_status assay_gallery_read(struct assay_gallery *g, const char *path,
                                     assay_op_find_fn find, struct assay_err *err);
void assay_gallery_release(struct assay_gallery *g);

/* What became of one exhibit. */
struct assay_outcome {
    bool run;  /* false: left out, `reason` says why */
    bool kept; /* all as the table says */
    bool failed_here;
    enum assay_verdict verdict;
    enum assay_reason code;
    double ratio; /* to the baseline, NaN when not timed */
    double wall_s;
    char reason[512];
    char trust[64];
};

struct assay_selftest_options {
    const struct assay_home *home;
    const char *only; /* kernels whose folder contains this; NULL: all */
    bool timing;      /* false: those that need it are left out */
    bool plain;       /* level B, whatever this system has */
    const struct assay_machine *machine;
    const volatile int *stop;
    /* Hears of each as it ends, in the order of the table as far as they are not timed; those last.
     */
    void (*told)(void *cookie, const struct assay_exhibit *e, const struct assay_outcome *o);
    void *cookie;
};

/* Is the exhibit to be run? */
bool assay_selftest_wants(const struct assay_selftest_options *o, const struct assay_exhibit *e);
/* Runs the exhibits; outcomes[g->n]. Those that are not timed run side by side. */
enum assay_status assay_bench_selftest(struct assay_outcome *outcomes,
                                       const struct assay_gallery *g,
                                       const struct assay_selftest_options *o,
                                       struct assay_err *err);

#endif
