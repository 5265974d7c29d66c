/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adequacy.c: tries mutants on cases, and has the judge of a run decide. Small cases come first,
 * and their mutants run side by side; those of large cases run one after the other, each on all
 * cores.
 */
#include "assay/adequacy.h"

#include "base/clock.h"
#include "bench/measure.h"
#include "bench/mutants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALL_ELEMENTS = 1000000, /* of the inputs of a case */
    POISON_SEED = 5,          /* any: so that what is left unwritten is the same every time */
};

enum outcome { ABSENT, REFUSED, SAME, PASSED, KILLED };

/* One mutant at one target. */
struct trial {
    const struct assay__mutant *mu;
    struct assay__target at;
    struct assay_mutant_row *row;
    int n_refused;
    /* on the case in hand */
    enum outcome outcome;
    enum assay_reason reason;
    enum assay_status st;
    struct assay_err err;
};

struct run {
    const struct assay_adequacy_options *o;
    struct assay_adequacy *a;
    struct assay_run_options rules;
    struct assay_arena contract, standard; /* of the case in hand: arguments, golden and native */
    struct assay__subject on;
    struct judged judged;
    const struct assay_case **cases; /* smallest first */
    int n_cases;
    struct trial *trials;
    int n_trials;
    struct trial **wanted; /* on the case in hand */
    int n_wanted;
    double began_s;
};

const char *assay_fate_name(enum assay_fate f)
{
    static const char *const names[] = {
#define X(name, text, help) text,
        ASSAY_FATE_MAP(X)
#undef X
    };

    return (unsigned)f < ASSAY_N_FATES ? names[f] : "unknown";
}

void assay_adequacy_release(struct assay_adequacy *a)
{
    assay_arena_release(&a->arena);
    *a = (struct assay_adequacy){ 0 };
}

/* ---- the case in hand ------------------------------------------------------------------------ */

/* Memory for slots whose shapes are known. */
static enum assay_status bind(struct assay_slot *slots, int n, void **at, size_t *bytes,
                              struct assay_arena *arena, struct assay_err *err)
{
    ASSAY_TRY(assay_slots_bytes(slots, n, bytes, err));
    *at = assay_arena_alloc(arena, *bytes);
    if (!*at)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %zu bytes", *bytes);
    assay_slots_bind(slots, n, *at);
    return ASSAY_OK;
}

static enum assay_status make_subject(struct run *r, struct assay_err *err)
{
    struct assay__subject *on = &r->on;
    const struct assay_op *op = r->a->op;
    int n_out = assay_op_n_out(op);
    size_t bytes;
    void *at;

    ASSAY_TRY(assay_case_args(&on->args, on->c, &r->contract, err));
    ASSAY_TRY(bind(on->args.in, assay_op_n_in(op), &at, &bytes, &r->contract, err));
    ASSAY_TRY(assay_inputs_fill(&on->args, on->c, on->seed, 0, false, err));
    memset(on->poison, 0, sizeof on->poison);
    ASSAY_TRY(assay_slots_copy(on->poison, on->args.out, n_out, &r->contract, err));
    ASSAY_TRY(bind(on->poison, n_out, &on->poison_at, &on->out_bytes, &r->contract, err));
    assay_poison(on->poison, n_out, assay_key(POISON_SEED, op->name, on->c->id, -1, 0));
    return ASSAY_OK;
}

/* Golden and native reference, the second of which is what an honest kernel writes. */
static enum assay_status make_standard(struct run *r, struct assay_err *err)
{
    struct judged *j = &r->judged;
    struct assay_args a = r->on.args;
    struct assay_match match;

    *j = (struct judged){ .options = &r->rules, .c = r->on.c, .scratch = &r->standard };
    ASSAY_TRY(assay__golden_set(j, &r->on.args, err));
    a.arena = &r->standard;
    ASSAY_TRY(assay_golden_run(j->native, r->a->op, &a, true, &r->standard, err));
    j->has_native = true;
    memcpy(r->on.honest, j->native, sizeof r->on.honest);
    memcpy(a.out, j->native, sizeof a.out);
    ASSAY_TRY(assay__judge_set(&match, j, &a, err));
    return match.passed
               ? ASSAY_OK
               : assay_fail(err, ASSAY_INTERNAL, "honest outputs are rejected: %s", match.text);
}

/* ---- one mutant on it ------------------------------------------------------------------------ */

enum assay_status assay__mutated_args(struct assay_args *args, struct assay__mutation *m,
                                      struct assay_err *err)
{
    const struct assay_op *op = m->c.op;

    ASSAY_TRY(assay_case_args(args, &m->c, m->arena, err));
    for (int i = 0; i < assay_op_n_in(op); i++)
        args->in[i] = m->in[i];
    args->n_threads = m->on->n_threads;
    args->coarse = m->coarse;
    return op->check_values ? op->check_values(args, err) : ASSAY_OK;
}

static size_t bytes_of(const struct assay_tensor *t)
{
    return (size_t)assay_numel(t) * assay_dtype_size(t->dtype);
}

/* The bytes of one slot after the other into another, as far as they go: what a kernel does that
 * thinks its output has another shape. */
static void pour(struct assay_slot *to, const struct assay_slot *from)
{
    int64_t k = 0;
    size_t at = 0;

    for (int64_t i = 0; i < from->n; i++) {
        const char *p = from->t[i].data;
        size_t left = bytes_of(&from->t[i]);

        while (left && k < to->n) {
            size_t room = bytes_of(&to->t[k]) - at, n = left < room ? left : room;

            memcpy((char *)to->t[k].data + at, p, n);
            p += n;
            left -= n;
            at += n;
            if (n == room) {
                k++;
                at = 0;
            }
        }
    }
}

/* What was written, into the outputs of the contract; of dynamic ones the size as well. */
static void write_outputs(struct assay__mutation *m, const struct assay_slot *written)
{
    const struct assay_op *op = m->c.op;

    for (int o = 0; o < assay_op_n_out(op); o++) {
        pour(&m->out[o], &written[o]);
        if (op->out[o].flags & ASSAY_PARAM_DYNAMIC && m->out[o].n && written[o].n &&
            written[o].t[0].shape[0] < m->out[o].t[0].shape[0])
            m->out[o].t[0].shape[0] = written[o].t[0].shape[0];
    }
}

static enum assay_status begin(struct assay__mutation *m, const struct assay__subject *on,
                               struct assay__target at, struct assay_arena *arena,
                               struct assay_err *err)
{
    int n_out = assay_op_n_out(on->c->op);
    size_t bytes;
    void *to;

    *m = (struct assay__mutation){ .on = on, .at = at, .arena = arena, .c = *on->c };
    memcpy(m->in, on->args.in, sizeof m->in);
    ASSAY_TRY(assay_slots_copy(m->out, on->args.out, n_out, arena, err));
    ASSAY_TRY(bind(m->out, n_out, &to, &bytes, arena, err));
    memcpy(to, on->poison_at, bytes);
    return ASSAY_OK;
}

/* The native reference on a call that was changed. */
static enum assay_status run_mutated(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_slot written[ASSAY_MAX_OUT];
    struct assay_args *args = assay_arena_array(m->arena, 1, sizeof *args);
    enum assay_status st;

    if (!args)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for arguments");
    st = assay__mutated_args(args, m, err);
    m->refused = st && st != ASSAY_NOMEM;
    if (st)
        return m->refused ? ASSAY_OK : st;
    ASSAY_TRY(assay_golden_run(written, m->c.op, args, true, m->arena, err));
    write_outputs(m, written);
    return ASSAY_OK;
}

static bool is_honest(const struct assay__mutation *m)
{
    for (int o = 0; o < assay_op_n_out(m->c.op); o++)
        for (int64_t k = 0; k < m->out[o].n; k++) {
            const struct assay_tensor *t = &m->out[o].t[k], *h = &m->on->honest[o].t[k];

            if (!assay_same_shape(t, h) || memcmp(t->data, h->data, bytes_of(t)) != 0)
                return false;
        }
    return true;
}

static enum assay_status judge(struct trial *t, const struct run *r, struct assay__mutation *m,
                               struct assay_err *err)
{
    struct judged j = r->judged;
    struct assay_args a = r->on.args;
    struct assay_match match;

    j.scratch = m->arena;
    memcpy(a.out, m->out, sizeof a.out);
    ASSAY_TRY(assay__judge_set(&match, &j, &a, err));
    t->outcome = match.passed ? PASSED : KILLED;
    t->reason = match.reason;
    return ASSAY_OK;
}

static enum assay_status try_mutant(struct trial *t, const struct run *r, struct assay_arena *arena,
                                    struct assay_err *err)
{
    struct assay__mutation m;

    ASSAY_TRY(begin(&m, &r->on, t->at, arena, err));
    if (t->mu->results)
        write_outputs(&m, r->on.honest);
    ASSAY_TRY((t->mu->results ? t->mu->results : t->mu->call)(&m, err));
    if (m.failed)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for arguments");
    if (m.applies && !m.same && !m.refused && t->mu->call)
        ASSAY_TRY(run_mutated(&m, err));
    t->outcome = !m.applies ? ABSENT : m.refused ? REFUSED : SAME;
    if (t->outcome != SAME || m.same || is_honest(&m))
        return ASSAY_OK;
    return judge(t, r, &m, err);
}

static void try_range(void *ctx, int64_t begin_at, int64_t end)
{
    const struct run *r = ctx;
    struct assay_arena arena = { 0 };

    for (int64_t i = begin_at; i < end; i++) {
        struct trial *t = r->wanted[i];

        t->st = try_mutant(t, r, &arena, &t->err);
        assay_arena_reset(&arena);
    }
    assay_arena_release(&arena);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void take_outcome(struct trial *t, int id)
{
    struct assay_mutant_row *row = t->row;

    t->n_refused += t->outcome == REFUSED;
    row->n_tried += t->outcome >= SAME;
    row->n_same += t->outcome == SAME;
    row->n_killed += t->outcome == KILLED;
    if (t->outcome == KILLED && !row->first_case) {
        row->first_case = id;
        row->reason = t->reason;
    }
}

static void choose_trials(struct run *r, bool small)
{
    r->n_wanted = 0;
    for (int i = 0; i < r->n_trials; i++) {
        struct trial *t = &r->trials[i];

        if (r->o->all || (!t->row->first_case && (small || !t->row->why)))
            r->wanted[r->n_wanted++] = t;
    }
}

static enum assay_status try_case(struct run *r, const struct assay_case *c, struct assay_err *err)
{
    bool small = assay_case_elements(c) <= SMALL_ELEMENTS;

    choose_trials(r, small);
    if (!r->n_wanted)
        return ASSAY_OK;
    assay_arena_reset(&r->contract);
    r->on.c = c;
    r->on.n_threads = small ? 1 : 0;
    ASSAY_TRY(make_subject(r, err));
    ASSAY_TRY(make_standard(r, err));
    assay_parallel(r->n_wanted, small ? 1 : r->n_wanted, 0, try_range, r);
    for (int i = 0; i < r->n_wanted; i++) {
        struct trial *t = r->wanted[i];

        if (t->st)
            return assay_fail(err, t->st, "%s %s: %s", t->row->mutant, t->row->target, t->err.text);
        take_outcome(t, c->id);
    }
    return ASSAY_OK;
}

static void tell(const struct run *r, int i)
{
    double took = assay__now_s() - r->began_s;
    struct assay_progress now = { .stage = "mutants",
                                  .op = r->a->op,
                                  .case_id = r->cases[i]->id,
                                  .done = r->o->done + i,
                                  .total = r->o->total,
                                  .eta_s = NAN };

    if (now.done > 0)
        now.eta_s = (r->o->took_s + took) / now.done * (now.total - now.done);
    if (r->o->progress)
        r->o->progress(r->o->cookie, &now);
}

static enum assay_status try_cases(struct run *r, struct assay_err *err)
{
    for (int i = 0; i < r->n_cases && !(r->o->stop && *r->o->stop); i++) {
        enum assay_status st;

        tell(r, i);
        st = try_case(r, r->cases[i], err);
        if (st)
            return assay_wrap(err, st, "%s/%d", r->a->op->name, r->cases[i]->id);
    }
    return ASSAY_OK;
}

/* One that breaks the contract wherever it would change anything is none, nor is one that acts
 * through a hook which is never called. */
static void decide(struct trial *t)
{
    struct assay_mutant_row *row = t->row;
    bool idle =
        row->n_tried == 0 || ((t->n_refused > 0 || t->mu->by_hook) && row->n_same == row->n_tried);

    row->fate = row->n_killed ? ASSAY_FATE_KILLED
                : row->why    ? ASSAY_FATE_JUSTIFIED
                : idle        ? ASSAY_FATE_ABSENT
                              : ASSAY_FATE_SURVIVED;
}

/* ---- planning -------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const struct assay_case *x = *(const struct assay_case *const *)a;
    const struct assay_case *y = *(const struct assay_case *const *)b;
    int64_t m = assay_case_elements(x), n = assay_case_elements(y);

    return m != n ? (m > n) - (m < n) : (x->id > y->id) - (x->id < y->id);
}

static enum assay_status choose_cases(struct run *r, const struct assay_suite *s,
                                      struct assay_err *err)
{
    r->cases = assay_arena_array(&r->a->arena, (size_t)s->n + 1, sizeof(void *));
    if (!r->cases)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %d cases", s->n);
    for (int i = 0; i < s->n; i++)
        if (s->cases[i].op == r->a->op && assay_bench_selected(r->o->cases, &s->cases[i]))
            r->cases[r->n_cases++] = &s->cases[i];
    qsort(r->cases, (size_t)r->n_cases, sizeof(void *), by_size);
    r->a->n_cases = r->n_cases;
    return ASSAY_OK;
}

static void largest_rank(int *rank, const struct assay_slot *slots, int n)
{
    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < slots[i].n; k++)
            if (slots[i].t[k].rank > rank[i])
                rank[i] = slots[i].t[k].rank;
}

static enum assay_status find_ranks(struct assay__ranks *ranks, struct run *r,
                                    struct assay_err *err)
{
    *ranks = (struct assay__ranks){ 0 };
    for (int i = 0; i < r->n_cases; i++) {
        assay_arena_reset(&r->contract);
        ASSAY_TRY(assay_case_args(&r->on.args, r->cases[i], &r->contract, err));
        largest_rank(ranks->in, r->on.args.in, assay_op_n_in(r->a->op));
        largest_rank(ranks->out, r->on.args.out, assay_op_n_out(r->a->op));
    }
    return ASSAY_OK;
}

/* The reason of the record; it names the mutant, or the mutant and its target. */
static const char *reason_of(const struct assay_op *op, const struct assay_mutant_row *row)
{
    size_t n = strlen(row->mutant);

    for (const struct assay_spared *e = op->spared; e && e->mutant; e++)
        if (!strncmp(e->mutant, row->mutant, n) &&
            (!e->mutant[n] || (e->mutant[n] == ' ' && !strcmp(e->mutant + n + 1, row->target))))
            return e->why;
    return NULL;
}

/* Rows of all mutants at all targets; of one that has no target, a row alone. With rows NULL they
 * are only counted. */
static void list_trials(struct run *r, const struct assay__ranks *ranks,
                        struct assay_mutant_row *rows, int *n_rows)
{
    const struct assay_op *op = r->a->op;

    *n_rows = r->n_trials = 0;
    for (const struct assay__mutant *mu = assay__mutants; mu->name; mu++) {
        struct assay__target at = { -1, -1, -1 };
        int first = *n_rows;

        while (assay__next_target(mu, op, ranks, &at)) {
            if (rows) {
                struct assay_mutant_row *row = &rows[*n_rows];

                *row = (struct assay_mutant_row){ .mutant = mu->name, .models = mu->models };
                assay__target_text(mu, op, at, row->target, sizeof row->target);
                row->why = reason_of(op, row);
                r->trials[r->n_trials] = (struct trial){ .mu = mu, .at = at, .row = row };
            }
            ++*n_rows;
            r->n_trials++;
        }
        if (*n_rows == first) {
            if (rows)
                rows[first] = (struct assay_mutant_row){ .mutant = mu->name, .models = mu->models };
            ++*n_rows;
        }
    }
}

/* Every reason of the record must be one for something. */
static enum assay_status check_record(const struct assay_adequacy *a, struct assay_err *err)
{
    for (const struct assay_spared *e = a->op->spared; e && e->mutant; e++) {
        bool used = false;

        for (int i = 0; i < a->n && !used; i++)
            used = a->rows[i].why == e->why;
        if (!used)
            return assay_fail(err, ASSAY_INTERNAL,
                              "%s: the record justifies '%s', which is no mutant of it",
                              a->op->name, e->mutant);
    }
    return ASSAY_OK;
}

static enum assay_status plan(struct run *r, const struct assay_suite *s, struct assay_err *err)
{
    struct assay_arena *arena = &r->a->arena;
    struct assay__ranks ranks;

    ASSAY_TRY(choose_cases(r, s, err));
    ASSAY_TRY(find_ranks(&ranks, r, err));
    list_trials(r, &ranks, NULL, &r->a->n);
    r->a->rows = assay_arena_array(arena, (size_t)r->a->n + 1, sizeof *r->a->rows);
    r->trials = assay_arena_array(arena, (size_t)r->n_trials + 1, sizeof *r->trials);
    r->wanted = assay_arena_array(arena, (size_t)r->n_trials + 1, sizeof *r->wanted);
    if (!r->a->rows || !r->trials || !r->wanted)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %d mutants", r->a->n);
    list_trials(r, &ranks, r->a->rows, &r->a->n);
    return check_record(r->a, err);
}

enum assay_status assay_bench_adequacy(struct assay_adequacy *a, const struct assay_op *op,
                                       const struct assay_suite *s,
                                       const struct assay_adequacy_options *o,
                                       struct assay_err *err)
{
    struct run *r = assay_alloc_zero(sizeof *r);
    enum assay_status st;

    *a = (struct assay_adequacy){ .op = op };
    if (!r)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %s", op->name);
    r->o = o;
    r->a = a;
    r->rules.rules = o->rules;
    r->on.suite = s;
    r->on.seed = o->seed;
    r->began_s = assay__now_s();
    st = plan(r, s, err);
    if (!st)
        st = try_cases(r, err);
    for (int i = 0; !st && i < r->n_trials; i++)
        decide(&r->trials[i]);
    for (int i = 0; !st && i < a->n; i++)
        a->n_by_fate[a->rows[i].fate]++;
    a->took_s = assay__now_s() - r->began_s;
    assay_arena_release(&r->contract);
    assay_arena_release(&r->standard);
    free(r);
    if (st)
        assay_adequacy_release(a);
    return st;
}
