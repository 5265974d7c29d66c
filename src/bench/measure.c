/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c: the loop of one case: make inputs, call baseline, call candidate, compare, hand the
 * pair to timing.
 *
 * The first block is one call on the case's own values, judged by the golden. Every timed block has
 * fresh values (classes zeros, special and boundary: on [-1, 1]); all its outputs are compared with
 * the baseline's on the same inputs, secret ones are judged by the golden, and whatever disagrees
 * is escalated to the golden: the baseline never condemns. While a golden runs both sides are
 * frozen.
 */
#include "bench/measure.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    ROUNDS = 3,      /* of fresh processes that must agree */
    ROUNDS_4K = 8,   /* with pages of 4 KiB each process has a speed of its own */
    ROUND_PAIRS = 8, /* at least, as far as the budget goes */
    ROUND_LEAST = 2, /* at least, whatever it costs */
    PATIENCE = 4,    /* budgets until the pairs that an interval needs are given up */
    MAX_PAIRS = 2000,
    SECRET_SETS = 2,
    SET_BYTES = 16 << 20, /* of a block: what memory moves in 0.4 ms, twice over */
    MAX_SETS = 256,
    BASE_TIMEOUT_S = 60,
    LONG_CALL_MS = 10 /* needs no warming up: what a first call costs extra is lost in it */
};

struct bench {
    const struct measure_setup *m;
    const struct assay_op *op;
    struct assay_row *row;
    struct assay_args at[N_ROLES]; /* bound to the set in hand */
    struct assay_side *side[N_ROLES];
    struct judged judged;
    struct assay_arena contract; /* shapes of the arguments */
    struct assay_key key;        /* order, lengths and secrets of this case */
    char *outs[N_ROLES];         /* where set 0 of the outputs of a side lies */
    size_t out_stride;
    int n_sets;
    uint64_t n_poisoned;
    uint64_t draw;                /* inputs made so far */
    double base_ns;               /* the baseline's first call took */
    double timeout_s;             /* of a call of the candidate */
    int64_t allow[ASSAY_MAX_OUT]; /* odd positions that pass without escalation */
    int n_passed_escalations;
    bool over; /* a verdict is in, or the baseline failed */
};

int assay__measure_sets(const struct assay_args *args, bool timing)
{
    size_t in, out, n;

    if (!timing || assay_set_stride(args, &in, &out, NULL))
        return 1;
    n = SET_BYTES / (in + out);
    return n < 1 ? 1 : n > MAX_SETS ? MAX_SETS : (int)n;
}

/* ---- sets ------------------------------------------------------------------------------------ */

/* Inputs of the set, and the outputs that each side gave. */
static void bind(struct bench *b, int set)
{
    for (int r = 0; r < N_ROLES; r++) {
        assay_session_bind(b->m->session, b->op, &b->at[r], set);
        if (b->outs[r])
            assay_slots_bind(b->at[r].out, assay_op_n_out(b->op),
                             b->outs[r] + (size_t)set * b->out_stride);
    }
}

/* Fresh values in sets 0 .. n-1. */
static enum assay_status fill(struct bench *b, int n, bool timing_values, struct assay_err *err)
{
    struct assay_args *a = &b->at[CAND];

    for (int set = 0; set < n; set++) {
        assay_session_bind(b->m->session, b->op, a, set);
        ASSAY_TRY(assay_inputs_fill(a, b->m->c, b->m->seed, b->draw++, timing_values, err));
    }
    return ASSAY_OK;
}

/* Fresh poison in the output arena, sets 0 .. n-1. */
static void poison(struct bench *b, int n)
{
    struct assay_args *a = &b->at[CAND];

    for (int set = 0; set < n; set++) {
        assay_session_bind(b->m->session, b->op, a, set);
        assay_poison(a->out, assay_op_n_out(b->op),
                     assay_key_sub(b->key, (uint32_t)++b->n_poisoned));
    }
}

/* Takes over the sizes of data-dependent outputs; false when one is out of range. */
static bool take_sizes(struct bench *b, enum role r, int set)
{
    for (int o = 0; o < assay_op_n_out(b->op); o++) {
        int64_t n;

        if (!(b->op->out[o].flags & ASSAY_PARAM_DYNAMIC))
            continue;
        n = assay_side_used(b->side[r], set, o);
        if (n < 0)
            return false;
        b->at[r].out[o].t[0].shape[0] = n;
    }
    return true;
}

/* After bind() and take_sizes() the shapes are those of one call; this brings the capacities back.
 */
static void restore_sizes(struct bench *b, int64_t capacity[N_ROLES][ASSAY_MAX_OUT])
{
    for (int r = 0; r < N_ROLES; r++)
        for (int o = 0; o < assay_op_n_out(b->op); o++)
            if (b->op->out[o].flags & ASSAY_PARAM_DYNAMIC)
                b->at[r].out[o].t[0].shape[0] = capacity[r][o];
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static void condemn(struct bench *b, enum assay_verdict v, const char *reason)
{
    b->row->verdict = v;
    snprintf(b->row->reason, sizeof b->row->reason, "%s", reason);
    b->over = true;
}

static void blame_baseline(struct bench *b, const char *reason)
{
    b->row->failed_here = true;
    snprintf(b->row->reason, sizeof b->row->reason, "baseline failed, so there is no time: %.400s",
             reason);
    b->over = true;
}

static void blame(struct bench *b, enum role r, enum assay_verdict v, const char *reason)
{
    if (r == CAND)
        condemn(b, v, reason);
    else
        blame_baseline(b, reason);
}

static bool guards_hold(struct bench *b, enum role r)
{
    struct assay_damage d;
    char reason[160];

    if (assay_guards_intact(b->at[r].out, assay_op_n_out(b->op), &d))
        return true;
    assay__damage_text(reason, sizeof reason, b->op, &d);
    blame(b, r, ASSAY_WRONG, reason);
    return false;
}

/* Keeps what the report shows: the failure, or the largest error that passed. */
static void keep_match(struct bench *b, const struct assay_match *m)
{
    if (!m->passed || b->judged.n_golden <= 1 || m->mare > b->row->match.mare)
        b->row->match = *m;
}

/* One side's outputs of the bound set by the golden; true when they pass. */
static enum assay_status judge_side(bool *passed, struct bench *b, enum role r,
                                    struct assay_err *err)
{
    struct assay_match match;

    ASSAY_TRY(assay__judge_set(&match, &b->judged, &b->at[r], err));
    *passed = match.passed;
    if (r == CAND)
        keep_match(b, &match);
    if (!match.passed)
        blame(b, r, ASSAY_WRONG, match.text);
    return ASSAY_OK;
}

/* Outputs with a tolerance may be odd in a few positions, exact ones in none. */
static bool may_differ(const struct bench *b, int output)
{
    const struct assay_slot *slot = &b->at[CAND].out[output];

    return slot->n && assay_op_tau(b->op, slot->t[0].dtype) > 0;
}

/* The bound set under the full standard, both sides. What honest sides differ in sets the
 * allowance. */
static enum assay_status judge_both(struct bench *b, bool escalated, struct assay_err *err)
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
    if (escalated && ++b->n_passed_escalations < 3)
        return ASSAY_OK;
    for (int o = 0; o < assay_op_n_out(b->op); o++)
        if (may_differ(b, o) && 2 * odd[o] > b->allow[o])
            b->allow[o] = 2 * odd[o];
    return ASSAY_OK;
}

/* Checks the outputs of set `set` after both sides ran: guards, sizes, then golden or baseline. */
static enum assay_status check_set(struct bench *b, int set, bool golden, struct assay_err *err)
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
        if (!take_sizes(b, (enum role)r, set))
            blame(b, (enum role)r, ASSAY_WRONG, "reported a size beyond the capacity of an output");
    }
    if (!b->over && golden) {
        st = judge_both(b, false, err);
    } else if (!b->over && both &&
               !assay_agree(odd, b->allow, b->op, &b->at[CAND], b->at[CAND].out, b->at[BASE].out,
                            0)) {
        b->row->sets_escalated++;
        st = judge_both(b, true, err);
    }
    restore_sizes(b, capacity);
    return st;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static enum assay_status run_side(struct assay_facts *f, struct bench *b, enum role r, int n,
                                  bool timed, struct assay_err *err)
{
    struct assay_block block = {
        .n_calls = n,
        .flush = timed && b->m->c->policy == ASSAY_COLD,
        .time_null = timed,
        .timeout_s = r == BASE ? BASE_TIMEOUT_S : b->timeout_s,
    };

    ASSAY_TRY(assay_side_block(b->side[r], &block, f, err));
    if (f->verdict != ASSAY_PASS)
        blame(b, r, f->verdict, f->reason);
    return ASSAY_OK;
}

static void note_trust(struct bench *b, const struct assay_facts *f)
{
    struct assay_manifest *man = b->m->manifest;

    if (!man->trust[0]) {
        snprintf(man->trust, sizeof man->trust, "%s", f->trust);
        man->trusted = f->trusted;
    }
    man->trusted = man->trusted && f->trusted;
}

static enum assay_status start_side(struct bench *b, enum role r, struct assay_err *err)
{
    struct assay_facts f;

    ASSAY_TRY(assay_side_start(&b->side[r], b->m->session, b->m->built[r], b->op, &b->at[r],
                               b->n_sets, &f, err));
    if (f.verdict != ASSAY_PASS)
        blame(b, r, f.verdict, f.reason);
    else
        note_trust(b, &f);
    return ASSAY_OK;
}

/* Both sides, or the candidate alone without timing; in random order, as it may matter. */
static enum assay_status start_sides(struct bench *b, struct assay_err *err)
{
    bool cand_first = assay_rng_unit(b->key, b->draw + (1u << 30)) < 0.5;

    for (int k = 0; k < N_ROLES && !b->over; k++) {
        enum role r = (k == 0) == cand_first ? CAND : BASE;

        if (b->m->built[r])
            ASSAY_TRY(start_side(b, r, err));
    }
    return ASSAY_OK;
}

/* A block of a side in its turn. Warm: the same block runs once untimed, then the outputs are
 * poisoned again. */
static enum assay_status turn(struct assay_facts *f, struct bench *b, enum role r, int n,
                              bool timed, struct assay_err *err)
{
    if (timed && b->m->c->policy == ASSAY_WARM) {
        poison(b, n);
        ASSAY_TRY(run_side(f, b, r, n, false, err));
        if (b->over)
            return ASSAY_OK;
    }
    poison(b, n);
    ASSAY_TRY(run_side(f, b, r, n, timed, err));
    if (r == BASE)
        b->timeout_s = fmax(b->timeout_s, 100 * f->block_ns * 1e-9 / n);
    return ASSAY_OK;
}

/*
 * Both sides in their turns, on the same inputs and in the same memory: what the first one wrote is
 * set aside and replaced by poison before the second one may run.
 */
static enum assay_status both_turns(struct assay_facts f[N_ROLES], struct bench *b, int n,
                                    bool cand_first, bool timed, struct assay_err *err)
{
    for (int k = 0; k < N_ROLES && !b->over; k++) {
        enum role r = (k == 0) == cand_first ? CAND : BASE;

        if (!b->side[r])
            continue;
        ASSAY_TRY(turn(&f[r], b, r, n, timed, err));
        b->outs[r] = NULL; /* in the arena */
        if (k > 0 || !b->side[r == CAND ? BASE : CAND])
            continue;
        b->outs[r] = assay_session_set_aside(b->m->session, n, b->out_stride);
        if (!b->outs[r])
            return assay_fail(err, ASSAY_INTERNAL, "no room to set %d outputs aside", n);
    }
    return ASSAY_OK;
}

/* Time per call without the hand-over; the clock's resolution is the least that a call can have
 * taken. */
static double per_call(const struct assay_facts *f, int n)
{
    double ns = f->block_ns / n - f->null_ns;

    return ns > 1 ? ns : 1;
}

/* The first call of both sides on the case's own values. */
static enum assay_status first_block(struct bench *b, struct assay_err *err)
{
    struct assay_facts f[N_ROLES] = { 0 };

    ASSAY_TRY(fill(b, 1, false, err));
    ASSAY_TRY(both_turns(f, b, 1, false, false, err));
    b->base_ns = f[BASE].block_ns;
    return b->over ? ASSAY_OK : check_set(b, 0, true, err);
}

/* One pair: two blocks on the same inputs in the given order, all outputs checked. */
static enum assay_status one_pair(struct bench *b, struct assay_plan *plan, bool secret,
                                  int *n_calls, struct assay_err *err)
{
    struct assay_facts f[N_ROLES] = { 0 };
    struct assay_pair pair;
    bool cand_first;
    int n, secret_set;

    assay_plan_next(plan, &n, &cand_first);
    *n_calls = n;
    ASSAY_TRY(fill(b, n, true, err));
    ASSAY_TRY(both_turns(f, b, n, cand_first, true, err));
    secret_set = secret ? (int)assay_rng_below(b->key, b->draw, (uint64_t)n) : -1;
    for (int set = 0; set < n && !b->over; set++)
        ASSAY_TRY(check_set(b, set, set == secret_set, err));
    if (b->over)
        return ASSAY_OK;
    pair = (struct assay_pair){
        .base_ns = per_call(&f[BASE], n),
        .cand_ns = per_call(&f[CAND], n),
        .n_calls = n,
        .cand_first = cand_first,
        .disturbed = f[BASE].disturbed || f[CAND].disturbed,
    };
    return assay_plan_add(plan, &pair, (f[BASE].null_ns + f[CAND].null_ns) / 2);
}

static enum assay_status keep_time(struct bench *b, const struct assay_plan *plan,
                                   struct assay_err *err)
{
    struct assay_row *row = b->row;
    const struct assay_pair *pairs;
    int n;

    pairs = assay_plan_pairs(plan, &n);
    if (n == 0)
        return assay_fail(err, ASSAY_INTERNAL, "no pair within the budget, so there is no time");
    row->pairs = assay_arena_array(b->m->keep, (size_t)n, sizeof *pairs);
    if (!row->pairs)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %d pairs", n);
    memcpy(row->pairs, pairs, (size_t)n * sizeof *pairs);
    assay_plan_estimate(plan, &row->time);
    assay_row_set_hap(row);
    row->timed = true;
    return ASSAY_OK;
}

/*
 * Fresh processes for both sides, started in random order. Where the pages of a process lie and
 * what it inherits differs from start to start and can move its times by several percent for as
 * long as it lives; only a new process tells. One untimed call warms each side up, checked as all
 * are.
 */
static enum assay_status restart(struct bench *b, struct assay_err *err)
{
    struct assay_facts f[N_ROLES] = { 0 };

    for (int r = 0; r < N_ROLES; r++) {
        assay_side_end(b->side[r]);
        b->side[r] = NULL;
    }
    ASSAY_TRY(start_sides(b, err));
    if (b->over || b->base_ns > LONG_CALL_MS * 1e6)
        return ASSAY_OK;
    ASSAY_TRY(fill(b, 1, true, err));
    ASSAY_TRY(both_turns(f, b, 1, false, false, err));
    return b->over ? ASSAY_OK : check_set(b, 0, false, err);
}

/* Seconds until the case is over: more while an interval is impossible or rounds disagree. */
static double patience(const struct assay_plan *plan, double budget)
{
    if (!assay_plan_enough(plan))
        return PATIENCE * budget;
    return assay_plan_wants_round(plan) ? 2 * budget : budget;
}

/* Pairs in rounds until the plan is content or the budget spent. */
static enum assay_status gather(struct bench *b, struct assay_plan *plan, int rounds, double budget,
                                struct assay_err *err)
{
    double start = assay__now_s(), round_start = start;
    /* the secret sets lie in the first pair and in one of the next five */
    int secret[SECRET_SETS] = { 0, 1 + (int)assay_rng_below(b->key, 0, 5) };
    int n_secret = b->judged.golden_s > 1 ? 1 : SECRET_SETS, judged = 0, n_calls = 1, in_round = 0;

    for (int pair = 0; !b->over && !assay_plan_done(plan); pair++) {
        bool due = judged < n_secret && pair == secret[judged];
        double now = assay__now_s();

        if (now - start > patience(plan, budget))
            break;
        if (in_round >= ROUND_LEAST && assay_plan_wants_round(plan) &&
            (assay_plan_round_over(plan) || now - round_start > budget / rounds)) {
            ASSAY_TRY(restart(b, err));
            assay_plan_new_round(plan);
            round_start = assay__now_s();
            in_round = 0;
            n_calls = 1;
        }
        if (!b->over)
            ASSAY_TRY(one_pair(b, plan, due, &n_calls, err));
        judged += due;
        in_round++;
    }
    /* stopped before the last secret set was due: the last block is still there */
    if (b->over || judged >= n_secret)
        return ASSAY_OK;
    return check_set(b, (int)assay_rng_below(b->key, b->draw + 1, (uint64_t)n_calls), true, err);
}

static enum assay_status time_case(struct bench *b, struct assay_err *err)
{
    int rounds = assay_session_huge(b->m->session) ? ROUNDS : ROUNDS_4K;
    const struct assay_plan_limits lim = {
        .target = 0.01,
        .block_ns = 250e3,
        .first_base_ns = b->base_ns,
        .max_calls = b->n_sets,
        .rounds = rounds,
        .round_pairs = ROUND_PAIRS,
        .max_pairs = MAX_PAIRS,
    };
    struct assay_plan *plan = assay_plan_new(&lim, assay_key_sub(b->key, 1u << 31));
    enum assay_status st = plan ? gather(b, plan, rounds, b->m->options->budget_s, err)
                                : assay_fail(err, ASSAY_NOMEM, "out of memory");

    if (!st && !b->over)
        st = keep_time(b, plan, err);
    assay_plan_free(plan);
    return st;
}

/* Without timing: a second set on fresh values when the golden is cheap, to catch what is
 * remembered. */
static enum assay_status second_set(struct bench *b, struct assay_err *err)
{
    if (b->over || b->judged.golden_s > 0.1)
        return ASSAY_OK;
    return first_block(b, err);
}

/* ---- the case -------------------------------------------------------------------------------- */

static enum assay_status set_up(struct bench *b, struct assay_err *err)
{
    const struct measure_setup *m = b->m;
    size_t in;
    struct assay_work work;
    bool timing = m->built[BASE] != NULL;

    for (int r = 0; r < N_ROLES; r++)
        ASSAY_TRY(assay_case_args(&b->at[r], m->c, &b->contract, err));
    for (int o = 0; o < assay_op_n_out(b->op); o++)
        b->allow[o] = may_differ(b, o) ? 2 : 0;
    b->n_sets = assay__measure_sets(&b->at[CAND], timing);
    ASSAY_TRY(assay_set_stride(&b->at[CAND], &in, &b->out_stride, err));
    ASSAY_TRY(assay_session_reserve(m->session, (size_t)b->n_sets * in,
                                    (size_t)b->n_sets * b->out_stride, timing, err));
    work = assay_op_work(b->op, &b->at[CAND]);
    if (m->machine) {
        b->row->t_hw_ns =
            assay_limit_ns(&work, m->machine, m->c->policy == ASSAY_WARM, &b->row->bottleneck);
        b->row->t_hw_spread = assay_limit_spread(&work, m->machine, b->row->bottleneck);
    }
    return start_sides(b, err);
}

enum assay_status assay__measure(struct assay_row *row, const struct measure_setup *m,
                                 struct assay_err *err)
{
    struct bench b = {
        .m = m,
        .op = m->c->op,
        .row = row,
        .judged = { .options = m->options, .c = m->c, .scratch = m->scratch },
        .key = assay_key(m->seed, m->c->op->name, m->c->id, -1, 0),
        .timeout_s = 10,
    };
    double start = assay__now_s();
    enum assay_status st;

    row->verdict = ASSAY_PASS;
    row->hap = NAN;
    st = set_up(&b, err);
    if (!st && !b.over)
        st = first_block(&b, err);
    if (!st && !b.over)
        st = m->built[BASE] ? time_case(&b, err) : second_set(&b, err);
    for (int r = 0; r < N_ROLES; r++)
        assay_side_end(b.side[r]);
    assay_arena_release(&b.contract);
    row->wall_s = assay__now_s() - start;
    row->done = true;
    if (st) {
        row->failed_here = true;
        snprintf(row->reason, sizeof row->reason, "%.500s", err->text);
    }
    return st;
}
