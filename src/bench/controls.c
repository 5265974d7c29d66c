/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controls.c: what a run shows about itself. For each operator, cases of it are measured with a
 * known outcome: the baseline against itself, against itself slowed down, with the roles swapped, a
 * kernel that does nothing, and some that must be found wrong. They go through the same loop as
 * every case.
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

/* Outputs of ordinary values are what wrong ones differ from most surely: in other classes all
 * outputs may be the same. Best are those whose tolerance does not take in outputs of few bits, as
 * that of some operators does in one dtype of several. Each level, from 2 down to 0, asks for less.
 */
static bool tells(const struct assay_case *c, int level)
{
    const double few_bits = 0.03;
    bool ordinary = c->value_class == ASSAY_CLASS_SMALL || c->value_class == ASSAY_CLASS_MEDIUM;
    bool tight =
        !assay_dtype_is_float(c->in[0].dtype) || assay_op_tau(c->op, c->in[0].dtype) < few_bits;

    return level == 0 || (ordinary && (tight || level == 1));
}

/* Cases of an operator on which a control was right: a copy is what some of them ask for. */
struct tried {
    const struct assay_case *c[4];
    int n;
};

static bool was_tried(const struct tried *t, const struct assay_case *c)
{
    for (int i = 0; i < t->n; i++)
        if (t->c[i] == c)
            return true;
    return false;
}

/* The smallest case of the operator in the suite that was not tried, NULL: none. */
static const struct assay_case *small_case(const struct assay_suite *suite,
                                           const struct assay_op *op, const struct tried *tried)
{
    const struct assay_case *best = NULL;

    for (int level = 2; level >= 0 && !best; level--)
        for (int i = 0; i < suite->n; i++) {
            const struct assay_case *c = &suite->cases[i];

            if (c->op == op && tells(c, level) && !was_tried(tried, c) &&
                (!best || assay_case_elements(c) < assay_case_elements(best)))
                best = c;
        }
    return best;
}

/* The case that a control is measured on, NULL: none. One that must be wrong needs no time, and
 * shall cost none; it need not be among those of the run. */
static const struct assay_case *case_for(const struct assay_result *r,
                                         const struct assay__control_cases *from,
                                         const struct assay_op *op, uint64_t seed, int kind,
                                         const struct tried *tried)
{
    int row;

    if (assay_control_is_wrong((enum assay_control_kind)kind))
        return small_case(from->suite, op, tried);
    row = draw_row(r, op, seed, kind);
    return row < 0 ? NULL : from->rows[row];
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

/* What stands on both sides of a control, and what its candidate does. */
static const struct {
    enum role base, cand;
    enum assay_act act;
} sides[ASSAY_N_CONTROLS] = {
    [ASSAY_CONTROL_SAME] = { BASE, BASE, ASSAY_ACT_HONEST },
    [ASSAY_CONTROL_SLOWER] = { BASE, BASE, ASSAY_ACT_SLOWER },
    [ASSAY_CONTROL_SWAPPED] = { CAND, BASE, ASSAY_ACT_HONEST },
    [ASSAY_CONTROL_NOTHING] = { BASE, BASE, ASSAY_ACT_NOTHING },
    [ASSAY_CONTROL_ZEROS] = { BASE, BASE, ASSAY_ACT_ZEROS },
    [ASSAY_CONTROL_IDENTITY] = { BASE, BASE, ASSAY_ACT_IDENTITY },
    [ASSAY_CONTROL_STALE] = { BASE, BASE, ASSAY_ACT_STALE },
    [ASSAY_CONTROL_DOWNCAST] = { BASE, BASE, ASSAY_ACT_DOWNCAST },
};

/* Measures one control of the case in m, whose sides are those of the run. One that must be wrong
 * is judged, not timed. */
static enum assay_status measure(struct assay_control *c, const struct measure_setup *m,
                                 struct assay_err *err)
{
    struct measure_setup with = *m;
    struct assay_built cand;

    if (c->kind == ASSAY_CONTROL_NULL)
        return null_control(&c->row, m, err);
    cand = *m->built[sides[c->kind].cand];
    cand.act = sides[c->kind].act;
    cand.slowdown = ASSAY_CONTROL_SLOWDOWN;
    with.twice = assay_control_is_wrong(c->kind);
    with.built[BASE] = with.twice ? NULL : m->built[sides[c->kind].base];
    with.built[CAND] = &cand;
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

bool assay__controls_open(const struct assay_result *r, const struct assay_op *op,
                          const struct assay__control_cases *from)
{
    const struct tried none = { .n = 0 };

    for (int k = 0; k < ASSAY_N_CONTROLS; k++)
        if (!have(r, op, (enum assay_control_kind)k) && case_for(r, from, op, 0, k, &none))
            return true;
    return false;
}

static bool stopped(const struct assay_run_options *o)
{
    return o->stop && *o->stop;
}

/* Chance lets a wrong output pass now and then, where there is but one: not twice. */
static enum assay_status measure_again(struct assay_control *c, const struct measure_setup *m,
                                       struct assay_err *err)
{
    struct measure_setup with = *m;
    const struct assay_row first = c->row;

    if (!assay_control_is_wrong(c->kind) || first.failed_here || first.verdict != ASSAY_PASS)
        return ASSAY_OK;
    with.seed = m->seed + 1;
    c->row = (struct assay_row){
        .op = first.op, .case_id = first.case_id, .hap = NAN, .t_hw_ns = NAN, .seed = with.seed
    };
    return measure(c, &with, err);
}

/* Nothing to be found wrong: every output is what the golden gives. */
static bool was_right(const struct assay_control *c)
{
    const struct assay_match *m = &c->row.match;

    return assay_control_is_wrong(c->kind) && !c->row.failed_here && c->row.verdict == ASSAY_PASS &&
           m->max_diff == 0 && m->mismatches == 0;
}

/* One control on one case. */
static enum assay_status measure_on(struct assay_control *c, const struct measure_setup *m,
                                    const struct assay_case *on, struct assay_err *err)
{
    struct measure_setup with = *m;
    double none = 0;

    c->row = (struct assay_row){
        .op = on->op, .case_id = on->id, .hap = NAN, .t_hw_ns = NAN, .seed = m->seed
    };
    with.c = on;
    with.saved_s = &none; /* as much time as every case has */
    ASSAY_TRY(measure(c, &with, err));
    return measure_again(c, &with, err);
}

enum assay_status assay__controls(struct assay_result *r, const struct measure_setup *m,
                                  const struct assay_op *op,
                                  const struct assay__control_cases *from, assay__control_fn tell,
                                  void *ctx, struct assay_err *err)
{
    for (int k = 0; k < ASSAY_N_CONTROLS && !stopped(m->options); k++) {
        struct assay_control *c = &r->controls[r->n_controls];
        struct tried tried = { .n = 0 };
        const struct assay_case *on = case_for(r, from, op, m->seed, k, &tried);
        struct assay_err why = { "" };
        enum assay_status st = ASSAY_OK;

        if (!on || have(r, op, (enum assay_control_kind)k))
            continue;
        *c = (struct assay_control){ .kind = (enum assay_control_kind)k };
        while (on && !st) {
            st = measure_on(c, m, on, &why);
            if (st || !was_right(c) || tried.n == (int)(sizeof tried.c / sizeof *tried.c))
                break;
            tried.c[tried.n++] = on;
            on = case_for(r, from, op, m->seed, k, &tried);
        }
        if (st == ASSAY_NOMEM)
            assay_arena_release(m->scratch);
        r->n_controls++;
        ASSAY_TRY(tell(ctx, r->n_controls - 1, err));
    }
    return ASSAY_OK;
}
