/* SPDX-License-Identifier: Apache-2.0 */
/* case_build: what the readers and the generator share: a case is begun, filled in, checked, added.
 */
#ifndef ASSAY_CASES_CASE_BUILD_H
#define ASSAY_CASES_CASE_BUILD_H

#include "assay/case.h"

/* Files of cases are small; more is refused before it is parsed. */
enum { ASSAY__CASES_MAX_BYTES = 4 << 20, ASSAY__CASES_MAX = 100000 };

/* An empty case of op: attributes at their defaults (required ones unset), no inputs. */
void assay__case_begin(struct assay_case *c, const struct assay_op *op);

/* Room for n shapes and ranges of one input (n 0: absent). */
enum assay_status assay__case_in_init(struct assay_case_in *in, int64_t n,
                                      struct assay_arena *arena, struct assay_err *err);

/* lo <= hi, or a NaN end. */
bool assay__range_ordered(const struct assay_range *r);

/* Position of text in the choices of an ENUM attribute, -1 when it is none of them. */
int assay__attr_choice(const struct assay_attr *a, const char *text);

/* The class that the ranges of a case belong to: SPECIAL when any input has a NaN or infinite end,
 * else by the ranges of the first input. */
enum assay_class assay__case_classify(const struct assay_case *c);

/* True when the ranges of c agree with its class. */
bool assay__class_fits(const struct assay_case *c);

/* Checks c against the contract (as assay_case_args does) and that its id is new, then adds it.
 * The error names neither operator nor case: the caller does. */
enum assay_status assay__suite_add(struct assay_suite *s, const struct assay_case *c,
                                   struct assay_err *err);

/* Sorts cases from position `from` on by id. */
void assay__suite_sort(struct assay_suite *s, int from);

#endif
