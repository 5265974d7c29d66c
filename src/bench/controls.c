/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controls.c: what a run shows about itself. For each operator one case of it is measured with a
 * known outcome: the baseline against itself, against itself slowed down, with the roles swapped,
 * and a kernel that does nothing. They go through the same loop as every case.
 */
#include "bench/measure.h"

#include <math.h>
#include <stdio.h>

enum { NULL_BLOCKS = 101, NULL_CALLS = 64 };

/* Cases of these times tell most: shorter ones end in the noise, longer ones in the budget. */
static const double good_ns[2] = { 0.2e6, 20e6 };

static bool usable(const struct assay_row *row, bool well)
{
    return row->timed && row->verdict == ASSAY_PASS &&
           (!well || (row->time.base_ns >= good_ns[0] && row->time.base_ns <= good_ns[1]));
}

/* A row of the operator that was timed, drawn; -1: none. */
static int draw_row(const struct assay_result *r, const struct assay_op *op, uint64_t seed,
                    int draw)
{
    struct assay_key key = assay_key(seed, op->name, -1, -1, 0);

    for (int well = 1; well >= 0; well--) {
        int n = 0, at;

        for (int i = 0; i < r->n_rows; i++)
            n += r->rows[i].op == op && usable(&r->rows[i], well);
        if (!n)
            continue;
        at = (int)assay_rng_below(key, (uint64_t)draw, (uint64_t)n);
        for (int i = 0; i < r->n_rows; i++)
            if (r->rows[i].op == op && usable(&r->rows[i], well) && at-- == 0)
                return i;
    }
    return -1;
}

/* Blocks of null calls in place of a kernel: what is left of their time is the error of taking
 * nothing off. */
static enum assay_status time_nothing(struct assay_time *t, struct assay_side *side,
                                      struct assay_err *err)
{
    double left[NULL_BLOCKS], null_ns[NULL_BLOCKS];
    const struct assay_block block = {
        .n_calls = NULL_CALLS, .time_null = true, .null_kernel = true, .timeout_s = 1
    };

    for (int i = 0; i < NULL_BLOCKS; i++) {
        struct assay_facts f;

        ASSAY_TRY(assay_side_block(side, &block, &f, err));
        if (f.verdict != ASSAY_PASS)
            return assay_fail(err, ASSAY_INTERNAL, "null kernel: %s", f.reason);
        left[i] = f.block_ns / NULL_CALLS - f.null_ns;
        null_ns[i] = f.null_ns;
    }
    t->n_pairs = 0;
    t->n_calls = NULL_BLOCKS * NULL_CALLS;
    t->cand_ns = assay_quantile(left, NULL_BLOCKS, 0.5);
    t->null_ns = assay_quantile(null_ns, NULL_BLOCKS, 0.5);
    return ASSAY_OK;
}

static enum assay_status null_control(struct assay_row *row, const struct measure_setup *m,
                                      struct assay_err *err)
{
    struct assay_arena arena = { 0 };
    struct assay_args args = { 0 };
    struct assay_side *side = NULL;
    struct assay_facts f = { 0 };
    size_t in, out;
    enum assay_status st = assay_case_args(&args, m->c, &arena, err);

    row->time = (struct assay_time){ .base_ns = NAN,
                                     .base_lo = NAN,
                                     .base_hi = NAN,
                                     .ratio = NAN,
                                     .ratio_lo = NAN,
                                     .ratio_hi = NAN };
    if (!st)
        st = assay_set_stride(&args, &in, &out, err);
    if (!st)
        st = assay_session_reserve(m->session, in, out, false, err);
    if (!st)
        st = assay_side_start(&side, m->session, m->built[BASE], m->c->op, &args, 1, &f, err);
    if (!st && side)
        st = time_nothing(&row->time, side, err);
    row->timed = !st && side;
    row->done = true;
    if (!row->timed) {
        row->failed_here = true;
        snprintf(row->reason, sizeof row->reason, "%.500s", st ? err->text : f.reason);
    }
    assay_side_end(side);
    assay_arena_release(&arena);
    return st;
}

/* Measures one control of the case in m, whose sides are those of the run. */
static enum assay_status measure(struct assay_control *c, const struct measure_setup *m,
                                 struct assay_err *err)
{
    struct assay_built slower = *m->built[BASE];
    struct measure_setup with = *m;

    slower.slowdown = ASSAY_CONTROL_SLOWDOWN;
    switch (c->kind) {
    case ASSAY_CONTROL_NULL:
        return null_control(&c->row, m, err);
    case ASSAY_CONTROL_SAME:
        with.built[CAND] = m->built[BASE];
        break;
    case ASSAY_CONTROL_SLOWER:
        with.built[CAND] = &slower;
        break;
    default: /* swapped */
        with.built[BASE] = m->built[CAND];
        with.built[CAND] = m->built[BASE];
    }
    return assay__measure(&c->row, &with, err);
}

static bool have(const struct assay_result *r, const struct assay_op *op,
                 enum assay_control_kind kind)
{
    for (int i = 0; i < r->n_controls; i++)
        if (r->controls[i].kind == kind && r->controls[i].row.op == op)
            return true;
    return false;
}

bool assay__controls_open(const struct assay_result *r, const struct assay_op *op)
{
    for (int k = 0; k < ASSAY_N_CONTROLS; k++)
        if (!have(r, op, (enum assay_control_kind)k))
            return draw_row(r, op, 0, 0) >= 0;
    return false;
}

static bool stopped(const struct assay_run_options *o)
{
    return o->stop && *o->stop;
}

enum assay_status assay__controls(struct assay_result *r, const struct measure_setup *m,
                                  const struct assay_case *const *cases, assay__control_fn tell,
                                  void *ctx, struct assay_err *err)
{
    const struct assay_op *op = m->c->op;

    for (int k = 0; k < ASSAY_N_CONTROLS && !stopped(m->options); k++) {
        struct assay_control *c = &r->controls[r->n_controls];
        int row = draw_row(r, op, m->seed, k);
        struct measure_setup with = *m;
        struct assay_err why = { "" };
        double none = 0;

        if (row < 0 || have(r, op, (enum assay_control_kind)k))
            continue;
        *c = (struct assay_control){ .kind = (enum assay_control_kind)k };
        c->row = (struct assay_row){
            .op = op, .case_id = r->rows[row].case_id, .hap = NAN, .t_hw_ns = NAN, .seed = m->seed
        };
        with.c = cases[row];
        with.saved_s = &none; /* as much time as every case has */
        if (measure(c, &with, &why) == ASSAY_NOMEM)
            assay_arena_release(m->scratch);
        r->n_controls++;
        ASSAY_TRY(tell(ctx, r->n_controls - 1, err));
    }
    return ASSAY_OK;
}
