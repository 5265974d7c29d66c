/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selftest.c: runs the gallery. What is judged alone runs side by side, a thread for each core;
 * what is timed comes after that, one at a time.
 */
#include "assay/gallery.h"

#include "base/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORKERS = 16 };

/* Hostile sources shall not take as long to build as honest ones may. */
static const double build_timeout_s = 20;

struct selftest {
    const struct assay_gallery *g;
    const struct assay_selftest_options *o;
    struct assay_outcome *outcomes;
    pthread_mutex_t lock; /* of what follows, and of told() */
    int next;
};

static void leave_out(struct assay_outcome *out, const char *why)
{
    *out = (struct assay_outcome){ .ratio = NAN };
    snprintf(out->reason, sizeof out->reason, "%s", why);
}

static bool named(const struct assay_selftest_options *o, const struct assay_exhibit *e)
{
    return !o->only || strstr(e->kernel, o->only);
}

bool assay_selftest_wants(const struct assay_selftest_options *o, const struct assay_exhibit *e)
{
    return named(o, e) && (o->timing || !e->timed);
}

static void take(struct assay_outcome *out, const struct assay_exhibit *e,
                 const struct assay_result *r)
{
    const struct assay_row *row = &r->rows[0];

    out->run = row->done;
    out->failed_here = row->failed_here;
    out->verdict = row->verdict;
    out->code = row->code;
    out->ratio = row->timed ? row->time.ratio : (double)NAN;
    snprintf(out->reason, sizeof out->reason, "%s", row->reason);
    snprintf(out->trust, sizeof out->trust, "%s", r->manifest.trust);
    out->kept = out->run && !out->failed_here && out->verdict == e->verdict &&
                out->code == e->code && (e->slower_than <= 0 || out->ratio >= e->slower_than);
    if (!out->kept && r->builds[0].diagnostics)
        snprintf(out->reason, sizeof out->reason, "%.150s: %.300s", row->reason,
                 r->builds[0].diagnostics);
}

static void run_one(struct selftest *t, int i)
{
    const struct assay_exhibit *e = &t->g->exhibits[i];
    struct assay_outcome *out = &t->outcomes[i];
    const struct assay_op *ops[] = { e->op, NULL };
    char submission[ASSAY_PATH_MAX], id[96];
    struct assay_result r = { 0 };
    struct assay_err err = { "" };
    const struct assay_run_options o = {
        .home = t->o->home,
        .submission = submission,
        .ops = ops,
        .cases = id,
        .threads = e->threads,
        .timing = e->timed,
        .plain = t->o->plain,
        .bare = true,
        .build_timeout_s = build_timeout_s,
        .budget_s = e->budget_s,
        .machine = t->o->machine,
        .stop = t->o->stop,
    };
    double start = assay__now_s();

    snprintf(submission, sizeof submission, "%.3000s/%.1000s", t->o->home->gallery, e->kernel);
    snprintf(id, sizeof id, "%s/%d", e->op->name, e->case_id);
    leave_out(out, "interrupted");
    if (assay_bench_run(&r, &o, NULL, 0, NULL, &err)) {
        out->run = out->failed_here = true;
        snprintf(out->reason, sizeof out->reason, "%s", err.text);
    } else if (r.rows[0].done) {
        take(out, e, &r);
    }
    assay_result_release(&r);
    out->wall_s = assay__now_s() - start;
    pthread_mutex_lock(&t->lock);
    t->o->told(t->o->cookie, e, out);
    pthread_mutex_unlock(&t->lock);
}

static bool stopped(const struct selftest *t)
{
    return t->o->stop && *t->o->stop;
}

static void *worker(void *arg)
{
    struct selftest *t = arg;

    while (!stopped(t)) {
        int i;

        pthread_mutex_lock(&t->lock);
        while (t->next < t->g->n && (t->g->exhibits[t->next].timed ||
                                     !assay_selftest_wants(t->o, &t->g->exhibits[t->next])))
            t->next++;
        i = t->next++;
        pthread_mutex_unlock(&t->lock);
        if (i >= t->g->n)
            break;
        run_one(t, i);
    }
    return NULL;
}

/* A failed start of a thread is made up for by those that are there. */
static void run_side_by_side(struct selftest *t, int n)
{
    pthread_t id[MOST_WORKERS];
    int started = 0;

    while (started < n - 1 && !pthread_create(&id[started], NULL, worker, t))
        started++;
    worker(t);
    for (int i = 0; i < started; i++)
        pthread_join(id[i], NULL);
}

enum assay_status assay_bench_selftest(struct assay_outcome *outcomes,
                                       const struct assay_gallery *g,
                                       const struct assay_selftest_options *o,
                                       struct assay_err *err)
{
    struct selftest t = { .g = g, .o = o, .outcomes = outcomes };
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (pthread_mutex_init(&t.lock, NULL))
        return assay_fail(err, ASSAY_NOMEM, "cannot make a lock");
    for (int i = 0; i < g->n; i++)
        leave_out(&outcomes[i], named(o, &g->exhibits[i]) ? "times are left out" : "not wanted");
    run_side_by_side(&t, cores > MOST_WORKERS ? MOST_WORKERS : (int)cores);
    for (int i = 0; i < g->n && !stopped(&t); i++)
        if (g->exhibits[i].timed && assay_selftest_wants(o, &g->exhibits[i])) {
            if (g->exhibits[i].threads >= 2 && cores < 2)
                leave_out(&outcomes[i], "needs two cores");
            else
                run_one(&t, i);
        }
    pthread_mutex_destroy(&t.lock);
    return ASSAY_OK;
}
