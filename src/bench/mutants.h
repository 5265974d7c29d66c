/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutants.h: faults of kernels, as small changes of a call or of its results.
 *
 * How to add a mutant: a row in the table of mutants.c, with a function of one of two kinds. `call`
 * changes inputs or attributes before the native reference runs; `results` changes what it wrote.
 * Both set m->applies where the case has what they get wrong.
 */
#ifndef ASSAY_BENCH_MUTANTS_H
#define ASSAY_BENCH_MUTANTS_H

#include "assay/case.h"

/* What an operator has several of, and a mutant gets wrong one at a time. */
enum assay__over {
    ASSAY__OVER_CALL,
    ASSAY__OVER_OUTPUT,      /* i: the output */
    ASSAY__OVER_OUTPUT_AXIS, /* i: the output, j: the axis, counted from the end, 1 or more */
    ASSAY__OVER_INPUT,       /* i: the input */
    ASSAY__OVER_INPUT_AXIS,  /* i: the input, j: the axis, counted from the end */
    ASSAY__OVER_INPUT_PAIR,  /* i < j: two inputs */
    ASSAY__OVER_ATTR,        /* i: the attribute */
    ASSAY__OVER_CHOICE, /* i: an attribute that is one of few; j: what it is, k: is taken for */
    ASSAY__N_OVER
};
struct assay__target {
    int i, j, k;
};

/* A case that mutants are tried on, with its honest outputs. */
struct assay__subject {
    const struct assay_case *c;
    const struct assay_suite *suite; /* what else its attributes can be */
    uint64_t seed;
    int n_threads;
    struct assay_args args;                  /* inputs filled, outputs as the contract has them */
    struct assay_slot honest[ASSAY_MAX_OUT]; /* of the native reference */
    struct assay_slot poison[ASSAY_MAX_OUT]; /* what outputs hold before they are written */
    void *poison_at;
    size_t out_bytes; /* of the poison, guards and all */
};

struct assay__mutation {
    const struct assay__subject *on;
    struct assay__target at;
    struct assay_arena *arena;
    struct assay_case c;                  /* to be changed: attributes, inputs that are absent */
    struct assay_slot in[ASSAY_MAX_IN];   /* to be changed: values; see assay__own_input() */
    struct assay_slot out[ASSAY_MAX_OUT]; /* to be changed by `results` */
    enum assay_dtype coarse;              /* to be changed: see struct assay_args */
    bool applies;                         /* set by the mutant */
    bool same;    /* and so: this case has what is got wrong, but nothing changes */
    bool failed;  /* for want of memory */
    bool refused; /* or: every change that there is breaks the contract */
};

typedef enum assay_status (*assay__mutate_fn)(struct assay__mutation *m, struct assay_err *err);

struct assay__mutant {
    const char *name, *models;
    enum assay__over over;
    /* Whether the operator has such a fault at this target; NULL: at every one. */
    bool (*fits)(const struct assay_op *op, struct assay__target at);
    assay__mutate_fn call, results; /* one of them */
    bool by_hook; /* acts through assay_round() alone: operators that do not call it have none such
                   */
};

/* All mutants, ended by a NULL name. */
extern const struct assay__mutant assay__mutants[];
const struct assay__mutant *assay__mutant_find(const char *name);

/* Ranks that inputs and outputs have in the cases at hand. */
struct assay__ranks {
    int in[ASSAY_MAX_IN], out[ASSAY_MAX_OUT];
};
/* The targets of a mutant in an operator, one after the other; false after the last one. Begin with
 * all of *at -1. */
bool assay__next_target(const struct assay__mutant *mu, const struct assay_op *op,
                        const struct assay__ranks *ranks, struct assay__target *at);
/* "x axis -1"; returns buf. */
const char *assay__target_text(const struct assay__mutant *mu, const struct assay_op *op,
                               struct assay__target at, char *buf, size_t size);

/* Tensors of input i that may be written; NULL: out of memory. */
struct assay_slot *assay__own_input(struct assay__mutation *m, int i, struct assay_err *err);
/* The call as it is now, outputs without memory; an error where the contract does not take it. */
enum assay_status assay__mutated_args(struct assay_args *args, struct assay__mutation *m,
                                      struct assay_err *err);
/* Subnormal halves become zeros; false when t has no halves. */
bool assay__flush_halves(const struct assay_tensor *t);

/* ---- the mutants: of results, of inputs, of attributes --------------------------------------- */

/* clang-format off */
#define ASSAY__MUTANT_MAP(X)                                                    \
    X(last_element) X(last_element_zero) X(last_tensor) X(tail_16)              \
    X(shifted) X(constant_mean) X(constant_first) X(plus_one)                   \
    X(last_slice) X(row_tail_16) X(reversed) X(transposed)                      \
    X(zeros) X(output_f16) X(output_bf16) X(output_flushed)                     \
    X(identity) X(stale) X(input_f16) X(input_bf16)                             \
    X(input_flushed) X(every_second) X(last_input_zero) X(last_input_neighbour) \
    X(last_term_zero) X(last_term_neighbour) X(integers_shifted) X(swapped)     \
    X(no_optional) X(wrong_axis) X(epsilon_zero) X(epsilon_doubled)             \
    X(fixed_attribute) X(other_attribute) X(confused) X(keeps_f16)              \
    X(keeps_bf16)
/* clang-format on */
#define X(name) \
    enum assay_status assay__mutate_##name(struct assay__mutation *m, struct assay_err *err);
ASSAY__MUTANT_MAP(X)
#undef X

#endif
