/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c: what a candidate's process uses, as the system keeps it where the process cannot reach.
 */
#include "targets/cpu/process.h"

#include "base/clock.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* Counters of a thread: context switches of its own will, and against it. */
static void add_switches(int pid, const char *task, struct assay_ledger *l)
{
    char path[320], line[160];
    long long n;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/task/%s/status", pid, task);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "voluntary_ctxt_switches: %lld", &n) == 1)
            l->waits += n;
        else if (sscanf(line, "nonvoluntary_ctxt_switches: %lld", &n) == 1)
            l->preemptions += n;
    }
    if (f)
        fclose(f);
}

void cpu_read_counters(int pid, struct assay_ledger *l)
{
    char path[64], line[1024];
    long long minor, major, kib;
    struct dirent *e;
    const char *p;
    FILE *f;
    DIR *d;

    *l = (struct assay_ledger){ 0 };
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    f = fopen(path, "re");
    /* the name in brackets may hold anything */
    if (f && fgets(line, sizeof line, f) && (p = strrchr(line, ')')) != NULL &&
        sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %lld %*u %lld", &minor, &major) == 2) {
        l->minor_faults = minor;
        l->major_faults = major;
    }
    if (f)
        fclose(f);
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %lld kB", &kib) == 1)
            l->anon_mib = (double)kib / 1024;
    if (f)
        fclose(f);
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    d = opendir(path);
    while (d && (e = readdir(d)) != NULL)
        if (e->d_name[0] != '.')
            add_switches(pid, e->d_name, l);
    if (d)
        closedir(d);
}

void cpu_mark(void *proc, int moment)
{
    struct cpu_proc *p = proc;

    p->mark_ns[moment] = p->n_stats ? assay__ran_ns(p->stat_fd[0]) : 0;
}

/* A thread of the pool may look for more work this long after each call. */
static const double pool_tail_ns = 5e3;

/*
 * The thread that calls: where it spins between calls it is busy for all of the block, and what is
 * more was outside. Where it sleeps between calls the system has counted what it took before them,
 * and from the empty calls on; if it did not sleep, all that it took since it last did is counted
 * then.
 */
static double caller_outside(const struct cpu_proc *p, double ran, double now, double block_ns)
{
    if (p->spin)
        return ran - block_ns;
    return p->mark_ns[0] - (now - ran) + (now - p->mark_ns[1]);
}

/* The others are busy as long as they are asked to be, and cannot be asked in the hand-over. */
double cpu_cpu_ns(void *proc, double block_ns, double net_ns, int n_calls, double *outside_ns)
{
    struct cpu_proc *p = proc;
    double sum = 0;

    *outside_ns = 0;
    for (int i = 0; i < p->n_stats; i++) {
        double now = assay__ran_ns(p->stat_fd[i]), ran = now - p->ran_ns[i], more;

        p->ran_ns[i] = now;
        sum += ran;
        more =
            i == 0 ? caller_outside(p, ran, now, block_ns) : ran - net_ns - n_calls * pool_tail_ns;
        if (more > 0)
            *outside_ns += more;
    }
    return sum;
}

void cpu_ledger(void *proc, struct assay_ledger *l)
{
    struct cpu_proc *p = proc;
    struct assay_ledger now;

    l->refused += p->refused;
    l->fp_changes += atomic_load(&p->ctl->fp_changes);
    if (!p->pid)
        return;
    cpu_read_counters(p->pid, &now);
    l->minor_faults += now.minor_faults - p->at_start.minor_faults;
    l->major_faults += now.major_faults - p->at_start.major_faults;
    l->waits += now.waits - p->at_start.waits;
    l->preemptions += now.preemptions - p->at_start.preemptions;
    if (now.anon_mib > l->anon_mib)
        l->anon_mib = now.anon_mib;
}
