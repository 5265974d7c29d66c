/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h: does an output agree with the golden? Verdicts, rule sets, error metrics.
 */
#ifndef ASSAY_JUDGE_H
#define ASSAY_JUDGE_H

#include "assay/op.h"

/* What the candidate did. Numbers are append-only. */
#define ASSAY_VERDICT_MAP(X)               \
    X(PASS, 0, "PASS")                     \
    X(WRONG, 1, "WRONG")                   \
    X(COMPILE_FAILED, 2, "COMPILE_FAILED") \
    X(CRASHED, 3, "CRASHED")               \
    X(TIMED_OUT, 4, "TIMED_OUT")           \
    X(OUT_OF_MEMORY, 5, "OUT_OF_MEMORY")   \
    X(FORBIDDEN, 6, "FORBIDDEN")

enum assay_verdict {
#define X(name, number, text) ASSAY_##name = (number),
    ASSAY_VERDICT_MAP(X)
#undef X
};
const char *assay_verdict_name(enum assay_verdict v);

/* `paper`: the published standard taken literally, its holes closed. `upstream`: what the
 * official 1.0.0 harness decides, quirk for quirk. */
enum assay_rules { ASSAY_RULES_PAPER, ASSAY_RULES_UPSTREAM };
#define ASSAY_RULES_VERSION "1"

/* Why a case failed; stable words for machines, beside a sentence for people. First what is found
 * in outputs, then what a build or a process did. */
#define ASSAY_REASON_MAP(X)                  \
    X(NONE, "none")                          \
    X(ABSENT, "output_absent")               \
    X(COUNT, "count_mismatch")               \
    X(SHAPE, "shape_mismatch")               \
    X(DTYPE, "dtype_mismatch")               \
    X(NAN, "nan_positions_differ")           \
    X(INF, "inf_differs")                    \
    X(INTEGER, "int_tolerance_exceeded")     \
    X(BITS, "bits_differ")                   \
    X(MERE, "mean_error_exceeded")           \
    X(NORMAL, "large_errors")                \
    X(SMALL, "small_value_errors")           \
    X(CANCEL, "cancellation_errors")         \
    X(INDEX_RANGE, "index_out_of_range")     \
    X(INDEX_VALUE, "index_points_elsewhere") \
    X(INDEX_TWICE, "index_repeated")         \
    /* WRONG, beside the above */            \
    X(RETURNED, "returned_nonzero")          \
    X(GUARD, "guard_damaged")                \
    X(SIZE, "size_out_of_range")             \
    /* COMPILE_FAILED */                     \
    X(NOT_SUBMITTED, "not_submitted")        \
    X(SUBMISSION, "bad_submission")          \
    X(SOURCE, "bad_source")                  \
    X(COMPILER, "compiler_failed")           \
    X(COMPILER_LIMIT, "compiler_over_limit") \
    X(NO_ENTRY, "no_entry")                  \
    /* FORBIDDEN: found in the build */      \
    X(FOREIGN_FILE, "foreign_file")          \
    X(BUILDS_DIFFER, "builds_differ")        \
    /* FORBIDDEN: found in the library */    \
    X(AT_LOAD, "runs_at_load")               \
    X(AT_UNLOAD, "runs_at_unload")           \
    X(IFUNC, "ifunc")                        \
    X(TLS, "tls_initialiser")                \
    X(EXEC_STACK, "executable_stack")        \
    X(WRITABLE_CODE, "writable_code")        \
    X(LIBRARY, "foreign_library")            \
    X(IMPORT, "forbidden_import")            \
    X(RELOCATION, "odd_relocation")          \
    X(DATA, "too_much_data")                 \
    X(ELF, "malformed_library")              \
    /* FORBIDDEN: done by the process */     \
    X(SYSCALL, "forbidden_syscall")          \
    X(LATE, "output_changed_late")           \
    X(EARLY, "output_written_early")         \
    X(OUTSIDE, "works_outside_calls")        \
    X(CPU_TIME, "cpu_over_budget")           \
    /* CRASHED */                            \
    X(ACCESS, "invalid_access")              \
    X(NULL_POINTER, "null_pointer")          \
    X(INPUT, "input_written")                \
    X(ARITHMETIC, "arithmetic")              \
    X(INSTRUCTION, "illegal_instruction")    \
    X(ABORT, "abort")                        \
    X(EXIT, "exit")                          \
    X(SIGNAL, "signal")                      \
    /* TIMED_OUT */                          \
    X(CALL_TIME, "call_too_long")            \
    X(LOAD_TIME, "load_too_long")            \
    X(SERIES, "too_many_timeouts")           \
    /* OUT_OF_MEMORY */                      \
    X(MEMORY, "memory_over_budget")          \
    X(KILLED, "killed")

enum assay_reason {
#define X(name, text) ASSAY_REASON_##name,
    ASSAY_REASON_MAP(X)
#undef X
        ASSAY_N_REASONS
};
const char *assay_reason_name(enum assay_reason r);

struct assay_region {
    int64_t total, errors, native_errors;
    bool passed;
};

enum { ASSAY_ULP_BINS = 8 }; /* 0, <=0.5, <=1, <=2, <=4, <=16, <=256, more */

/* What was found in one output (all tensors of a list together), or in all outputs of a call. */
struct assay_match {
    bool passed;
    bool needs_native; /* undecided: run the native reference and judge again with it */
    enum assay_reason reason;
    int output; /* position of the output that failed first, -1 */
    enum assay_dtype dtype;
    double tau;
    double mere, mare; /* mean and largest relative error */
    double max_diff, mean_diff;
    int64_t total, mismatches; /* elements; those over 10 tau (floats) or over tolerance */
    struct assay_region small_value, cancel, normal;
    /* First and largest disagreement: list element, flat index, values. -1: none. */
    int64_t first_tensor, first_index, worst_index;
    double first_got, first_want, worst_got, worst_want;
    int64_t ulp[ASSAY_ULP_BINS]; /* histogram of errors in ULP of the output dtype */
    char text[256];              /* one readable sentence; empty when passed */
};

/*
 * Judges all outputs of a call. args: contract and inputs (index outputs need them); got, want and
 * native have ASSAY_MAX_OUT entries; native may be NULL: then m->needs_native is set when it is
 * needed to decide, and m->passed is meaningless. per_output: NULL or ASSAY_MAX_OUT entries filled
 * output by output. Returns an error only for our own faults (a golden of the wrong shape).
 */
enum assay_status assay_judge(struct assay_match *m, struct assay_match *per_output,
                              enum assay_rules rules, const struct assay_op *op,
                              const struct assay_args *args, const struct assay_slot *got,
                              const struct assay_slot *want, const struct assay_slot *native,
                              struct assay_err *err);

/* One output tensor under one rule set, without an operator; the building block of assay_judge and
 * the one that recorded verdicts are replayed through. got or want may be NULL (absent). tau < 0:
 * default of the dtype. */
void assay_judge_tensor(struct assay_match *m, enum assay_rules rules, double tau,
                        const struct assay_tensor *got, const struct assay_tensor *want,
                        const struct assay_tensor *native);
/* Index outputs: ASSAY_REASON_NONE when valid. values may be NULL (then reduce_max decides). */
enum assay_reason assay_judge_index(const struct assay_tensor *x, const struct assay_tensor *index,
                                    const struct assay_tensor *values, int dim, bool reduce_max,
                                    bool keepdim, bool distinct, enum assay_rules rules,
                                    int64_t *at);

/*
 * Candidate against baseline on the same inputs, for timed calls. Fills odd[] (per output:
 * positions beyond 20 tau, or twice the integer tolerance, or of another IEEE class) and returns
 * true when the set agrees: MERE(c, b) < 2 tau and odd <= allow[] for every output. Anything else
 * is escalated to the golden.
 */
bool assay_agree(int64_t odd[ASSAY_MAX_OUT], const int64_t allow[ASSAY_MAX_OUT],
                 const struct assay_op *op, const struct assay_args *args,
                 const struct assay_slot *cand, const struct assay_slot *base, int n_threads);

#endif
