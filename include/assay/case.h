/* SPDX-License-Identifier: Apache-2.0 */
/*
 * case.h: cases and suites: one operator with concrete shapes, dtypes, attributes, value ranges.
 */
#ifndef ASSAY_CASE_H
#define ASSAY_CASE_H

#include "assay/op.h"

/* Value-range classes of the coverage rules. */
#define ASSAY_CLASS_MAP(X)                                                  \
    X(SMALL, "small", "symmetric, magnitude at most 1")                     \
    X(MEDIUM, "medium", "symmetric, magnitude at most 20")                  \
    X(LARGE, "large", "symmetric, magnitude above 20")                      \
    X(ASYM, "asymmetric", "different magnitudes below and above zero")      \
    X(BOUNDARY, "boundary", "up to the largest finite values of the dtype") \
    X(SPECIAL, "special", "infinities or NaN among ordinary values")        \
    X(ZEROS, "zeros", "all zero")

enum assay_class {
#define X(name, text, help) ASSAY_CLASS_##name,
    ASSAY_CLASS_MAP(X)
#undef X
        ASSAY_N_CLASSES
};
const char *assay_class_name(enum assay_class c);

/* What the caches hold when a timed call starts. */
enum assay_policy { ASSAY_COLD, ASSAY_WARM };

/*
 * Values of one tensor. Finite lo <= hi: uniform (integers: both ends included, floats: [lo, hi)).
 * A NaN end: each element is NaN with probability 1/2, else uniform in [-1, 1). An infinite end:
 * each element is -Inf with probability 1/20 (when lo is -Inf), +Inf with probability 1/20 (when hi
 * is +Inf), else uniform in [-1, 1) cut at a finite other end.
 */
struct assay_range {
    double lo, hi;
};

struct assay_shape {
    int rank;
    int64_t dim[ASSAY_MAX_RANK];
};

/* One input: n 0 = absent, 1 = tensor, n = list. shape[] and range[] have n entries. */
struct assay_case_in {
    int64_t n;
    enum assay_dtype dtype;
    struct assay_shape *shape;
    struct assay_range *range;
};

struct assay_case {
    const struct assay_op *op;
    int id; /* as the suite numbers it; "exp/3" on screen */
    enum assay_class value_class;
    enum assay_policy policy;
    struct assay_case_in in[ASSAY_MAX_IN];
    struct assay_value attr[ASSAY_MAX_ATTR]; /* complete: defaults filled in */
    const char *note;                        /* never NULL */
    /* Published figures of an official suite, for `limits`; 0 where there are none. */
    double published_t_hw_us, published_baseline_us;
};

enum assay_suite_kind { ASSAY_SUITE_OWN, ASSAY_SUITE_OFFICIAL };

struct assay_suite {
    enum assay_suite_kind kind;
    struct assay_case *cases; /* grouped by operator, ascending id */
    int n, cap;
    struct assay_arena arena; /* owns all that the cases point at */
};

/* Adds the cases of one operator from our own file (data/cases/<op>.json), or from the folder of an
 * official task tree (the one that holds level<N>/<op>/cases.yaml). Every field is checked against
 * the contract; ASSAY_UNSUPPORTED when the tree has no such operator. On error nothing is added. */
enum assay_status assay_suite_add_own(struct assay_suite *s, const struct assay_op *op,
                                      const char *path, struct assay_err *err);
enum assay_status assay_suite_add_official(struct assay_suite *s, const struct assay_op *op,
                                           const char *dir, struct assay_err *err);
/* The same parsers on bytes in memory (for tests and fuzzing). */
enum assay_status assay_cases_parse_json(struct assay_suite *s, const struct assay_op *op,
                                         const char *text, size_t len, struct assay_err *err);
enum assay_status assay_cases_parse_yaml(struct assay_suite *s, const struct assay_op *op,
                                         const char *text, size_t len, struct assay_err *err);
void assay_suite_release(struct assay_suite *s);

/* Makes n cases of op from the seed by the coverage rules (ids 1..n), appended to s. */
enum assay_status assay_cases_generate(struct assay_suite *s, const struct assay_op *op,
                                       uint64_t seed, int n, struct assay_err *err);
/* Proves the coverage rules on all cases of op in s; the first broken rule is the error. */
enum assay_status assay_cases_check_rules(const struct assay_suite *s, const struct assay_op *op,
                                          struct assay_err *err);
/* The text of data/cases/<op>.json: one case a line, parse(print(x)) = x. */
enum assay_status assay_cases_print(struct assay_text *out, const struct assay_suite *s,
                                    const struct assay_op *op, struct assay_err *err);
/* One case of that file: an object on one line, without a line end. */
void assay_case_json(const struct assay_case *c, struct assay_text *out);
/* What n cases are, a line each in the order given: the operator's name, a blank, and the object of
 * assay_case_json() without its note. */
void assay_cases_text(struct assay_text *out, const struct assay_case *const *cases, int n);
/* SHA-256 (hex) over that text, so that two programs can tell whether they mean the same. Whatever
 * changes a call (id, class, policy, dtypes, shapes, ranges, attributes, defaults too) changes the
 * hash; notes and published figures do not. ASSAY_NOMEM only. */
enum assay_status assay_cases_hash(char hash[65], const struct assay_case *const *cases, int n,
                                   struct assay_err *err);

/*
 * The arguments of a case: in[] with dtypes and shapes (data NULL), attributes, out[] by infer, all
 * checked against the contract (spec: dtype sets, presence, attribute ranges, op->check). All
 * memory from arena. A wrong case is our error and names itself ("exp/3: ...").
 */
enum assay_status assay_case_args(struct assay_args *args, const struct assay_case *c,
                                  struct assay_arena *arena, struct assay_err *err);
/* Total input elements of a case. */
int64_t assay_case_elements(const struct assay_case *c);
/* One line for people: "float16 [1021,37], range [-1,1], base=2". */
void assay_case_text(const struct assay_case *c, struct assay_text *out);

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Bytes that one set of inputs (or outputs) takes, every tensor on its own 64-byte boundary with a
 * guard zone behind it; ASSAY_INVALID on overflow. */
enum { ASSAY_GUARD_BYTES = 256 };
enum assay_status assay_slots_bytes(const struct assay_slot *slots, int n, size_t *bytes,
                                    struct assay_err *err);
/* Sets the data pointers of all tensors into the memory at base, in order. */
void assay_slots_bind(struct assay_slot *slots, int n, void *base);
/* Same tensors, other memory: deep copy of slots (data pointers NULL) into arena. */
enum assay_status assay_slots_copy(struct assay_slot *dst, const struct assay_slot *src, int n,
                                   struct assay_arena *arena, struct assay_err *err);

/* Poison: ordinary-looking random values in the outputs, and the guard pattern around them. */
void assay_poison(const struct assay_slot *slots, int n, struct assay_key key);
/* Where something was written outside the tensors: beyond the end of an element of a slot, or
 * before the first. */
struct assay_damage {
    int slot;
    int64_t elem;
    bool before;
    int64_t reach; /* bytes from the tensor to the farthest damage in its guard zone, 1 or more */
};
/* False when a guard zone is damaged; *d describes the first such zone. */
bool assay_guards_intact(const struct assay_slot *slots, int n, struct assay_damage *d);

/* Fills bound inputs of a case for one draw. With timing_values, inputs of the classes zeros,
 * special and boundary take [-1, 1] instead (integers: their own range). Runs on n_threads threads,
 * same bytes for any count. */
enum assay_status assay_inputs_fill(struct assay_args *args, const struct assay_case *c,
                                    uint64_t seed, uint64_t draw, bool timing_values,
                                    struct assay_err *err);

/* ---- golden ---------------------------------------------------------------------------------- */

/* Runs the golden (or the native reference) on args.in; outputs are allocated from arena into
 * want[] (ASSAY_MAX_OUT entries): fp64 for floating outputs of the golden, else the contract's
 * dtypes. */
enum assay_status assay_golden_run(struct assay_slot *want, const struct assay_op *op,
                                   const struct assay_args *args, bool native,
                                   struct assay_arena *arena, struct assay_err *err);

#endif
