/* SPDX-License-Identifier: Apache-2.0 */
/* fault.c: notes why the process is about to die, so that the verdict can be worded. */
#include "targets/cpu/child/child.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static struct cpu_ctl *page; /* handlers have no argument of ours */

/* Is memory at an end? A request that fails, small beside the budget, says so. */
static bool memory_is_out(void)
{
    size_t n = (size_t)8 << 20;
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return true;
    munmap(p, n);
    return false;
}

/* A fault or an abort: note it; the handler is gone (SA_RESETHAND), so that the instruction faults
 * again and the process dies of the same signal. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
    int expected = 0;

    (void)context;
    if (!atomic_compare_exchange_strong(&page->signal, &expected, sig))
        return;
    atomic_store(&page->fault_at, (uint64_t)(uintptr_t)info->si_addr);
    if (memory_is_out())
        atomic_store(&page->no_memory, 1);
}

/* Third argument of the refused call: the protection of mmap and mprotect. */
static unsigned long third_argument(const void *context)
{
    const ucontext_t *u = context;

#if defined(__x86_64__)
    return (unsigned long)u->uc_mcontext.gregs[REG_RDX];
#elif defined(__aarch64__)
    return (unsigned long)u->uc_mcontext.regs[2];
#else
    return (void)u, 0;
#endif
}

/*
 * A system call outside the list. A request for more memory than the budget is one too, and ends as
 * a process does that is out of memory. All others end it by the signal, which no one can forge:
 * the handler is gone, and another call outside the list does it.
 */
static void on_refused(int sig, siginfo_t *info, void *context)
{
    int nr = info->si_syscall, expected = 0;

    /* after a fault this is abort() going on: what came first counts */
    if (atomic_compare_exchange_strong(&page->signal, &expected, sig))
        atomic_store(&page->syscall_nr, nr);
    if (expected == 0 &&
        (nr == SYS_mremap || (nr == SYS_mmap && !(third_argument(context) & PROT_EXEC)))) {
        atomic_store(&page->no_memory, 1);
        for (;;)
            syscall(SYS_exit_group, 1);
    }
    if (expected == SIGABRT && nr == SYS_rt_sigaction)
        for (;;)
            syscall(SYS_exit_group, 1);
    for (;;)
        syscall(SYS_getppid);
}

void fault_install(struct cpu_ctl *ctl)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
    size_t size = 64 << 10;
    stack_t stack = { .ss_sp = malloc(size), .ss_size = size };
    struct sigaction on = { 0 };

    page = ctl;
    atomic_store(&ctl->syscall_nr, -1);
    if (!stack.ss_sp || sigaltstack(&stack, NULL))
        child_fail_sys(ctl, "cannot set up a signal stack");
    on.sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND;
    on.sa_sigaction = on_fault;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigaction(faults[i], &on, NULL);
    on.sa_sigaction = on_refused;
    sigaction(SIGSYS, &on, NULL);
}
