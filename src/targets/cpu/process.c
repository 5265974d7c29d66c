/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.c: starts the process of a candidate, hands calls over, freezes and ends it.
 *
 * The hand-over is one number in shared memory: the parent raises `go`, the process answers with
 * the same number in `done`. With a spare core both sides spin (under a microsecond); without one
 * both sleep on futexes.
 */
#include "targets/cpu/process.h"

#include "base/clock.h"

#include "targets/cpu/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { START_TIMEOUT_S = 20, SPINS_PER_LOOK = 8192, MAX_ARGV = 32 };

/* Between fork and exec: descriptors to their places, cores, streams. Only async-signal-safe calls.
 */
static _Noreturn void become(const struct assay_start *s, const int fds[4], char *const *argv,
                             unsigned flags, uid_t uid, gid_t gid)
{
    static char *const no_env[] = { NULL };
    cpu_set_t cpus;

    bool debug = s->options->debug;

    if (sandbox_enter(flags, uid, gid) || (!debug && setsid() < 0))
        _exit(127);
    /* first away from the places, then into them: a source may sit where another belongs */
    int high[4];
    for (int i = 0; i < 4; i++)
        if ((high[i] = fcntl(fds[i], F_DUPFD, 64)) < 0)
            _exit(127);
    for (int i = 0; i < 4; i++)
        if (dup2(high[i], CPU_FD_CTL + i) < 0)
            _exit(127);
    if (!debug && close_range(CPU_FD_LIB + 1, ~0u, 0))
        _exit(127);
    if (!debug) {
        int null = open("/dev/null", O_RDWR);

        for (int i = 0; i < 3; i++)
            if (null < 0 || dup2(null, i) < 0)
                close(i);
        if (null > CPU_FD_LIB)
            close(null);
    }
    if (s->n_cpus) {
        CPU_ZERO(&cpus);
        for (int c = 0; c < s->n_cpus; c++)
            CPU_SET((size_t)s->cpus[c], &cpus);
        sched_setaffinity(0, sizeof cpus, &cpus);
    }
    /* the same addresses on both sides: they decide about conflicts in caches and predictors */
    personality(ADDR_NO_RANDOMIZE);
    execve(argv[0], argv, debug ? environ : no_env);
    _exit(127);
}

static void argv_of(const struct assay_session_options *o, const char **argv)
{
    int n = 0;

    for (; o->wrap && o->wrap[n] && n < MAX_ARGV - 2; n++)
        argv[n] = o->wrap[n];
    argv[n++] = o->child;
    argv[n] = NULL;
}

static enum assay_status launch(struct cpu_proc *p, int ctl_fd, const struct assay_start *s,
                                struct assay_err *err)
{
    const char *argv[MAX_ARGV];
    uid_t uid = geteuid();
    gid_t gid = getegid();
    unsigned flags = 0;
    int lib = open(s->built->library, O_RDONLY | O_CLOEXEC);
    int fds[4] = { ctl_fd, s->in->fd, s->out->fd, lib };

    if (lib < 0)
        return assay_fail(err, ASSAY_IO, "%s: %s", s->built->library, strerror(errno));
    argv_of(s->options, argv);
    p->pid = s->options->locked && !s->options->plain ? sandbox_fork(&flags) : sandbox_plain_fork();
    if (p->pid == 0) {
        if (flags & SANDBOX_NAMESPACES)
            atomic_fetch_or(&p->ctl->lock, CPU_LOCK_NAMESPACES);
        if (flags & SANDBOX_USER_NAMESPACE)
            atomic_fetch_or(&p->ctl->lock, CPU_LOCK_USER_NAMESPACE);
        become(s, fds, (char *const *)(uintptr_t)argv, flags, uid, gid);
    }
    close(lib);
    if (p->pid < 0) {
        p->pid = 0;
        return assay_fail(err, ASSAY_IO, "cannot start a process: %s", strerror(errno));
    }
    return ASSAY_OK;
}

/* Is it gone? Then the verdict is in facts. */
static bool reaped(struct cpu_proc *p, struct assay_facts *facts)
{
    int status = 0;
    pid_t r = waitpid(p->pid, &status, WNOHANG);

    if (r != p->pid)
        return false;
    p->pid = 0;
    cpu_verdict_of_end(p, status, facts);
    p->refused = facts->code == ASSAY_REASON_SYSCALL;
    return true;
}

static void kill_now(struct cpu_proc *p)
{
    if (!p->pid)
        return;
    kill(p->pid, SIGKILL);
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    p->pid = 0;
}

static void name_level(uint32_t lock, bool locked, struct assay_facts *f)
{
    bool filter = lock & CPU_LOCK_SECCOMP, root = lock & CPU_LOCK_ROOT,
         files = lock & CPU_LOCK_LANDLOCK;

    f->trusted = filter && (lock & CPU_LOCK_USER) && (root || files);
    if (!locked)
        snprintf(f->trust, sizeof f->trust, "none: not locked in");
    else
        snprintf(
            f->trust, sizeof f->trust, "%s%s%s%s",
            f->trusted ? root ? "A: " : "B: " : "none: ", root ? "namespaces, empty root, " : "",
            files ? "landlock, " : "", filter ? "system call filter" : "no system call filter");
}

/* ---- waiting for it -------------------------------------------------------------------------- */

static void cpu_sleep(double s)
{
    struct timespec t = { 0, (long)(s * 1e9) };

    nanosleep(&t, NULL);
}

/* What the lock achieved is read before foreign code can run: later it could say what it likes. */
static void let_load(struct cpu_proc *p)
{
    p->lock = atomic_load(&p->ctl->lock);
    p->phase = CPU_LOADING;
    atomic_store(&p->ctl->state, CPU_LOADING);
    syscall(SYS_futex, &p->ctl->state, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* It ended before it served calls: the candidate's doing from when its library was being loaded. */
static enum assay_status ended_early(const struct cpu_proc *p, struct assay_facts *facts,
                                     struct assay_err *err)
{
    char said[CPU_TEXT_MAX];

    cpu_said(p, said);
    if (p->phase == CPU_STARTING)
        return assay_fail(err, ASSAY_INTERNAL, "the process for a candidate did not start: %s",
                          said[0] ? said : facts->reason);
    if (atomic_load(&p->ctl->state) == CPU_FAILED) {
        facts->verdict = ASSAY_COMPILE_FAILED;
        facts->code = ASSAY_REASON_NO_ENTRY;
        snprintf(facts->reason, sizeof facts->reason, "%s",
                 said[0] ? said : "the library cannot be loaded");
    }
    return ASSAY_OK;
}

/* Waits until the process serves calls. */
static enum assay_status await_ready(struct cpu_proc *p, const struct assay_start *s,
                                     struct assay_facts *facts, struct assay_err *err)
{
    double end = assay__now_s() + START_TIMEOUT_S;

    while (p->phase == CPU_STARTING || atomic_load(&p->ctl->state) != CPU_READY) {
        if (p->phase == CPU_STARTING && atomic_load(&p->ctl->state) == CPU_LOCKED)
            let_load(p);
        if (reaped(p, facts))
            return ended_early(p, facts, err);
        if (assay__now_s() > end && !s->options->wrap) {
            kill_now(p);
            if (p->phase == CPU_STARTING)
                return assay_fail(err, ASSAY_INTERNAL,
                                  "the process for a candidate did not start in %d s",
                                  (int)START_TIMEOUT_S);
            facts->verdict = ASSAY_TIMED_OUT;
            facts->code = ASSAY_REASON_LOAD_TIME;
            snprintf(facts->reason, sizeof facts->reason, "did not load in %d s",
                     (int)START_TIMEOUT_S);
            return ASSAY_OK;
        }
        cpu_sleep(50e-6);
    }
    p->phase = CPU_READY;
    name_level(p->lock, s->options->locked, facts);
    return ASSAY_OK;
}

/*
 * For each thread of the process, once it serves calls: before other programs of this machine,
 * which shall not get in between (refused to ordinary users); and the file with "ns run, ns waited
 * for a core, slices", which the kernel keeps and the process cannot touch. What it does while it
 * loads is not urgent. In turns with others of its kind, so that two runs at once do not stop each
 * other.
 */
static void attend_threads(struct cpu_proc *p, bool urgent)
{
    const struct sched_param first = { .sched_priority = 1 };
    char path[320];
    struct dirent *e;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/task", (int)p->pid);
    d = opendir(path);
    while (d && (e = readdir(d)) != NULL) {
        int fd;

        if (e->d_name[0] == '.')
            continue;
        if (urgent)
            sched_setscheduler((pid_t)strtol(e->d_name, NULL, 10), SCHED_RR, &first);
        if (p->n_stats == CPU_MAX_STATS)
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", (int)p->pid, e->d_name);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        p->stat_fd[p->n_stats] = fd;
        if (strtol(e->d_name, NULL, 10) == p->pid) { /* the one that calls comes first */
            p->stat_fd[p->n_stats] = p->stat_fd[0];
            p->stat_fd[0] = fd;
        }
        p->n_stats++;
    }
    if (d)
        closedir(d);
}

enum assay_status cpu_start(void **proc, const struct assay_start *s, struct assay_facts *facts,
                            struct assay_err *err)
{
    struct cpu_proc *p = assay_alloc_zero(sizeof *p);
    enum assay_status st;
    double ignored;
    int fd = -1;

    *proc = NULL;
    memset(facts, 0, sizeof *facts);
    if (!p)
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    p->n_sets = s->n_sets;
    p->spin = s->spin;
    p->wrapped = s->options->wrap != NULL;
    p->op = s->op;
    st = cpu_ctl_new(p, &fd, s, err);
    if (!st)
        st = launch(p, fd, s, err);
    if (!st)
        st = await_ready(p, s, facts, err);
    if (fd >= 0)
        close(fd);
    if (!st && facts->verdict == ASSAY_PASS && !cpu_stop(p, facts) && facts->verdict == ASSAY_PASS)
        st = assay_fail(err, ASSAY_INTERNAL, "cannot stop the process of a candidate");
    if (st || facts->verdict != ASSAY_PASS) {
        cpu_end(p);
        return st;
    }
    attend_threads(p, s->options->timing);
    cpu_read_counters(p->pid, &p->at_start);
    cpu_cpu_ns(p, 0, 0, 0, &ignored);
    *proc = p;
    return ASSAY_OK;
}

static void timed_out(struct cpu_proc *p, double timeout_s, struct assay_facts *facts)
{
    kill_now(p);
    facts->verdict = ASSAY_TIMED_OUT;
    facts->code = ASSAY_REASON_CALL_TIME;
    snprintf(facts->reason, sizeof facts->reason, "a call took more than %.3g s", timeout_s);
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Waits for the answer to call number go; looks after process and clock once in a while. */
static bool await_done(struct cpu_proc *p, uint32_t go, double timeout_s, struct assay_facts *facts)
{
    struct cpu_ctl *ctl = p->ctl;
    double end = 0;

    for (;;) {
        struct timespec tick = { 0, 10000000 };
        uint32_t done = atomic_load_explicit(&ctl->done, memory_order_acquire);

        for (int i = 0; done != go && p->spin && i < SPINS_PER_LOOK; i++) {
            relax();
            done = atomic_load_explicit(&ctl->done, memory_order_acquire);
        }
        if (done == go)
            return true;
        if (p->spin)
            sched_yield(); /* to what is as urgent: it may be what this waits for */
        else
            syscall(SYS_futex, &ctl->done, FUTEX_WAIT, done, &tick, NULL, 0);
        if (reaped(p, facts))
            return false;
        if (end == 0)
            end = assay__now_s() + timeout_s;
        else if (assay__now_s() > end) {
            timed_out(p, timeout_s, facts);
            return false;
        }
    }
}

bool cpu_call(void *proc, int set, bool null, double timeout_s, struct assay_facts *facts)
{
    struct cpu_proc *p = proc;
    struct cpu_ctl *ctl = p->ctl;
    uint32_t go = ++p->go;
    int rc;

    ctl->command = null ? CPU_NULL : CPU_CALL;
    ctl->set = set;
    atomic_store(&ctl->go, go);
    if (!p->spin || atomic_load(&ctl->asleep))
        syscall(SYS_futex, &ctl->go, FUTEX_WAKE, 1, NULL, NULL, 0);
    if (!await_done(p, go, timeout_s, facts))
        return false;
    rc = *(const volatile int32_t *)&ctl->rc; /* once: it may change meanwhile */
    if (!null && rc) {
        facts->verdict = ASSAY_WRONG;
        facts->code = ASSAY_REASON_RETURNED;
        snprintf(facts->reason, sizeof facts->reason, "returned %d: case not supported", rc);
    }
    return true;
}

bool cpu_stop(void *proc, struct assay_facts *facts)
{
    struct cpu_proc *p = proc;
    int status = 0;

    if (p->stopped || p->wrapped)
        return true;
    if (!p->pid || kill(p->pid, SIGSTOP))
        return false;
    while (waitpid(p->pid, &status, WUNTRACED) < 0)
        if (errno != EINTR)
            return false;
    if (!WIFSTOPPED(status)) {
        p->pid = 0;
        cpu_verdict_of_end(p, status, facts);
        p->refused = facts->code == ASSAY_REASON_SYSCALL;
        return false;
    }
    p->stopped = true;
    return true;
}

bool cpu_resume(void *proc, struct assay_facts *facts)
{
    struct cpu_proc *p = proc;

    (void)facts;
    if (p->wrapped)
        return true;
    if (!p->pid || kill(p->pid, SIGCONT))
        return false;
    p->stopped = false;
    return true;
}

int64_t cpu_used(const void *proc, int set, int output)
{
    const struct cpu_proc *p = proc;

    return p->used[(int64_t)set * CPU_MAX_DYNAMIC + output];
}

double cpu_waited_ns(const void *proc)
{
    const struct cpu_proc *p = proc;
    double sum = 0;

    for (int i = 0; i < p->n_stats; i++)
        sum += assay__waited_ns(p->stat_fd[i]);
    return sum;
}

void cpu_end(void *proc)
{
    struct cpu_proc *p = proc;

    if (!p)
        return;
    kill_now(p);
    for (int i = 0; i < p->n_stats; i++)
        close(p->stat_fd[i]);
    if (p->ctl)
        munmap(p->ctl, p->ctl_bytes);
    free(p);
}
