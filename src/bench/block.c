/* SPDX-License-Identifier: Apache-2.0 */
/* block.c: starts both sides of one case and has them work in turns. */
#include "bench/case_run.h"

#include <math.h>
#include <stdio.h>

enum {
    BASE_TIMEOUT_S = 60,
    LONG_CALL_MS = 10 /* needs no warming up: what a first call costs extra is lost in it */
};

/* ---- turns ----------------------------------------------------------------------------------- */

static enum assay_status run_side(struct assay_facts *f, struct case_run *b, enum role r, int n,
                                  bool timed, struct assay_err *err)
{
    struct assay_block block = {
        .n_calls = n,
        .flush = timed && b->m->c->policy == ASSAY_COLD,
        .touch = timed && b->m->c->policy == ASSAY_WARM,
        .time_null = timed,
        .timeout_s = r == BASE ? BASE_TIMEOUT_S : b->timeout_s,
        /* never 0, which is none; of both sides alike, so that it costs them the same */
        .secret = assay_rng_u64(assay_key_sub(b->key, 1u << 29), b->draw) | 1,
    };

    ASSAY_TRY(assay_side_block(b->side[r], &block, f, err));
    if (f->verdict != ASSAY_PASS)
        assay__case_blame(b, r, f->verdict, f->code, f->reason);
    return ASSAY_OK;
}

static void note_trust(struct case_run *b, const struct assay_facts *f)
{
    struct assay_manifest *man = b->m->manifest;

    if (!man->trust[0]) {
        snprintf(man->trust, sizeof man->trust, "%s", f->trust);
        man->trusted = f->trusted;
    }
    man->trusted = man->trusted && f->trusted;
}

static enum assay_status start_side(struct case_run *b, enum role r, struct assay_err *err)
{
    struct assay_facts f;

    ASSAY_TRY(assay_side_start(&b->side[r], b->m->session, b->m->built[r], b->op, &b->at[r],
                               b->n_sets, &f, err));
    if (f.verdict != ASSAY_PASS)
        assay__case_blame(b, r, f.verdict, f.code, f.reason);
    else
        note_trust(b, &f);
    return ASSAY_OK;
}

enum assay_status assay__case_start(struct case_run *b, struct assay_err *err)
{
    bool cand_first = assay_rng_unit(b->key, b->draw + (1u << 30)) < 0.5;

    if (b->m->built[BASE])
        assay_session_choose_core(b->m->session);
    for (int k = 0; k < N_ROLES && !b->over; k++) {
        enum role r = (k == 0) == cand_first ? CAND : BASE;

        if (b->m->built[r])
            ASSAY_TRY(start_side(b, r, err));
    }
    return ASSAY_OK;
}

/* A block of a side in its turn. */
static enum assay_status turn(struct assay_facts *f, struct case_run *b, enum role r, int n,
                              bool timed, struct assay_err *err)
{
    assay__case_poison(b, r, n);
    ASSAY_TRY(run_side(f, b, r, n, timed, err));
    if (r == BASE)
        b->timeout_s = fmax(b->timeout_s, 100 * f->block_ns * 1e-9 / n);
    return ASSAY_OK;
}

enum assay_status assay__case_turns(struct assay_facts f[N_ROLES], struct case_run *b, int n,
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

void assay__case_end(struct case_run *b)
{
    if (b->side[CAND])
        assay_side_ledger(b->side[CAND], &b->row->ledger);
    for (int r = 0; r < N_ROLES; r++) {
        assay_side_end(b->side[r]);
        b->side[r] = NULL;
    }
}

enum assay_status assay__case_restart(struct case_run *b, struct assay_err *err)
{
    struct assay_facts f[N_ROLES] = { 0 };

    assay__case_end(b);
    ASSAY_TRY(assay__case_start(b, err));
    if (b->over || b->base_ns > LONG_CALL_MS * 1e6)
        return ASSAY_OK;
    ASSAY_TRY(assay__case_fill(b, 1, true, err));
    ASSAY_TRY(assay__case_turns(f, b, 1, false, false, err));
    return b->over ? ASSAY_OK : assay__case_check(b, 0, false, err);
}
