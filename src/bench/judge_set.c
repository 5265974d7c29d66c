/* SPDX-License-Identifier: Apache-2.0 */
/* judge_set.c: one set of outputs under the full standard: golden, and native where it is needed.
 */
#include "bench/measure.h"

#include <stdio.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

enum assay_status assay__judge_set(struct assay_match *match, struct judged *j,
                                   const struct assay_args *args, struct assay_err *err)
{
    struct assay_slot want[ASSAY_MAX_OUT] = { 0 }, native[ASSAY_MAX_OUT] = { 0 };
    const struct assay_op *op = j->c->op;
    struct assay_args a = *args;
    double t0 = now_s();

    assay_arena_reset(j->scratch);
    a.arena = j->scratch;
    a.n_threads = 0;
    ASSAY_TRY(assay_golden_run(want, op, &a, false, j->scratch, err));
    j->golden_s = now_s() - t0;
    j->n_golden++;
    ASSAY_TRY(assay_judge(match, NULL, j->options->rules, op, &a, a.out, want, NULL, err));
    if (!match->needs_native)
        return ASSAY_OK;
    ASSAY_TRY(assay_golden_run(native, op, &a, true, j->scratch, err));
    return assay_judge(match, NULL, j->options->rules, op, &a, a.out, want, native, err);
}

const char *assay__damage_text(char *buf, size_t size, const struct assay_op *op,
                               const struct assay_damage *d)
{
    const struct assay_param *p = &op->out[d->slot];
    const char *where = d->before ? "before" : "past";

    if (p->flags & ASSAY_PARAM_LIST)
        snprintf(buf, size, "wrote %lld bytes %s output %s[%lld]", (long long)d->reach, where,
                 p->name, (long long)d->elem);
    else
        snprintf(buf, size, "wrote %lld bytes %s output %s", (long long)d->reach, where, p->name);
    return buf;
}
