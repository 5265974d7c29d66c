/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate.c: measures what this machine can do, on the kind of memory that kernels get.
 *
 * Peaks are the best of several short runs: a limit must not be beaten because a neighbour was
 * busy. Memory bandwidth is the better of reading and copying (bytes read plus bytes written) over
 * far more than any cache.
 */
#include "assay/machine.h"
#include "base/clock.h"
#include "runner/peak.h"
#include "runner/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

enum { RUNS = 7, STREAM_MIB = 128 };

/* One measured thing, done by all threads at once. */
struct job {
    assay__peak_fn fma;
    int64_t rounds;
    double flops; /* of one thread */
    char *a, *b;
    size_t bytes; /* of one thread */
    volatile double sink;
    volatile uint64_t sum;
};

static void do_fma(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;

    for (int64_t t = begin; t < end; t++)
        j->flops = j->fma(j->rounds, &j->sink);
}

static void do_read(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;

    for (int64_t t = begin; t < end; t++)
        j->sum ^= assay__stream_read(j->a + (size_t)t * j->bytes, j->bytes);
}

static void do_copy(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;

    for (int64_t t = begin; t < end; t++)
        assay__stream_copy(j->b + (size_t)t * j->bytes, j->a + (size_t)t * j->bytes, j->bytes);
}

static double time_of(assay_range_fn body, struct job *j, int threads)
{
    double t0 = assay__now_raw_ns();

    assay_parallel(threads, 1, threads, body, j);
    return (assay__now_raw_ns() - t0) * 1e-9;
}

/* Best rate of RUNS runs of `work` a run, and how far the median run lies below it. */
static void best(double *rate, double *spread, assay_range_fn body, struct job *j, int threads,
                 double work)
{
    double v[RUNS] = { 0 };

    for (int r = 0; r < RUNS; r++) {
        double x = work / time_of(body, j, threads);
        int i = r;

        for (; i > 0 && v[i - 1] < x; i--) /* descending */
            v[i] = v[i - 1];
        v[i] = x;
    }
    *rate = v[0];
    *spread = 1 - v[RUNS / 2] / v[0];
}

static void measure_fma(struct assay_machine *m, enum assay_unit unit, assay__peak_fn fma,
                        int threads)
{
    struct job j = { .fma = fma, .rounds = 1000 };

    /* rounds for about 20 ms */
    while (time_of(do_fma, &j, threads) < 0.02)
        j.rounds *= 2;
    best(&m->peak[unit], &m->spread[unit], do_fma, &j, threads, j.flops * threads);
}

static enum assay_status measure_dram(struct assay_machine *m, int threads, struct assay_err *err)
{
    struct assay_shared a = { .fd = -1 }, b = { .fd = -1 };
    size_t bytes = (size_t)STREAM_MIB << 20;
    struct job j = { .bytes = bytes / (size_t)threads / 4096 * 4096 };
    double read, copy, spread_read, spread_copy;
    enum assay_status st = assay__shared_make(&a, bytes, true, err);

    if (!st)
        st = assay__shared_make(&b, bytes, false, err);
    if (!st) {
        j.a = a.base;
        j.b = b.base;
        best(&read, &spread_read, do_read, &j, threads, (double)j.bytes * threads);
        best(&copy, &spread_copy, do_copy, &j, threads, 2 * (double)j.bytes * threads);
        m->peak[ASSAY_UNIT_DRAM] = read > copy ? read : copy;
        m->spread[ASSAY_UNIT_DRAM] = read > copy ? spread_read : spread_copy;
    }
    assay__shared_release(&a);
    assay__shared_release(&b);
    return st;
}

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

enum assay_status assay_calibrate(struct assay_machine *m, int n_threads,
                                  void (*progress)(void *cookie, const char *what), void *cookie,
                                  struct assay_err *err)
{
    int cpu[RUNNER_MAX_CPUS], n_cpus;

    assay__cpus_allowed(cpu, &n_cpus, RUNNER_MAX_CPUS);
    if (n_threads < 1 || n_threads > n_cpus)
        return assay_fail(err, ASSAY_INVALID, "%d threads: between 1 and %d are possible here",
                          n_threads, n_cpus);
    assay_machine_name(m, n_threads);
    if (progress)
        progress(cookie, "memory bandwidth");
    ASSAY_TRY(measure_dram(m, n_threads, err));
    if (progress)
        progress(cookie, "fp32 multiply-add");
    measure_fma(m, ASSAY_UNIT_FMA_F32, assay__peak_fma_f32(), n_threads);
    if (progress)
        progress(cookie, "fp64 multiply-add");
    measure_fma(m, ASSAY_UNIT_FMA_F64, assay__peak_fma_f64(), n_threads);
    return ASSAY_OK;
}
