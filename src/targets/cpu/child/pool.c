/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c: the only threads a kernel gets, made before system calls are filtered.
 *
 * A loop over 0 .. n-1 is cut into one range a thread, so that the split is the same in every call.
 * Workers spin a few microseconds for the next loop and then sleep on a futex. The thread that
 * calls waits for them without sleeping, where each has a core: its processor time is that of its
 * calls.
 */
#include "targets/cpu/child/child.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPINS = 2000 };

static struct {
    struct cpu_ctl *ctl;
    int threads;
    cpu_set_t cores; /* of the process */
    bool spin;
    assay_body_fn body;
    void *ctx;
    int64_t n;
    _Alignas(64) _Atomic uint32_t round; /* raised for each loop */
    _Alignas(64) _Atomic uint32_t left;  /* workers still busy */
} pool;

/* Each thread stays on one core of those of the process, where there is one for each: else where
 * the scheduler has put them decides what it costs to wake them, for as long as the process lives.
 */
static void stay(const cpu_set_t *cores, int t)
{
    cpu_set_t own;

    if (CPU_COUNT(cores) < pool.threads)
        return;
    CPU_ZERO(&own);
    for (size_t c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, cores) && t-- == 0)
            CPU_SET(c, &own);
    sched_setaffinity(0, sizeof own, &own);
}

static void run_part(int t)
{
    int64_t begin =
        pool.n / pool.threads * t + (pool.n % pool.threads < t ? pool.n % pool.threads : t);
    int64_t len = pool.n / pool.threads + (t < pool.n % pool.threads);

    if (len > 0)
        pool.body(pool.ctx, begin, begin + len);
}

/* Waits until *word differs from value, spinning first where cores are to spare; for how long. */
static void wait_change(_Atomic uint32_t *word, uint32_t value, int64_t spins)
{
    for (int64_t i = 0; pool.spin && i < spins; i++)
        if (atomic_load_explicit(word, memory_order_acquire) != value)
            return;
    while (atomic_load_explicit(word, memory_order_acquire) == value)
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void *worker(void *arg)
{
    int t = (int)(intptr_t)arg;
    uint32_t seen = 0;
    void *volatile warm = malloc(64); /* this thread's allocator is set up before the filter */

    free(warm);
    stay(&pool.cores, t);
    atomic_fetch_sub(&pool.left, 1);
    for (;;) {
        wait_change(&pool.round, seen, SPINS);
        seen++;
        run_part(t);
        fp_restore(pool.ctl);
        if (atomic_fetch_sub_explicit(&pool.left, 1, memory_order_acq_rel) == 1)
            syscall(SYS_futex, &pool.left, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    return NULL;
}

void pool_start(struct cpu_ctl *ctl, int threads, bool spin)
{
    pthread_attr_t attr;

    if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, POOL_STACK_BYTES))
        child_fail(ctl, "cannot set the size of stacks");
    pool.ctl = ctl;
    pool.threads = threads;
    pool.spin = spin;
    if (sched_getaffinity(0, sizeof pool.cores, &pool.cores))
        CPU_ZERO(&pool.cores);
    stay(&pool.cores, 0);
    atomic_store(&pool.left, (uint32_t)(threads - 1));
    for (int t = 1; t < threads; t++) {
        pthread_t id;
        int e = pthread_create(&id, &attr, worker, (void *)(intptr_t)t);

        if (e)
            child_fail(ctl, "cannot create thread %d of %d: %s", t + 1, threads, strerror(e));
    }
    while (atomic_load(&pool.left))
        usleep(100);
}

void pool_parallel(const struct assay_call *c, int64_t n, assay_body_fn body, void *ctx)
{
    uint32_t left;

    (void)c;
    if (pool.threads == 1 || n <= 1) {
        if (n > 0)
            body(ctx, 0, n);
        return;
    }
    pool.body = body;
    pool.ctx = ctx;
    pool.n = n;
    atomic_store(&pool.left, (uint32_t)(pool.threads - 1));
    atomic_fetch_add_explicit(&pool.round, 1, memory_order_release);
    syscall(SYS_futex, &pool.round, FUTEX_WAKE_PRIVATE, pool.threads, NULL, NULL, 0);
    run_part(0);
    while ((left = atomic_load_explicit(&pool.left, memory_order_acquire)) != 0)
        wait_change(&pool.left, left, INT64_MAX); /* this thread's time is the call's */
}
