/* SPDX-License-Identifier: Apache-2.0 */
/* one_case.c: one case in a process of its own, call by call. */
#include "bench/one_case.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum assay_status assay__find_case(const struct assay_case **c, const struct assay_suite *s,
                                   const struct assay_op *op, int id, struct assay_err *err)
{
    for (int i = 0; i < s->n; i++)
        if (s->cases[i].op == op && s->cases[i].id == id) {
            *c = &s->cases[i];
            return ASSAY_OK;
        }
    return assay_fail(err, ASSAY_INVALID, "no case '%s/%d' in the suite", op->name, id);
}

static void take_facts(struct assay_row *row, const struct assay_facts *f)
{
    row->verdict = f->verdict;
    row->code = f->code;
    snprintf(row->reason, sizeof row->reason, "%s", f->reason);
}

enum assay_status assay__one_start(struct one_case *x, struct assay_row *row, struct assay_err *err)
{
    const struct assay_op *op = x->c->op;
    struct assay_facts f = { 0 };
    size_t in, out;

    assay__one_end(x);
    assay_arena_reset(&x->arena);
    x->filled = x->judged = false;
    ASSAY_TRY(assay_case_args(&x->args, x->c, &x->arena, err));
    ASSAY_TRY(assay_set_stride(&x->args, &in, &out, err));
    ASSAY_TRY(assay_session_reserve(x->session, in, out, false, err));
    ASSAY_TRY(assay_side_start(&x->side, x->session, x->built, op, &x->args, 1, &f, err));
    take_facts(row, &f);
    return ASSAY_OK;
}

enum assay_status assay__one_call(struct one_case *x, const struct assay_draw *d,
                                  struct assay_row *row, struct assay_err *err)
{
    const struct assay_op *op = x->c->op;
    const struct assay_work work = assay_op_work(op, &x->args);
    const struct assay_block block = {
        .n_calls = 1,
        .timeout_s = x->timeout_s > 0 ? x->timeout_s : assay__call_limit_s(&work),
    };
    struct assay_facts f = { 0 };

    assay_session_bind(x->session, op, &x->args, 0);
    ASSAY_TRY(assay_inputs_fill(&x->args, x->c, x->seed, d->number, d->timing_values, err));
    assay_poison(x->args.out, assay_op_n_out(op),
                 assay__poison_key(assay__case_key(x->seed, x->c), d->number, CAND));
    x->filled = true;
    row->failed = (struct assay_draw){ .number = d->number, .timing_values = d->timing_values };
    ASSAY_TRY(assay_side_block(x->side, &block, &f, err));
    take_facts(row, &f);
    return ASSAY_OK;
}

static void condemn(struct assay_row *row, enum assay_reason code, const char *reason)
{
    row->verdict = ASSAY_WRONG;
    row->code = code;
    snprintf(row->reason, sizeof row->reason, "%s", reason);
}

static enum assay_status judge_values(struct one_case *x, struct assay_row *row,
                                      struct assay_err *err)
{
    struct judged *j = &x->standard;

    *j = (struct judged){ .options = x->options, .c = x->c, .scratch = &x->scratch };
    ASSAY_TRY(assay__golden_set(j, &x->args, err));
    ASSAY_TRY(assay__judge_set(&row->match, j, &x->args, err));
    if (!row->match.passed)
        condemn(row, row->match.reason, row->match.text);
    return ASSAY_OK;
}

/* In the order of a run: damage weighs more than sizes, sizes more than values. The hash is taken
 * where a run takes it. */
enum assay_status assay__one_judge(struct one_case *x, struct assay_row *row, struct assay_err *err)
{
    const struct assay_op *op = x->c->op;
    int n_out = assay_op_n_out(op);
    struct assay_damage damage;
    bool intact = assay_guards_intact(x->args.out, n_out, &damage), sized;
    char text[160];

    if (!intact)
        row->failed.outputs = assay__outputs_hash(x->args.out, n_out);
    sized = assay__take_sizes(&x->args, op, x->side, 0);
    if (intact)
        row->failed.outputs = assay__outputs_hash(x->args.out, n_out);
    row->failed.known = true;
    x->judged = true;
    if (sized)
        ASSAY_TRY(judge_values(x, row, err));
    else
        condemn(row, ASSAY_REASON_SIZE, "reported a size beyond the capacity of an output");
    if (!intact)
        condemn(row, ASSAY_REASON_GUARD, assay__damage_text(text, sizeof text, op, &damage));
    return ASSAY_OK;
}

static enum assay_status dump_slots(const char *dir, const char *kind,
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
    return ASSAY_OK;
}

enum assay_status assay__one_dump(struct one_case *x, const char *dir, struct assay_err *err)
{
    struct assay_slot want[ASSAY_MAX_OUT] = { 0 };
    const struct assay_op *op = x->c->op;
    struct assay_args a = x->args, contract;

    if (mkdir(dir, 0777) && errno != EEXIST)
        return assay_fail(err, ASSAY_IO, "%s: %s", dir, strerror(errno));
    assay_arena_reset(&x->scratch);
    ASSAY_TRY(assay_case_args(&contract, x->c, &x->scratch, err));
    memcpy(a.out, contract.out, sizeof a.out); /* room for any size, whatever was reported */
    a.arena = &x->scratch;
    ASSAY_TRY(dump_slots(dir, "in", x->args.in, op->in, err));
    ASSAY_TRY(dump_slots(dir, "got", x->args.out, op->out, err));
    ASSAY_TRY(assay_golden_run(want, op, &a, false, &x->scratch, err));
    return dump_slots(dir, "want", want, op->out, err);
}

void assay__one_end(struct one_case *x)
{
    assay_side_end(x->side);
    x->side = NULL;
}

void assay__one_release(struct one_case *x)
{
    assay__one_end(x);
    assay_arena_release(&x->scratch);
    assay_arena_release(&x->arena);
}
