/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c: threads that wait for the next loop. */
#include "qn/pool.h"

#include "assay/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct worker {
    struct qn_pool *pool;
    pthread_t thread;
    int slot;
};

struct qn_pool {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    /* the loop, under the lock but for `next` */
    qn_range_fn body;
    void *ctx;
    int64_t n, grain, n_pieces;
    _Atomic int64_t next;
    uint64_t round;
    int n_busy;
    bool over;
    int n_workers; /* that were started */
    struct worker workers[];
};

static void take_pieces(struct qn_pool *p, int slot)
{
    for (;;) {
        int64_t piece = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
        int64_t begin;

        if (piece >= p->n_pieces)
            return;
        begin = piece * p->grain;
        p->body(p->ctx, slot, begin, p->n - begin < p->grain ? p->n : begin + p->grain);
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct qn_pool *p = w->pool;
    uint64_t seen = 0;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->over && p->round == seen)
            pthread_cond_wait(&p->begin, &p->lock);
        if (p->over)
            break;
        seen = p->round;
        pthread_mutex_unlock(&p->lock);
        take_pieces(p, w->slot);
        pthread_mutex_lock(&p->lock);
        if (--p->n_busy == 0)
            pthread_cond_signal(&p->end);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

enum assay_status qn_pool_new(struct qn_pool **out, int n_threads, struct assay_err *err)
{
    int n = assay_parallel_threads(n_threads);
    struct qn_pool *p = assay_alloc_zero(sizeof *p + (size_t)(n - 1) * sizeof p->workers[0]);

    if (!p)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a pool of %d threads", n);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->begin, NULL);
    pthread_cond_init(&p->end, NULL);
    while (p->n_workers < n - 1) {
        struct worker *w = &p->workers[p->n_workers];

        *w = (struct worker){ .pool = p, .slot = p->n_workers + 1 };
        if (pthread_create(&w->thread, NULL, work, w))
            break;
        p->n_workers++;
    }
    *out = p;
    return ASSAY_OK;
}

void qn_pool_free(struct qn_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->over = true;
    pthread_cond_broadcast(&p->begin);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->n_workers; i++)
        pthread_join(p->workers[i].thread, NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->begin);
    pthread_cond_destroy(&p->end);
    free(p);
}

int qn_pool_slots(const struct qn_pool *p)
{
    return p ? p->n_workers + 1 : 1;
}

static void run_alone(int64_t n, int64_t grain, qn_range_fn body, void *ctx)
{
    for (int64_t i = 0; i < n; i += grain)
        body(ctx, 0, i, n - i < grain ? n : i + grain);
}

void qn_pool_run(struct qn_pool *p, int64_t n, int64_t grain, qn_range_fn body, void *ctx)
{
    if (grain <= 0)
        grain = 1;
    if (!p || !p->n_workers || n <= grain) {
        run_alone(n, grain, body, ctx);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->body = body;
    p->ctx = ctx;
    p->n = n;
    p->grain = grain;
    p->n_pieces = (n - 1) / grain + 1;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    p->n_busy = p->n_workers;
    p->round++;
    pthread_cond_broadcast(&p->begin);
    pthread_mutex_unlock(&p->lock);
    take_pieces(p, 0);
    pthread_mutex_lock(&p->lock);
    while (p->n_busy)
        pthread_cond_wait(&p->end, &p->lock);
    pthread_mutex_unlock(&p->lock);
}
