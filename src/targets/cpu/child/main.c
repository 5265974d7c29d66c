/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assay-child: the process that one candidate library runs in, for one case.
 *
 * It maps the shared memory, locks itself, opens the library, and then answers calls until it is
 * killed. It never sees a golden, a clock of ours or a result, and it never returns from main.
 */
#include "targets/cpu/child/child.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPINS_BEFORE_SLEEP = 16384 };

/* What a case needs in the process: views of the current set and the call that points at them. */
struct frame {
    struct cpu_ctl *ctl;
    const struct cpu_case *k;
    char *in, *out;
    int64_t *used; /* [n_sets][CPU_MAX_DYNAMIC] */
    struct assay_view *view;
    struct assay_arg *arg; /* inputs, then outputs */
    struct assay_call call;
    int (*entry)(const struct assay_call *);
};

static _Noreturn void give_up(struct cpu_ctl *ctl)
{
    atomic_store(&ctl->state, CPU_FAILED);
    _exit(1);
}

_Noreturn void child_fail(struct cpu_ctl *ctl, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(ctl->text, sizeof ctl->text, fmt, ap);
    va_end(ap);
    give_up(ctl);
}

_Noreturn void child_fail_sys(struct cpu_ctl *ctl, const char *fmt, ...)
{
    const char *why = strerror(errno);
    va_list ap;
    size_t n;

    va_start(ap, fmt);
    vsnprintf(ctl->text, sizeof ctl->text, fmt, ap);
    va_end(ap);
    n = strlen(ctl->text);
    snprintf(ctl->text + n, sizeof ctl->text - n, ": %s", why);
    give_up(ctl);
}

static void *map(struct cpu_ctl *ctl, int fd, size_t bytes, int prot, const char *what)
{
    void *p = mmap(NULL, bytes ? bytes : 1, prot, MAP_SHARED | MAP_POPULATE, fd, 0);

    if (p == MAP_FAILED)
        child_fail_sys(ctl, "cannot map the %s arena", what);
    return p;
}

/* Scratch is private memory. Its start is filled with values that look like nothing, lest zeros be
 * relied on; filling all of it would make large cases slow to start. */
static void *scratch_new(struct cpu_ctl *ctl, size_t bytes)
{
    size_t huge = (size_t)2 << 20;
    size_t n = (bytes + huge - 1) / huge * huge;
    char *p = mmap(NULL, n + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t x = (uint64_t)time(NULL) << 32 ^ (uint64_t)getpid();

    if (p == MAP_FAILED)
        child_fail_sys(ctl, "cannot map %zu bytes of scratch", bytes);
    p += (huge - (uintptr_t)p % huge) % huge;
    madvise(p, n, MADV_HUGEPAGE);
    for (size_t i = 0; i < (n < 2 * huge ? n : 2 * huge) / 8; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        ((uint64_t *)(void *)p)[i] = x ^ x >> 29;
    }
    return p;
}

/* The libraries that a candidate may need must be there before the root is emptied; one that this
 * system does not have cannot be needed by a library built on it. */
static void preload(void)
{
    static const char *const names[] = { "libm.so.6", "libmvec.so.1", "libgcc_s.so.1",
                                         "libstdc++.so.6" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
}

static void frame_init(struct frame *f, struct cpu_ctl *ctl)
{
    const struct cpu_case *k = (const void *)((char *)ctl + ctl->case_at);
    size_t n_params = k->n_in + k->n_out;
    char *attrs;

    *f = (struct frame){ .ctl = ctl, .k = k };
    f->used = (void *)((char *)ctl + ctl->used_at);
    f->in = map(ctl, CPU_FD_IN, k->in_bytes, PROT_READ, "input");
    f->out = map(ctl, CPU_FD_OUT, k->out_bytes, PROT_READ | PROT_WRITE, "output");
    atomic_store(&ctl->in_at, (uint64_t)(uintptr_t)f->in);
    f->view = calloc(k->n_views ? k->n_views : 1, sizeof *f->view);
    f->arg = calloc(n_params ? n_params : 1, sizeof *f->arg);
    attrs = k->attrs_size ? malloc(k->attrs_size) : NULL;
    if (!f->view || !f->arg || (k->attrs_size && !attrs))
        child_fail(ctl, "out of memory");
    if (attrs)
        memcpy(attrs, (char *)ctl + ctl->attrs_at, k->attrs_size);
    for (uint32_t r = 0; attrs && r < k->n_reloc; r++) {
        uint64_t at;
        char *p;

        memcpy(&at, attrs + k->reloc[r], sizeof at);
        p = attrs + at;
        memcpy(attrs + k->reloc[r], &p, sizeof p);
    }
    f->call.abi = ASSAY_KERNEL_ABI;
    f->call.threads = k->threads;
    f->call.attrs = attrs;
    f->call.in = f->arg;
    f->call.out = f->arg + k->n_in;
    f->call.n_in = (int32_t)k->n_in;
    f->call.n_out = (int32_t)k->n_out;
    f->call.scratch = scratch_new(ctl, k->scratch_bytes);
    f->call.scratch_bytes = k->scratch_bytes;
    f->call.parallel = pool_parallel;
}

/* Points views and arguments at a set, afresh for every call: what a kernel did to them is undone.
 */
static void frame_aim(struct frame *f, int set)
{
    const struct cpu_case *k = f->k;

    for (uint32_t p = 0; p < k->n_in + k->n_out; p++) {
        const struct cpu_param *m = &k->param[p];
        char *base = m->is_out ? f->out + (uint64_t)set * k->out_stride
                               : f->in + (uint64_t)set * k->in_stride;

        f->arg[p].count = m->count;
        f->arg[p].view = m->count ? f->view + m->first_view : NULL;
        for (int32_t v = m->first_view; v < m->first_view + m->count; v++) {
            f->view[v] = k->view[v].view;
            f->view[v].data = base + k->view[v].offset;
        }
    }
}

/* What was written must be seen by whoever sees that the call is done, also what went past the
 * caches. */
static void drain_stores(void)
{
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

static int frame_call(struct frame *f, int command, int set)
{
    const struct cpu_case *k = f->k;
    int rc;

    if (command != CPU_CALL)
        return 0;
    frame_aim(f, set);
    rc = act_call(k, &f->call, f->entry);
    fp_restore(f->ctl);
    for (uint32_t p = k->n_in; p < k->n_in + k->n_out; p++)
        if (k->param[p].dynamic >= 0)
            f->used[(int64_t)set * CPU_MAX_DYNAMIC + k->param[p].dynamic] =
                f->view[k->param[p].first_view].shape[0];
    drain_stores();
    return rc;
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/*
 * Waits until go differs from seen. With a spare core it spins, for longer than any wait within a
 * block lasts; then, or without a spare core, it sleeps in the kernel: a run beside this one may
 * need the core.
 */
static uint32_t await(struct cpu_ctl *ctl, uint32_t seen, bool spin)
{
    uint32_t go;

    for (unsigned i = 1; (go = atomic_load_explicit(&ctl->go, memory_order_acquire)) == seen; i++) {
        if (spin && i % SPINS_BEFORE_SLEEP) {
            relax();
            continue;
        }
        /* the harness raises go, then looks at asleep: one of the two sees the other */
        atomic_store(&ctl->asleep, 1);
        if (atomic_load(&ctl->go) == seen)
            syscall(SYS_futex, &ctl->go, FUTEX_WAIT, seen, NULL, NULL, 0);
        atomic_store(&ctl->asleep, 0);
    }
    return go;
}

/* Until the harness has read what the lock achieved. */
static void await_loading(struct cpu_ctl *ctl)
{
    atomic_store(&ctl->state, CPU_LOCKED);
    while (atomic_load(&ctl->state) == CPU_LOCKED)
        syscall(SYS_futex, &ctl->state, FUTEX_WAIT, CPU_LOCKED, NULL, NULL, 0);
}

static _Noreturn void serve(struct frame *f)
{
    struct cpu_ctl *ctl = f->ctl;
    bool spin = f->k->spin;
    uint32_t seen = 0;

    atomic_store(&ctl->state, CPU_READY);
    for (;;) {
        seen = await(ctl, seen, spin);
        ctl->rc = frame_call(f, ctl->command, ctl->set);
        atomic_store_explicit(&ctl->done, seen, memory_order_release);
        if (!spin)
            syscall(SYS_futex, &ctl->done, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

int main(void)
{
    struct stat st;
    struct cpu_ctl *ctl;
    static struct frame frame;
    char library[512];
    void *so;

    if (fstat(CPU_FD_CTL, &st) || st.st_size < (off_t)sizeof *ctl) {
        fputs("assay-child is started by assay, not by hand\n", stderr);
        return 2;
    }
    ctl = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
               CPU_FD_CTL, 0);
    if (ctl == MAP_FAILED) {
        fputs("assay-child: cannot map its control page\n", stderr);
        return 2;
    }
    fp_save();
    mallopt(M_ARENA_MAX, 1); /* others grow by mprotect, which is refused */
    frame_init(&frame, ctl);
    preload();
    fault_install(ctl);
    atomic_store(&ctl->state, CPU_LOCKING);
    lock_enclose(ctl, frame.k, library, sizeof library);
    pool_start(ctl, frame.k->threads, frame.k->spin);
    if (frame.k->locked)
        lock_filter(ctl);
    await_loading(ctl);
    so = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!so)
        child_fail(ctl, "the library cannot be loaded: %s", dlerror());
    *(void **)&frame.entry = dlsym(so, frame.k->entry);
    if (!frame.entry)
        child_fail(ctl, "the library has no function %s", frame.k->entry);
    if (frame.k->locked)
        lock_shut(ctl);
    serve(&frame);
}
