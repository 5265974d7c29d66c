/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c: what the process gives up before foreign code runs in it.
 *
 * In this order: limits, empty root (in namespaces of its own, where the starter could make them),
 * ordinary user, Landlock, first filter of system calls; the library is opened; then the second
 * filter takes paths and executable mappings away. Each step that a system refuses is left out and
 * shows in the level, except the filter: without it the run is not trusted.
 */
#include "targets/cpu/child/child.h"

#include "targets/cpu/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef ASSAY_HAVE_SECCOMP
#include <seccomp.h>
#endif

static void limit(struct cpu_ctl *ctl, int what, uint64_t value)
{
    if (sandbox_limit(what, value))
        child_fail_sys(ctl, "cannot set limit %d", what);
}

/* Address space in use now, bytes. */
static uint64_t address_space(struct cpu_ctl *ctl)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f || fscanf(f, "%llu", &pages) != 1)
        child_fail_sys(ctl, "cannot read the size of the process");
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void set_limits(struct cpu_ctl *ctl, const struct cpu_case *k)
{
    /* room for the library itself beside the candidate's own allocations */
    limit(ctl, RLIMIT_AS, address_space(ctl) + k->memory_budget + ((uint64_t)64 << 20));
    limit(ctl, RLIMIT_CORE, 0);
    limit(ctl, RLIMIT_MSGQUEUE, 0);
    limit(ctl, RLIMIT_NOFILE, 16);
}

/* Copies the open library to a file of the new root. */
static void copy_library(struct cpu_ctl *ctl, const char *to)
{
    char buf[65536];
    ssize_t n;
    int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

    if (fd < 0)
        child_fail_sys(ctl, "cannot create %s in the new root", to);
    while ((n = read(CPU_FD_LIB, buf, sizeof buf)) > 0)
        if (write(fd, buf, (size_t)n) != n)
            child_fail_sys(ctl, "cannot copy the library");
    if (n < 0 || close(fd))
        child_fail_sys(ctl, "cannot copy the library");
}

/* A read-only root that holds the library and nothing else. */
static bool empty_root(struct cpu_ctl *ctl)
{
    const unsigned long flags = MS_NOSUID | MS_NODEV;

    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
        return false;
    if (mount("assay", "/tmp", "tmpfs", flags, "size=64m,mode=0755") || chdir("/tmp"))
        return false;
    copy_library(ctl, "kernel.so");
    if (syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/"))
        child_fail_sys(ctl, "cannot enter the new root");
    if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, NULL))
        child_fail_sys(ctl, "cannot make the new root read-only");
    return true;
}

#ifdef ASSAY_HAVE_SECCOMP

/* The list: what happens to a call while the library is opened, and afterwards. All others are
 * refused (TRAP). */
enum { TRAP, ALLOW, QUIET }; /* QUIET fails with EBADF */

static const struct {
    int nr;
    int loading, shut;
    const char *why;
} calls[] = {
    { SCMP_SYS(futex), ALLOW, ALLOW, "hand-over and the thread pool" },
    { SCMP_SYS(munmap), ALLOW, ALLOW, "malloc" },
    { SCMP_SYS(brk), ALLOW, ALLOW, "malloc" },
    { SCMP_SYS(getrandom), ALLOW, ALLOW, "malloc" },
    { SCMP_SYS(rt_sigreturn), ALLOW, ALLOW, "return from a fault handler" },
    { SCMP_SYS(rt_sigprocmask), ALLOW, ALLOW, "abort" },
    { SCMP_SYS(getpid), ALLOW, ALLOW, "abort" },
    { SCMP_SYS(gettid), ALLOW, ALLOW, "abort" },
    { SCMP_SYS(exit_group), ALLOW, ALLOW, "exit, which is a verdict" },
    { SCMP_SYS(exit), ALLOW, ALLOW, "exit, which is a verdict" },
    { SCMP_SYS(clock_gettime), ALLOW, ALLOW, "harmless: the clock that counts is outside" },
    { SCMP_SYS(gettimeofday), ALLOW, ALLOW, "as clock_gettime" },
    { SCMP_SYS(clock_nanosleep), ALLOW, ALLOW, "a sleeping kernel is only slow" },
    { SCMP_SYS(nanosleep), ALLOW, ALLOW, "as clock_nanosleep" },
    { SCMP_SYS(sched_yield), ALLOW, ALLOW, "polite spinning" },
    { SCMP_SYS(restart_syscall), ALLOW, ALLOW, "a wait that was stopped goes on" },
    { SCMP_SYS(openat), ALLOW, TRAP, "dlopen" },
    { SCMP_SYS(read), ALLOW, TRAP, "dlopen" },
    { SCMP_SYS(pread64), ALLOW, TRAP, "dlopen" },
    { SCMP_SYS(close), ALLOW, TRAP, "dlopen" },
    { SCMP_SYS(newfstatat), ALLOW, QUIET, "dlopen; later printing" },
    { SCMP_SYS(seccomp), ALLOW, TRAP, "the second filter" },
    { SCMP_SYS(prctl), ALLOW, TRAP, "the second filter" },
    { SCMP_SYS(write), QUIET, QUIET, "printing: there is nothing to print to" },
    { SCMP_SYS(writev), QUIET, QUIET, "printing" },
    { SCMP_SYS(fstat), ALLOW, QUIET, "dlopen; later printing, before the first write" },
    { SCMP_SYS(ioctl), QUIET, QUIET, "printing, is it a terminal" },
};

static int add_memory_rules(scmp_filter_ctx f, bool loading, uint64_t budget)
{
    const struct scmp_arg_cmp no_exec = { 2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0 };
    const struct scmp_arg_cmp size = { 1, SCMP_CMP_LE, budget, 0 };
    const struct scmp_arg_cmp new_size = { 2, SCMP_CMP_LE, budget, 0 };

    if (loading)
        return seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 0) ||
               seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 0) ||
               seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mremap), 0);
    return seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, no_exec, size) ||
           seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_exec) ||
           seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mremap), 1, new_size);
}

/* malloc gives pages back, and kernels may ask for larger ones. What would take memory away from
 * the other side as well, such as a hole in the outputs, is refused. */
static int add_advice_rules(scmp_filter_ctx f)
{
    static const int harmless[] = { MADV_NORMAL,   MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED,
                                    MADV_DONTNEED, MADV_FREE,   MADV_HUGEPAGE,   MADV_NOHUGEPAGE };
    int bad = 0;

    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        const struct scmp_arg_cmp advice = { 2, SCMP_CMP_EQ, (scmp_datum_t)harmless[i], 0 };

        bad = bad || seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(madvise), 1, advice);
    }
    return bad;
}

static void filter(struct cpu_ctl *ctl, bool loading, uint64_t budget)
{
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_TRAP);
    const struct scmp_arg_cmp itself = { 0, SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0 };
    const struct scmp_arg_cmp abort_signal = { 2, SCMP_CMP_EQ, SIGABRT, 0 };
    bool bad = !f;

    for (size_t i = 0; !bad && i < sizeof calls / sizeof *calls; i++) {
        int action = loading ? calls[i].loading : calls[i].shut;

        if (action != TRAP)
            bad = seccomp_rule_add(f, action == QUIET ? SCMP_ACT_ERRNO(EBADF) : SCMP_ACT_ALLOW,
                                   calls[i].nr, 0) != 0;
    }
    /* abort() sends one signal to the process itself */
    bad = bad || seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 2, itself, abort_signal);
    bad = bad || add_memory_rules(f, loading, budget) || add_advice_rules(f) || seccomp_load(f);
    if (bad)
        child_fail_sys(ctl, "cannot load the filter of system calls");
    seccomp_release(f);
    atomic_fetch_or(&ctl->lock, CPU_LOCK_SECCOMP);
}

#else

static void filter(struct cpu_ctl *ctl, bool loading, uint64_t budget)
{
    (void)ctl;
    (void)loading;
    (void)budget;
}

#endif

void lock_enclose(struct cpu_ctl *ctl, const struct cpu_case *k, char *library, size_t size)
{
    bool namespaces = atomic_load(&ctl->lock) & CPU_LOCK_NAMESPACES;
    bool user_namespace = atomic_load(&ctl->lock) & CPU_LOCK_USER_NAMESPACE;

    snprintf(library, size, "%s", k->library);
    if (!k->locked)
        return;
    set_limits(ctl, k);
    if (namespaces && empty_root(ctl)) {
        snprintf(library, size, "/kernel.so");
        atomic_fetch_or(&ctl->lock, CPU_LOCK_ROOT);
    }
    if (close_range(CPU_FD_CTL, ~0u, 0))
        child_fail_sys(ctl, "cannot close descriptors");
    if (sandbox_drop_user(user_namespace))
        child_fail_sys(ctl, "cannot become an ordinary user");
    atomic_fetch_or(&ctl->lock, CPU_LOCK_USER);
    if (sandbox_tie())
        child_fail_sys(ctl, "cannot give up new privileges");
    atomic_fetch_or(&ctl->lock, CPU_LOCK_NO_NEW_PRIVS);
    if (sandbox_paths((const char *const[]){ library }, 1, NULL))
        atomic_fetch_or(&ctl->lock, CPU_LOCK_LANDLOCK);
    filter(ctl, true, 0);
}

void lock_shut(struct cpu_ctl *ctl)
{
    const struct cpu_case *k = (const void *)((char *)ctl + ctl->case_at);

    filter(ctl, false, k->memory_budget);
}
