/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_case.h: one case in a process of its own, call by call, outside of a run: for `debug` and
 * `replay`.
 *
 *     struct one_case x = { .options = o, .c = c, .session = s, .built = &built, .seed = seed };
 *     assay__one_start(&x, &row, err);
 *     assay__one_call(&x, &draw, &row, err);      as often as row.verdict stays PASS
 *     assay__one_judge(&x, &row, err);
 *     assay__one_end(&x);                         x may be used for another case now
 *     assay__one_release(&x);
 */
#ifndef ASSAY_BENCH_ONE_CASE_H
#define ASSAY_BENCH_ONE_CASE_H

#include "bench/measure.h"

struct one_case {
    const struct assay_run_options *options; /* the rules of the verdict */
    const struct assay_case *c;
    struct assay_session *session;
    const struct assay_built *built;
    uint64_t seed;
    double timeout_s; /* of a call; 0: as a run begins with */

    struct assay_side *side;
    struct assay_args args; /* of the last call, in the session's arenas; also after its end */
    bool filled;            /* args have values */
    bool judged;            /* and outputs that mean something */
    struct judged standard;
    struct assay_arena arena, scratch;
};

/* The case of an id, or ASSAY_INVALID. */
enum assay_status assay__find_case(const struct assay_case **c, const struct assay_suite *s,
                                   const struct assay_op *op, int id, struct assay_err *err);

/* Each leaves in *row (verdict, code, reason) what the process did; a verdict other than PASS ends
 * it, and only end may follow. Errors are ours. */
enum assay_status assay__one_start(struct one_case *x, struct assay_row *row,
                                   struct assay_err *err);
/* One call, its inputs and the poison under its outputs as a run has them for this draw. */
enum assay_status assay__one_call(struct one_case *x, const struct assay_draw *d,
                                  struct assay_row *row, struct assay_err *err);
/* Guards, sizes, golden: row->match, the verdict, and the hash of the outputs in row->failed. */
enum assay_status assay__one_judge(struct one_case *x, struct assay_row *row,
                                   struct assay_err *err);
/* Inputs, what the kernel gave, and the golden as .npy files in dir, which is made when missing. */
enum assay_status assay__one_dump(struct one_case *x, const char *dir, struct assay_err *err);
void assay__one_end(struct one_case *x);
void assay__one_release(struct one_case *x);

#endif
