/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.c: one loop on several threads, in pieces that do not depend on how many there are. */
#include "assay/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MAX_THREADS = 256 };

struct loop {
    assay_range_fn body;
    void *ctx;
    int64_t n, grain, n_pieces;
    _Atomic int64_t next; /* piece to take */
};

/* Takes pieces until there are none; which thread gets which is left to chance, the pieces are not.
 */
static void *work(void *arg)
{
    struct loop *l = arg;

    for (;;) {
        int64_t piece = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
        int64_t begin;

        if (piece >= l->n_pieces)
            return NULL;
        begin = piece * l->grain;
        l->body(l->ctx, begin, l->n - begin < l->grain ? l->n : begin + l->grain);
    }
}

static int n_cores(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

int assay_parallel_threads(int n_threads)
{
    int n = n_threads > 0 ? n_threads : n_cores();

    return n < MAX_THREADS ? n : MAX_THREADS;
}

void assay_parallel(int64_t n, int64_t grain, int n_threads, assay_range_fn body, void *ctx)
{
    struct loop l = { .body = body, .ctx = ctx, .n = n, .grain = grain > 0 ? grain : 1 };
    pthread_t threads[MAX_THREADS];
    int n_started = 0;

    if (n <= 0)
        return;
    l.n_pieces = (n - 1) / l.grain + 1;
    if (l.n_pieces > 1)
        n_threads = assay_parallel_threads(n_threads);
    if (n_threads > l.n_pieces)
        n_threads = (int)l.n_pieces;
    /* The caller works too. A thread that cannot be had only costs time: its share stays with the
     * others. */
    while (n_started < n_threads - 1 && !pthread_create(&threads[n_started], NULL, work, &l))
        n_started++;
    work(&l);
    for (int i = 0; i < n_started; i++)
        pthread_join(threads[i], NULL);
}
