/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adequacy.h: are the cases of an operator able to tell a wrong kernel from a right one?
 *
 * Mutants are the native reference with one fault each: of its inputs, its attributes or what it
 * has written. A mutant is killed when the judge of a run rejects its outputs in one case or more.
 *
 *     struct assay_adequacy a = { 0 };
 *     assay_bench_adequacy(&a, op, &suite, &options, &err);
 *     for (int i = 0; i < a.n; i++)
 *         if (a.rows[i].fate == ASSAY_FATE_SURVIVED)
 *             puts(a.rows[i].mutant);
 *     assay_adequacy_release(&a);
 */
#ifndef ASSAY_ADEQUACY_H
#define ASSAY_ADEQUACY_H

#include "assay/bench.h"
#include "assay/judge.h"

#define ASSAY_FATE_MAP(X)                                                                \
    X(ABSENT, "absent", "the operator, or every case, lacks what the mutant gets wrong") \
    X(KILLED, "killed", "a case rejects it")                                             \
    X(SURVIVED, "survived", "no case rejects it")                                        \
    X(JUSTIFIED, "justified", "no case rejects it, and the record says why none can")

enum assay_fate {
#define X(name, text, help) ASSAY_FATE_##name,
    ASSAY_FATE_MAP(X)
#undef X
        ASSAY_N_FATES
};
const char *assay_fate_name(enum assay_fate f);

enum { ASSAY_TARGET_MAX = 64 };

/* One mutant on one target: an output, an input and an axis of it, an attribute. */
struct assay_mutant_row {
    const char *mutant, *models;   /* name, and the faulty kernel that it stands for */
    char target[ASSAY_TARGET_MAX]; /* "y", "x axis -1", "epsilon"; empty: the call */
    enum assay_fate fate;
    int n_tried;    /* cases that it was tried on */
    int n_same;     /* of these, those where its outputs are the honest ones, bit by bit */
    int n_killed;   /* and those that reject it */
    int first_case; /* id of the first that does, smallest case first; 0: none */
    enum assay_reason reason; /* and why */
    const char *why;          /* of the record: why no case can tell; NULL */
};

struct assay_adequacy {
    const struct assay_op *op;
    int n_cases; /* of the operator, among those selected */
    struct assay_mutant_row *rows;
    int n, n_by_fate[ASSAY_N_FATES];
    double took_s;
    struct assay_arena arena; /* owns the rows */
};

struct assay_adequacy_options {
    const char *cases; /* a selection, as of a run; NULL: all */
    enum assay_rules rules;
    uint64_t seed;
    bool all;                   /* every mutant on every case; else none after its first kill */
    int done, total;            /* cases before this operator, and in all: for progress */
    double took_s;              /* by those before */
    assay_progress_fn progress; /* or NULL */
    void *cookie;
    const volatile int *stop; /* or NULL; set by a signal handler: end after the case */
};

/*
 * Tries every mutant on the cases of op in s, small ones first. One that the record justifies is
 * tried on cases of up to a million elements only, unless all is set. ASSAY_INTERNAL when a case
 * rejects the honest outputs, or when the record justifies a mutant that there is not.
 */
enum assay_status assay_bench_adequacy(struct assay_adequacy *a, const struct assay_op *op,
                                       const struct assay_suite *s,
                                       const struct assay_adequacy_options *o,
                                       struct assay_err *err);
void assay_adequacy_release(struct assay_adequacy *a);

#endif
