/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c: what the process gives up before foreign code runs in it.
 *
 * In this order: limits, empty root (in namespaces of its own, where the starter could make them),
 * ordinary user, Landlock; the threads are made, which inherit all of that; first filter of system
 * calls, for all threads; the library is opened; then the second filter takes paths and executable
 * mappings away, again for all threads. Each step that a system refuses is left out and
 * shows in the level, except the filter: without it the run is not trusted.
 */
#include "targets/cpu/child/child.h"

#include "targets/cpu/policy.h"
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
    /* room for the library itself and the threads beside the candidate's own allocations */
    limit(ctl, RLIMIT_AS,
          address_space(ctl) + k->memory_budget + ((uint64_t)64 << 20) +
              (uint64_t)(k->threads - 1) * POOL_STACK_BYTES);
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

static uint32_t action_of(enum policy_action a)
{
    static const uint32_t actions[] = {
        [POLICY_REFUSE] = SCMP_ACT_TRAP,
        [POLICY_ALLOW] = SCMP_ACT_ALLOW,
        [POLICY_FAIL] = SCMP_ACT_ERRNO(EBADF),
        [POLICY_IGNORE] = SCMP_ACT_ERRNO(0),
    };

    return actions[a];
}

/* Appends a condition to cmp; returns how many there are then. */
static unsigned add_condition(struct scmp_arg_cmp *cmp, unsigned n, const struct policy_when *w,
                              uint64_t budget)
{
    uint64_t value = w->value == POLICY_BUDGET ? budget
                     : w->value == POLICY_SELF ? (uint64_t)getpid()
                                               : w->number;

    switch (w->test) {
    case POLICY_EQUAL:
        cmp[n] = (struct scmp_arg_cmp){ w->arg, SCMP_CMP_EQ, value, 0 };
        return n + 1;
    case POLICY_AT_MOST:
        cmp[n] = (struct scmp_arg_cmp){ w->arg, SCMP_CMP_LE, value, 0 };
        return n + 1;
    case POLICY_NO_BITS:
        cmp[n] = (struct scmp_arg_cmp){ w->arg, SCMP_CMP_MASKED_EQ, value, 0 };
        return n + 1;
    default:
        return n;
    }
}

static int add_rule(scmp_filter_ctx f, const struct policy_rule *r, bool loading, uint64_t budget)
{
    enum policy_action a = loading ? r->loading : r->after;
    struct scmp_arg_cmp cmp[2];
    unsigned n = 0;

    if (a == POLICY_REFUSE)
        return 0;
    for (int i = 0; i < 2; i++)
        n = add_condition(cmp, n, &r->when[i], budget);
    return seccomp_rule_add_array(f, action_of(a), r->nr, n, cmp);
}

static void filter(struct cpu_ctl *ctl, bool loading, uint64_t budget)
{
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_TRAP);
    bool bad = !f || seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1); /* all threads */

    for (const struct policy_rule *r = policy_rules; !bad && r->name; r++)
        bad = add_rule(f, r, loading, budget) != 0;
    if (bad || seccomp_load(f))
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
}

void lock_filter(struct cpu_ctl *ctl)
{
    filter(ctl, true, 0);
}

void lock_shut(struct cpu_ctl *ctl)
{
    const struct cpu_case *k = (const void *)((char *)ctl + ctl->case_at);

    filter(ctl, false, k->memory_budget);
}
