/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fp.c: the floating-point mode of threads. A kernel may change it for itself, but what it leaves
 * behind would change the next call, and the harness's own code in this process.
 */
#include "targets/cpu/child/child.h"

#if defined(__x86_64__)

/* MXCSR without the six flags that every operation may set, and the control word of the x87. */
enum { FLAGS = 0x3f };

struct mode {
    uint32_t mxcsr;
    uint16_t x87;
};

static struct mode mode_now(void)
{
    struct mode m;

    __asm__ volatile("stmxcsr %0" : "=m"(m.mxcsr));
    __asm__ volatile("fnstcw %0" : "=m"(m.x87));
    m.mxcsr &= ~(uint32_t)FLAGS;
    return m;
}

static void mode_set(struct mode m)
{
    __asm__ volatile("ldmxcsr %0" : : "m"(m.mxcsr));
    __asm__ volatile("fldcw %0" : : "m"(m.x87));
}

static bool mode_is(struct mode a, struct mode b)
{
    return a.mxcsr == b.mxcsr && a.x87 == b.x87;
}

#elif defined(__aarch64__)

struct mode {
    uint64_t fpcr;
};

static struct mode mode_now(void)
{
    struct mode m;

    __asm__ volatile("mrs %0, fpcr" : "=r"(m.fpcr));
    return m;
}

static void mode_set(struct mode m)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(m.fpcr));
}

static bool mode_is(struct mode a, struct mode b)
{
    return a.fpcr == b.fpcr;
}

#endif

static struct mode saved;

void fp_save(void)
{
    saved = mode_now();
}

void fp_restore(struct cpu_ctl *ctl)
{
    if (mode_is(mode_now(), saved))
        return;
    mode_set(saved);
    atomic_fetch_add(&ctl->fp_changes, 1);
}
