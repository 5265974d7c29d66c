/* SPDX-License-Identifier: Apache-2.0 */
/* judge_set.c: one set of outputs under the full standard: golden, and native where it is needed.
 */
#include "bench/measure.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The case's arguments as golden and native take them. Outputs are those of the contract: sizes
 * that a candidate reported say nothing about how much a reference writes. */
static struct assay_args reference_args(const struct judged *j, const struct assay_args *args)
{
    struct assay_args a = *args;

    memcpy(a.out, j->contract, sizeof a.out);
    a.arena = j->scratch;
    a.n_threads = 0;
    return a;
}

enum assay_status assay__golden_set(struct judged *j, const struct assay_args *args,
                                    struct assay_err *err)
{
    double t0 = assay__now_s();
    struct assay_args a;

    assay_arena_reset(j->scratch);
    ASSAY_TRY(assay_case_args(&a, j->c, j->scratch, err));
    memcpy(j->contract, a.out, sizeof j->contract);
    a = reference_args(j, args);
    memset(j->want, 0, sizeof j->want);
    memset(j->native, 0, sizeof j->native);
    j->has_native = false;
    ASSAY_TRY(assay_golden_run(j->want, j->c->op, &a, false, j->scratch, err));
    j->golden_s = assay__now_s() - t0;
    j->n_golden++;
    return ASSAY_OK;
}

enum assay_status assay__judge_set(struct assay_match *match, struct judged *j,
                                   const struct assay_args *args, struct assay_err *err)
{
    struct assay_args a = reference_args(j, args);
    const struct assay_op *op = j->c->op;

    if (!j->has_native) {
        ASSAY_TRY(
            assay_judge(match, NULL, j->options->rules, op, &a, args->out, j->want, NULL, err));
        if (!match->needs_native)
            return ASSAY_OK;
        ASSAY_TRY(assay_golden_run(j->native, op, &a, true, j->scratch, err));
        j->has_native = true;
    }
    return assay_judge(match, NULL, j->options->rules, op, &a, args->out, j->want, j->native, err);
}

bool assay__take_sizes(struct assay_args *args, const struct assay_op *op,
                       const struct assay_side *side, int set)
{
    for (int o = 0; o < assay_op_n_out(op); o++) {
        int64_t n;

        if (!(op->out[o].flags & ASSAY_PARAM_DYNAMIC))
            continue;
        n = assay_side_used(side, set, o);
        if (n < 0)
            return false;
        args->out[o].t[0].shape[0] = n;
    }
    return true;
}

uint64_t assay__outputs_hash(const struct assay_slot *out, int n)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (int o = 0; o < n; o++)
        for (int64_t i = 0; i < out[o].n; i++) {
            const struct assay_tensor *t = &out[o].t[i];
            size_t bytes = (size_t)assay_numel(t) * assay_dtype_size(t->dtype);

            for (size_t k = 0; k < bytes; k++)
                hash = (hash ^ ((const unsigned char *)t->data)[k]) * 1099511628211u;
        }
    return hash;
}

struct assay_key assay__case_key(uint64_t seed, const struct assay_case *c)
{
    return assay_key(seed, c->op->name, c->id, -1, 0);
}

struct assay_key assay__poison_key(struct assay_key case_key, uint64_t draw, enum role r)
{
    return assay_key_sub(case_key, (uint32_t)(N_ROLES * draw + (uint64_t)r + 1));
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

double assay__call_limit_s(const struct assay_work *w)
{
    /* operations a second, of those that nobody can avoid: plain convolutions do many times more */
    const double least_s = 10, most_s = 60, slow = 2e8;
    double ops = 0;

    for (int u = ASSAY_UNIT_FMA_F64; u <= ASSAY_UNIT_TRANS; u++)
        ops += w->amount[u];
    return fmin(fmax(least_s, ops / slow), most_s);
}
