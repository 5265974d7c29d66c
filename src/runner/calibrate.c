/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate.c: measures what this machine can do, on the kind of memory that kernels get.
 *
 * Everything is the best of many short runs: a limit must not be beaten because a neighbour was
 * busy. The spread tells how well the best repeats: that of every other run against that of the
 * rest.
 */
#include "assay/machine.h"
#include "base/clock.h"
#include "runner/peak.h"
#include "runner/session.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum {
    KIB = 1 << 10,
    MIB = 1 << 20,
    MAX_POINTS = 48,
    MAX_STREAMS = 24,        /* loops over memory */
    MIN_FOOTPRINT = 8 * KIB, /* of one thread */
    RUN_BYTES = 16 * MIB,    /* of one thread and run: 0.05 to 0.2 ms */
    CHUNK = 8 * MIB,         /* of one thread: what a run goes over at most */
    FAR = 16 * MIB,          /* footprint from which writing past the caches is tried */
    SWEEPS = 5,              /* over all that is measured, one at least, as long as there is time */
    RUNS = 5,                /* of each loop in a sweep, two at least, as long as there is time */
    TRY_RUNS = 3,            /* of each loop that competes for a peak */
    ANCHOR_SAMPLES = 32,     /* three times */
};

static const double MEMORY_S = 1.5, PEAKS_S = 0.8;   /* the time that there is */
static const double TRY_S = 0.3e-3, PEAK_S = 0.7e-3; /* a run */
static const double START_S = 5;                     /* until all threads run */

/* ---- progress -------------------------------------------------------------------------------- */

struct report {
    void (*progress)(void *cookie, const char *what); /* NULL: nobody listens */
    void *cookie;
};

static void say(const struct report *r, const char *what)
{
    if (r->progress)
        r->progress(r->cookie, what);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* What one thread of a run has done; a cache line each, so that they do not disturb each other. */
struct share {
    _Alignas(64) double begin_ns, end_ns, work;
};

/* One measured thing, done by all threads at once; thread 0 says what and when. */
struct job {
    int threads;
    assay__peak_fn peak;
    int64_t rounds;
    double deadline_s;       /* of all runs */
    assay__stream_fn stream; /* NULL: peak */
    char *base;              /* of thread 0 */
    size_t stride, chunk;    /* from thread to thread; what a run goes over */
    int pos, n_chunks;       /* the chunk of the next run */
    bool stop;
    _Atomic int run;     /* changes when one begins */
    _Atomic int arrived; /* threads that are ready for it */
    _Atomic int idle;    /* threads beside thread 0 that wait for the next */
    struct share share[RUNNER_MAX_CPUS];
};

/* Spins, so that a run begins on all threads at once, but lets others work where cores are few. */
static void pause_spinning(unsigned i)
{
    if (i % 1024 == 0)
        sched_yield();
}

static void take_part(struct job *j, int t)
{
    struct share *s = &j->share[t];

    /* a thread that has lost its core holds up the others, for the run is worth nothing without */
    atomic_fetch_add(&j->arrived, 1);
    for (unsigned i = 1; atomic_load(&j->arrived) < j->threads; i++)
        pause_spinning(i);
    s->begin_ns = assay__now_raw_ns();
    if (j->stream)
        s->work = j->stream(j->base + (size_t)t * j->stride + (size_t)j->pos * j->chunk, j->chunk,
                            j->rounds);
    else
        s->work = j->peak(j->rounds);
    s->end_ns = assay__now_raw_ns();
}

static void follow(struct job *j, int t)
{
    for (int seen = 0, now; !j->stop; seen = now) {
        atomic_fetch_add(&j->idle, 1);
        for (unsigned i = 1; (now = atomic_load(&j->run)) == seen; i++)
            pause_spinning(i);
        if (!j->stop)
            take_part(j, t);
    }
}

static bool all_idle(struct job *j, double deadline_s)
{
    for (unsigned i = 1; atomic_load(&j->idle) < j->threads - 1; i++) {
        pause_spinning(i);
        if (i % 1024 == 0 && assay__now_s() > deadline_s)
            return false;
    }
    return true;
}

static void begin_run(struct job *j)
{
    atomic_store(&j->idle, 0);
    atomic_store(&j->arrived, 0);
    atomic_fetch_add(&j->run, 1);
}

/* Work per second over all threads, from the first one's begin to the last one's end. */
static double rate_of(struct job *j)
{
    double begin = INFINITY, end = -INFINITY, work = 0;

    begin_run(j);
    take_part(j, 0);
    all_idle(j, INFINITY);
    for (int t = 0; t < j->threads; t++) {
        begin = fmin(begin, j->share[t].begin_ns);
        end = fmax(end, j->share[t].end_ns);
        work += j->share[t].work;
    }
    return work / fmax(end - begin, 1) * 1e9;
}

/* The best of runs, and the best of every other one. */
struct runs {
    double best, half[2];
    int n;
};

static void add_run(struct runs *r, double rate)
{
    double *half = &r->half[r->n++ % 2];

    *half = fmax(*half, rate);
    r->best = fmax(r->best, rate);
}

/* How well the best repeats: half of the runs against the other half. */
static double repeatability(const struct runs *r)
{
    return r->n > 1 ? fabs(r->half[0] - r->half[1]) / r->best : 1;
}

static bool late(const struct job *j)
{
    return assay__now_s() > j->deadline_s;
}

static bool more_runs(const struct job *j, int n_done)
{
    return n_done < 2 || (n_done < RUNS && !late(j));
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

/* Rounds for a run of about that many seconds. */
static void set_rounds(struct job *j, double seconds)
{
    for (j->rounds = 256;; j->rounds *= 2) {
        double t0 = assay__now_raw_ns();

        j->peak(j->rounds);
        if (assay__now_raw_ns() - t0 > seconds * 1e9)
            return;
    }
}

/* The fastest loop of a unit; NULL: this processor has none. */
static assay__peak_fn choose_loop(struct job *j, enum assay_unit unit)
{
    const unsigned features = assay__peak_features();
    assay__peak_fn best = NULL;
    double most = 0;

    for (const struct assay__peak *p = assay__peaks; p->run; p++) {
        if (p->unit != unit || !assay__peak_runs(&p->on, features))
            continue;
        j->peak = p->run;
        set_rounds(j, TRY_S);
        for (int r = 0; r < TRY_RUNS && (r < 1 || !late(j)); r++) {
            double rate = rate_of(j);

            if (rate > most) {
                most = rate;
                best = p->run;
            }
        }
    }
    return best;
}

/* Arithmetic of one core takes nothing from another's, so that each thread has its own best run:
 * the peak is their sum, even where the threads were never all undisturbed at once. */
static double best_of_each(const struct job *j, double *best)
{
    double sum = 0;

    for (int t = 0; t < j->threads; t++) {
        const struct share *s = &j->share[t];

        best[t] = fmax(best[t], s->work / fmax(s->end_ns - s->begin_ns, 1) * 1e9);
        sum += best[t];
    }
    return sum;
}

/* The runs of one unit. */
struct unit {
    assay__peak_fn run;
    struct runs runs;
    double best[RUNNER_MAX_CPUS]; /* of each thread */
};

/* Unit by unit, and again: a disturbance that lasts does not spoil all runs of one unit. */
static void measure_peaks(struct assay_machine *m, struct job *j, struct unit *unit,
                          const struct report *report)
{
    j->stream = NULL;
    j->deadline_s = assay__now_s() + PEAKS_S;
    for (int u = 0; u < ASSAY_N_UNITS; u++)
        unit[u].run = choose_loop(j, (enum assay_unit)u);
    for (int s = 0; s < SWEEPS; s++)
        for (int u = 0; u < ASSAY_N_UNITS; u++) {
            struct unit *v = &unit[u];

            if (!v->run || (s > 0 && late(j)))
                continue;
            say(report, assay_unit_name((enum assay_unit)u));
            j->peak = v->run;
            set_rounds(j, PEAK_S);
            for (int r = 0; more_runs(j, r); r++) {
                add_run(&v->runs, rate_of(j));
                m->peak[u] = best_of_each(j, v->best);
            }
            m->spread[u] = repeatability(&v->runs);
        }
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The runs of one loop on one footprint. */
struct point {
    const struct assay__stream *stream;
    struct runs runs;
};

/* Footprints of all threads together, and what every loop reached on each. */
struct curve {
    int n;
    double footprint[MAX_POINTS];
    int n_streams; /* loops that this processor can run */
    struct point point[MAX_POINTS][MAX_STREAMS];
};

/* Far more than caches hold, of which a core rarely has more than 4 MiB for itself. */
static size_t most_memory(int threads)
{
    const size_t least = 256 * (size_t)MIB, each = 32 * (size_t)MIB * (size_t)threads;

    return each > least ? each : least;
}

/* Two footprints an octave, 2^k and 3 2^k: the sizes that caches have. */
static void plan_curve(struct curve *c, int threads)
{
    const size_t most = most_memory(threads) / (size_t)threads;
    const unsigned features = assay__peak_features();

    c->n = 0;
    for (size_t f = MIN_FOOTPRINT; f <= most && c->n < MAX_POINTS; c->n++) {
        c->footprint[c->n] = (double)(f * (size_t)threads);
        f = f & (f - 1) ? f / 3 * 4 : f / 2 * 3;
    }
    c->n_streams = 0;
    for (const struct assay__stream *s = assay__streams; s->run; s++)
        if (assay__peak_runs(&s->on, features) && c->n_streams < MAX_STREAMS) {
            for (int i = 0; i < c->n; i++)
                c->point[i][c->n_streams] = (struct point){ .stream = s };
            c->n_streams++;
        }
}

/* A run goes over a small footprint many times, and over a chunk of a large one, the next run over
 * the next chunk: no matter which loops come when, caches hold what passes over all of the
 * footprint leave in them. */
static double next_run(struct job *j, assay__stream_fn stream)
{
    double rate;

    j->stream = stream;
    rate = rate_of(j);
    j->pos = (j->pos + 1) % j->n_chunks;
    return rate;
}

static void set_footprint(struct job *j, size_t footprint)
{
    j->stride = footprint / (size_t)j->threads;
    j->n_chunks = (int)((j->stride + CHUNK - 1) / CHUNK);
    j->chunk = j->stride / (size_t)j->n_chunks;
    j->pos = 0;
    j->rounds = 1;
    for (int i = 0; i < j->n_chunks; i++)
        next_run(j, assay__streams[0].run);
    if (j->n_chunks == 1)
        j->rounds = (int64_t)(RUN_BYTES / j->chunk);
}

static void measure_loops(struct curve *c, int i, struct job *j, bool far)
{
    for (int k = 0; k < c->n_streams; k++) {
        struct point *p = &c->point[i][k];

        if (p->stream->far != far)
            continue;
        for (int r = 0; more_runs(j, r); r++)
            add_run(&p->runs, next_run(j, p->stream->run));
    }
}

/* One that is not the first ends when time is up. */
static void sweep(struct curve *c, struct job *j, bool first, const struct report *report)
{
    char what[64];

    for (int i = 0; i < c->n && (first || !late(j)); i++) {
        snprintf(what, sizeof what, "bandwidth on %.0f KiB", c->footprint[i] / KIB);
        say(report, what);
        set_footprint(j, (size_t)c->footprint[i]);
        measure_loops(c, i, j, false);
        if (c->footprint[i] >= FAR) /* last, since they take the footprint out of the caches */
            measure_loops(c, i, j, true);
    }
}

/* The fastest loop of a kind on a footprint. */
static const struct runs *fastest(const struct curve *c, int i, enum assay__stream_kind kind)
{
    static const struct runs none;
    const struct runs *best = &none;

    for (int k = 0; k < c->n_streams; k++)
        if (c->point[i][k].stream->kind == kind && c->point[i][k].runs.best > best->best)
            best = &c->point[i][k].runs;
    return best;
}

/* The spread of what became the rate of a level. */
static double spread_behind(const struct curve *c, enum assay__stream_kind kind, double rate)
{
    double spread = 0;

    for (int i = 0; i < c->n; i++) {
        const struct runs *r = fastest(c, i, kind);

        if (r->best >= rate && r->best <= rate)
            spread = repeatability(r);
    }
    return spread;
}

static void set_levels(struct assay_machine *m, const struct curve *c)
{
    double rate[ASSAY__N_STREAMS][MAX_POINTS];

    for (int k = 0; k < ASSAY__N_STREAMS; k++)
        for (int i = 0; i < c->n; i++)
            rate[k][i] = fastest(c, i, (enum assay__stream_kind)k)->best;
    m->n_levels = assay__levels_find(m->level, c->footprint, rate[ASSAY__READ], rate[ASSAY__WRITE],
                                     rate[ASSAY__COPY], c->n);
    for (int l = 0; l < m->n_levels; l++) {
        struct assay_level *v = &m->level[l];

        v->spread = fmax(
            spread_behind(c, ASSAY__READ, v->read),
            fmax(spread_behind(c, ASSAY__WRITE, v->write), spread_behind(c, ASSAY__COPY, v->copy)));
        m->peak[ASSAY_UNIT_DRAM] = fmax(v->read, fmax(v->write, v->copy)); /* the last one's stay */
        m->spread[ASSAY_UNIT_DRAM] = v->spread;
    }
}

static void measure_memory(struct assay_machine *m, struct job *j, struct curve *c,
                           const struct report *report)
{
    plan_curve(c, j->threads);
    j->deadline_s = assay__now_s() + MEMORY_S;
    for (int s = 0; s < SWEEPS && (s < 1 || !late(j)); s++)
        sweep(c, j, s < 1, report);
    set_levels(m, c);
}

/* ---- the machine ----------------------------------------------------------------------------- */

static void name_cpu(char *out, size_t size)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256];

    snprintf(out, size, "unknown processor");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');

        if (!strncmp(line, "model name", 10) && colon) {
            colon[strcspn(colon, "\n")] = 0;
            snprintf(out, size, "%.100s", colon + 2);
            break;
        }
    }
    if (f)
        fclose(f);
}

void assay_machine_name(struct assay_machine *m, int threads)
{
    struct utsname u;
    time_t now = time(NULL);
    struct tm tm;

    memset(m, 0, sizeof *m);
    snprintf(m->name, sizeof m->name, "this");
    name_cpu(m->cpu, sizeof m->cpu);
    if (!uname(&u))
        snprintf(m->kernel, sizeof m->kernel, "%.60s %.60s", u.sysname, u.release);
    snprintf(m->compiler, sizeof m->compiler, "%.100s", __VERSION__);
    if (gmtime_r(&now, &tm))
        strftime(m->date, sizeof m->date, "%Y-%m-%dT%H:%M:%SZ", &tm);
    m->threads = threads;
}

/* The fixed kernels at their best, as all else here. Samples lie between the other measurements. */
static void sample_anchors(struct assay_machine *m, char *base)
{
    for (int i = 0; i < ANCHOR_SAMPLES; i++) {
        struct assay_anchor *best = &m->anchor, a;

        assay__anchor_take(&a, base, base + ASSAY__ANCHOR_BYTES);
        if (best->memory_ns > 0) {
            a.memory_ns = fmin(a.memory_ns, best->memory_ns);
            a.compute_ns = fmin(a.compute_ns, best->compute_ns);
        }
        *best = a;
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

struct work {
    struct job job;
    struct curve curve;
    struct unit unit[ASSAY_N_UNITS];
    struct assay_machine *m;
    struct report report;
    const int *cpu; /* the cores that kernels get, one for each thread */
    bool started;
};

/* All threads are there from the first run to the last, on cores of their own. */
static void work(void *ctx, int64_t begin, int64_t end)
{
    struct work *w = ctx;
    struct job *j = &w->job;

    for (int64_t t = begin; t < end; t++) {
        assay__cpus_use(&w->cpu[t], 1);
        if (t > 0) {
            follow(j, (int)t);
            continue;
        }
        w->started = all_idle(j, assay__now_s() + START_S);
        if (w->started) {
            sample_anchors(w->m, j->base);
            measure_memory(w->m, j, &w->curve, &w->report);
            sample_anchors(w->m, j->base);
            measure_peaks(w->m, j, w->unit, &w->report);
            sample_anchors(w->m, j->base);
        }
        j->stop = true;
        begin_run(j);
    }
}

static enum assay_status measure(struct work *w, struct assay_err *err)
{
    struct assay_shared a = { .fd = -1 };
    struct assay_machine *m = w->m;
    const int threads = w->job.threads;
    enum assay_status st = assay__shared_make(&a, most_memory(threads), false, err);

    if (!st) {
        snprintf(m->memory, sizeof m->memory, "%ld %s pages",
                 a.huge ? 2L : sysconf(_SC_PAGESIZE) / KIB, a.huge ? "MiB" : "KiB");
        w->job.base = a.base;
        assay_parallel(threads, 1, threads, work, w);
        if (!w->started)
            st = assay_fail(err, ASSAY_NOMEM, "cannot start %d threads", threads);
    }
    assay__shared_release(&a);
    return st;
}

enum assay_status assay_calibrate(struct assay_machine *m, int n_threads,
                                  void (*progress)(void *cookie, const char *what), void *cookie,
                                  struct assay_err *err)
{
    int cpu[RUNNER_MAX_CPUS], n_cpus;
    struct assay_arena arena = { 0 };
    struct work *w;
    enum assay_status st;

    assay__cpus_allowed(cpu, &n_cpus, RUNNER_MAX_CPUS);
    if (n_threads < 1 || n_threads > n_cpus)
        return assay_fail(err, ASSAY_INVALID, "%d threads: between 1 and %d are possible here",
                          n_threads, n_cpus);
    w = assay_arena_zero(&arena, sizeof *w);
    if (!w)
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    assay_machine_name(m, n_threads);
    snprintf(m->isa, sizeof m->isa, "%s", assay__peak_isa(assay__peak_features()));
    w->job.threads = n_threads;
    w->m = m;
    w->report = (struct report){ progress, cookie };
    w->cpu = cpu + (n_cpus > n_threads); /* a spare core is the first one */
    st = measure(w, err);
    assay__cpus_use(cpu, n_cpus);
    assay_arena_release(&arena);
    return st;
}
