/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c: a failing case of a result file once more: the same library if it can be had, the same
 * inputs, the same poison, in a process locked as those of a run are.
 */
#include "assay/replay.h"

#include "base/clock.h"
#include "base/printable.h"
#include "bench/hide.h"
#include "bench/identity.h"
#include "bench/one_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    HURRY_S = 2, /* while shrinking: what hangs does so for any time; the end is played in full */
    FIRST_DRAWS = 2, /* where the failing one was not noted: of a run without timing */
    FIRST_DRAWS_TIMED = 64
};

struct replay {
    const struct assay_replay_options *o;
    struct assay_replay *out;
    struct assay_result was;
    const struct assay_row *row;
    const struct assay_build_row *build;
    struct assay_run_options run; /* as recorded */
    const struct assay_op *ops[2];
    struct assay_suite suite;
    const struct assay_case *c;
    bool hidden; /* the case; then this is the seed of its set: */
    struct assay_hidden_seed secret;
    struct assay_session *session;
    struct assay_built built;
    struct one_case one;
    uint64_t first, last; /* the draws that make it fail */
    double shrink_start;
    int64_t smallest; /* elements, while shrinking */
};

static const char *const same_names[ASSAY_N_SAME] = {
#define X(name, text) text,
    ASSAY_SAME_MAP(X)
#undef X
};

const char *assay_same_name(enum assay_same_kind k)
{
    return (unsigned)k < ASSAY_N_SAME ? same_names[k] : "unknown";
}

void assay_replay_release(struct assay_replay *r)
{
    assay_arena_release(&r->arena);
}

static void tell(const struct replay *p, const char *stage, double eta_s)
{
    const struct assay_progress now = {
        .stage = stage, .op = p->o->op, .case_id = p->o->case_id, .eta_s = eta_s
    };

    if (p->o->progress)
        p->o->progress(p->o->cookie, &now);
}

/* ---- what is to be repeated ------------------------------------------------------------------ */

static enum assay_status find_row(struct replay *p, struct assay_err *err)
{
    const struct assay_result *r = &p->was;
    const char *name = p->o->op->name;
    int id = p->o->case_id;

    for (int i = 0; i < r->n_builds; i++)
        if (r->builds[i].op == p->o->op)
            p->build = &r->builds[i];
    for (int i = 0; i < r->n_rows; i++)
        if (r->rows[i].op == p->o->op && r->rows[i].case_id == id)
            p->row = &r->rows[i];
    if (!p->row || !p->build)
        return assay_fail(err, ASSAY_INVALID, "%s has no case %s/%d", p->o->result, name, id);
    if (!p->row->done)
        return assay_fail(err, ASSAY_INVALID, "%s/%d was not run, the result is not complete", name,
                          id);
    if (p->row->failed_here || p->build->failed_here)
        return assay_fail(err, ASSAY_INVALID,
                          "%s/%d failed through no fault of the kernel: %.400s; measure it again",
                          name, id, p->row->reason);
    if (p->row->verdict == ASSAY_PASS)
        return assay_fail(err, ASSAY_INVALID, "%s/%d passed: nothing to replay", name, id);
    if (p->row->code == ASSAY_REASON_SERIES)
        return assay_fail(err, ASSAY_INVALID,
                          "%s/%d was not run, since cases before it had timed out: replay those",
                          name, id);
    return ASSAY_OK;
}

/* option: that says where it is now; NULL: it was given. */
static enum assay_status check_folder(const char *path, const char *what, const char *option,
                                      struct assay_err *err)
{
    struct stat s;

    if (!stat(path, &s) && S_ISDIR(s.st_mode))
        return ASSAY_OK;
    if (!option)
        return assay_fail(err, ASSAY_INVALID, "no folder '%s'", path);
    return assay_fail(err, ASSAY_INVALID, "no folder '%s', where the %s was: say where it is by %s",
                      path, what, option);
}

/* The run's options as the manifest has them. */
static enum assay_status set_run(struct replay *p, struct assay_err *err)
{
    const struct assay_manifest *m = &p->was.manifest;
    const char *suite = p->o->suite ? p->o->suite : m->suite;
    bool own = !strcmp(suite, "own") && !p->o->suite;

    p->ops[0] = p->o->op;
    p->run = (struct assay_run_options){
        .home = p->o->home,
        .submission = p->o->submission ? p->o->submission : m->submission,
        .suite = own ? NULL : suite,
        .ops = p->ops,
        .rules = m->rules,
        .threads = m->threads,
    };
    ASSAY_TRY(check_folder(p->run.submission, "submission",
                           p->o->submission ? NULL : "--submission DIR", err));
    if (!own)
        ASSAY_TRY(check_folder(suite, "suite", p->o->suite ? NULL : "--suite DIR", err));
    snprintf(p->out->submission, sizeof p->out->submission, "%s", p->run.submission);
    assay__make_printable(p->out->submission);
    return ASSAY_OK;
}

static enum assay_status load_cases(struct replay *p, struct assay_err *err)
{
    const struct assay_manifest *m = &p->was.manifest;
    const char *policy = m->policy;

    p->hidden = m->hidden[0] && assay_hidden_id(p->o->case_id);
    if (p->hidden && !p->o->revealed)
        return assay_fail(err, ASSAY_INVALID,
                          "%s/%d is a hidden case: when its seed is public, `assay cases hidden "
                          "--reveal` writes a folder, and --revealed DIR says where it is",
                          p->o->op->name, p->o->case_id);
    if (p->hidden)
        ASSAY_TRY(assay__load_revealed(&p->suite, &p->secret, p->o->revealed, p->o->op, err));
    if (!p->hidden || strcmp(m->cases, "hidden") != 0)
        ASSAY_TRY(assay_bench_load(&p->suite, p->o->home, p->run.suite, p->ops, false, err));
    for (int i = 0; i < p->suite.n && strcmp(policy, "case") != 0; i++)
        p->suite.cases[i].policy = policy[0] == 'w' ? ASSAY_WARM : ASSAY_COLD;
    return assay__find_case(&p->c, &p->suite, p->o->op, p->o->case_id, err);
}

/* What a report shows of a row; names in files may be anybody's. */
static void keep_row(struct assay_row *dst, const struct assay_row *src)
{
    *dst = *src;
    dst->pairs = NULL;
    assay__make_printable(dst->reason);
    assay__make_printable(dst->match.text);
}

/* ---- what is as it was ----------------------------------------------------------------------- */

static void compare(struct replay *p, enum assay_same_kind k, const char *there, const char *here)
{
    struct assay_same *s = &p->out->same[k];

    snprintf(s->there, sizeof s->there, "%s", there);
    snprintf(s->here, sizeof s->here, "%s", here);
    s->known = s->there[0] && s->here[0];
    s->same = s->known && !strcmp(there, here);
    assay__make_printable(s->there);
    assay__make_printable(s->here);
}

/* Of the cases that were planned then, as they are now. */
static enum assay_status hash_cases(struct replay *p, char hash[65], struct assay_err *err)
{
    size_t n_rows = (size_t)p->was.n_rows;
    const struct assay_case **cases = assay_arena_array(&p->out->arena, n_rows, sizeof *cases);
    int n = 0;

    if (!cases)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %zu cases", n_rows);
    for (size_t i = 0; i < n_rows; i++)
        if (p->was.rows[i].op == p->o->op &&
            !assay__find_case(&cases[n], &p->suite, p->o->op, p->was.rows[i].case_id, NULL))
            n++;
    ASSAY_TRY(assay_cases_hash(hash, cases, n, err));
    if (p->hidden)
        assay_hidden_blind(hash, &p->secret);
    if (p->was.manifest.shard) /* the file has not all of those that were hashed */
        hash[0] = 0;
    return ASSAY_OK;
}

static enum assay_status compare_all(struct replay *p, struct assay_err *err)
{
    const struct assay_manifest *m = &p->was.manifest;
    struct assay_machine *machine = assay_arena_zero(&p->out->arena, sizeof *machine);
    char harness[65], cases[65];

    if (!machine)
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    assay_machine_name(machine, m->threads);
    ASSAY_TRY(assay__harness_hash(harness, p->o->home->child, err));
    ASSAY_TRY(hash_cases(p, cases, err));
    compare(p, ASSAY_SAME_HARNESS, m->harness, harness);
    compare(p, ASSAY_SAME_CONTRACT, p->build->contract, p->built.contract);
    compare(p, ASSAY_SAME_CASES, p->build->cases, cases);
    compare(p, ASSAY_SAME_FLAGS, p->build->flags, p->built.flags);
    compare(p, ASSAY_SAME_COMPILER, m->compiler, p->built.compiler);
    compare(p, ASSAY_SAME_CPU, m->cpu, machine->cpu);
    compare(p, ASSAY_SAME_LIBRARY, p->build->hash, p->built.hash);
    return ASSAY_OK;
}

/* The same verdict for the same reason; files of earlier programs have no codes. */
static bool is_same(const struct replay *p, enum assay_verdict v, enum assay_reason code)
{
    return v == p->row->verdict && (code == p->row->code || p->row->code == ASSAY_REASON_NONE);
}

static bool same_value(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool same_place(const struct assay_match *a, const struct assay_match *b)
{
    return a->total > 0 && b->total > 0 && a->first_index >= 0 && a->output == b->output &&
           a->first_tensor == b->first_tensor && a->first_index == b->first_index &&
           same_value(a->first_got, b->first_got) && same_value(a->first_want, b->first_want);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* As a run draws: the case's own values first, those of timed calls after. */
static bool has_timing_values(const struct replay *p, uint64_t draw)
{
    const struct assay_draw *f = &p->row->failed;

    if (f->known && draw == f->number)
        return f->timing_values;
    return draw > 0 && (f->known ? f->timing_values : p->was.manifest.timing);
}

/* The draws first .. last in one process, one call each; the outputs of the last are judged. */
static enum assay_status play(struct replay *p, struct assay_row *row, const struct assay_case *c,
                              uint64_t first, uint64_t last, struct assay_err *err)
{
    struct one_case *x = &p->one;
    enum assay_status st;

    *row = (struct assay_row){
        .op = c->op, .case_id = c->id, .done = true, .seed = x->seed, .hap = NAN
    };
    x->c = c;
    st = assay__one_start(x, row, err);
    for (uint64_t i = first; !st && row->verdict == ASSAY_PASS && i <= last; i++) {
        const struct assay_draw d = { .number = i, .timing_values = has_timing_values(p, i) };

        st = assay__one_call(x, &d, row, err);
    }
    if (!st && row->verdict == ASSAY_PASS)
        st = assay__one_judge(x, row, err);
    assay__one_end(x);
    return st;
}

/* Plays, and notes when that repeats it. */
static enum assay_status attempt(struct replay *p, uint64_t first, uint64_t last,
                                 struct assay_err *err)
{
    struct assay_replay *r = p->out;

    tell(p, first == last ? "replay" : "replay all draws of", NAN);
    ASSAY_TRY(play(p, &r->now, p->c, first, last, err));
    r->repeated = is_same(p, r->now.verdict, r->now.code);
    p->first = first;
    p->last = r->now.failed.number; /* the draw it failed at */
    return ASSAY_OK;
}

/* The failing set was noted: a call on it alone, else with all that went before it. */
static enum assay_status repeat_set(struct replay *p, struct assay_err *err)
{
    uint64_t draw = p->row->failed.number;

    ASSAY_TRY(attempt(p, draw, draw, err));
    if (p->out->repeated || draw == 0)
        return ASSAY_OK;
    ASSAY_TRY(attempt(p, 0, draw, err));
    p->out->needs_history = p->out->repeated;
    return ASSAY_OK;
}

/* A process that ended says nothing of its set: the draws of a run in turn, then the one it failed
 * at alone. */
static enum assay_status repeat_end(struct replay *p, struct assay_err *err)
{
    uint64_t n = p->was.manifest.timing ? FIRST_DRAWS_TIMED : FIRST_DRAWS, draw;

    ASSAY_TRY(attempt(p, 0, n - 1, err));
    draw = p->last;
    if (!p->out->repeated || draw == 0)
        return ASSAY_OK;
    ASSAY_TRY(attempt(p, draw, draw, err));
    if (p->out->repeated)
        return ASSAY_OK;
    ASSAY_TRY(attempt(p, 0, draw, err));
    p->out->needs_history = p->out->repeated;
    return ASSAY_OK;
}

static enum assay_status repeat_calls(struct replay *p, struct assay_err *err)
{
    const struct assay_draw *f = &p->row->failed;
    struct assay_replay *r = p->out;
    uint64_t outputs;

    p->one = (struct one_case){ .options = &p->run,
                                .session = p->session,
                                .built = &p->built,
                                .seed = p->hidden ? assay_hidden_inputs(&p->secret, p->row->seed)
                                                  : p->row->seed };
    ASSAY_TRY(f->known ? repeat_set(p, err) : repeat_end(p, err));
    r->way = p->first == p->last ? ASSAY_REPLAY_CALL : ASSAY_REPLAY_HISTORY;
    r->same_place = r->repeated && same_place(&p->row->match, &r->now.match);
    outputs = r->now.failed.outputs;
    if (p->hidden)
        outputs = assay_hidden_mix(&p->secret, "outputs", outputs);
    r->bit_for_bit = r->repeated && f->known && r->now.failed.known && f->outputs == outputs;
    return ASSAY_OK;
}

static void repeat_build(struct replay *p)
{
    struct assay_row *now = &p->out->now;

    p->out->way = ASSAY_REPLAY_BUILD;
    *now = (struct assay_row){ .op = p->o->op, .case_id = p->o->case_id, .done = true };
    now->verdict = p->built.verdict;
    now->code = p->built.code;
    snprintf(now->reason, sizeof now->reason, "%s", p->built.reason);
    p->out->repeated = !p->built.compiled && is_same(p, now->verdict, now->code);
    if (p->built.diagnostics)
        p->out->diagnostics = assay_arena_strdup(&p->out->arena, p->built.diagnostics);
}

/* ---- a smaller case -------------------------------------------------------------------------- */

static enum assay_status still_fails(void *ctx, const struct assay_case *c, bool *fails,
                                     struct assay_err *err)
{
    struct replay *p = ctx;
    struct assay_row row;
    char stage[80];

    snprintf(stage, sizeof stage, "shrink, now %lld elements,", (long long)p->smallest);
    tell(p, stage, fmax(0, p->o->limits.budget_s - (assay__now_s() - p->shrink_start)));
    ASSAY_TRY(play(p, &row, c, p->first, p->last, err));
    *fails = is_same(p, row.verdict, row.code);
    if (*fails)
        p->smallest = assay_case_elements(c);
    return ASSAY_OK;
}

/* Played once more, so that what is shown is of this case, and so that chance does not name it. */
static enum assay_status keep_smaller(struct replay *p, struct assay_case *c, struct assay_err *err)
{
    struct assay_replay *r = p->out;
    struct assay_text line = { 0 };
    char note[128];

    ASSAY_TRY(play(p, &r->smaller_row, c, p->first, p->last, err));
    if (!is_same(p, r->smaller_row.verdict, r->smaller_row.code))
        return ASSAY_OK;
    snprintf(note, sizeof note, "smaller than %s/%d, seed %llu, draw %llu", c->op->name, c->id,
             (unsigned long long)p->one.seed, (unsigned long long)p->last);
    c->note = note;
    assay_case_json(c, &line);
    c->note = "";
    r->smaller = line.failed ? NULL : assay_arena_strdup(&r->arena, line.data);
    assay_text_release(&line);
    if (!r->smaller)
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    r->smaller_elements = assay_case_elements(c);
    return ASSAY_OK;
}

static enum assay_status shrink(struct replay *p, struct assay_err *err)
{
    struct assay_replay *r = p->out;
    struct assay_case *best = assay_arena_alloc(&r->arena, sizeof *best);
    struct assay_row ignored;

    if (!best)
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    r->tried = true;
    p->shrink_start = assay__now_s();
    p->smallest = r->elements;
    p->one.timeout_s = HURRY_S;
    ASSAY_TRY(assay_shrink(best, &r->n_tries, p->c, &p->o->limits, still_fails, p, &r->arena, err));
    p->one.timeout_s = 0;
    if (assay_case_elements(best) < r->elements)
        ASSAY_TRY(keep_smaller(p, best, err));
    if (r->smaller)
        return ASSAY_OK;
    return play(p, &ignored, p->c, p->first, p->last, err); /* whose tensors are shown */
}

/* ---- tensors --------------------------------------------------------------------------------- */

static int64_t largest(const struct assay_slot *slots, int n)
{
    int64_t most = 0;

    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < slots[i].n; k++)
            most = assay_numel(&slots[i].t[k]) > most ? assay_numel(&slots[i].t[k]) : most;
    return most;
}

/* With their values, out of the session's memory. */
static enum assay_status copy_slots(struct assay_slot *dst, const struct assay_slot *src, int n,
                                    struct assay_arena *arena, struct assay_err *err)
{
    ASSAY_TRY(assay_slots_copy(dst, src, n, arena, err));
    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < src[i].n; k++) {
            const struct assay_tensor *t = &src[i].t[k];
            size_t bytes = (size_t)assay_numel(t) * assay_dtype_size(t->dtype);

            dst[i].t[k].data = assay_arena_alloc(arena, bytes);
            if (!dst[i].t[k].data)
                return assay_fail(err, ASSAY_NOMEM, "out of memory for a tensor");
            memcpy(dst[i].t[k].data, t->data, bytes);
        }
    return ASSAY_OK;
}

/* Of the last call, when they can be read at a glance. */
static enum assay_status keep_tensors(struct replay *p, struct assay_err *err)
{
    const struct assay_op *op = p->o->op;
    int n_in = assay_op_n_in(op), n_out = assay_op_n_out(op);
    struct assay_arena *arena = &p->out->arena;
    struct assay_args a = p->one.args, contract;
    struct assay_replay_tensors *t;

    if (largest(a.in, n_in) > ASSAY_REPLAY_SHOWN || largest(a.out, n_out) > ASSAY_REPLAY_SHOWN)
        return ASSAY_OK;
    t = assay_arena_zero(arena, sizeof *t);
    if (!t)
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    ASSAY_TRY(copy_slots(t->in, a.in, n_in, arena, err));
    ASSAY_TRY(copy_slots(t->got, a.out, n_out, arena, err));
    ASSAY_TRY(assay_case_args(&contract, p->one.c, arena, err));
    memcpy(a.out, contract.out, sizeof a.out); /* room for any size, whatever was reported */
    a.arena = arena;
    ASSAY_TRY(assay_golden_run(t->want, op, &a, false, arena, err));
    t->has_got = p->one.judged;
    p->out->tensors = t;
    return ASSAY_OK;
}

/* ---- in order -------------------------------------------------------------------------------- */

/* What the process did between its calls, or how long a series of them took: no single call shows
 * that. */
static bool is_of_series(enum assay_reason code)
{
    static const enum assay_reason codes[] = { ASSAY_REASON_OUTSIDE, ASSAY_REASON_LATE,
                                               ASSAY_REASON_EARLY, ASSAY_REASON_CPU_TIME };

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}

static enum assay_status rebuild(struct replay *p, struct assay_err *err)
{
    const struct assay_session_options so = {
        .child = p->o->home->child,
        .include = p->o->home->include,
        .threads = p->run.threads,
        .locked = true,
    };

    tell(p, "build", NAN);
    ASSAY_TRY(assay_session_open(&p->session, &assay_target_cpu, &so, err));
    return assay_session_build(p->session, &p->built, p->run.submission, p->o->op, err);
}

static enum assay_status repeat(struct replay *p, struct assay_err *err)
{
    struct assay_replay *r = p->out;

    if (!p->build->compiled || !p->built.compiled) {
        repeat_build(p);
        return ASSAY_OK;
    }
    if (is_of_series(p->row->code)) {
        r->way = ASSAY_REPLAY_NEVER;
        r->now = r->was;
        return ASSAY_OK;
    }
    r->elements = assay_case_elements(p->c);
    ASSAY_TRY(repeat_calls(p, err));
    if (r->repeated && p->o->shrink)
        ASSAY_TRY(shrink(p, err));
    if (!p->one.filled)
        return ASSAY_OK;
    if (p->o->dump)
        ASSAY_TRY(assay__one_dump(&p->one, p->o->dump, err));
    return keep_tensors(p, err);
}

static enum assay_status replay(struct replay *p, bool *in_file, struct assay_err *err)
{
    enum assay_status st = assay_result_read(&p->was, p->o->result, assay_op_find, err);

    *in_file = st && st != ASSAY_NOMEM;
    if (!st)
        st = find_row(p, err);
    if (st)
        return st;
    keep_row(&p->out->was, p->row);
    p->out->manifest = p->was.manifest;
    ASSAY_TRY(set_run(p, err));
    ASSAY_TRY(load_cases(p, err));
    ASSAY_TRY(rebuild(p, err));
    ASSAY_TRY(compare_all(p, err));
    return repeat(p, err);
}

enum assay_status assay_bench_replay(struct assay_replay *r, const struct assay_replay_options *o,
                                     bool *in_file, struct assay_err *err)
{
    struct replay *p = assay_alloc_zero(sizeof *p);
    enum assay_status st;

    *r = (struct assay_replay){ 0 };
    *in_file = false;
    if (!p)
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    p->o = o;
    p->out = r;
    st = replay(p, in_file, err);
    assay__one_release(&p->one);
    assay_built_release(&p->built);
    assay_session_close(p->session);
    assay_suite_release(&p->suite);
    assay_result_release(&p->was);
    free(p);
    return st;
}
