/* SPDX-License-Identifier: Apache-2.0 */
/* end.c: turns the end of a candidate's process into a verdict with a readable reason. */
#include "targets/cpu/process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#ifdef ASSAY_HAVE_SECCOMP
#include <seccomp.h>
#endif

static const char *syscall_name(int nr, char *buf, size_t size)
{
    snprintf(buf, size, "number %d", nr);
#ifdef ASSAY_HAVE_SECCOMP
    char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);

    if (name)
        snprintf(buf, size, "%s", name);
    free(name);
#endif
    return buf;
}

/* Signals that processes end by. */
static const struct {
    int signal;
    enum assay_reason code;
    const char *text;
} signals[] = {
    { SIGSEGV, ASSAY_REASON_ACCESS, "segmentation fault" },
    { SIGBUS, ASSAY_REASON_ACCESS, "bus error" },
    { SIGFPE, ASSAY_REASON_ARITHMETIC, "arithmetic exception (integer division by zero?)" },
    { SIGILL, ASSAY_REASON_INSTRUCTION, "illegal instruction" },
    { SIGABRT, ASSAY_REASON_ABORT, "abort (assertion, or memory corruption found by malloc)" },
};

/* Name of the input whose memory holds this address of the process, or NULL. */
static const char *input_at(const struct cpu_proc *p, uint64_t at)
{
    uint64_t base = atomic_load(&p->ctl->in_at), offset;
    const char *name = NULL;

    if (!base || !p->in_stride || at < base || at - base >= p->in_bytes)
        return NULL;
    offset = (at - base) % p->in_stride;
    for (int i = 0; i < assay_op_n_in(p->op); i++)
        if (p->in_first[i] <= offset)
            name = p->op->in[i].name;
    return name;
}

static void set(struct assay_facts *f, enum assay_verdict v, enum assay_reason code,
                const char *fmt, ...) ASSAY_PRINTF(4, 5);
static void set(struct assay_facts *f, enum assay_verdict v, enum assay_reason code,
                const char *fmt, ...)
{
    va_list ap;

    f->verdict = v;
    f->code = code;
    va_start(ap, fmt);
    vsnprintf(f->reason, sizeof f->reason, fmt, ap);
    va_end(ap);
}

static void verdict_of_signal(const struct cpu_proc *p, int sig, struct assay_facts *f)
{
    uint64_t at = atomic_load(&p->ctl->fault_at);
    const char *input = sig == SIGSEGV ? input_at(p, at) : NULL;

    if (sig == SIGKILL) {
        set(f, ASSAY_OUT_OF_MEMORY, ASSAY_REASON_KILLED,
            "killed by the system, most likely out of memory");
        return;
    }
    if (input) {
        set(f, ASSAY_CRASHED, ASSAY_REASON_INPUT, "wrote to input %s, which is read-only", input);
        return;
    }
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        bool access = signals[i].code == ASSAY_REASON_ACCESS, null = access && at < 4096;

        if (signals[i].signal != sig)
            continue;
        if (access)
            set(f, ASSAY_CRASHED, null ? ASSAY_REASON_NULL_POINTER : ASSAY_REASON_ACCESS,
                "%s at address 0x%llx%s", signals[i].text, (unsigned long long)at,
                null ? " (null pointer)" : "");
        else
            set(f, ASSAY_CRASHED, signals[i].code, "%s", signals[i].text);
        return;
    }
    set(f, ASSAY_CRASHED, ASSAY_REASON_SIGNAL, "%s", strsignal(sig));
}

/* The signal that a handler noted, 0: none. No handler notes any other. */
static int noted_signal(const struct cpu_proc *p)
{
    static const int handled[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
    int sig = atomic_load(&p->ctl->signal);

    for (size_t i = 0; i < sizeof handled / sizeof *handled; i++)
        if (handled[i] == sig)
            return sig;
    return 0;
}

const char *cpu_said(const struct cpu_proc *p, char buf[CPU_TEXT_MAX])
{
    const volatile char *text = p->ctl->text; /* each byte is read once */
    size_t n = 0;
    char c;

    while (n < CPU_TEXT_MAX - 1 && (c = text[n]) != 0)
        buf[n++] = (char)(c >= 0x20 && c < 0x7f ? c : '?');
    buf[n] = 0;
    return buf;
}

/* What the kernel says comes before what the page says. */
void cpu_verdict_of_end(const struct cpu_proc *p, int status, struct assay_facts *f)
{
    int noted = noted_signal(p);
    bool refused = WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
    char name[64];
    size_t n;

    if (refused)
        set(f, ASSAY_FORBIDDEN, ASSAY_REASON_SYSCALL, "forbidden system call: %s",
            syscall_name(atomic_load(&p->ctl->syscall_nr), name, sizeof name));
    else if (atomic_load(&p->ctl->no_memory))
        set(f, ASSAY_OUT_OF_MEMORY, ASSAY_REASON_MEMORY,
            "asked for more memory than the budget of %.0f MiB", p->memory_mib);
    else if (noted)
        verdict_of_signal(p, noted, f);
    else if (WIFSIGNALED(status))
        verdict_of_signal(p, WTERMSIG(status), f);
    else
        set(f, ASSAY_CRASHED, ASSAY_REASON_EXIT, "called exit with status %d", WEXITSTATUS(status));
    if (p->phase == CPU_LOADING) {
        n = strlen(f->reason);
        snprintf(f->reason + n, sizeof f->reason - n, ", while the library was loaded");
    }
}
