/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast.h: loops over two inputs that repeat along axes of each other. */
#ifndef BASELINE_BROADCAST_H
#define BASELINE_BROADCAST_H

#include "blocks.h"

/* One run: y[k] from a[k] and b[k] for 0 <= k < n, n <= BASELINE_BLOCK; what repeats is written
 * out. */
typedef void (*baseline_pair_fn)(void *y, const void *a, const void *b, int64_t n);

/* y = fn(x1, x2), all of one dtype; `cost` is how much more than a copy an element takes. */
void baseline_broadcast(const struct assay_call *c, const struct assay_view *y,
                        const struct assay_view *x1, const struct assay_view *x2,
                        baseline_pair_fn fn, int64_t cost);

#endif
