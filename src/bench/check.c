/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: sets of values of one case, and what both sides made of them. */
#include "bench/case_run.h"

#include <stdio.h>

/* ---- sets ------------------------------------------------------------------------------------ */

/* Inputs of the set, and the outputs that each side gave. */
static void bind(struct case_run *b, int set)
{
    for (int r = 0; r < N_ROLES; r++) {
        assay_session_bind(b->m->session, b->op, &b->at[r], set);
        if (b->outs[r])
            assay_slots_bind(b->at[r].out, assay_op_n_out(b->op),
                             b->outs[r] + (size_t)set * b->out_stride);
    }
}

enum assay_status assay__case_fill(struct case_run *b, int n, bool timing_values,
                                   struct assay_err *err)
{
    struct assay_args *a = &b->at[CAND];

    b->filled = (struct assay_draw){ .number = b->draw, .timing_values = timing_values };
    for (int set = 0; set < n; set++) {
        assay_session_bind(b->m->session, b->op, a, set);
        ASSAY_TRY(assay_inputs_fill(a, b->m->c, b->m->seed, b->draw++, timing_values, err));
    }
    return ASSAY_OK;
}

void assay__case_poison(struct case_run *b, enum role r, int n)
{
    struct assay_args *a = &b->at[CAND];

    for (int set = 0; set < n; set++) {
        assay_session_bind(b->m->session, b->op, a, set);
        assay_poison(a->out, assay_op_n_out(b->op),
                     assay__poison_key(b->key, b->filled.number + (uint64_t)set, r));
    }
}

/* After bind() and assay__take_sizes() the shapes are those of one call; this brings the capacities
 * back.
 */
static void restore_sizes(struct case_run *b, int64_t capacity[N_ROLES][ASSAY_MAX_OUT])
{
    for (int r = 0; r < N_ROLES; r++)
        for (int o = 0; o < assay_op_n_out(b->op); o++)
            if (b->op->out[o].flags & ASSAY_PARAM_DYNAMIC)
                b->at[r].out[o].t[0].shape[0] = capacity[r][o];
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static void condemn(struct case_run *b, enum assay_verdict v, enum assay_reason code,
                    const char *reason)
{
    b->row->verdict = v;
    b->row->code = code;
    snprintf(b->row->reason, sizeof b->row->reason, "%s", reason);
    b->over = true;
}

static void blame_baseline(struct case_run *b, const char *reason)
{
    b->row->failed_here = true;
    snprintf(b->row->reason, sizeof b->row->reason, "baseline failed, so there is no time: %.400s",
             reason);
    b->over = true;
}

void assay__case_blame(struct case_run *b, enum role r, enum assay_verdict v,
                       enum assay_reason code, const char *reason)
{
    if (r == CAND)
        condemn(b, v, code, reason);
    else
        blame_baseline(b, reason);
}

static bool guards_hold(struct case_run *b, enum role r)
{
    struct assay_damage d;
    char reason[160];

    if (assay_guards_intact(b->at[r].out, assay_op_n_out(b->op), &d))
        return true;
    assay__damage_text(reason, sizeof reason, b->op, &d);
    assay__case_blame(b, r, ASSAY_WRONG, ASSAY_REASON_GUARD, reason);
    return false;
}

/* Keeps what the report shows: the failure, or the largest error that passed. */
static void keep_match(struct case_run *b, const struct assay_match *m)
{
    if (!m->passed || b->judged.n_golden <= 1 || m->mare > b->row->match.mare)
        b->row->match = *m;
}

/* One side's outputs of the bound set by the golden; true when they pass. */
static enum assay_status judge_side(bool *passed, struct case_run *b, enum role r,
                                    struct assay_err *err)
{
    struct assay_match match;

    ASSAY_TRY(assay__judge_set(&match, &b->judged, &b->at[r], err));
    *passed = match.passed;
    if (r == CAND)
        keep_match(b, &match);
    if (!match.passed)
        assay__case_blame(b, r, ASSAY_WRONG, match.reason, match.text);
    return ASSAY_OK;
}

/* Outputs with a tolerance may be odd in a few positions, exact ones in none. */
static bool may_differ(const struct case_run *b, int output)
{
    const struct assay_slot *slot = &b->at[CAND].out[output];

    return slot->n && assay_op_tau(b->op, slot->t[0].dtype) > 0;
}

enum { SHOWN = 3, SPOT_ODDS = 8 };

/*
 * Honest kernels that round differently agree but for a few positions, if any; a wrong one may hide
 * in as few. So the first sets with odd positions go to the golden, and of later ones every eighth
 * or so, drawn in secret, however few positions are odd.
 */
static bool spot_check(struct case_run *b, const int64_t *odd)
{
    bool any = false;

    for (int o = 0; o < assay_op_n_out(b->op); o++)
        any = any || odd[o] > 0;
    if (!any)
        return false;
    return b->n_passed_escalations < SHOWN ||
           assay_rng_below(assay_key_sub(b->key, 3u << 30), b->n_odd++, SPOT_ODDS) == 0;
}

/* The bound set under the full standard, both sides. What honest sides differ in sets the
 * allowance, once they have shown it often enough. */
static enum assay_status judge_both(struct case_run *b, bool escalated, struct assay_err *err)
{
    int64_t odd[ASSAY_MAX_OUT] = { 0 };
    bool passed = false;

    ASSAY_TRY(assay__golden_set(&b->judged, &b->at[CAND], err));
    ASSAY_TRY(judge_side(&passed, b, CAND, err));
    b->row->sets_golden++;
    if (!passed || !b->side[BASE])
        return ASSAY_OK;
    ASSAY_TRY(judge_side(&passed, b, BASE, err));
    if (!passed)
        return ASSAY_OK;
    assay_agree(odd, b->allow, b->op, &b->at[CAND], b->at[CAND].out, b->at[BASE].out, 0);
    if (escalated && ++b->n_passed_escalations < SHOWN)
        return ASSAY_OK;
    for (int o = 0; o < assay_op_n_out(b->op); o++)
        if (may_differ(b, o) && 2 * odd[o] > b->allow[o])
            b->allow[o] = 2 * odd[o];
    return ASSAY_OK;
}

/* So that the same call can be made again. */
static void note_failed(struct case_run *b, int set)
{
    b->row->failed = (struct assay_draw){ .known = true,
                                          .number = b->filled.number + (uint64_t)set,
                                          .timing_values = b->filled.timing_values,
                                          .outputs = assay__outputs_hash(b->at[CAND].out,
                                                                         assay_op_n_out(b->op)) };
}

enum assay_status assay__case_check(struct case_run *b, int set, bool golden, struct assay_err *err)
{
    int64_t capacity[N_ROLES][ASSAY_MAX_OUT] = { 0 }, odd[ASSAY_MAX_OUT];
    bool both = b->side[BASE] != NULL;
    enum assay_status st = ASSAY_OK;

    bind(b, set);
    for (int r = 0; r < N_ROLES; r++)
        for (int o = 0; o < assay_op_n_out(b->op); o++)
            capacity[r][o] = b->at[r].out[o].n ? b->at[r].out[o].t[0].shape[0] : 0;
    b->row->sets_checked++;
    for (int r = N_ROLES - 1; r >= 0 && !b->over; r--) {
        if (!b->side[r] || !guards_hold(b, (enum role)r))
            continue;
        if (!assay__take_sizes(&b->at[r], b->op, b->side[r], set))
            assay__case_blame(b, (enum role)r, ASSAY_WRONG, ASSAY_REASON_SIZE,
                              "reported a size beyond the capacity of an output");
    }
    if (!b->over && golden) {
        st = judge_both(b, false, err);
    } else if (!b->over && both) {
        bool agree =
            assay_agree(odd, b->allow, b->op, &b->at[CAND], b->at[CAND].out, b->at[BASE].out, 0);

        if (!agree || spot_check(b, odd)) {
            b->row->sets_escalated++;
            st = judge_both(b, true, err);
        }
    }
    if (!st && b->over && !b->row->failed_here)
        note_failed(b, set);
    restore_sizes(b, capacity);
    return st;
}
