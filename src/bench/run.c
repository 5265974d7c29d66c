/* SPDX-License-Identifier: Apache-2.0 */
/* run.c: the order of a run: plan all rows, then operator by operator build, measure, tell the
 * sinks. */
#include "assay/bench.h"

#include "assay/submission.h"
#include "base/clock.h"
#include "bench/hide.h"
#include "bench/identity.h"
#include "bench/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUTS_IN_A_ROW = 3 };

struct run {
    struct assay_result *r;
    const struct assay_run_options *o;
    struct assay_sink *sinks;
    int n_sinks;
    struct assay_suite suite;
    const struct assay_case **plan; /* the selected ones */
    int n_plan;
    const struct assay_case **cases; /* those of this shard, as rows */
    struct assay_session *session;
    struct assay_arena scratch;
    char baseline[ASSAY_PATH_MAX];
    int n_done_now; /* rows measured in this run, for the ETA */
    double start, measuring;
    double saved_s; /* of the budgets of cases so far */
};

/* ---- planning -------------------------------------------------------------------------------- */

/* What the planned cases of each operator are, those of other shards too: they stand together.
 * Where some are hidden the hash must not help to guess them. */
static enum assay_status hash_cases(struct run *run, struct assay_err *err)
{
    struct assay_result *r = run->r;

    for (int b = 0; b < r->n_builds; b++) {
        int first = 0, n = 0;

        while (run->plan[first]->op != r->builds[b].op)
            first++;
        while (first + n < run->n_plan && run->plan[first + n]->op == r->builds[b].op)
            n++;
        ASSAY_TRY(assay_cases_hash(r->builds[b].cases, run->plan + first, n, err));
        if (assay_hidden_id(run->plan[first + n - 1]->id) && run->o->hidden)
            assay_hidden_blind(r->builds[b].cases, run->o->hidden);
    }
    return ASSAY_OK;
}

/* Which of the planned cases are this run's: parts of equal length, but for one case, each in one
 * piece, so that few operators are built twice. */
static enum assay_status choose_shard(struct run *run, int *first, int *end, struct assay_err *err)
{
    int64_t i = run->o->shard, n = run->o->n_shards;

    *first = 0;
    *end = run->n_plan;
    if (n > run->n_plan)
        return assay_fail(err, ASSAY_INVALID, "%d cases cannot be split into %d shards",
                          run->n_plan, (int)n);
    if (n > 0) {
        *first = (int)(run->n_plan * (i - 1) / n);
        *end = (int)(run->n_plan * i / n);
    }
    return ASSAY_OK;
}

/* Rows for every selected case, builds for every operator that has one: the denominators. */
static enum assay_status plan_rows(struct run *run, struct assay_err *err)
{
    struct assay_result *r = run->r;
    size_t n = (size_t)run->suite.n;
    int first, end;

    ASSAY_TRY(assay_bench_check_selection(run->o->cases, &run->suite, err));
    r->rows = assay_arena_zero(&r->arena, n * sizeof *r->rows);
    r->builds = assay_arena_zero(&r->arena, n * sizeof *r->builds);
    r->controls = assay_arena_zero(&r->arena, n * ASSAY_N_CONTROLS * sizeof *r->controls);
    run->plan = assay_alloc(n * sizeof(const struct assay_case *));
    if (!r->rows || !r->builds || !r->controls || !run->plan)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %zu cases", n);
    for (size_t i = 0; i < n; i++)
        if (assay_bench_selected(run->o->cases, &run->suite.cases[i]))
            run->plan[run->n_plan++] = &run->suite.cases[i];
    ASSAY_TRY(choose_shard(run, &first, &end, err));
    run->cases = run->plan + first;
    for (int i = first; i < end; i++) {
        const struct assay_case *c = run->plan[i];

        if (!r->n_builds || r->builds[r->n_builds - 1].op != c->op)
            r->builds[r->n_builds++].op = c->op;
        r->rows[r->n_rows++] = (struct assay_row){ .op = c->op, .case_id = c->id, .hap = NAN };
    }
    return ASSAY_OK;
}

static enum assay_status fill_manifest(struct run *run, struct assay_err *err)
{
    const struct assay_run_options *o = run->o;
    struct assay_manifest *m = &run->r->manifest;
    struct assay_submission says;

    /* what cannot be read fails every build, with the reason */
    assay_submission_read(&says, o->submission, NULL);
    memcpy(m->name, says.name, sizeof m->name);
    memcpy(m->author, says.author, sizeof m->author);
    memcpy(m->model, says.model, sizeof m->model);
    snprintf(m->version, sizeof m->version, "%s", ASSAY_VERSION);
    snprintf(m->submission, sizeof m->submission, "%.255s", o->submission);
    snprintf(m->baseline, sizeof m->baseline, "%.255s",
             !o->timing    ? ""
             : o->baseline ? o->baseline
                           : "own");
    snprintf(m->suite, sizeof m->suite, "%.255s", o->suite ? o->suite : "own");
    snprintf(m->cases, sizeof m->cases, "%.255s", o->cases ? o->cases : "public");
    snprintf(m->target, sizeof m->target, "%s", assay_target_cpu.name);
    m->rules = o->rules;
    m->threads = o->threads;
    m->cores = assay_session_cores(run->session);
    m->timing = o->timing;
    snprintf(m->policy, sizeof m->policy, "%s",
             !o->policy                 ? "case"
             : *o->policy == ASSAY_WARM ? "warm"
                                        : "cold");
    m->seed_given = o->seed_given;
    m->seed = o->seed_given ? o->seed : 0;
    memcpy(m->cpu, run->r->machine.cpu, sizeof m->cpu);
    memcpy(m->kernel, run->r->machine.kernel, sizeof m->kernel);
    memcpy(m->date, run->r->machine.date, sizeof m->date);
    m->shard = o->shard;
    m->n_shards = o->n_shards;
    m->n_planned = run->n_plan;
    if (o->hidden) {
        m->n_hidden = o->n_hidden;
        ASSAY_TRY(assay_hidden_hash(m->hidden, o->hidden, o->n_hidden, err));
    }
    if (assay__submission_hash(m->sources, o->submission, NULL))
        m->sources[0] = 0; /* as above */
    return assay__harness_hash(m->harness, o->home->child, err);
}

/* ---- telling --------------------------------------------------------------------------------- */

static void progress(const struct run *run, const char *stage, const struct assay_op *op,
                     int case_id)
{
    struct assay_progress p = {
        .stage = stage, .op = op, .case_id = case_id, .total = run->r->n_rows, .eta_s = NAN
    };
    double spent = assay__now_s() - run->measuring;

    if (!run->o->progress)
        return;
    for (int i = 0; i < run->r->n_rows; i++)
        p.done += run->r->rows[i].done;
    if (run->n_done_now)
        p.eta_s = spent / run->n_done_now * (p.total - p.done);
    run->o->progress(run->o->cookie, &p);
}

static bool is_hidden(const struct run *run, int case_id)
{
    return run->o->hidden && assay_hidden_id(case_id);
}

static enum assay_status tell_row(struct run *run, int row, struct assay_err *err)
{
    if (is_hidden(run, run->r->rows[row].case_id))
        assay__hide_row(&run->r->rows[row], run->o->hidden);
    for (int s = 0; s < run->n_sinks; s++)
        if (run->sinks[s].row)
            ASSAY_TRY(run->sinks[s].row(run->sinks[s].self, run->r, row, err));
    return ASSAY_OK;
}

static enum assay_status tell_build(struct run *run, int build, struct assay_err *err)
{
    for (int s = 0; s < run->n_sinks; s++)
        if (run->sinks[s].build)
            ASSAY_TRY(run->sinks[s].build(run->sinks[s].self, run->r, build, err));
    return ASSAY_OK;
}

/* ---- running --------------------------------------------------------------------------------- */

static enum assay_status build_candidate(struct run *run, int build, struct assay_built *built,
                                         struct assay_err *err)
{
    struct assay_build_row *row = &run->r->builds[build];
    struct assay_err why = { "" };
    enum assay_status st;

    progress(run, "build", row->op, 0);
    st = assay_session_build(run->session, built, run->o->submission, row->op, &why);
    row->failed_here = st != ASSAY_OK;
    row->present = built->present;
    row->compiled = built->compiled;
    row->wall_s = built->wall_s;
    row->done = true;
    row->verdict = built->verdict;
    row->code = built->code;
    memcpy(row->reason, built->reason, sizeof row->reason);
    memcpy(row->flags, built->flags, sizeof row->flags);
    memcpy(row->contract, built->contract, sizeof row->contract);
    memcpy(row->hash, built->hash, sizeof row->hash);
    if (built->diagnostics || st)
        row->diagnostics = assay_arena_strdup(&run->r->arena, st ? why.text : built->diagnostics);
    if (built->compiler[0])
        snprintf(run->r->manifest.compiler, sizeof run->r->manifest.compiler, "%s",
                 built->compiler);
    return tell_build(run, build, err);
}

static enum assay_status build_baseline(struct run *run, const struct assay_op *op,
                                        struct assay_built *built, struct assay_err *err)
{
    /* our own is our fault, one that the user named is the user's */
    enum assay_status blame = run->o->baseline ? ASSAY_INVALID : ASSAY_INTERNAL;

    ASSAY_TRY(assay_session_build(run->session, built, run->baseline, op, err));
    if (!run->o->timing)
        return ASSAY_OK; /* only controls would need it */
    if (!built->present)
        return assay_fail(err, blame, "baseline %s has no kernel for %s", run->baseline, op->name);
    if (!built->compiled)
        return assay_fail(err, blame, "baseline %s: %s does not compile: %.300s", run->baseline,
                          op->name, built->diagnostics ? built->diagnostics : "");
    return ASSAY_OK;
}

/* A row that cannot be measured, because nothing was built or the kernel hangs again and again. */
static void fail_row(struct assay_row *row, const struct assay_build_row *build)
{
    row->done = true;
    if (build->failed_here) {
        row->failed_here = true;
        snprintf(row->reason, sizeof row->reason, "%.500s",
                 build->diagnostics ? build->diagnostics : "build failed");
    } else if (!build->compiled) {
        row->verdict = build->verdict;
        row->code = build->code;
        snprintf(row->reason, sizeof row->reason, "%s", build->reason);
    } else {
        row->verdict = ASSAY_TIMED_OUT;
        row->code = ASSAY_REASON_SERIES;
        snprintf(row->reason, sizeof row->reason, "not run: %d cases in a row had timed out",
                 (int)TIMEOUTS_IN_A_ROW);
    }
}

static bool stopped(const struct run *run)
{
    return run->o->stop && *run->o->stop;
}

static enum assay_status tell_control(void *ctx, int control, struct assay_err *err)
{
    struct run *run = ctx;
    struct assay_row *row = &run->r->controls[control].row;

    if (is_hidden(run, row->case_id))
        assay__hide_row(row, run->o->hidden);
    for (int s = 0; s < run->n_sinks; s++)
        if (run->sinks[s].control)
            ASSAY_TRY(run->sinks[s].control(run->sinks[s].self, run->r, control, err));
    return ASSAY_OK;
}

static enum assay_status measure_rows(struct run *run, int build, struct assay_built built[N_ROLES],
                                      struct assay_err *err)
{
    struct assay_result *r = run->r;
    const struct assay_op *op = r->builds[build].op;
    struct measure_setup m = {
        .options = run->o,
        .session = run->session,
        .machine = &r->machine,
        .built = { run->o->timing ? &built[BASE] : NULL, &built[CAND] },
        /* drawn now, after the build: no source can know it */
        .seed = run->o->seed_given ? run->o->seed : assay_seed_draw(),
        .hidden = run->o->hidden,
        .saved_s = &run->saved_s,
        .scratch = &run->scratch,
        .keep = &r->arena,
        .manifest = &r->manifest,
    };
    const struct assay__control_cases from = { run->cases, &run->suite };
    int timeouts = 0;

    for (int i = 0; i < r->n_rows && !stopped(run) && !run->o->only_controls; i++) {
        struct assay_row *row = &r->rows[i];
        struct assay_err why = { 0 };

        if (row->op != op)
            continue;
        m.c = run->cases[i];
        if (row->done) {
            timeouts = row->verdict == ASSAY_TIMED_OUT ? timeouts + 1 : 0;
            continue;
        }
        progress(run, "measure", op, row->case_id);
        if (!r->builds[build].compiled || timeouts >= TIMEOUTS_IN_A_ROW)
            fail_row(row, &r->builds[build]);
        else if (assay__measure(row, &m, &why) == ASSAY_NOMEM)
            assay_arena_release(&run->scratch);
        row->seed = m.seed;
        timeouts = row->verdict == ASSAY_TIMED_OUT ? timeouts + 1 : 0;
        run->n_done_now++;
        ASSAY_TRY(tell_row(run, i, err));
    }
    if (!built[BASE].compiled || stopped(run) || run->o->bare)
        return ASSAY_OK;
    progress(run, "controls", op, 0);
    m.built[BASE] = &built[BASE];
    return assay__controls(r, &m, op, &from, tell_control, run, err);
}

/* Rows taken from a journal count only for the library that they were measured with. */
static void forget_other_library(struct assay_result *r, int build, const char *old_hash)
{
    if (!strcmp(old_hash, r->builds[build].hash))
        return;
    for (int i = 0; i < r->n_rows; i++)
        if (r->rows[i].op == r->builds[build].op)
            r->rows[i] = (struct assay_row){ .op = r->rows[i].op,
                                             .case_id = r->rows[i].case_id,
                                             .hap = NAN };
    for (int i = r->n_controls - 1; i >= 0; i--)
        if (r->controls[i].row.op == r->builds[build].op)
            r->controls[i] = r->controls[--r->n_controls];
}

static bool has_open_rows(const struct assay_result *r, const struct assay_op *op)
{
    for (int i = 0; i < r->n_rows; i++)
        if (r->rows[i].op == op && !r->rows[i].done)
            return true;
    return false;
}

/* For times, and for controls. */
static bool needs_baseline(const struct run *run, const struct assay_op *op)
{
    const struct assay__control_cases from = { run->cases, &run->suite };

    return (run->o->timing && has_open_rows(run->r, op)) ||
           (!run->o->bare && assay__controls_open(run->r, op, &from));
}

/* Everything of one operator that is not done yet. It is built in any case: only its library says
 * whether what a journal holds still counts. */
static enum assay_status run_operator(struct run *run, int build, struct assay_err *err)
{
    struct assay_built built[N_ROLES] = { 0 };
    struct assay_build_row old = run->r->builds[build];
    enum assay_status st = build_candidate(run, build, &built[CAND], err);

    if (!st && old.done)
        forget_other_library(run->r, build, old.hash);
    if (!st && built[CAND].compiled && needs_baseline(run, old.op))
        st = build_baseline(run, old.op, &built[BASE], err);
    if (!st)
        st = measure_rows(run, build, built, err);
    for (int role = 0; role < N_ROLES; role++)
        assay_built_release(&built[role]);
    return st;
}

static size_t up_to_power(size_t n)
{
    size_t p = 1;

    while (p < n && p <= SIZE_MAX / 2)
        p *= 2;
    return p;
}

/* Arenas for the largest case at once: touching memory twice costs seconds. What does not fit is
 * tried, and reported, case by case. */
static enum assay_status reserve(struct run *run, struct assay_err *err)
{
    size_t in_max = 0, out_max = 0;
    struct assay_arena arena = { 0 };
    enum assay_status st = ASSAY_OK;
    struct assay_err ignored;

    for (int i = 0; i < run->r->n_rows && !st; i++) {
        struct assay_args args = { 0 };
        size_t in, out, n;

        if (run->r->rows[i].done)
            continue;
        st = assay_case_args(&args, run->cases[i], &arena, err);
        if (!st)
            st = assay_set_stride(&args, &in, &out, err);
        if (st)
            break;
        n = (size_t)assay__measure_sets(&args, run->o->timing);
        in_max = n * in > in_max ? n * in : in_max;
        out_max = n * out > out_max ? n * out : out_max;
        assay_arena_reset(&arena);
    }
    assay_arena_release(&arena);
    if (run->o->hidden) { /* how much is mapped tells the first kernel of the largest case */
        in_max = up_to_power(in_max);
        out_max = up_to_power(out_max);
    }
    if (!st)
        assay_session_reserve(run->session, in_max, out_max, run->o->timing, &ignored);
    return st;
}

static void calibrating(void *cookie, const char *what)
{
    progress(cookie, what, NULL, 0);
}

static enum assay_status know_machine(struct run *run, struct assay_err *err)
{
    if (run->o->machine) {
        run->r->machine = *run->o->machine;
        return ASSAY_OK;
    }
    if (!run->o->timing) {
        assay_machine_name(&run->r->machine, run->o->threads);
        return ASSAY_OK;
    }
    return assay_calibrate(&run->r->machine, run->o->threads, calibrating, run, err);
}

static enum assay_status open_session(struct run *run, struct assay_err *err)
{
    const struct assay_session_options so = {
        .child = run->o->home->child,
        .include = run->o->home->include,
        .threads = run->o->threads,
        .locked = !run->o->unlocked,
        .plain = run->o->plain,
        .timing = run->o->timing,
        .build_once = run->o->bare,
        .build_timeout_s = run->o->build_timeout_s,
    };

    return assay_session_open(&run->session, &assay_target_cpu, &so, err);
}

static enum assay_status begin(struct run *run, const char *resume, struct assay_err *err)
{
    const struct assay_run_options *o = run->o;
    int n_found = 0;

    ASSAY_TRY(assay__load_cases(&run->suite, o, err));
    for (int i = 0; o->policy && i < run->suite.n; i++)
        run->suite.cases[i].policy = *o->policy;
    ASSAY_TRY(plan_rows(run, err));
    ASSAY_TRY(open_session(run, err));
    ASSAY_TRY(know_machine(run, err));
    ASSAY_TRY(fill_manifest(run, err));
    if (resume)
        ASSAY_TRY(assay_report_json_resume(run->r, resume, &n_found, err));
    ASSAY_TRY(hash_cases(run, err));
    for (int s = 0; s < run->n_sinks; s++)
        if (run->sinks[s].begin)
            ASSAY_TRY(run->sinks[s].begin(run->sinks[s].self, run->r, err));
    return reserve(run, err);
}

static enum assay_status end(struct run *run, struct assay_err *err)
{
    enum assay_status st = ASSAY_OK;

    run->r->interrupted = stopped(run);
    run->r->wall_s = assay__now_s() - run->start;
    for (int s = 0; s < run->n_sinks && !st; s++)
        if (run->sinks[s].end)
            st = run->sinks[s].end(run->sinks[s].self, run->r, err);
    return st;
}

enum assay_status assay_bench_run(struct assay_result *r, const struct assay_run_options *o,
                                  struct assay_sink *sinks, int n_sinks, const char *resume,
                                  struct assay_err *err)
{
    struct run *run = assay_alloc_zero(sizeof *run);
    enum assay_status st;

    memset(r, 0, sizeof *r); /* to be released in any case */
    if (!run)
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    *run =
        (struct run){ .r = r, .o = o, .sinks = sinks, .n_sinks = n_sinks, .start = assay__now_s() };
    if (o->baseline)
        snprintf(run->baseline, sizeof run->baseline, "%s", o->baseline);
    else
        snprintf(run->baseline, sizeof run->baseline, "%.4000s/baseline", o->home->kernels);
    st = begin(run, resume, err);
    run->measuring = assay__now_s();
    for (int b = 0; !st && b < r->n_builds && !stopped(run); b++)
        st = run_operator(run, b, err);
    if (!st)
        st = end(run, err);
    assay_session_close(run->session);
    assay_arena_release(&run->scratch);
    assay_suite_release(&run->suite);
    free(run->plan);
    free(run);
    return st;
}
