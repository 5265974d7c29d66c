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
    const struct assay_hidden_seed *hidden; /* mixed into the seed of hidden cases; NULL: none */
    bool twice;      /* without timing: two sets, whatever the golden takes, as if timed */
    double *saved_s; /* of the budgets of cases before, updated */
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

/* Where controls find their cases: those of the rows, and all of the suite. */
struct assay__control_cases {
    const struct assay_case *const *rows;
    const struct assay_suite *suite;
};
/* controls.c: measures the controls of the operator that r does not have yet, each on one case, and
 * tells of each. m->built[BASE] is the baseline, timed or not. Errors are those of tell. */
typedef enum assay_status (*assay__control_fn)(void *ctx, int control, struct assay_err *err);
enum assay_status assay__controls(struct assay_result *r, const struct measure_setup *m,
                                  const struct assay_op *op,
                                  const struct assay__control_cases *from, assay__control_fn tell,
                                  void *ctx, struct assay_err *err);

/* Is a control missing that could be measured? */
bool assay__controls_open(const struct assay_result *r, const struct assay_op *op,
                          const struct assay__control_cases *from);

/* judge_set.c: sets of one case under the full standard. */
struct judged {
    const struct assay_run_options *options;
    const struct assay_case *c;
    struct assay_arena *scratch; /* of want and native */
    /* outputs as the contract has them, with room for any size, whatever a candidate reported */
    struct assay_slot contract[ASSAY_MAX_OUT];
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

/* Takes over the sizes of data-dependent outputs, as the call on a set reported them; false at the
 * first that is out of range. */
bool assay__take_sizes(struct assay_args *args, const struct assay_op *op,
                       const struct assay_side *side, int set);
/* FNV-1a over the bytes of all outputs, in order: by it a call is known to have been repeated. */
uint64_t assay__outputs_hash(const struct assay_slot *out, int n);
/* The poison under the outputs of a role when the inputs are those of a draw. It depends on nothing
 * else, so that what a kernel leaves unwritten is the same when the call is repeated. case_key: of
 * the case, assay__case_key(). */
struct assay_key assay__case_key(uint64_t seed, const struct assay_case *c);
struct assay_key assay__poison_key(struct assay_key case_key, uint64_t draw, enum role r);

/* How long a call may take at least: 10 s, or what so much work takes a slow kernel, up to 60 s. */
double assay__call_limit_s(const struct assay_work *w);

/* "wrote 8 bytes past output y". Returns buf. */
const char *assay__damage_text(char *buf, size_t size, const struct assay_op *op,
                               const struct assay_damage *d);

#endif
