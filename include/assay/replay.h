/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h: repeats a failing case of a result file bit for bit, and finds a smaller one that fails
 * in the same way.
 */
#ifndef ASSAY_REPLAY_H
#define ASSAY_REPLAY_H

#include "assay/bench.h"

/* ---- shrinking ------------------------------------------------------------------------------- */

/* Does this case still fail in the way that is looked for? Errors are ours and end the search. */
typedef enum assay_status (*assay_fails_fn)(void *ctx, const struct assay_case *c, bool *fails,
                                            struct assay_err *err);

struct assay_shrink_limits {
    int tries;                /* calls of the question at most */
    double budget_s;          /* no further one begins after so many seconds; 0: no such limit */
    const volatile int *stop; /* nor once this is set; NULL: never */
};

/*
 * The smallest case found that still fails, by total input elements, into *best (all its memory
 * from arena); `from` itself when none is smaller. `from` is taken to fail and is not asked about.
 * Asked about is first whether tiny cases fail, with no extent above 1, 2, 3, ... Then smaller
 * cases are made of the smallest that does, by dropping tensors of lists (of all lists of one
 * length together) and by reducing one extent value to something from 1 on, everywhere it occurs in
 * the inputs, then in one dimension only, counted from the last: to half, then by ever smaller
 * steps, at last by one; of a small value all smaller ones are tried. Those that assay_case_args()
 * refuses are passed over and not counted. Dtypes, ranges, attributes, id and ranks stay. *n_tries:
 * how often was asked.
 */
enum assay_status assay_shrink(struct assay_case *best, int *n_tries, const struct assay_case *from,
                               const struct assay_shrink_limits *limits, assay_fails_fn fails,
                               void *ctx, struct assay_arena *arena, struct assay_err *err);

/* ---- replaying ------------------------------------------------------------------------------- */

/* What should be as it was when the result was measured. */
#define ASSAY_SAME_MAP(X)   \
    X(HARNESS, "harness")   \
    X(CONTRACT, "contract") \
    X(CASES, "cases")       \
    X(FLAGS, "flags")       \
    X(COMPILER, "compiler") \
    X(CPU, "cpu")           \
    X(LIBRARY, "library")

enum assay_same_kind {
#define X(name, text) ASSAY_SAME_##name,
    ASSAY_SAME_MAP(X)
#undef X
        ASSAY_N_SAME
};
const char *assay_same_name(enum assay_same_kind k);

struct assay_same {
    bool known, same;           /* known: both are */
    char there[256], here[256]; /* printable; empty: not recorded, or there is none */
};

struct assay_replay_options {
    const struct assay_home *home;
    const char *result; /* the file */
    const struct assay_op *op;
    int case_id;
    const char *submission, *suite; /* folders; NULL: as recorded */
    const char *revealed;           /* folder of revealed cases, for a hidden one; NULL: none */
    const char *dump;               /* folder for tensors, NULL: none are written */
    bool shrink;
    struct assay_shrink_limits limits; /* of shrinking */
    assay_progress_fn progress;        /* stage, op, case and eta_s are filled in; NULL: none */
    void *cookie;
};

enum assay_replay_way {
    ASSAY_REPLAY_BUILD,   /* the build alone: it failed */
    ASSAY_REPLAY_CALL,    /* one call in a fresh process */
    ASSAY_REPLAY_HISTORY, /* all draws from 0 on in one process, a call each: the last one failed */
    ASSAY_REPLAY_NEVER    /* not possible in single calls: code says of what kind it was */
};

/* Tensors of the last call. */
struct assay_replay_tensors {
    struct assay_slot in[ASSAY_MAX_IN], got[ASSAY_MAX_OUT], want[ASSAY_MAX_OUT];
    bool has_got; /* the call ended and its outputs were judged */
};
enum {
    ASSAY_REPLAY_SHOWN = 16
}; /* elements of the largest tensor, at most, for these to be kept */

struct assay_replay {
    struct assay_row was, now;      /* pairs are NULL; now.failed: the draw that was played last */
    struct assay_manifest manifest; /* of the result */
    char submission[256];           /* that was built */
    struct assay_same same[ASSAY_N_SAME];
    enum assay_replay_way way;
    bool repeated;           /* same verdict and code */
    bool bit_for_bit;        /* and the same bytes in all outputs; false where none were recorded */
    bool same_place;         /* and the same first wrong place; false where none was recorded */
    bool needs_history;      /* a single call on these inputs does not fail, in a series it does */
    const char *diagnostics; /* of a build that failed, NULL: none */

    bool tried; /* it was tried to shrink the case */
    int n_tries;
    int64_t elements;    /* of the inputs of the case as it is */
    const char *smaller; /* the smallest case, as in a file of cases; NULL: none was found */
    int64_t smaller_elements;
    struct assay_row smaller_row;         /* its verdict */
    struct assay_replay_tensors *tensors; /* of the smallest case, else of the case; NULL: too
                                             large, or no call was made */
    struct assay_arena arena;
};

/*
 * Fills *r, to be released in any case. ASSAY_INVALID when there is nothing to replay: no such row,
 * it passed, was not run or failed through our own fault, a folder has gone; what is wrong with the
 * file itself is said by *in_file. Tensors are written to o->dump as `debug` does, of the smallest
 * case when there is one.
 */
enum assay_status assay_bench_replay(struct assay_replay *r, const struct assay_replay_options *o,
                                     bool *in_file, struct assay_err *err);
void assay_replay_release(struct assay_replay *r);

#endif
