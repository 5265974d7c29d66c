/* SPDX-License-Identifier: Apache-2.0 */
/* One tensor judged with a thread count; assay_judge_tensor() for the siblings. */
#ifndef ASSAY_COMPARE_TENSOR_H
#define ASSAY_COMPARE_TENSOR_H

#include "compare/rules.h"

void assay__judge_tensor(struct assay_match *m, enum assay_rules rules, double tau,
                         const struct assay_tensor *got, const struct assay_tensor *want,
                         const struct assay_tensor *native, int n_threads);
/* A match of nothing: passed, indices -1. */
void assay__match_clear(struct assay_match *m);
/* Fails the match for a reason that has no position. */
void assay__match_fail(struct assay_match *m, enum assay_reason reason, const char *fmt, ...)
    ASSAY_PRINTF(3, 4);
/* A tolerance of integers as a whole number. */
uint64_t assay__int_tol(double tau);

/* Index outputs: counts the wrong ones too (repeated ones as far as they are in range). */
enum assay_reason assay__judge_index(const struct assay_tensor *x, const struct assay_tensor *index,
                                     const struct assay_tensor *values, int dim, bool reduce_max,
                                     bool keepdim, bool distinct, enum assay_rules rules,
                                     int n_threads, int64_t *at, int64_t *n_bad);
/* The index output o of a call under its rule; ASSAY_REASON_ABSENT without its values. */
enum assay_reason assay__judge_index_output(const struct assay_op *op,
                                            const struct assay_args *args,
                                            const struct assay_slot *got, int o,
                                            enum assay_rules rules, int64_t *at, int64_t *n_bad);
/* Index output o under a rule with .moved: range, repetition and mask decide here; t, a tensor like
 * the values output, takes the values that the indices would have, to be compared with want's. */
enum assay_reason assay__follow_index_output(const struct assay_op *op,
                                             const struct assay_args *args,
                                             const struct assay_slot *got,
                                             const struct assay_slot *want, int o,
                                             enum assay_rules rules, const struct assay_tensor *t,
                                             int64_t *at, int64_t *n_bad);

#endif
