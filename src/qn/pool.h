/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h: threads that wait between the layers of a network, and loops over them.
 *
 * A training step is some fifty short loops; starting threads for each would cost a tenth of it.
 * As with assay_parallel the pieces of a loop depend on n and grain alone, so that a body which
 * writes only what belongs to its piece gives the same bytes for any number of threads.
 */
#ifndef QN_POOL_H
#define QN_POOL_H

#include "assay/status.h"

#include <stdint.h>

struct qn_pool;

/* slot: 0 .. qn_pool_slots()-1, never the same in two bodies at a time: for scratch memory. What a
 * body computes must not depend on it. */
typedef void (*qn_range_fn)(void *ctx, int slot, int64_t begin, int64_t end);

/* n_threads: 0 for all cores; the caller is one of them. A thread that cannot be had only costs
 * time. ASSAY_NOMEM. */
enum assay_status qn_pool_new(struct qn_pool **out, int n_threads, struct assay_err *err);
void qn_pool_free(struct qn_pool *p);

/* 1 for NULL, which stands for a pool of the caller alone. */
int qn_pool_slots(const struct qn_pool *p);
/* One loop at a time: not from within a body, nor from two threads. */
void qn_pool_run(struct qn_pool *p, int64_t n, int64_t grain, qn_range_fn body, void *ctx);

#endif
