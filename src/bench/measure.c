/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c: the loop of one case: make inputs, call baseline, call candidate, compare, hand the
 * pair to timing.
 *
 * The first block is one call on the case's own values, judged by the golden. Every timed block has
 * fresh values (classes zeros, special and boundary: on [-1, 1]); all its outputs are compared with
 * the baseline's on the same inputs, one set of the last block of each process is judged by the
 * golden, and whatever disagrees is escalated to it: the baseline never condemns. While a golden
 * runs both sides are frozen.
 */
#include "bench/case_run.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    ROUNDS = 3,      /* of fresh processes that must agree */
    ROUNDS_4K = 8,   /* with pages of 4 KiB each process has a speed of its own */
    ROUND_PAIRS = 8, /* at least, as far as the budget goes */
    ROUND_LEAST = 2, /* at least, whatever it costs */
    SAVED_MOST = 2,  /* own budgets that a case may take of what others have left */
    PATIENCE = 4,    /* budgets until the pairs that an interval needs are given up */
    MAX_PAIRS = 2000,
    CHEAP_S = 1,          /* a golden that is run for each process, not only for the last */
    SET_BYTES = 16 << 20, /* of a block: what memory moves in 0.4 ms, twice over */
    MAX_SETS = 256,
    MAX_ANCHORS = 64,
    ANCHORS_A_BUDGET = 24
};

/* Relative half width of the ratio to stop at. Caches are steadier than memory. */
static const double target_cold = 0.01, target_warm = 0.004;

int assay__measure_sets(const struct assay_args *args, bool timing)
{
    size_t in, out, n;

    if (!timing || assay_set_stride(args, &in, &out, NULL) || !assay_add_size(in, out, &n))
        return 1;
    n = SET_BYTES / n;
    return n < 1 ? 1 : n > MAX_SETS ? MAX_SETS : (int)n;
}

/*
 * Warm: no more sets in a block than half of the cache holds in which they fit, so that they are
 * still there when their turn comes. The first cache is left out: blocks would be too short for the
 * clock.
 */
static int warm_sets(const struct assay_machine *m, size_t bytes, int n_sets)
{
    for (int i = 1; i < m->n_levels && isfinite(m->level[i].bytes); i++) {
        double n = floor(m->level[i].bytes / 2 / (double)bytes);

        if (n >= 1)
            return n < n_sets ? (int)n : n_sets;
    }
    return n_sets;
}

/* Time per call without the hand-over; the clock's resolution is the least that a call can have
 * taken. */
static double per_call(const struct assay_facts *f, int n, double null_ns)
{
    double ns = f->block_ns / n - null_ns;

    return ns > 1 ? ns : 1;
}

/* The first call of both sides on the case's own values. */
static enum assay_status first_block(struct case_run *b, struct assay_err *err)
{
    struct assay_facts f[N_ROLES] = { 0 };

    ASSAY_TRY(assay__case_fill(b, 1, b->m->twice, err));
    ASSAY_TRY(assay__case_turns(f, b, 1, false, false, err));
    b->base_ns = f[BASE].block_ns;
    b->cand_ns = f[CAND].block_ns;
    return b->over ? ASSAY_OK : assay__case_check(b, 0, true, err);
}

/* One pair: two blocks on the same inputs in the given order, all outputs checked. */
static enum assay_status one_pair(struct case_run *b, struct assay_plan *plan, int *n_calls,
                                  struct assay_err *err)
{
    struct assay_facts f[N_ROLES] = { 0 };
    struct assay_pair pair;
    double null_ns;
    bool cand_first;
    int n;
    char reason[128];

    assay_plan_next(plan, &n, &cand_first);
    *n_calls = n;
    ASSAY_TRY(assay__case_fill(b, n, true, err));
    ASSAY_TRY(assay__case_turns(f, b, n, cand_first, true, err));
    for (int set = 0; set < n && !b->over; set++)
        ASSAY_TRY(assay__case_check(b, set, false, err));
    assay_outside_add(&b->outside, f[CAND].outside_ns, f[BASE].outside_ns, &f[CAND].block_ns,
                      &f[BASE].block_ns, n);
    if (!b->over && assay_outside_exceeds(&b->outside)) {
        snprintf(reason, sizeof reason,
                 "works outside of its calls: %.0f us a block more than the baseline, in %d of %d "
                 "blocks",
                 b->outside.more_ns / b->outside.n_more * 1e-3, b->outside.n_more, b->outside.n);
        assay__case_blame(b, CAND, ASSAY_FORBIDDEN, ASSAY_REASON_OUTSIDE, reason);
    }
    if (b->over)
        return ASSAY_OK;
    /* a candidate that dawdles over empty calls shall not get its others for less, and the baseline
     * shall not pay for one that found a faster way to take calls than all others have */
    null_ns = fmin(f[BASE].null_ns, f[CAND].null_ns);
    pair = (struct assay_pair){
        .base_ns = per_call(&f[BASE], n, f[BASE].null_ns),
        .cand_ns = per_call(&f[CAND], n, null_ns),
        .n_calls = n,
        .cand_first = cand_first,
        .disturbed = f[BASE].disturbed || f[CAND].disturbed,
    };
    return assay_plan_add(plan, &pair, null_ns);
}

static void set_limit(struct case_run *b)
{
    struct assay_row *row = b->row;
    bool warm = b->m->c->policy == ASSAY_WARM;

    row->t_hw_ns = assay_limit_ns(&b->work, b->m->machine, warm, &row->bottleneck);
    row->t_hw_spread = assay_limit_spread(&b->work, b->m->machine, row->bottleneck);
}

/*
 * The limit follows the machine to where it was beside the pairs. What the fixed kernels lost there
 * is an estimate for other kernels: times that were measured show that the machine could do as
 * much, so that they bound it. Below the limit of the machine at its best they are an alarm.
 */
static void drift_limit(struct case_run *b)
{
    struct assay_machine now = *b->m->machine;
    struct assay_row *row = b->row;
    enum assay_unit unit;
    double drifted;

    assay_machine_drift(&now, &row->anchor);
    drifted = assay_limit_ns(&b->work, &now, b->m->c->policy == ASSAY_WARM, &unit);
    if (drifted > row->t_hw_ns)
        drifted = fmax(row->t_hw_ns, fmin(drifted, fmin(row->time.base_ns, row->time.cand_ns)));
    row->t_hw_ns = drifted;
    row->bottleneck = unit;
}

/* What the candidate does before each of its blocks, little by little, counts as well. */
static void charge_steady(const struct case_run *b, struct assay_time *t)
{
    double more = assay_outside_steady(&b->outside) / t->base_ns;

    if (!(more > 0))
        return;
    t->ratio += more;
    t->ratio_lo += more;
    t->ratio_hi += more;
    t->cand_ns = t->base_ns * t->ratio;
}

static enum assay_status keep_time(struct case_run *b, const struct assay_plan *plan,
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
    charge_steady(b, &row->time);
    drift_limit(b);
    assay_row_set_hap(row);
    row->timed = true;
    return ASSAY_OK;
}

/* What cases before this one left of their budgets is spent on those that need more. */
static double budget_now(const struct case_run *b)
{
    double own = b->m->options->budget_s;

    return own + fmax(0, fmin(*b->m->saved_s, own * SAVED_MOST));
}

/* Seconds until the case is over: more while an interval is impossible or rounds disagree. That is
 * owed to the cases after it. */
static double patience(const struct case_run *b, const struct assay_plan *plan, double budget)
{
    double own = b->m->options->budget_s;

    if (!assay_plan_enough(plan))
        return budget + (PATIENCE - 1) * own;
    return assay_plan_wants_round(plan) ? budget + own : budget;
}

static void settle_budget(const struct case_run *b, double spent)
{
    *b->m->saved_s += b->m->options->budget_s - spent;
}

/* The fixed kernels' times beside the pairs. */
struct anchors {
    double memory[MAX_ANCHORS], compute[MAX_ANCHORS];
    int n;
    double last_s, thinned;
};

/* One more, when it is time for it. Whatever is in the outputs is lost. */
static void note_anchor(struct anchors *a, struct case_run *b, double every_s)
{
    double now = assay__now_s();
    struct assay_anchor t;

    if (a->n && now - a->last_s < every_s * a->thinned)
        return;
    if (a->n == MAX_ANCHORS) { /* a long case: every other one, from its start to its end */
        for (int i = 0; i < MAX_ANCHORS / 2; i++) {
            a->memory[i] = a->memory[2 * i];
            a->compute[i] = a->compute[2 * i];
        }
        a->n = MAX_ANCHORS / 2;
        a->thinned *= 2;
    }
    assay_session_anchor(b->m->session, &t);
    a->memory[a->n] = t.memory_ns;
    a->compute[a->n++] = t.compute_ns;
    a->last_s = now;
}

/* As the baseline's time is a lower quartile, so are those of the anchors beside it. */
static void keep_anchor(struct case_run *b, struct anchors *a)
{
    if (!a->n)
        return;
    b->row->anchor = (struct assay_anchor){ assay_quantile(a->memory, a->n, 0.25),
                                            assay_quantile(a->compute, a->n, 0.25) };
}

/*
 * The golden judges a set of the last block that a process has handled, whichever that was: what
 * changes its ways after some calls has changed them by then, and it cannot know before. *spent_s:
 * how long it took.
 */
static enum assay_status judge_last(struct case_run *b, int n_calls, double *spent_s,
                                    struct assay_err *err)
{
    double start = assay__now_s();
    int set = (int)assay_rng_below(b->key, b->draw + 1, (uint64_t)n_calls);
    enum assay_status st = assay__case_check(b, set, true, err);

    *spent_s = assay__now_s() - start;
    return st;
}

/* Pairs in rounds until the plan is content or the budget spent. */
static enum assay_status gather(struct case_run *b, struct assay_plan *plan, int rounds,
                                double budget, struct assay_err *err)
{
    double start = assay__now_s(), round_start = start, spent_s = 0;
    bool cheap = b->judged.golden_s <= CHEAP_S;
    int n_calls = 0, in_round = 0; /* calls of the last block */
    struct anchors anchors = { .thinned = 1 };

    while (!b->over && !assay_plan_done(plan)) {
        double now = assay__now_s();

        if (now - start > patience(b, plan, budget))
            break;
        if (in_round >= ROUND_LEAST && assay_plan_wants_round(plan) &&
            (assay_plan_round_over(plan) || now - round_start > budget / rounds)) {
            if (cheap)
                ASSAY_TRY(judge_last(b, n_calls, &spent_s, err));
            start += cheap ? spent_s : 0; /* the budget is for times */
            if (!b->over)
                ASSAY_TRY(assay__case_restart(b, err));
            assay_outside_restart(&b->outside);
            assay_plan_new_round(plan);
            round_start = assay__now_s();
            in_round = 0;
        }
        note_anchor(&anchors, b, budget / ANCHORS_A_BUDGET);
        if (!b->over)
            ASSAY_TRY(one_pair(b, plan, &n_calls, err));
        in_round++;
    }
    keep_anchor(b, &anchors);
    settle_budget(b, assay__now_s() - start);
    return b->over || n_calls == 0 ? ASSAY_OK : judge_last(b, n_calls, &spent_s, err);
}

static enum assay_status time_case(struct case_run *b, struct assay_err *err)
{
    int rounds = assay_session_huge(b->m->session) ? ROUNDS : ROUNDS_4K;
    const struct assay_plan_limits lim = {
        .target = b->m->c->policy == ASSAY_WARM ? target_warm : target_cold,
        .block_ns = 250e3,
        .block_most_ns = 100e6,
        .first_base_ns = b->base_ns,
        .first_cand_ns = b->cand_ns,
        .max_calls = b->n_sets,
        .rounds = rounds,
        .round_pairs = ROUND_PAIRS,
        .max_pairs = MAX_PAIRS,
    };
    struct assay_plan *plan = assay_plan_new(&lim, assay_key_sub(b->key, 1u << 31));
    enum assay_status st = plan ? gather(b, plan, rounds, budget_now(b), err)
                                : assay_fail(err, ASSAY_NOMEM, "out of memory");

    if (!st && !b->over)
        st = keep_time(b, plan, err);
    assay_plan_free(plan);
    return st;
}

/* Without timing: a second set on fresh values when the golden is cheap, to catch what is
 * remembered. */
static enum assay_status second_set(struct case_run *b, struct assay_err *err)
{
    if (b->over || (b->judged.golden_s > 0.1 && !b->m->twice))
        return ASSAY_OK;
    return first_block(b, err);
}

/* ---- the case -------------------------------------------------------------------------------- */

static enum assay_status set_up(struct case_run *b, struct assay_err *err)
{
    const struct measure_setup *m = b->m;
    size_t in;
    bool timing = m->built[BASE] != NULL;

    for (int r = 0; r < N_ROLES; r++)
        ASSAY_TRY(assay_case_args(&b->at[r], m->c, &b->contract, err));
    b->n_sets = assay__measure_sets(&b->at[CAND], timing);
    ASSAY_TRY(assay_set_stride(&b->at[CAND], &in, &b->out_stride, err));
    if (timing && m->c->policy == ASSAY_WARM)
        b->n_sets = warm_sets(m->machine, in + b->out_stride, b->n_sets);
    ASSAY_TRY(assay_session_reserve(m->session, (size_t)b->n_sets * in,
                                    (size_t)b->n_sets * b->out_stride, timing, err));
    b->work = assay_op_work(b->op, &b->at[CAND]);
    b->timeout_s = assay__call_limit_s(&b->work);
    set_limit(b);
    return assay__case_start(b, err);
}

/* What a process may use. It cannot have more cores than it was given; if it had, no time of it
 * would mean anything. */
static void check_ledger(struct assay_row *row, const struct measure_setup *m)
{
    const struct assay_ledger *l = &row->ledger;
    double most_s = m->options->threads * l->wall_s;

    if (row->verdict != ASSAY_PASS || l->cpu_s <= 1.05 * most_s + 0.01)
        return;
    row->verdict = ASSAY_FORBIDDEN;
    row->code = ASSAY_REASON_CPU_TIME;
    snprintf(row->reason, sizeof row->reason,
             "used %.3f s of processor time in %.3f s, with %d thread%s", l->cpu_s, l->wall_s,
             m->options->threads, m->options->threads == 1 ? "" : "s");
}

enum assay_status assay__measure(struct assay_row *row, const struct measure_setup *m,
                                 struct assay_err *err)
{
    struct measure_setup with = *m;
    struct case_run b = {
        .m = &with,
        .op = m->c->op,
        .row = row,
        .judged = { .options = m->options, .c = m->c, .scratch = m->scratch },
    };
    double start = assay__now_s();
    enum assay_status st;

    if (m->hidden && assay_hidden_id(m->c->id))
        with.seed = assay_hidden_inputs(m->hidden, m->seed);
    b.key = assay__case_key(with.seed, m->c);
    row->verdict = ASSAY_PASS;
    row->hap = NAN;
    st = set_up(&b, err);
    if (!st && !b.over)
        st = first_block(&b, err);
    if (!st && !b.over)
        st = m->built[BASE] ? time_case(&b, err) : second_set(&b, err);
    assay__case_end(&b);
    if (!st)
        check_ledger(row, m);
    assay_arena_release(&b.contract);
    row->wall_s = assay__now_s() - start;
    row->done = true;
    if (st) {
        row->failed_here = true;
        snprintf(row->reason, sizeof row->reason, "%.500s", err->text);
    }
    return st;
}
