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

static const char *signal_text(int sig)
{
    switch (sig) {
    case SIGSEGV:
        return "segmentation fault";
    case SIGBUS:
        return "bus error";
    case SIGFPE:
        return "arithmetic exception (integer division by zero?)";
    case SIGILL:
        return "illegal instruction";
    case SIGABRT:
        return "abort (assertion, or memory corruption found by malloc)";
    default:
        return strsignal(sig);
    }
}

/* Name of the input whose memory holds this address of the process, or NULL. */
static const char *input_at(const struct cpu_proc *p, uint64_t at)
{
    const struct cpu_case *k = (const void *)((const char *)p->ctl + p->ctl->case_at);
    uint64_t base = atomic_load(&p->ctl->in_at), offset;
    const char *name = NULL;

    if (!base || at < base || at >= base + p->in_bytes)
        return NULL;
    offset = (at - base) % p->in_stride;
    for (int i = 0; i < assay_op_n_in(p->op); i++)
        if (k->param[i].count && k->view[k->param[i].first_view].offset <= offset)
            name = p->op->in[i].name;
    return name;
}

static void set(struct assay_facts *f, enum assay_verdict v, const char *fmt, ...)
    ASSAY_PRINTF(3, 4);
static void set(struct assay_facts *f, enum assay_verdict v, const char *fmt, ...)
{
    va_list ap;

    f->verdict = v;
    va_start(ap, fmt);
    vsnprintf(f->reason, sizeof f->reason, fmt, ap);
    va_end(ap);
}

static void verdict_of_signal(const struct cpu_proc *p, int sig, struct assay_facts *f)
{
    uint64_t at = atomic_load(&p->ctl->fault_at);
    const char *input = sig == SIGSEGV ? input_at(p, at) : NULL;

    if (sig == SIGKILL)
        set(f, ASSAY_OUT_OF_MEMORY, "killed by the system, most likely out of memory");
    else if (input)
        set(f, ASSAY_CRASHED, "wrote to input %s, which is read-only", input);
    else if (sig == SIGSEGV || sig == SIGBUS)
        set(f, ASSAY_CRASHED, "%s at address 0x%llx%s", signal_text(sig), (unsigned long long)at,
            at < 4096 ? " (null pointer)" : "");
    else
        set(f, ASSAY_CRASHED, "%s", signal_text(sig));
}

void cpu_verdict_of_end(const struct cpu_proc *p, int status, struct assay_facts *f)
{
    int noted = atomic_load(&p->ctl->signal);
    bool loading = atomic_load(&p->ctl->state) == CPU_LOADING;
    char name[64];
    size_t n;

    if (atomic_load(&p->ctl->no_memory))
        set(f, ASSAY_OUT_OF_MEMORY, "asked for more memory than the budget of %.0f MiB",
            p->memory_mib);
    else if (noted == SIGSYS || (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS))
        set(f, ASSAY_FORBIDDEN, "forbidden system call: %s",
            syscall_name(atomic_load(&p->ctl->syscall_nr), name, sizeof name));
    else if (noted > 0 && noted < 64)
        verdict_of_signal(p, noted, f);
    else if (WIFSIGNALED(status))
        verdict_of_signal(p, WTERMSIG(status), f);
    else
        set(f, ASSAY_CRASHED, "called exit with status %d", WEXITSTATUS(status));
    if (loading) {
        n = strlen(f->reason);
        snprintf(f->reason + n, sizeof f->reason - n, ", while the library was loaded");
    }
}
