/* SPDX-License-Identifier: Apache-2.0 */
/* policy.c: the table of system calls. What is not in it is refused. */
#include "targets/cpu/policy.h"

#include <stddef.h>
#ifdef ASSAY_HAVE_SECCOMP

#include <linux/futex.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>

/* clang-format off */
#define CALL(name) SCMP_SYS(name), #name
#define ALWAYS POLICY_ALLOW, POLICY_ALLOW
#define WHILE_LOADING POLICY_ALLOW, POLICY_REFUSE
#define LATER POLICY_REFUSE, POLICY_ALLOW
#define FUTEX(op) { POLICY_EQUAL, 1, op, POLICY_NUMBER }
#define NO_TIME_LIMIT { POLICY_EQUAL, 3, 0, POLICY_NUMBER }
#define ADVICE(x) { { POLICY_EQUAL, 2, x, POLICY_NUMBER } }
#define NO_CODE { POLICY_NO_BITS, 2, PROT_EXEC, POLICY_NUMBER }
#define NOTHING { { POLICY_ANY, 0, 0, POLICY_NUMBER } }

const struct policy_rule policy_rules[] = {
    /* hand-over and threads */
    { CALL(futex), ALWAYS, { FUTEX(FUTEX_WAIT), NO_TIME_LIMIT }, "wait, without a time limit",
      "hand-over of calls; locks" },
    { CALL(futex), ALWAYS, { FUTEX(FUTEX_WAIT_PRIVATE), NO_TIME_LIMIT },
      "wait within the process, without a time limit", "thread pool; locks of malloc" },
    { CALL(futex), ALWAYS, { FUTEX(FUTEX_WAKE) }, "wake", "hand-over of calls; locks" },
    { CALL(futex), ALWAYS, { FUTEX(FUTEX_WAKE_PRIVATE) }, "wake within the process",
      "thread pool; locks of malloc" },
    { CALL(restart_syscall), ALWAYS, NOTHING, "", "a wait that a stop interrupted goes on" },
    { CALL(sched_yield), POLICY_IGNORE, POLICY_IGNORE, NOTHING, "",
      "loops that wait politely; a core is never given up" },
    /* memory */
    { CALL(brk), ALWAYS, NOTHING, "", "malloc; the limit on address space holds" },
    { CALL(mmap), WHILE_LOADING, NOTHING, "", "opening the library" },
    { CALL(mmap), LATER, { NO_CODE, { POLICY_AT_MOST, 1, 0, POLICY_BUDGET } },
      "not executable, within the budget", "malloc" },
    { CALL(munmap), ALWAYS, NOTHING, "", "malloc" },
    { CALL(mremap), WHILE_LOADING, NOTHING, "", "malloc" },
    { CALL(mremap), LATER, { { POLICY_AT_MOST, 2, 0, POLICY_BUDGET } }, "within the budget",
      "malloc" },
    { CALL(mprotect), WHILE_LOADING, NOTHING, "", "opening the library" },
    { CALL(madvise), ALWAYS, ADVICE(MADV_NORMAL), "normal", "a hint" },
    { CALL(madvise), ALWAYS, ADVICE(MADV_RANDOM), "random", "a hint" },
    { CALL(madvise), ALWAYS, ADVICE(MADV_SEQUENTIAL), "sequential", "a hint" },
    { CALL(madvise), ALWAYS, ADVICE(MADV_WILLNEED), "will need", "a hint" },
    { CALL(madvise), ALWAYS, ADVICE(MADV_DONTNEED), "do not need", "malloc gives pages back" },
    { CALL(madvise), ALWAYS, ADVICE(MADV_FREE), "free", "malloc gives pages back" },
    { CALL(madvise), ALWAYS, ADVICE(MADV_HUGEPAGE), "huge pages", "memory of the kernel's own" },
    { CALL(madvise), ALWAYS, ADVICE(MADV_NOHUGEPAGE), "no huge pages", "a hint" },
    { CALL(getrandom), ALWAYS, NOTHING, "", "malloc" },
    { CALL(sysinfo), ALWAYS, NOTHING, "", "qsort of a large array" },
    /* ends */
    { CALL(rt_sigreturn), ALWAYS, NOTHING, "", "return from the harness's fault handlers" },
    { CALL(rt_sigprocmask), ALWAYS, NOTHING, "", "abort" },
    { CALL(getpid), ALWAYS, NOTHING, "", "abort" },
    { CALL(gettid), ALWAYS, NOTHING, "", "abort" },
    { CALL(tgkill), ALWAYS,
      { { POLICY_EQUAL, 0, 0, POLICY_SELF }, { POLICY_EQUAL, 2, SIGABRT, POLICY_NUMBER } },
      "itself, SIGABRT", "abort, which is a verdict" },
    { CALL(exit_group), ALWAYS, NOTHING, "", "exit, which is a verdict" },
    { CALL(exit), ALWAYS, NOTHING, "", "exit, which is a verdict" },
    /* time */
    { CALL(clock_gettime), ALWAYS, NOTHING, "", "harmless: the clock that counts is outside" },
    { CALL(gettimeofday), ALWAYS, NOTHING, "", "as clock_gettime" },
    /* printing */
    { CALL(write), POLICY_FAIL, POLICY_FAIL, NOTHING, "", "there is nothing to print to" },
    { CALL(writev), POLICY_FAIL, POLICY_FAIL, NOTHING, "", "as write" },
    { CALL(ioctl), POLICY_FAIL, POLICY_FAIL, NOTHING, "", "printf asks for a terminal" },
    { CALL(fstat), POLICY_ALLOW, POLICY_FAIL, NOTHING, "", "opening the library; later printf" },
    { CALL(newfstatat), POLICY_ALLOW, POLICY_FAIL, NOTHING, "", "as fstat" },
    /* the library, before any of its code can run */
    { CALL(openat), WHILE_LOADING, NOTHING, "", "opening the library" },
    { CALL(read), WHILE_LOADING, NOTHING, "", "opening the library" },
    { CALL(pread64), WHILE_LOADING, NOTHING, "", "opening the library" },
    { CALL(close), WHILE_LOADING, NOTHING, "", "opening the library" },
    { CALL(seccomp), WHILE_LOADING, NOTHING, "", "the second filter" },
    { CALL(prctl), WHILE_LOADING, NOTHING, "", "the second filter" },
    { .name = NULL },
};
/* clang-format on */

#else

const struct policy_rule policy_rules[] = { { .name = NULL } };

#endif
