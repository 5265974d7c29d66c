/* SPDX-License-Identifier: Apache-2.0 */
/* debug.c: one case in an unlocked process, under a debugger if wanted; judged, never timed, never
 * scored. */
#include "assay/bench.h"

#include "bench/measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct debug {
    const struct assay_run_options *o;
    const struct assay_op *op;
    struct assay_row *row;
    struct assay_suite suite;
    const struct assay_case *c;
    struct assay_session *session;
    struct assay_side *side;
    struct assay_built built;
    struct assay_args args;
    struct assay_arena arena, scratch;
    bool wrapped;
};

static enum assay_status find_case(struct debug *d, int case_id, struct assay_err *err)
{
    char path[ASSAY_PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/%s.json", d->o->home->cases, d->op->name);
    if (d->o->suite)
        ASSAY_TRY(assay_suite_add_official(&d->suite, d->op, d->o->suite, err));
    else
        ASSAY_TRY(assay_suite_add_own(&d->suite, d->op, path, err));
    for (int i = 0; i < d->suite.n; i++)
        if (d->suite.cases[i].id == case_id)
            d->c = &d->suite.cases[i];
    return d->c ? ASSAY_OK
                : assay_fail(err, ASSAY_INVALID, "no case '%s/%d' in the suite", d->op->name,
                             case_id);
}

static enum assay_status dump_slots(const struct debug *d, const char *dir, const char *kind,
                                    const struct assay_slot *slots, const struct assay_param *table,
                                    struct assay_err *err)
{
    char path[ASSAY_PATH_MAX];

    for (int i = 0; table[i].name; i++)
        for (int64_t k = 0; k < slots[i].n; k++) {
            if (table[i].flags & ASSAY_PARAM_LIST)
                snprintf(path, sizeof path, "%.3500s/%s%02d_%s_%lld.npy", dir, kind, i,
                         table[i].name, (long long)k);
            else
                snprintf(path, sizeof path, "%.3500s/%s%02d_%s.npy", dir, kind, i, table[i].name);
            ASSAY_TRY(assay_npy_write(&slots[i].t[k], path, err));
        }
    (void)d;
    return ASSAY_OK;
}

/* Inputs, what the kernel gave, and the golden. */
static enum assay_status dump(struct debug *d, const char *dir, struct assay_err *err)
{
    struct assay_slot want[ASSAY_MAX_OUT] = { 0 };
    struct assay_args a = d->args;

    if (mkdir(dir, 0777) && errno != EEXIST)
        return assay_fail(err, ASSAY_IO, "%s: %s", dir, strerror(errno));
    assay_arena_reset(&d->scratch);
    a.arena = &d->scratch;
    ASSAY_TRY(dump_slots(d, dir, "in", d->args.in, d->op->in, err));
    ASSAY_TRY(dump_slots(d, dir, "got", d->args.out, d->op->out, err));
    ASSAY_TRY(assay_golden_run(want, d->op, &a, false, &d->scratch, err));
    return dump_slots(d, dir, "want", want, d->op->out, err);
}

static enum assay_status judge(struct debug *d, struct assay_err *err)
{
    struct judged j = { .options = d->o, .c = d->c, .scratch = &d->scratch };
    struct assay_row *row = d->row;
    struct assay_damage damage;

    for (int o = 0; o < assay_op_n_out(d->op); o++)
        if (d->op->out[o].flags & ASSAY_PARAM_DYNAMIC) {
            int64_t n = assay_side_used(d->side, 0, o);

            d->args.out[o].t[0].shape[0] = n < 0 ? 0 : n;
        }
    ASSAY_TRY(assay__golden_set(&j, &d->args, err));
    ASSAY_TRY(assay__judge_set(&row->match, &j, &d->args, err));
    if (!row->match.passed) {
        row->verdict = ASSAY_WRONG;
        snprintf(row->reason, sizeof row->reason, "%s", row->match.text);
    }
    if (!assay_guards_intact(d->args.out, assay_op_n_out(d->op), &damage)) {
        row->verdict = ASSAY_WRONG;
        assay__damage_text(row->reason, sizeof row->reason, d->op, &damage);
    }
    return ASSAY_OK;
}

static enum assay_status run_once(struct debug *d, struct assay_err *err)
{
    const struct assay_block block = { .n_calls = 1, .timeout_s = d->wrapped ? 1e9 : 60 };
    uint64_t seed = d->o->seed_given ? d->o->seed : assay_seed_draw();
    size_t in, out;
    struct assay_facts f;

    ASSAY_TRY(assay_case_args(&d->args, d->c, &d->arena, err));
    ASSAY_TRY(assay_set_stride(&d->args, &in, &out, err));
    ASSAY_TRY(assay_session_reserve(d->session, in, out, false, err));
    ASSAY_TRY(assay_side_start(&d->side, d->session, &d->built, d->op, &d->args, 1, &f, err));
    if (f.verdict == ASSAY_PASS) {
        assay_session_bind(d->session, d->op, &d->args, 0);
        ASSAY_TRY(assay_inputs_fill(&d->args, d->c, seed, 0, false, err));
        assay_poison(d->args.out, assay_op_n_out(d->op),
                     assay_key(seed, d->op->name, d->c->id, -1, 0));
        ASSAY_TRY(assay_side_block(d->side, &block, &f, err));
    }
    d->row->verdict = f.verdict;
    snprintf(d->row->reason, sizeof d->row->reason, "%s", f.reason);
    return f.verdict == ASSAY_PASS ? judge(d, err) : ASSAY_OK;
}

static enum assay_status open_and_build(struct debug *d, char *const *wrap, struct assay_err *err)
{
    const struct assay_session_options so = {
        .child = d->o->home->child,
        .include = d->o->home->include,
        .threads = d->o->threads,
        .locked = false,
        .debug_info = true,
        .wrap = wrap,
    };

    ASSAY_TRY(assay_session_open(&d->session, &assay_target_cpu, &so, err));
    ASSAY_TRY(assay_session_build(d->session, &d->built, d->o->submission, d->op, err));
    if (d->built.compiled)
        return ASSAY_OK;
    d->row->verdict = ASSAY_COMPILE_FAILED;
    snprintf(d->row->reason, sizeof d->row->reason, "%.500s",
             !d->built.present      ? "not submitted"
             : d->built.diagnostics ? d->built.diagnostics
                                    : "does not compile");
    return ASSAY_OK;
}

enum assay_status assay_bench_debug(struct assay_row *row, const struct assay_run_options *o,
                                    int case_id, char *const *wrap, const char *dump_dir,
                                    struct assay_err *err)
{
    struct debug *d = assay_alloc_zero(sizeof *d);
    enum assay_status st;

    if (!d)
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    d->o = o;
    d->op = o->ops[0];
    d->row = row;
    d->wrapped = wrap && wrap[0];
    *row = (struct assay_row){ .op = d->op, .case_id = case_id, .hap = NAN };
    st = find_case(d, case_id, err);
    if (!st)
        st = open_and_build(d, d->wrapped ? wrap : NULL, err);
    if (!st && d->built.compiled)
        st = run_once(d, err);
    if (!st && dump_dir && d->side && d->args.in[0].n)
        st = dump(d, dump_dir, err);
    row->done = !st;
    assay_side_end(d->side);
    assay_built_release(&d->built);
    assay_session_close(d->session);
    assay_arena_release(&d->scratch);
    assay_arena_release(&d->arena);
    assay_suite_release(&d->suite);
    free(d);
    return st;
}
