/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h: one case of a run: inputs, calls, checks, pairs. */
#ifndef ASSAY_BENCH_MEASURE_H
#define ASSAY_BENCH_MEASURE_H

#include "assay/bench.h"
#include "assay/runner.h"

enum role { BASE, CAND, N_ROLES };

/* What a case is measured with. All borrowed. */
struct measure_setup {
    const struct assay_run_options *options;
    struct assay_session *session;
    const struct assay_machine *machine;
    const struct assay_case *c;
    const struct assay_built *built[N_ROLES]; /* [BASE] NULL: no timing */
    uint64_t seed;
    double *saved_s;                 /* of the budgets of cases before, updated */
    struct assay_arena *scratch;     /* reset by every case */
    struct assay_arena *keep;        /* of the result: pairs */
    struct assay_manifest *manifest; /* trust is noted here */
};

/* Sets that the arenas hold for these arguments: a block's worth when timing, one otherwise. */
int assay__measure_sets(const struct assay_args *args, bool timing);

/*
 * Fills *row. There is no separate correctness phase: every call has fresh values and its outputs
 * are judged, by the golden or against the baseline's. Errors are ours and concern this case alone.
 */
enum assay_status assay__measure(struct assay_row *row, const struct measure_setup *m,
                                 struct assay_err *err);

/* controls.c: measures the controls of the operator of m->c that r does not have yet, each on one
 * of its timed cases (cases: as r->rows), and tells of each. Errors are those of tell. */
typedef enum assay_status (*assay__control_fn)(void *ctx, int control, struct assay_err *err);
enum assay_status assay__controls(struct assay_result *r, const struct measure_setup *m,
                                  const struct assay_case *const *cases, assay__control_fn tell,
                                  void *ctx, struct assay_err *err);

/* Is a control missing that one of the operator's timed cases could be measured for? */
bool assay__controls_open(const struct assay_result *r, const struct assay_op *op);

/* judge_set.c: sets of one case under the full standard. */
struct judged {
    const struct assay_run_options *options;
    const struct assay_case *c;
    struct assay_arena *scratch; /* of want and native */
    struct assay_slot want[ASSAY_MAX_OUT], native[ASSAY_MAX_OUT];
    bool has_native;
    double golden_s; /* the last golden took */
    int n_golden;
};
/* Computes what the outputs must be for the inputs of args. */
enum assay_status assay__golden_set(struct judged *j, const struct assay_args *args,
                                    struct assay_err *err);
/* Judges the outputs of args (bound, sizes used filled in) by that golden and, where needed, the
 * native reference. Any number of outputs for one golden. */
enum assay_status assay__judge_set(struct assay_match *match, struct judged *j,
                                   const struct assay_args *args, struct assay_err *err);

/* "wrote 8 bytes past output y". Returns buf. */
const char *assay__damage_text(char *buf, size_t size, const struct assay_op *op,
                               const struct assay_damage *d);

#endif
